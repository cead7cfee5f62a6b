use super::doing::{Doing, changing};
use super::entry::{not_inside, not_the_root, occupied, resolve_entry};
use crate::failure::{crosses_devices, failure, failure_near};
use crate::hints::{Hints, missing_above};
use crate::resource;
use crate::words::Shown;
use haft_core::{Origin, ToolError, ToolHints, ToolName, ToolSpec};
use haft_tools_core::{Access, Accesses, CallScope, Prepared, Tool, input_schema, parse_input};
use haft_workdir::{Error, Workdir};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

const DESCRIPTION: &str = "\
Moves or renames a file or a directory. Nothing is replaced: if something is at the new path, the call is refused. \
Directories above the new path are made.";

/// Moves or renames an entry: the tool `move`.
///
/// It happens in one step; a symbolic link is itself moved. Declares that it writes everything at and below both places, and
/// the directories that it makes.
///
/// ```
/// use haft_tool_fs::MoveEntry;
/// use haft_tools_core::ToolRegistry;
/// # use haft_testkit::call;
/// # use serde_json::json;
/// # use std::sync::Arc;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let tree = haft_testkit::Tree::new().file("a.txt", "one\n").file("b.txt", "two\n");
/// # let workdir = tree.workdir();
/// let registry = ToolRegistry::of([Arc::new(MoveEntry::new(workdir.clone())) as _])?;
/// call(&registry, "move", json!({ "from": "a.txt", "to": "docs/a.txt" })).await;
/// assert_eq!(workdir.read(&workdir.resolve("docs/a.txt")?, 100)?, b"one\n");
///
/// // Nothing that is there is replaced.
/// let reply = call(&registry, "move", json!({ "from": "b.txt", "to": "docs/a.txt" })).await;
/// assert!(!reply.status.is_ok());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct MoveEntry {
    spec: ToolSpec,
    workdir: Workdir,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The file or directory to move, relative to the working directory.
    from: String,
    /// Its whole new path, its name included.
    to: String,
}

impl MoveEntry {
    /// Makes the tool for a working directory.
    pub fn new(workdir: Workdir) -> Self {
        let spec = ToolSpec::new(ToolName::project("move"), DESCRIPTION, input_schema::<Input>())
            .with_title("Move")
            .with_origin(Origin::Builtin)
            .with_hints(ToolHints { destructive: true, ..ToolHints::default() });
        Self { spec, workdir }
    }
}

impl Tool for MoveEntry {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare(&self, input: &Value, _scope: &CallScope) -> Result<Prepared, ToolError> {
        let input: Input = parse_input(input)?;
        let from = resolve_entry(&self.workdir, &input.from)?;
        let to = resolve_entry(&self.workdir, &input.to)?;
        not_the_root(&from, "move")?;
        not_inside(&from, &to)?;
        let hints = Hints::where_missing(&self.workdir, &from);
        let created = resource::created(&missing_above(&self.workdir, &to));
        let written = [resource::tree(&from), resource::tree(&to)].into_iter().chain(created);
        let accesses: Accesses = written.map(Access::write).chain(hints.access()).collect();
        let workdir = self.workdir.clone();
        let said = format!("`{}` to `{}`", Shown::new(from.as_str()), Shown::new(to.as_str()));
        let doing = Doing::new(format!("moves {said}"), move |cx, _| {
            hints.asked_by(cx);
            let _lock = workdir.lock([&from, &to]).map_err(failure)?;
            if let Err(error @ Error::NotFound { .. }) = workdir.kind(&from) {
                return Err(failure_near(&workdir, &hints, error));
            }
            changing(&workdir, cx, |set| {
                set.rename(&from, &to).map_err(|error| match error {
                    Error::Exists { .. } => occupied(&to).with_source(error),
                    error if crosses_devices(&error) => ToolError::failed(format!(
                        "`{}` lies on another file system than `{}`; copy it there, then delete it here",
                        Shown::new(to.as_str()),
                        Shown::new(from.as_str())
                    ))
                    .with_source(error),
                    other => failure(other),
                })?;
                Ok(format!("moved {said}"))
            })
        });
        Ok(Prepared::new(accesses, doing))
    }
}
