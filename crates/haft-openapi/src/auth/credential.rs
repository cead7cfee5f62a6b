use crate::auth::{ClientCredentials, Secret, TokenSource};
use std::fmt;
use std::sync::Arc;

/// Is what the host has for one security scheme of a document.
///
/// | scheme | takes |
/// |---|---|
/// | `apiKey` | [`Secret`](Self::Secret) |
/// | `http` with `basic` | [`Basic`](Self::Basic) |
/// | `http` with `bearer` and other words, `openIdConnect` | [`Secret`](Self::Secret), [`Tokens`](Self::Tokens) |
/// | `oauth2` | the same, and [`Client`](Self::Client) where it has client credentials |
///
/// ```
/// # use haft_http::{AddressPolicy, HttpClient};
/// use haft_openapi::{Credential, Document, LoadOptions, OpenApiTools};
/// # use serde_json::json;
/// use std::collections::BTreeMap;
/// # use std::io::{Read as _, Write as _};
/// #
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
/// # let address = format!("http://{}", listener.local_addr()?);
/// # let server = std::thread::spawn(move || -> std::io::Result<String> {
/// #     let (mut stream, _) = listener.accept()?;
/// #     let mut request = vec![0; 4096];
/// #     let length = stream.read(&mut request)?;
/// #     stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n")?;
/// #     Ok(String::from_utf8_lossy(&request[..length]).into_owned())
/// # });
/// # let client = HttpClient::new(AddressPolicy::public().loopback())?;
/// let document = Document::from_value(json!({
///     "openapi": "3.1.0",
///     "components": { "securitySchemes": { "login": { "type": "http", "scheme": "basic" } } },
///     "security": [{ "login": [] }],
///     "paths": { "/pets": { "get": { "operationId": "listPets" } } },
/// }), &LoadOptions::default().server(&address))?;
/// let credentials = BTreeMap::from([("login".to_owned(), Credential::basic("ci", "s3cret"))]);
/// let tools = OpenApiTools::builder("pets", document, client).credentials(credentials).build();
/// # let registry = haft_tools_core::ToolRegistry::of(tools.tools())?;
/// # let reply = haft_testkit::call(&registry, "pets__listPets", json!({})).await;
/// # assert!(reply.status.is_ok());
/// # let request = server.join().expect("the server ends")?;
/// assert!(request.contains("authorization: Basic Y2k6czNjcmV0"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub enum Credential {
    /// A key, or a token that stays the same.
    Secret(Secret),
    /// A user and a password.
    Basic {
        /// The user.
        user: String,
        /// The password.
        password: Secret,
    },
    /// A client that fetches its tokens itself.
    Client(ClientCredentials),
    /// Tokens that the host fetches, such as those of a person who has logged in.
    Tokens(Arc<dyn TokenSource>),
}

impl Credential {
    /// Gives a key or a token.
    pub fn secret(secret: impl Into<Secret>) -> Self {
        Self::Secret(secret.into())
    }

    /// Gives a user and a password.
    pub fn basic(user: impl Into<String>, password: impl Into<Secret>) -> Self {
        Self::Basic { user: user.into(), password: password.into() }
    }

    /// Gives what tokens are fetched from.
    pub fn tokens(source: impl TokenSource) -> Self {
        Self::Tokens(Arc::new(source))
    }

    /// Says what it is, for messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Secret(_) => "a key or token",
            Self::Basic { .. } => "a user and a password",
            Self::Client(_) => "a client's credentials",
            Self::Tokens(_) => "tokens",
        }
    }
}

impl From<Secret> for Credential {
    fn from(secret: Secret) -> Self {
        Self::Secret(secret)
    }
}

impl From<ClientCredentials> for Credential {
    fn from(client: ClientCredentials) -> Self {
        Self::Client(client)
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Credential({})", self.kind())
    }
}
