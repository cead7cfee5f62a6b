mod entry;
mod grammar;
mod input;
mod kind;
mod language;
mod name_pattern;
mod named;
mod named_report;
mod outlined;
mod outlined_report;
mod parse;
mod references;
mod search;
mod shape;
mod signature;
mod source;
mod symbols;
mod tally;
mod visit;

use crate::file_filter::FileFilter;
use crate::options::SearchOptions;
use crate::start::Start;
use crate::watch::run_blocking;
use crate::wording::Quoted;
use async_trait::async_trait;
use haft_core::{Origin, ToolError, ToolHints, ToolName, ToolOutput, ToolSpec};
use haft_tools_core::{Accesses, Action, CallContext, CallScope, Prepared, Tool, input_schema, parse_input};
use haft_workdir::Workdir;
use input::{OutlineInput, Role};
use name_pattern::NamePattern;
use serde_json::Value;

const DESCRIPTION: &str = "\
Outlines code: what a file defines, so that a large file is read by its shape and then only where it matters. \
Each symbol is a line `lines kind: signature`, indented below what it belongs to. For a directory it gives what each file defines, and with `name` where something of that name is \
defined or used. Fields and variants are only counted. Files that .gitignore leaves out and hidden files are passed over. \
Local variables are not given. It reads ";

/// How many levels of a file are outlined where nothing else is asked for; more are only asked for.
const USUAL_DEPTH: u8 = 10;

/// Outlines code: the symbols of files, and where a name is defined and used, by the grammars of tree-sitter.
///
/// The languages are those whose features are on. It reads only, and declares that it reads the file or everything below
/// the directory it is asked for, and the ignore files above that unless they do not count.
///
/// Each file is parsed anew by each call, so what is given is what is there; of a file that is not as its language says, as
/// much is given as can be told, and where the first error is. Files over 4 MiB are not parsed. Names are compared, not what
/// they mean: two functions of one name are not told apart. What is defined in a function is given where it stands directly in
/// its body, and in JavaScript, TypeScript and Python wherever it stands.
///
/// ```
/// use haft_tool_search::Outline;
/// use haft_tools_core::ToolRegistry;
/// # use haft_testkit::call;
/// # use serde_json::json;
/// # use std::sync::Arc;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let tree = haft_testkit::Tree::new().file("src/lib.rs", "pub struct Pet;\n\nimpl Pet {\n    pub fn feed(&self) {}\n}\n");
/// # let workdir = tree.workdir();
/// let registry = ToolRegistry::of([Arc::new(Outline::new(workdir)) as _])?;
/// let reply = call(&registry, "outline", json!({ "path": "src/lib.rs" })).await;
/// let outline = "1 struct: pub struct Pet\n3-5 impl: impl Pet\n  4 method: pub fn feed(&self)";
/// assert_eq!(reply.output.to_text(), format!("{outline}\n\n3 symbols in 5 lines of Rust"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Outline {
    workdir: Workdir,
    spec: ToolSpec,
    options: SearchOptions,
}

impl Outline {
    /// Makes the tool for a working directory.
    ///
    /// ```
    /// use haft_tools_core::Tool as _;
    ///
    /// # let directory = tempfile::tempdir()?;
    /// let workdir = haft_workdir::Workdir::open(directory.path())?;
    /// let outline = haft_tool_search::Outline::new(workdir);
    /// assert_eq!(outline.spec().name().as_str(), "outline");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(workdir: Workdir) -> Self {
        let description = format!("{DESCRIPTION}{}.", language::known("and"));
        let spec = ToolSpec::new(ToolName::project("outline"), description, input_schema::<OutlineInput>())
            .with_title("Outline code")
            .with_hints(ToolHints { read_only: true, idempotent: true, ..ToolHints::default() })
            .with_origin(Origin::Builtin);
        Self { workdir, spec, options: SearchOptions::default() }
    }

    /// Sets how long an outline may take and how many threads it uses.
    pub fn options(self, options: SearchOptions) -> Self {
        Self { options, ..self }
    }
}

impl Tool for Outline {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare(&self, input: &Value, _scope: &CallScope) -> Result<Prepared, ToolError> {
        let request = Request::resolve(&self.workdir, self.options, parse_input(input)?)?;
        let accesses: Accesses = request.start.accesses(request.no_ignore).collect();
        Ok(Prepared::new(accesses, request))
    }
}

/// An outline that is ready to be made.
#[derive(Debug)]
struct Request {
    workdir: Workdir,
    start: Start,
    /// What is looked for by its name, in place of an outline.
    name: Option<(NamePattern, Role)>,
    depth: u8,
    filter: FileFilter,
    limit: u64,
    offset: u64,
    hidden: bool,
    no_ignore: bool,
    options: SearchOptions,
}

impl Request {
    fn resolve(workdir: &Workdir, options: SearchOptions, input: OutlineInput) -> Result<Self, ToolError> {
        let OutlineInput { path, name, role, depth, glob, file_type, .. } = input;
        let name = name.map(|name| NamePattern::parse(&name)).transpose()?.map(|name| (name, role));
        let filter = FileFilter::parse(glob, file_type)?;
        let start = Start::resolve(workdir, &path)?;
        let usual = match &start {
            Start::File(path) => {
                if language::by_name(path.file_name().unwrap_or_default()).is_none() {
                    return Err(ToolError::invalid_input(format!(
                        "{} cannot be outlined: it is not in {}; read it, or search its text with `grep`",
                        Quoted(path.as_str()),
                        language::known("or"),
                    )));
                }
                USUAL_DEPTH
            }
            Start::Directory(_) => 1,
        };
        Ok(Self {
            workdir: workdir.clone(),
            start,
            name,
            depth: depth.unwrap_or(usual).max(1),
            limit: input.limit.into(),
            offset: input.offset.into(),
            hidden: input.hidden.unwrap_or(filter.names_hidden()),
            filter,
            no_ignore: input.no_ignore,
            options,
        })
    }

    fn is_one_file(&self) -> bool {
        matches!(self.start, Start::File(_))
    }
}

#[async_trait]
impl Action for Request {
    async fn run(self: Box<Self>, cx: CallContext) -> Result<ToolOutput, ToolError> {
        let searched = [self.start.searched()];
        run_blocking(cx, self.options.timeout, searched, move |watch| search::search(&self, watch)).await
    }
}
