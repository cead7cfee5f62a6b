mod find;
mod input;
mod report;

use crate::options::SearchOptions;
use crate::order::Order;
use crate::path_pattern::PathPattern;
use crate::start::{Start, everything_in};
use crate::watch::run_blocking;
use async_trait::async_trait;
use haft_core::{Origin, ToolError, ToolHints, ToolName, ToolOutput, ToolSpec};
use haft_tools_core::{Accesses, Action, CallContext, CallScope, Prepared, Tool, input_schema, parse_input};
use haft_workdir::{Workdir, WorkdirPath};
use input::GlobInput;
use serde_json::Value;

const DESCRIPTION: &str = "\
Finds files by their names, in the whole working directory unless `path` says otherwise. Files that .gitignore leaves out \
and hidden files are passed over. In `pattern`, `*` and `?` match within one name, `**` matches directories to any depth, \
`[a-z]` and `{a,b}` choose. A pattern without `/` matches at any depth, as `*.rs` does; one with `/` matches from `path` on. \
A pattern that ends in `/` finds directories. Paths are given relative to the working directory, one on each line.";

/// Finds files by their names, in the manner of `.gitignore` patterns.
///
/// It reads directories and ignore files only, and declares that it reads everything below the one it is asked to
/// search, and the ignore files above that unless they do not count. Of a symbolic
/// link that matches, it looks up what is at its end, inside the working directory, and nothing more.
///
/// ```
/// use haft_tool_search::Glob;
/// use haft_tools_core::ToolRegistry;
/// # use haft_testkit::call;
/// # use serde_json::json;
/// # use std::sync::Arc;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let tree = haft_testkit::Tree::new().file("src/main.rs", "").file("src/net/mod.rs", "").file("README.md", "");
/// # let workdir = tree.workdir();
/// let registry = ToolRegistry::of([Arc::new(Glob::new(workdir)) as _])?;
/// let reply = call(&registry, "glob", json!({ "pattern": "src/**/*.rs" })).await;
/// assert_eq!(reply.output.to_text(), "src/main.rs\nsrc/net/mod.rs\n\n2 files");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Glob {
    workdir: Workdir,
    spec: ToolSpec,
    options: SearchOptions,
}

impl Glob {
    /// Makes the tool for a working directory.
    ///
    /// ```
    /// use haft_tools_core::Tool as _;
    ///
    /// # let directory = tempfile::tempdir()?;
    /// let workdir = haft_workdir::Workdir::open(directory.path())?;
    /// let glob = haft_tool_search::Glob::new(workdir);
    /// assert_eq!(glob.spec().name().as_str(), "glob");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(workdir: Workdir) -> Self {
        let spec = ToolSpec::new(ToolName::project("glob"), DESCRIPTION, input_schema::<GlobInput>())
            .with_title("Find files")
            .with_hints(ToolHints { read_only: true, idempotent: true, ..ToolHints::default() })
            .with_origin(Origin::Builtin);
        Self { workdir, spec, options: SearchOptions::default() }
    }

    /// Sets how long a search may take and how many threads it uses.
    pub fn options(self, options: SearchOptions) -> Self {
        Self { options, ..self }
    }
}

impl Tool for Glob {
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
    pattern: PathPattern,
    /// The pattern as the model wrote it.
    text: String,
    order: Order,
    limit: usize,
    hidden: bool,
    no_ignore: bool,
    options: SearchOptions,
}

impl Request {
    fn resolve(
        workdir: &Workdir,
        options: SearchOptions,
        input: GlobInput,
    ) -> Result<(Accesses, Self), ToolError> {
        let GlobInput { pattern: text, path, limit, hidden, no_ignore, sort } = input;
        let start = Start::resolve(workdir, &path)?;
        let accesses = start.accesses(no_ignore).collect();
        let start = start.into_directory()?;
        let relative = below_root(workdir, &start, &text);
        let pattern = PathPattern::parse(relative).map_err(|error| error.refuse("pattern", &text))?;
        let hidden = hidden.unwrap_or_else(|| pattern.names_hidden());
        let workdir = workdir.clone();
        let limit = limit.into();
        let order = sort;
        Ok((accesses, Self { workdir, start, pattern, text, order, limit, hidden, no_ignore, options }))
    }
}

/// Takes the host path of the start off a pattern that begins with it, as absolute paths are accepted elsewhere.
fn below_root<'p>(workdir: &Workdir, start: &WorkdirPath, pattern: &'p str) -> &'p str {
    let host = workdir.root_path().join(start.as_str());
    let is_main_root = start.is_root() && !start.is_absolute();
    let host = if is_main_root { workdir.root_path().to_str() } else { host.to_str() };
    // The `/` is kept: it says that the pattern matches from the start on.
    host.and_then(|host| pattern.strip_prefix(host)).filter(|rest| rest.starts_with('/')).unwrap_or(pattern)
}

#[async_trait]
impl Action for Request {
    async fn run(self: Box<Self>, cx: CallContext) -> Result<ToolOutput, ToolError> {
        let searched = [everything_in(&self.start)];
        run_blocking(cx, self.options.timeout, searched, move |watch| {
            let findings = find::find(&self, watch)?;
            Ok(report::output(&self, &findings))
        })
        .await
    }
}
