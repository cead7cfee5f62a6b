use super::kept_changes::{ChangesError, KeptChanges};
use super::patch::Patch;
use async_trait::async_trait;
use haft_core::{Digest, Origin, RunId, ToolError, ToolErrorKind, ToolHints, ToolName, ToolOutput, ToolSpec};
use haft_tools_core::{
    Access, Accesses, Action, CallContext, CallScope, Prepared, Preview, Tool, input_schema, parse_input,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::fmt;

const DESCRIPTION: &str = "\
Applies to the working directory what an agent that you delegated to changed in a place of its own: all of it or nothing, \
and once. Look at the changes with show_changes first. Where something here has changed meanwhile and they do not fit any \
more, it says where; then make those changes yourself.";

/// Applies what a child changed in its place to its parent's: the tool `apply_changes`.
///
/// A call is what the same call of `apply_patch` with the whole patch would be: the same accesses are decided, a person is
/// shown the same diff, and an approval is bound to these very changes. Rules that name tools have to name this one as well.
/// Nothing but a run is named by the model, and it must be a child of the one that calls, as the host's scope says it.
///
/// Changes that do not fit are not applied, and can be tried again; those that were are not applied a second time.
///
/// ```
/// use haft_subagents::{ApplyChanges, KeptChanges, ShowChanges};
/// use haft_tools_core::ToolRegistry;
/// use haft_workdir::Workdir;
///
/// # let (project, scratch) = (tempfile::tempdir()?, tempfile::tempdir()?);
/// let workdir = Workdir::open(project.path())?;
/// let kept = KeptChanges::new(scratch.path().join("changes"));
/// let registry = ToolRegistry::new()
///     .with(ShowChanges::new(kept.clone()))?
///     .with(ApplyChanges::new(haft_tool_fs::ApplyPatch::new(workdir), kept))?;
/// assert_eq!(registry.names().collect::<Vec<_>>(), ["apply_changes", "show_changes"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ApplyChanges {
    spec: ToolSpec,
    apply_patch: Box<dyn Tool>,
    kept: KeptChanges,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The run of the agent, as delegate answered it; or its name, where changes of one run of it alone wait to be applied.
    pub(super) run: String,
}

impl ApplyChanges {
    /// Makes the tool over the `apply_patch` that works in the same place as the run that is to have it.
    pub fn new(apply_patch: impl Tool, kept: KeptChanges) -> Self {
        let spec = ToolSpec::new(ToolName::project("apply_changes"), DESCRIPTION, input_schema::<Input>())
            .with_title("Apply changes")
            .with_origin(Origin::Builtin)
            .with_hints(ToolHints { destructive: true, ..ToolHints::default() });
        Self { spec, apply_patch: Box::new(apply_patch), kept }
    }
}

impl Tool for ApplyChanges {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare(&self, input: &Value, scope: &CallScope) -> Result<Prepared, ToolError> {
        let Input { run } = parse_input(input)?;
        let parent = scope.run();
        let run = named(&self.kept, parent, run)?;
        let (patch, digest) = self.kept.to_apply(parent, &run).map_err(refused)?;
        let prepared = self.apply_patch.prepare(&json!({ "patch": patch.text }), scope)?;
        let accesses = bound(prepared.accesses(), digest);
        let (kept, parent) = (self.kept.clone(), parent.clone());
        let patch = Patch { text: String::new(), ..patch };
        Ok(Prepared::new(accesses, Apply { prepared, kept, parent, run, digest, patch }))
    }
}

impl fmt::Debug for ApplyChanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApplyChanges").field("kept", &self.kept).finish_non_exhaustive()
    }
}

/// Reads the name of a run that the model gave, or of an agent of whose runs one alone has changes; what is no name at all is no
/// child's.
pub(super) fn named(kept: &KeptChanges, parent: &RunId, run: String) -> Result<RunId, ToolError> {
    // A run that is called like an agent is meant itself.
    if let Ok(exact) = run.parse::<RunId>()
        && kept.is_known(parent, &exact)
    {
        return Ok(exact);
    }
    let waiting = kept.waiting(parent).map_err(refused)?;
    let agent_of = |run: &RunId| run.as_str().rsplit_once('-').map(|(agent, _)| agent.to_owned());
    let mut of_agent = waiting.iter().filter(|waiting| agent_of(waiting).as_deref() == Some(run.as_str()));
    if let (Some(only), None) = (of_agent.next(), of_agent.next()) {
        return Ok(only.clone());
    }
    run.parse().map_err(|_| {
        let others = kept.waiting(parent).unwrap_or_default();
        refused(ChangesError::Unknown { run, others })
    })
}

pub(super) fn refused(error: ChangesError) -> ToolError {
    let kind = match &error {
        ChangesError::Unknown { .. } => ToolErrorKind::NotFound,
        ChangesError::Applied { .. } | ChangesError::Underway { .. } | ChangesError::Replaced { .. } => {
            ToolErrorKind::InvalidInput
        }
        ChangesError::Unreadable { .. } | ChangesError::Files(_) => ToolErrorKind::Failed,
    };
    ToolError::new(kind, error.model_text()).with_source(error)
}

/// Writes into the accesses which changes these are, so that an approval of them is one of these alone.
fn bound(accesses: &Accesses, digest: Digest) -> Accesses {
    let digest = digest.to_string();
    let of = digest.get(..12).unwrap_or(&digest);
    let bound = |access: &Access| match access.detail() {
        None => access.clone().with_detail(format!("changes sha256:{of}")),
        Some(detail) => access.clone().with_detail(format!("{detail}, changes sha256:{of}")),
    };
    accesses.iter().map(bound).collect()
}

struct Apply {
    prepared: Prepared,
    kept: KeptChanges,
    parent: RunId,
    run: RunId,
    digest: Digest,
    /// Without its text.
    patch: Patch,
}

#[async_trait]
impl Action for Apply {
    async fn preview(&self) -> Preview {
        self.prepared.preview().await
    }

    async fn run(self: Box<Self>, cx: CallContext) -> Result<ToolOutput, ToolError> {
        let Self { prepared, kept, parent, run, digest, patch } = *self;
        let noted = |result: Result<Result<(), ChangesError>, tokio::task::JoinError>| match result {
            Ok(noted) => noted.map_err(refused),
            Err(error) => {
                Err(ToolError::failed("these changes cannot be applied now; try again").with_source(error))
            }
        };
        let begin = {
            let (kept, parent, run) = (kept.clone(), parent.clone(), run.clone());
            move || kept.begin(&parent, &run, digest)
        };
        noted(tokio::task::spawn_blocking(begin).await)?;
        // Dropped here, it stays under way: how far it came is not known.
        let result = prepared.run(cx).await;
        let is_applied = result.is_ok();
        let end = tokio::task::spawn_blocking(move || kept.end(&parent, &run, is_applied));
        let ended = noted(end.await);
        let mut output = result?;
        // They were applied; that it could not be noted keeps them from being applied again.
        drop(ended);
        let mut rest = String::new();
        patch.list_left_out(&mut rest);
        if !rest.is_empty() {
            output.content.push(haft_core::Content::text(rest.trim_start()));
        }
        Ok(output)
    }
}
