use super::doing::{Doing, changing};
use crate::failure::{failure, resolve_writable};
use crate::hints::missing_above;
use crate::resource;
use crate::words::{Shown, joined};
use haft_core::{Origin, ToolError, ToolHints, ToolName, ToolSpec};
use haft_tools_core::{Access, Accesses, CallScope, Prepared, Tool, input_schema, parse_input};
use haft_workdir::Workdir;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::iter;

const DESCRIPTION: &str = "\
Makes a directory, with those above it that do not exist. write_file makes the directories of a file by itself.";

/// Makes a directory: the tool `make_directory`.
///
/// Declares that it writes the directory and each one above it that does not exist.
///
/// ```
/// use haft_tool_fs::MakeDirectory;
/// use haft_tools_core::ToolRegistry;
/// # use haft_testkit::call;
/// # use serde_json::json;
/// # use std::sync::Arc;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let tree = haft_testkit::Tree::new();
/// # let workdir = tree.workdir();
/// let registry = ToolRegistry::of([Arc::new(MakeDirectory::new(workdir.clone())) as _])?;
/// call(&registry, "make_directory", json!({ "path": "docs/guide" })).await;
/// assert_eq!(workdir.kind(&workdir.resolve("docs/guide")?)?, haft_workdir::EntryKind::Directory);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct MakeDirectory {
    spec: ToolSpec,
    workdir: Workdir,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The directory to make, relative to the working directory.
    path: String,
}

impl MakeDirectory {
    /// Makes the tool for a working directory.
    pub fn new(workdir: Workdir) -> Self {
        let spec = ToolSpec::new(ToolName::project("make_directory"), DESCRIPTION, input_schema::<Input>())
            .with_title("Make directory")
            .with_origin(Origin::Builtin)
            .with_hints(ToolHints { idempotent: true, ..ToolHints::default() });
        Self { spec, workdir }
    }
}

impl Tool for MakeDirectory {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare(&self, input: &Value, _scope: &CallScope) -> Result<Prepared, ToolError> {
        let input: Input = parse_input(input)?;
        let path = resolve_writable(&self.workdir, &input.path)?;
        let above = resource::created(&missing_above(&self.workdir, &path));
        let accesses: Accesses = iter::once(resource::file(&path)).chain(above).map(Access::write).collect();
        let workdir = self.workdir.clone();
        let shown = format!("makes the directory `{}`", Shown::new(path.as_str()));
        let doing = Doing::new(shown, move |cx, _| {
            changing(&workdir, cx, |set| {
                set.create_dir_all(&path).map_err(failure)?;
                let created: Vec<String> =
                    set.directories().iter().map(|path| format!("`{}`", Shown::new(path.as_str()))).collect();
                Ok(if created.is_empty() {
                    format!("`{}` is a directory already", Shown::new(path.as_str()))
                } else {
                    format!("made {}", joined(&created, "and"))
                })
            })
        });
        Ok(Prepared::new(accesses, doing))
    }
}
