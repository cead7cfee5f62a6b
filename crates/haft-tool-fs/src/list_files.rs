mod found;
mod gather;
mod render;
mod sieve;

use crate::blocking::blocking;
use crate::failure::{failure_near, resolve};
use crate::hints::Hints;
use crate::resource;
use crate::words::{Shown, size};
use async_trait::async_trait;
use gather::gather;
use haft_core::{Origin, ToolError, ToolHints, ToolName, ToolOutput, ToolSpec};
use haft_tools_core::{
    Access, Accesses, Action, CallContext, CallScope, Prepared, Tool, input_schema, parse_input,
};
use haft_workdir::{EntryKind, WalkOptions, Workdir, WorkdirPath};
use render::render;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use sieve::Sieve;
pub(crate) use sieve::is_denied;
use std::iter;
use tokio_util::sync::CancellationToken;

/// How many bytes a listing has: fewer than the executor's default bound of 32 KiB, so that what is said about what is
/// not shown is true.
const LISTING_BYTES: usize = 28 * 1024;

/// How many lines a listing has: less than the 2,000 that the executor lets pass by default.
const LISTING_LINES: usize = 1_900;

const DESCRIPTION: &str = "\
Lists a directory of the working directory as a tree with file sizes. Hidden entries and those that ignore files \
(.gitignore) leave out are counted but not shown, unless asked for; .git never is. A directory whose content is not shown \
says how many entries it has. To find files by name or content use glob or grep.";

/// Lists a directory as a tree: the tool `list_files`.
///
/// Entries are in the order of their names; where there are more than the limit, those nearer to the top are shown first,
/// and every directory tells how many of its entries are not. Symbolic links are shown with where they lead and not
/// followed.
///
/// Declares that it reads the directory and everything below it but for what is denied, and the ignore files above it unless
/// they do not count, of which it does without those that are denied; if it does not exist, also the directory whose names are
/// shown.
///
/// ```
/// use haft_tool_fs::ListFiles;
/// use haft_tools_core::ToolRegistry;
/// # use haft_testkit::call;
/// # use serde_json::json;
/// # use std::sync::Arc;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let tree = haft_testkit::Tree::new().file("src/lib.rs", "pub mod net;\n").file("build.log", "").file(".gitignore", "*.log");
/// # let workdir = tree.workdir();
/// let registry = ToolRegistry::of([Arc::new(ListFiles::new(workdir.clone())) as _])?;
/// let reply = call(&registry, "list_files", json!({})).await;
/// // What ignore files leave out is counted and not listed.
/// let tree = "./\n  src/\n    lib.rs  13 bytes";
/// let left_out = "[left out: 1 hidden and 1 ignored; set `hidden` or `ignored` to see them]";
/// assert_eq!(reply.output.to_text(), format!("{tree}\n{left_out}"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct ListFiles {
    spec: ToolSpec,
    workdir: Workdir,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The directory to list, relative to the working directory.
    #[serde(default = "working_directory")]
    path: String,
    /// How many levels to show: 1 is the entries of the directory itself.
    #[serde(default = "default_depth")]
    #[schemars(range(min = 1, max = 10))]
    depth: u64,
    /// Show entries whose name starts with a dot too.
    #[serde(default)]
    hidden: bool,
    /// Show entries that ignore files leave out too.
    #[serde(default)]
    ignored: bool,
    /// The most entries to show.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 5000))]
    limit: u64,
}

/// What a call lists that does not say.
fn working_directory() -> String {
    ".".to_owned()
}

/// How many levels a call gets that does not say.
fn default_depth() -> u64 {
    2
}

/// How many entries a call gets that does not say.
fn default_limit() -> u64 {
    500
}

/// How many entries are listed of a directory that is read like a file.
const READ_ENTRIES: usize = 200;

/// Lists the entries of a directory for somebody who wants to read it.
pub(crate) fn list_entries(
    workdir: &Workdir,
    path: &WorkdirPath,
    asked: &CallContext,
    stop: &CancellationToken,
) -> Result<String, ToolError> {
    // Ignore files above it are not declared to be read, so none counts.
    let options = WalkOptions::default().hidden(true).ignored(true);
    let sieve = Sieve::of(asked, path);
    let mut found = gather(workdir, path, 1, options, &sieve, stop)?;
    found.choose(READ_ENTRIES);
    let listing = render(workdir, &found, &sieve, stop)?;
    Ok(format!("`{}` is a directory:\n{listing}", Shown::new(path.as_str())))
}

impl ListFiles {
    /// Makes the tool for a working directory.
    pub fn new(workdir: Workdir) -> Self {
        let spec = ToolSpec::new(ToolName::project("list_files"), DESCRIPTION, input_schema::<Input>())
            .with_title("List files")
            .with_origin(Origin::Builtin)
            .with_hints(ToolHints { read_only: true, idempotent: true, ..ToolHints::default() });
        Self { spec, workdir }
    }
}

impl Tool for ListFiles {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare(&self, input: &Value, _scope: &CallScope) -> Result<Prepared, ToolError> {
        let input: Input = parse_input(input)?;
        let path = resolve(&self.workdir, &input.path)?;
        let hints = Hints::where_missing(&self.workdir, &path);
        let above = (!input.ignored).then(|| resource::ignore_files_above(&path)).into_iter().flatten();
        let accesses: Accesses = iter::once(Access::read(resource::tree(&path)).sifted())
            .chain(above.map(|file| Access::read(file).dispensable()))
            .chain(hints.access())
            .collect();
        let whole = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let list = List {
            workdir: self.workdir.clone(),
            depth: whole(input.depth),
            options: WalkOptions::default().hidden(input.hidden).ignored(input.ignored),
            limit: whole(input.limit),
            path,
            hints,
        };
        Ok(Prepared::new(accesses, list))
    }
}

struct List {
    workdir: Workdir,
    path: WorkdirPath,
    hints: Hints,
    depth: usize,
    options: WalkOptions,
    limit: usize,
}

#[async_trait]
impl Action for List {
    async fn run(self: Box<Self>, cx: CallContext) -> Result<ToolOutput, ToolError> {
        let sieve = Sieve::of(&cx, &self.path);
        self.hints.asked_by(&cx);
        blocking(&cx, move |stop| self.list(&sieve, stop)).await
    }
}

impl List {
    fn list(&self, sieve: &Sieve, stop: &CancellationToken) -> Result<ToolOutput, ToolError> {
        let failed = |error| failure_near(&self.workdir, &self.hints, error);
        let mut limit = self.limit;
        let metadata = self.workdir.metadata(&self.path).map_err(failed)?;
        if metadata.kind() == EntryKind::File {
            return Ok(ToolOutput::text(format!(
                "`{}` is a file of {}; read it with `read_file`",
                Shown::new(self.path.as_str()),
                size(metadata.size())
            )));
        }
        let mut found = gather(&self.workdir, &self.path, self.depth, self.options, sieve, stop)?;
        let text = loop {
            found.choose(limit);
            let text = render(&self.workdir, &found, sieve, stop)?;
            let lines = text.matches('\n').count() + 1;
            if text.len() <= LISTING_BYTES && lines <= LISTING_LINES || limit == 1 {
                break text;
            }
            // The entries that are left out are about as long as those that stay.
            let shown = found.shown();
            limit =
                (shown * LISTING_BYTES / text.len()).min(shown * LISTING_LINES / lines).clamp(1, limit - 1);
        };
        let details = json!({ "path": self.path.as_str(), "shown": found.shown() });
        Ok(ToolOutput::text(text).with_details(details))
    }
}
