use crate::{OF_OTHERS, connect};
use async_trait::async_trait;
use haft_core::{Origin, ToolError, ToolHints, ToolName, ToolOutput, ToolSpec, Visible};
use haft_http::Endpoint;
use haft_tools_core::{Action, CallContext, CallScope, Prepared, Tool, input_schema, parse_input};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::fmt::{self, Write as _};
use std::sync::Arc;

const DESCRIPTION: &str = "\
Searches the web and lists what was found, the best first: title, address and an excerpt of each. What it gives was written by \
others.";

/// The most characters of a title and of an excerpt that are shown.
const MOST_TITLE: usize = 200;
const MOST_EXCERPT: usize = 1000;

/// The most bytes of an address; what is longer is left out, since cut it leads nowhere.
const MOST_ADDRESS: usize = 2 << 10;

/// Is a page that a search has found.
///
/// ```
/// use haft_tool_web::SearchHit;
///
/// // As a provider makes them of what a search engine answers.
/// let answer = serde_json::json!({ "results": [{ "name": "Rust", "link": "https://rust-lang.org/" }] });
/// let results = answer["results"].as_array().into_iter().flatten();
/// let hits = results.map(|result| SearchHit {
///     title: result["name"].as_str().unwrap_or_default().to_owned(),
///     url: result["link"].as_str().unwrap_or_default().to_owned(),
///     ..SearchHit::default()
/// });
/// let hits: Vec<SearchHit> = hits.collect();
/// assert_eq!((hits[0].url.as_str(), hits[0].excerpt.as_str()), ("https://rust-lang.org/", ""));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SearchHit {
    /// What it is called.
    pub title: String,
    /// Where it is.
    pub url: String,
    /// A part of it, as text; empty if there is none.
    pub excerpt: String,
}

/// Finds pages: a search engine's API, an index of the host's own.
///
/// ```
/// use async_trait::async_trait;
/// use haft_core::ToolError;
/// use haft_http::Endpoint;
/// use haft_tool_web::{SearchHit, SearchProvider};
///
/// /// Knows one page.
/// struct OnePage;
///
/// #[async_trait]
/// impl SearchProvider for OnePage {
///     fn endpoints(&self) -> Vec<Endpoint> {
///         Vec::new()
///     }
///
///     async fn search(&self, query: &str, most: usize) -> Result<Vec<SearchHit>, ToolError> {
///         let known = SearchHit { title: "Rust".into(), url: "https://rust-lang.org/".into(), ..SearchHit::default() };
///         Ok([known].into_iter().filter(|hit| hit.title.eq_ignore_ascii_case(query)).take(most).collect())
///     }
/// }
/// ```
#[async_trait]
pub trait SearchProvider: Send + Sync + 'static {
    /// What it connects to: declared by each search, so that a policy can decide. One that connects to nothing says so.
    fn endpoints(&self) -> Vec<Endpoint>;

    /// Finds at most so many pages, the best first.
    ///
    /// # Errors
    ///
    /// When it cannot search; the text goes to the model and should say what it can do next.
    ///
    /// # Cancel safety
    ///
    /// It is dropped when the call is cancelled.
    async fn search(&self, query: &str, most: usize) -> Result<Vec<SearchHit>, ToolError>;
}

/// Has the web searched by a provider of the host.
///
/// ```
/// use haft_tool_web::{SearchHit, SearchProvider, WebSearch};
/// use haft_tools_core::ToolRegistry;
/// # use haft_testkit::call;
/// # use serde_json::json;
/// # struct Handbook;
/// # #[async_trait::async_trait]
/// # impl SearchProvider for Handbook {
/// #     fn endpoints(&self) -> Vec<haft_http::Endpoint> { Vec::new() }
/// #     async fn search(&self, _: &str, _: usize) -> Result<Vec<SearchHit>, haft_core::ToolError> {
/// #         let excerpt = "Twice a day.".to_owned();
/// #         Ok(vec![SearchHit { title: "Feeding".to_owned(), url: "https://handbook.example/7".to_owned(), excerpt }])
/// #     }
/// # }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // `Handbook` is a `SearchProvider` over pages of the host's own.
/// let registry = ToolRegistry::new().with(WebSearch::new(Handbook))?;
/// let reply = call(&registry, "web_search", json!({ "query": "how often to feed" })).await;
/// let found = "1. Feeding\n   https://handbook.example/7\n   Twice a day.";
/// assert!(reply.output.to_text().ends_with(found));
/// # Ok(())
/// # }
/// ```
pub struct WebSearch {
    provider: Arc<dyn SearchProvider>,
    spec: ToolSpec,
}

impl fmt::Debug for WebSearch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebSearch").finish_non_exhaustive()
    }
}

/// The arguments of `web_search`. The comments are what the model reads.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SearchInput {
    /// What to look for.
    #[schemars(length(min = 1, max = 1000))]
    query: String,
    /// The most pages to list.
    #[serde(default = "usual_limit")]
    #[schemars(range(min = 1, max = 30))]
    limit: u8,
}

fn usual_limit() -> u8 {
    10
}

impl WebSearch {
    /// Makes the tool over a provider.
    pub fn new(provider: impl SearchProvider) -> Self {
        let spec = ToolSpec::new(ToolName::project("web_search"), DESCRIPTION, input_schema::<SearchInput>())
            .with_title("Search the web")
            .with_hints(ToolHints {
                read_only: true,
                idempotent: true,
                open_world: true,
                ..ToolHints::default()
            })
            .with_origin(Origin::Builtin);
        Self { provider: Arc::new(provider), spec }
    }
}

impl Tool for WebSearch {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare(&self, input: &Value, _scope: &CallScope) -> Result<Prepared, ToolError> {
        let SearchInput { query, limit } = parse_input(input)?;
        if query.trim().is_empty() {
            return Err(ToolError::invalid_input("`query` is empty; say what to look for"));
        }
        let accesses: Vec<_> = self.provider.endpoints().iter().map(connect).collect();
        let provider = Arc::clone(&self.provider);
        Ok(Prepared::new(accesses, Search { provider, query, most: limit.into() }).repeatable())
    }
}

/// A search that is ready to run.
struct Search {
    provider: Arc<dyn SearchProvider>,
    query: String,
    most: usize,
}

#[async_trait]
impl Action for Search {
    async fn run(self: Box<Self>, _cx: CallContext) -> Result<ToolOutput, ToolError> {
        let mut hits = self.provider.search(&self.query, self.most).await?;
        hits.retain(|hit| hit.url.len() <= MOST_ADDRESS);
        hits.truncate(self.most);
        let details = json!({ "found": hits.len() });
        if hits.is_empty() {
            let query = Visible::line(&self.query);
            let text = format!("nothing was found for `{query}`; use fewer or other words");
            return Ok(ToolOutput::text(text).with_details(details));
        }
        let mut text = format!("{OF_OTHERS}\n");
        for (index, hit) in hits.iter().enumerate() {
            // Writing to a string cannot fail.
            let _ = write!(
                text,
                "\n{}. {}\n   {}\n",
                index + 1,
                short(&hit.title, MOST_TITLE),
                Visible::line(&hit.url)
            );
            let excerpt = short(&hit.excerpt, MOST_EXCERPT);
            if !excerpt.is_empty() {
                let _ = writeln!(text, "   {excerpt}");
            }
        }
        Ok(ToolOutput::text(text.trim_end()).with_details(details))
    }
}

/// A text on one line, and no longer than so many characters.
fn short(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut short: String = line.chars().take(most).collect();
    if short.len() < line.len() {
        short.push('…');
    }
    Visible::line(&short).to_string()
}
