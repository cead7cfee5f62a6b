mod bound;
mod input;
mod letters;
mod named;
mod rank;
mod report;
mod search;

use crate::options::SearchOptions;
use crate::start::{Start, everything_in};
use crate::watch::run_blocking;
use async_trait::async_trait;
use haft_core::{Origin, ToolError, ToolHints, ToolName, ToolOutput, ToolSpec};
use haft_tools_core::{Accesses, Action, CallContext, CallScope, Prepared, Tool, input_schema, parse_input};
use haft_workdir::{Workdir, WorkdirPath};
use input::FindFilesInput;
use rank::Query;
use serde_json::Value;

const DESCRIPTION: &str = "\
Finds files whose names are like a text, the best first: for when a name is only known in part. All characters of `query` \
must be in the name in their order, as `cfgprs` finds `config_parser.rs`. With `/` or a space in it, it is looked for in \
the whole path, and each part divided by spaces must be there. Files that .gitignore leaves out and hidden files are passed \
over. Paths are given relative to the working directory, one on each line.";

/// Finds files whose names are like a text, the best first.
///
/// It reads directories and ignore files only, and declares that it reads everything below the one it is asked to
/// search, and the ignore files above that unless they do not count.
///
/// ```
/// use haft_tool_search::FindFiles;
/// use haft_tools_core::ToolRegistry;
/// # use haft_testkit::call;
/// # use serde_json::json;
/// # use std::sync::Arc;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let tree = haft_testkit::Tree::new().file("src/config_parser.rs", "").file("src/net.rs", "");
/// # let workdir = tree.workdir();
/// let registry = ToolRegistry::of([Arc::new(FindFiles::new(workdir)) as _])?;
/// // The name is known in part.
/// let reply = call(&registry, "find_files", json!({ "query": "confparse" })).await;
/// assert!(reply.output.to_text().starts_with("src/config_parser.rs\n"), "{}", reply.output.to_text());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct FindFiles {
    workdir: Workdir,
    spec: ToolSpec,
    options: SearchOptions,
}

impl FindFiles {
    /// Makes the tool for a working directory.
    ///
    /// ```
    /// use haft_tools_core::Tool as _;
    ///
    /// # let directory = tempfile::tempdir()?;
    /// let workdir = haft_workdir::Workdir::open(directory.path())?;
    /// let find_files = haft_tool_search::FindFiles::new(workdir);
    /// assert_eq!(find_files.spec().name().as_str(), "find_files");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(workdir: Workdir) -> Self {
        let spec =
            ToolSpec::new(ToolName::project("find_files"), DESCRIPTION, input_schema::<FindFilesInput>())
                .with_title("Find files by a part of their name")
                .with_hints(ToolHints { read_only: true, idempotent: true, ..ToolHints::default() })
                .with_origin(Origin::Builtin);
        Self { workdir, spec, options: SearchOptions::default() }
    }

    /// Sets how long a search may take and how many threads it uses.
    pub fn options(self, options: SearchOptions) -> Self {
        Self { options, ..self }
    }
}

impl Tool for FindFiles {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare(&self, input: &Value, _scope: &CallScope) -> Result<Prepared, ToolError> {
        let (accesses, request) = Request::resolve(&self.workdir, self.options, parse_input(input)?)?;
        Ok(Prepared::new(accesses, request))
    }
}

/// A search that is ready to run.
#[derive(Debug)]
struct Request {
    workdir: Workdir,
    start: WorkdirPath,
    query: Query,
    limit: usize,
    hidden: bool,
    no_ignore: bool,
    options: SearchOptions,
}

impl Request {
    fn resolve(
        workdir: &Workdir,
        options: SearchOptions,
        input: FindFilesInput,
    ) -> Result<(Accesses, Self), ToolError> {
        let FindFilesInput { query, path, limit, hidden, no_ignore } = input;
        let query = Query::parse(&query)?;
        let start = Start::resolve(workdir, &path)?;
        let accesses = start.accesses(no_ignore).collect();
        let start = start.into_directory()?;
        let hidden = hidden.unwrap_or_else(|| query.names_hidden());
        let request =
            Self { workdir: workdir.clone(), start, query, limit: limit.into(), hidden, no_ignore, options };
        Ok((accesses, request))
    }
}

#[async_trait]
impl Action for Request {
    async fn run(self: Box<Self>, cx: CallContext) -> Result<ToolOutput, ToolError> {
        let searched = [everything_in(&self.start)];
        run_blocking(cx, self.options.timeout, searched, move |watch| {
            let findings = search::search(&self, watch)?;
            Ok(report::output(&self, &findings))
        })
        .await
    }
}
