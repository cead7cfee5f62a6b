mod by_time;
mod collect;
mod file_search;
mod found;
mod input;
mod output;
mod overlooked;
mod pattern;
mod report;
mod search;
mod visit;

use crate::file_filter::FileFilter;
use crate::options::SearchOptions;
use crate::order::Order;
use crate::start::Start;
use crate::watch::run_blocking;
use async_trait::async_trait;
use haft_core::{Origin, ToolError, ToolHints, ToolName, ToolOutput, ToolSpec};
use haft_tools_core::{Accesses, Action, CallContext, CallScope, Prepared, Tool, input_schema, parse_input};
use haft_workdir::Workdir;
use input::{GrepInput, Mode};
use pattern::{Pattern, PatternOptions};
use serde_json::Value;

const DESCRIPTION: &str = "\
Searches the text of files with a regular expression, in the whole working directory unless `path` or `paths` says otherwise. \
Files that .gitignore leaves out, hidden files and binary files are passed over. A match is a line that matches. \
Matches are given as `path:line: text`, lines of context as `path-line- text`, sorted by path and line; \
`limit` is for all files together. The syntax is that of ripgrep: no look-around, no backreferences, \
and `(`, `[`, `{`, `.`, `*`, `+`, `?`, `|`, `^`, `$` and `\\` are escaped with `\\` to stand for themselves.";

/// Searches the text of files, in the manner of ripgrep.
///
/// It reads only, and declares that it reads the files or everything below the directories it is asked to search, and the
/// ignore files above those unless they do not count. What a policy denies to read below a directory is passed by, and an
/// ignore file that it denies does not count.
///
/// Several threads search at once, and what they find is given in the order asked for whatever they do. When it is out of
/// time, what was found until then is given, with how much was not searched.
///
/// ```
/// use haft_tool_search::Grep;
/// use haft_tools_core::ToolRegistry;
/// # use haft_testkit::call;
/// # use serde_json::json;
/// # use std::sync::Arc;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let tree = haft_testkit::Tree::new().file("src/lib.rs", "pub fn one() {}\nfn two() {}\n").file("notes.txt", "pub fn\n");
/// # let workdir = tree.workdir();
/// let registry = ToolRegistry::of([Arc::new(Grep::new(workdir)) as _])?;
/// let reply = call(&registry, "grep", json!({ "pattern": r"^pub fn \w+", "glob": "*.rs" })).await;
/// assert_eq!(reply.output.to_text(), "src/lib.rs:1: pub fn one() {}\n\n1 match in 1 file");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Grep {
    workdir: Workdir,
    spec: ToolSpec,
    options: SearchOptions,
}

impl Grep {
    /// Makes the tool for a working directory.
    ///
    /// ```
    /// use haft_tools_core::Tool as _;
    ///
    /// # let directory = tempfile::tempdir()?;
    /// let workdir = haft_workdir::Workdir::open(directory.path())?;
    /// let grep = haft_tool_search::Grep::new(workdir);
    /// assert_eq!(grep.spec().name().as_str(), "grep");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(workdir: Workdir) -> Self {
        let spec = ToolSpec::new(ToolName::project("grep"), DESCRIPTION, input_schema::<GrepInput>())
            .with_title("Search in files")
            .with_hints(ToolHints { read_only: true, idempotent: true, ..ToolHints::default() })
            .with_origin(Origin::Builtin);
        Self { workdir, spec, options: SearchOptions::default() }
    }

    /// Sets how long a search may take and how many threads it uses.
    pub fn options(self, options: SearchOptions) -> Self {
        Self { options, ..self }
    }
}

impl Tool for Grep {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare(&self, input: &Value, _scope: &CallScope) -> Result<Prepared, ToolError> {
        let request = Request::resolve(&self.workdir, self.options, parse_input(input)?)?;
        Ok(Prepared::new(request.accesses(), request))
    }
}

/// A search that is ready to run.
#[derive(Debug)]
struct Request {
    workdir: Workdir,
    /// Where to search, in the order of the paths, each once.
    starts: Vec<Start>,
    pattern: Pattern,
    filter: FileFilter,
    mode: Mode,
    before: usize,
    after: usize,
    limit: u64,
    offset: u64,
    hidden: bool,
    no_ignore: bool,
    sort: Order,
    options: SearchOptions,
}

impl Request {
    fn resolve(workdir: &Workdir, options: SearchOptions, input: GrepInput) -> Result<Self, ToolError> {
        let GrepInput { pattern, path, mut paths, glob, file_type, mode, context, before, after, .. } = input;
        let pattern_options =
            PatternOptions { case: input.case, literal: input.literal, multiline: input.multiline };
        let pattern = Pattern::compile(&pattern, pattern_options)?;
        let filter = FileFilter::parse(glob, file_type)?;
        if paths.is_empty() {
            paths.push(path);
        }
        let starts: Result<Vec<Start>, _> = paths.iter().map(|path| Start::resolve(workdir, path)).collect();
        let mut starts = starts?;
        starts.sort_by(|left, right| left.path().cmp(right.path()));
        starts.dedup();
        Ok(Self {
            workdir: workdir.clone(),
            starts,
            pattern,
            mode,
            before: before.or(context).unwrap_or(0).into(),
            after: after.or(context).unwrap_or(0).into(),
            limit: input.limit.into(),
            offset: input.offset.into(),
            hidden: input.hidden.unwrap_or(filter.names_hidden()),
            filter,
            no_ignore: input.no_ignore,
            sort: input.sort,
            options,
        })
    }

    fn accesses(&self) -> Accesses {
        self.starts.iter().flat_map(|start| start.accesses(self.no_ignore)).collect()
    }
}

#[async_trait]
impl Action for Request {
    async fn run(self: Box<Self>, cx: CallContext) -> Result<ToolOutput, ToolError> {
        let searched: Vec<_> = self.starts.iter().map(Start::searched).collect();
        run_blocking(cx, self.options.timeout, searched, move |watch| {
            let findings = search::search(&self, watch)?;
            Ok(report::output(&self, &findings))
        })
        .await
    }
}
