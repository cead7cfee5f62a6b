use super::apply_changes::{Input, named, refused};
use super::kept_changes::KeptChanges;
use async_trait::async_trait;
use haft_core::{Origin, RunId, ToolError, ToolHints, ToolName, ToolOutput, ToolSpec};
use haft_tools_core::{Accesses, Action, CallContext, CallScope, Prepared, Tool, input_schema, parse_input};
use serde_json::Value;

const DESCRIPTION: &str = "\
Shows what an agent that you delegated to changed in a place of its own, as a unified diff. What is too long is cut, and \
the reply says how to read the rest.";

/// Shows what a child changed in its place: the tool `show_changes`.
///
/// It touches nothing. The whole diff is its output, which the executor bounds, redacts and keeps like any other.
///
/// ```
/// use haft_core::ReplyStatus;
/// use haft_subagents::{FileChange, KeptChanges, Patch, PatchFile, ShowChanges};
/// use haft_tools_core::ToolRegistry;
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let scratch = tempfile::tempdir()?;
/// let kept = KeptChanges::new(scratch.path().join("changes"));
/// let patch = Patch::new("--- a/a.txt\n+++ b/a.txt\n", vec![PatchFile::new("a.txt", FileChange::Changed)]);
/// kept.keep(&"test".parse()?, &"editor-1".parse()?, &patch)?;
///
/// let registry = ToolRegistry::new().with(ShowChanges::new(kept))?;
/// let reply = haft_testkit::call(&registry, "show_changes", json!({ "run": "editor-1" })).await;
/// assert_eq!(reply.status, ReplyStatus::Ok);
/// assert!(reply.output.to_text().contains("+++ b/a.txt"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct ShowChanges {
    spec: ToolSpec,
    kept: KeptChanges,
}

impl ShowChanges {
    /// Makes the tool.
    pub fn new(kept: KeptChanges) -> Self {
        let spec = ToolSpec::new(ToolName::project("show_changes"), DESCRIPTION, input_schema::<Input>())
            .with_title("Show changes")
            .with_origin(Origin::Builtin)
            .with_hints(ToolHints { read_only: true, idempotent: true, ..ToolHints::default() });
        Self { spec, kept }
    }
}

impl Tool for ShowChanges {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare(&self, input: &Value, scope: &CallScope) -> Result<Prepared, ToolError> {
        let Input { run } = parse_input(input)?;
        let parent = scope.run().clone();
        let run = named(&self.kept, &parent, run)?;
        Ok(Prepared::new(Accesses::none(), Show { kept: self.kept.clone(), parent, run }))
    }
}

struct Show {
    kept: KeptChanges,
    parent: RunId,
    run: RunId,
}

#[async_trait]
impl Action for Show {
    async fn run(self: Box<Self>, _cx: CallContext) -> Result<ToolOutput, ToolError> {
        let Self { kept, parent, run } = *self;
        let read = tokio::task::spawn_blocking(move || kept.read(&parent, &run)).await;
        let patch = read
            .map_err(|error| {
                ToolError::failed("these changes cannot be read now; try again").with_source(error)
            })?
            .map_err(refused)?;
        let mut text = String::new();
        patch.list(&mut text);
        patch.list_left_out(&mut text);
        text += "\n\n";
        text += &patch.text;
        Ok(ToolOutput::text(text.trim()))
    }
}
