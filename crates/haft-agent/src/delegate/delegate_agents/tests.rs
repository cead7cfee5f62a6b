use super::DelegateAgents;
use serde_json::json;

#[test]
fn no_task_is_let_through_where_none_may_be_given() {
    let agents = DelegateAgents::new().agent("explorer".parse().unwrap(), "Finds where things are.").tasks(0);
    let input = json!({ "tasks": [{ "agent": "explorer", "task": "Look." }] });
    let error = agents.read(&input).unwrap_err();
    assert_eq!(error.message(), "no tasks can be given here; do the work yourself");
    // What the model is told is a schema that lists can meet.
    assert_eq!(agents.schema()["properties"]["tasks"]["maxItems"], 1);
}
