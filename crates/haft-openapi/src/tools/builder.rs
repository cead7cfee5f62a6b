use super::open_api_tools::{OpenApiTools, Shared};
use crate::auth::{Credentials, FetchedTokens, Keyring, Schemes, Secret, ServerOrigin};
use crate::{Document, OperationLimits, Selection};
use haft_core::{Exposure, namespace};
use haft_http::HttpClient;
use haft_tools_core::Redactor;
use http::HeaderName;
use std::fmt;

/// Above how many operations their tools are found by searching.
const DEFER_ABOVE: usize = 32;

/// Says which operations become tools, with whose credentials, and how far a call may go.
///
/// ```
/// use haft_core::Exposure;
/// use haft_http::{AddressPolicy, HttpClient};
/// use haft_openapi::{Document, LoadOptions, OpenApiTools, OpenApiToolsBuilder, Selection};
/// use haft_tools_core::Tool as _;
/// use http::Method;
///
/// # let value = serde_json::json!({ "openapi": "3.1.0", "paths": {
/// #     "/pets": { "get": { "operationId": "listPets" }, "post": { "operationId": "addPet" } },
/// #     "/shops": { "get": { "operationId": "listShops" } },
/// # } });
/// # let document = Document::from_value(value, &LoadOptions::default().server("https://pets.example"))?;
/// let builder: OpenApiToolsBuilder =
///     OpenApiTools::builder("pets", document, HttpClient::new(AddressPolicy::public())?)
///         .selection(Selection::default().methods([Method::GET]))
///         .defer_above(1);
/// let tools = builder.build().tools();
/// let names: Vec<&str> = tools.iter().map(|tool| tool.spec().name().as_str()).collect();
/// assert_eq!(names, ["pets__listPets", "pets__listShops"]);
/// assert_eq!(tools[0].spec().exposure(), Exposure::Deferred);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub struct OpenApiToolsBuilder {
    name: String,
    document: Document,
    client: HttpClient,
    selection: Selection,
    credentials: Box<dyn Credentials>,
    origins: Vec<ServerOrigin>,
    headers: Vec<(HeaderName, Secret)>,
    redactor: Option<Redactor>,
    limits: OperationLimits,
    output_schemas: bool,
    defer_above: usize,
    orders_itself: bool,
}

impl OpenApiToolsBuilder {
    pub(super) fn new(name: String, document: Document, client: HttpClient) -> Self {
        Self {
            name,
            document,
            client,
            selection: Selection::default(),
            credentials: Box::new(()),
            origins: Vec::new(),
            headers: Vec::new(),
            redactor: None,
            limits: OperationLimits::default(),
            output_schemas: false,
            defer_above: DEFER_ABOVE,
            orders_itself: false,
        }
    }

    /// Which operations become tools; all that their vendor has not switched off by default.
    pub fn selection(mut self, selection: Selection) -> Self {
        self.selection = selection;
        self
    }

    /// What the host has for the document's security schemes; nothing by default.
    pub fn credentials(mut self, credentials: impl Credentials) -> Self {
        self.credentials = Box::new(credentials);
        self
    }

    /// Allows credentials to be sent to the servers of an origin.
    ///
    /// Which server an operation is on is said by the document, which may be anybody's: one that was made to collect secrets
    /// names its own. So credentials are sent to origins that the host has named, and to no other: to those that are given
    /// here, to that of [`LoadOptions::server`](crate::LoadOptions::server), and to that of
    /// [`LoadOptions::base_url`](crate::LoadOptions::base_url), where the document was found.
    pub fn allow_origin(mut self, origin: ServerOrigin) -> Self {
        self.origins.push(origin);
        self
    }

    /// Adds a header to every request to an allowed origin, for an API whose document does not say what it wants.
    ///
    /// A header of this name that a request has otherwise is replaced.
    pub fn header(mut self, name: HeaderName, value: impl Into<Secret>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// What replaces secrets wherever they come up: every credential that is sent is added to it.
    ///
    /// Give that of the executor, so that arguments, events and the journal are covered, too. Without it, replies and errors
    /// are searched by the tools themselves. Secrets of less than 4 bytes are not looked for.
    pub fn redactor(mut self, redactor: Redactor) -> Self {
        self.redactor = Some(redactor);
        self
    }

    /// How far a call may go.
    pub fn limits(mut self, limits: OperationLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Whether tools tell what their replies look like, and replies are held against it; not by default.
    ///
    /// A reply that does not keep to it is delivered all the same, and the host finds under `violations` of its details how.
    pub fn output_schemas(mut self, told: bool) -> Self {
        self.output_schemas = told;
        self
    }

    /// Above how many tools they need not all be listed, but may be found by searching
    /// ([`Exposure::Deferred`](haft_core::Exposure::Deferred)); 32 by default.
    ///
    /// They are deferred only where the list of a run costs more than its
    /// [`ListBudget`](haft_tools_core::ListBudget) says. With `usize::MAX` they never are.
    pub fn defer_above(mut self, count: usize) -> Self {
        self.defer_above = count;
        self
    }

    /// Whether the API may be sent several changes at once; by default one that changes something waits for the others.
    ///
    /// Operations that only read, by their method, always overlap. This is about order only, never about permission.
    pub fn orders_itself(mut self, orders_itself: bool) -> Self {
        self.orders_itself = orders_itself;
        self
    }

    /// Makes the tools.
    pub fn build(self) -> OpenApiTools {
        let name = document_name(&self.name);
        let inner = self.document.inner();
        let mut origins = self.origins;
        origins.extend(inner.servers.named_by_host().filter_map(ServerOrigin::of_text));
        let operations: Vec<_> = self.document.select(&self.selection).collect();
        let keyring = Keyring {
            document: name.clone(),
            schemes: Schemes::of(inner),
            credentials: self.credentials,
            origins,
        };
        let shared = Shared {
            client: self.client,
            keyring,
            tokens: FetchedTokens::default(),
            headers: self.headers,
            redacts_itself: self.redactor.is_none(),
            redactor: self.redactor.unwrap_or_default(),
            limits: self.limits,
            output_schemas: self.output_schemas,
            exposure: if operations.len() > self.defer_above { Exposure::Deferred } else { Exposure::Direct },
            orders_itself: self.orders_itself,
            patterns: std::sync::Mutex::default(),
            name,
        };
        OpenApiTools::new(shared, operations)
    }
}

impl fmt::Debug for OpenApiToolsBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenApiToolsBuilder")
            .field("name", &self.name)
            .field("document", &self.document)
            .finish_non_exhaustive()
    }
}

/// Makes a name that the names of tools can hold, and that selectors can name: the text itself if it is one.
fn document_name(text: &str) -> String {
    let name = namespace(text);
    if name.is_empty() { "api".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::document_name;

    #[test]
    fn documents_get_names_that_tools_can_hold() {
        for (text, expected) in
            [("petstore", "petstore"), ("a-b_C9", "a-b_C9"), ("", "api"), ("__ä  b__c/", "b_c"), ("é", "api")]
        {
            assert_eq!(document_name(text), expected, "{text}");
        }
        assert_eq!(document_name(&"x".repeat(99)).len(), 32);
    }
}
