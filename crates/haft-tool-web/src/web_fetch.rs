mod getter;
mod input;
mod reply;

pub(crate) use getter::Getter;

use crate::cache::Cache;
use crate::connect;
use crate::robots::RobotsRules;
use async_trait::async_trait;
use getter::Client;
use haft_core::{Origin, ToolError, ToolHints, ToolName, ToolOutput, ToolSpec};
use haft_http::{AddressPolicy, Endpoint, HttpClient};
use haft_tools_core::{Action, CallContext, CallScope, Prepared, Tool, input_schema, parse_input};
use input::{FetchInput, address};
use serde_json::Value;
use std::sync::Arc;
use url::Url;

const DESCRIPTION: &str = "\
Reads a page of the web by its address. HTML comes as Markdown, the main part of the page only unless `whole` is set; JSON, text \
and images come as they are. Where the page has moved to another host, it says where to; call it again with that address to read it. What \
it gives was written by others.";

/// Reads a page of the web: one request with `GET`, and what leads on at the same scheme, host and port.
///
/// It declares that it connects to the host and port of the address, and nothing else. Answers are kept in memory as their
/// servers say (RFC 9111), up to 32 MiB of them. At most 8 MiB of an answer are taken, after decompression; a page is
/// read for 2 s, up to 400,000 tags and texts, and becomes at most 2 MiB of Markdown; what goes on behind that is said to.
///
/// ```
/// use haft_http::AddressPolicy;
/// use haft_tool_web::WebFetch;
/// use haft_tools_core::ToolRegistry;
/// # use haft_testkit::call;
/// # use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
/// # let url = format!("http://{}/", listener.local_addr()?);
/// # std::thread::spawn(move || {
/// #     use std::io::{Read as _, Write as _};
/// #     let (mut connection, _) = listener.accept()?;
/// #     let _ = connection.read(&mut [0; 4096])?;
/// #     let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 33\r\n\r\n";
/// #     write!(connection, "{head}<h1>Pets</h1><p>A <b>dog</b>.</p>")
/// # });
/// // Pages of this machine are not reached unless that is said.
/// let registry = ToolRegistry::new().with(WebFetch::held_to(AddressPolicy::public().loopback()))?;
/// let reply = call(&registry, "web_fetch", json!({ "url": url })).await;
/// assert!(reply.output.to_text().ends_with("# Pets\n\nA **dog**."), "{}", reply.output.to_text());
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Calls fail with `denied` for an address that the client's policy refuses, and for what `robots.txt` forbids where that is
/// [respected](Self::respecting_robots); with `not_found` for HTTP 404 and 410; with `unavailable` for what may go better
/// later; and with `invalid_input` for what is no address of the web.
#[derive(Debug)]
pub struct WebFetch {
    getter: Arc<Getter>,
    robots: Option<Arc<RobotsRules>>,
    spec: ToolSpec,
}

impl WebFetch {
    /// Makes the tool over a client of the host: its addresses, proxies, authorities and name are the host's.
    pub fn new(client: HttpClient) -> Self {
        Self::over(Client::given(client))
    }

    /// Makes the tool over a client of its own that is held to a policy; the client is made when it is first needed.
    pub fn held_to(policy: AddressPolicy) -> Self {
        Self::over(Client::within(policy))
    }

    /// Has it read nothing that a host's `robots.txt` forbids (RFC 9309) to a program of this name, such as `haft`; nor what an
    /// address leads on to.
    ///
    /// By default it is not asked: a person who has one page read is no crawler. A host that does not say what may be read,
    /// since its server is failing, is not read; one that leads elsewhere for it says nothing.
    #[must_use]
    pub fn respecting_robots(self, name: impl Into<String>) -> Self {
        Self { robots: Some(Arc::new(RobotsRules::new(name.into()))), ..self }
    }

    fn over(client: Client) -> Self {
        let spec = ToolSpec::new(ToolName::project("web_fetch"), DESCRIPTION, input_schema::<FetchInput>())
            .with_title("Read a web page")
            .with_hints(ToolHints {
                read_only: true,
                idempotent: true,
                open_world: true,
                ..ToolHints::default()
            })
            .with_origin(Origin::Builtin);
        let getter = Arc::new(Getter { client, cache: Cache::default() });
        Self { getter, robots: None, spec }
    }
}

impl Tool for WebFetch {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare(&self, input: &Value, _scope: &CallScope) -> Result<Prepared, ToolError> {
        let FetchInput { url, whole, raw } = parse_input(input)?;
        let url = address(&url)?;
        let endpoint = Endpoint::of_url(url.as_str()).map_err(|error| {
            ToolError::invalid_input("`url` names a host that nothing can connect to; correct it")
                .with_source(error)
        })?;
        let fetch = Fetch { getter: Arc::clone(&self.getter), robots: self.robots.clone(), url, whole, raw };
        Ok(Prepared::new(vec![connect(&endpoint)], fetch).repeatable())
    }
}

/// A page that is ready to be read.
struct Fetch {
    getter: Arc<Getter>,
    robots: Option<Arc<RobotsRules>>,
    url: Url,
    whole: bool,
    raw: bool,
}

#[async_trait]
impl Action for Fetch {
    async fn run(self: Box<Self>, cx: CallContext) -> Result<ToolOutput, ToolError> {
        let Self { getter, robots, url, whole, raw } = *self;
        cx.progress(format!("asking {}", url.host_str().unwrap_or_default()));
        let got = getter.get(&url, getter::MOST_BYTES, robots.as_deref()).await?;
        reply::reply(got, whole, raw).await
    }
}
