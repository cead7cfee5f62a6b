use haft_core::{CallId, Digest, RunId, ToolName};
use serde_json::json;

/// Names the run that a call starts for one of its tasks: the same each time that the call is made.
///
/// A model may give another call the same id later; the number of messages before it tells the two apart, where it is known.
pub(super) fn child_run(
    (parent, call, after_messages): (&RunId, &CallId, Option<u64>),
    place: usize,
    agent: &ToolName,
    task: &str,
) -> RunId {
    let digest = Digest::of(&json!([parent, call, after_messages, place, agent, task])).to_string();
    let name = format!("{agent}-{}", &digest[..12]);
    name.parse().expect("the name of a tool and a few digits are an identifier")
}
