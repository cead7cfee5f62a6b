mod collect;
mod file_search;
mod input;
mod overlooked;
mod pattern;
mod report;
mod search;

use crate::path_pattern::PathFilter;
use crate::start::Start;
use crate::watch::run_blocking;
use async_trait::async_trait;
use haft_core::{Origin, ToolError, ToolHints, ToolName, ToolOutput, ToolSpec};
use haft_tools_core::{Action, CallContext, CallScope, Prepared, Tool, input_schema, parse_input};
use haft_workdir::Workdir;
use input::{GrepInput, Mode};
use pattern::{Pattern, PatternOptions};
use serde_json::Value;

const DESCRIPTION: &str = "\
Searches the text of files with a regular expression, in the whole working directory unless `path` says otherwise. \
Files that .gitignore leaves out, hidden files and binary files are passed over. A match is a line that matches. \
Matches are given as `path:line: text`, lines of context as `path-line- text`, sorted by path and line; \
`limit` is for all files together. The syntax is that of ripgrep: no look-around, no backreferences, \
and `(`, `[`, `{`, `.`, `*`, `+`, `?`, `|`, `^`, `$` and `\\` are escaped with `\\` to stand for themselves.";

/// Searches the text of files, in the manner of ripgrep.
///
/// It reads only, and declares that it reads the file or everything below the directory it is asked to search, and the
/// ignore files above that directory unless they do not count.
#[derive(Debug)]
pub struct Grep {
    workdir: Workdir,
    spec: ToolSpec,
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
        Self { workdir, spec }
    }
}

impl Tool for Grep {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare(&self, input: &Value, _scope: &CallScope) -> Result<Prepared, ToolError> {
        let request = Request::resolve(&self.workdir, parse_input(input)?)?;
        Ok(Prepared::new(request.start.accesses(request.no_ignore), request))
    }
}

/// A search that is ready to run.
#[derive(Debug)]
struct Request {
    workdir: Workdir,
    start: Start,
    pattern: Pattern,
    /// What the model wrote as `glob`, with what it means.
    filter: Option<(String, PathFilter)>,
    mode: Mode,
    before: usize,
    after: usize,
    limit: u64,
    hidden: bool,
    no_ignore: bool,
}

impl Request {
    fn resolve(workdir: &Workdir, input: GrepInput) -> Result<Self, ToolError> {
        let GrepInput { pattern, path, glob, mode, context, before, after, .. } = input;
        let options = PatternOptions {
            ignore_case: input.ignore_case,
            literal: input.literal,
            multiline: input.multiline,
        };
        let pattern = Pattern::compile(&pattern, options)?;
        let filter = match glob {
            Some(glob) => match PathFilter::parse(&glob) {
                Ok(filter) => Some((glob, filter)),
                Err(error) => return Err(error.refuse("glob", &glob)),
            },
            None => None,
        };
        let names_hidden = filter.as_ref().is_some_and(|(_, filter)| filter.names_hidden());
        Ok(Self {
            workdir: workdir.clone(),
            start: Start::resolve(workdir, &path)?,
            pattern,
            filter,
            mode,
            before: before.or(context).unwrap_or(0).into(),
            after: after.or(context).unwrap_or(0).into(),
            limit: input.limit.into(),
            hidden: input.hidden.unwrap_or(names_hidden),
            no_ignore: input.no_ignore,
        })
    }
}

#[async_trait]
impl Action for Request {
    async fn run(self: Box<Self>, cx: CallContext) -> Result<ToolOutput, ToolError> {
        run_blocking(cx, move |watch| {
            let findings = search::search(&self, watch)?;
            Ok(report::output(&self, &findings))
        })
        .await
    }
}
