//! Each stage that a call passes, by what the model reads of it.

mod batches;
mod dropping;
mod ending;
mod hostile;
mod repair_notes;
mod repairing;
mod resolving;
mod shaping;
mod storing;
mod validating;
mod wording;

use crate::fixture::{Probe, anything, outline, registry, reply};
use expect_test::Expect;
use haft_tools_core::{LocalExecutor, Selector};
use serde_json::{Value, json};

/// Calls the tool `edit` of this schema, without any repair.
async fn check(schema: Value, input: Value, expect: Expect) {
    let tools = registry([Probe::new("edit").schema(schema)]).without_repair(&Selector::all());
    let executor = LocalExecutor::builder(tools).policy(anything()).build();
    expect.assert_eq(&outline(&reply(&executor, "edit", input).await));
}

fn edit() -> Value {
    json!({
        "properties": {
            "path": { "type": "string" },
            "line": { "type": "integer", "minimum": 1 },
            "mode": { "enum": ["insert", "replace"] },
            "marks": { "type": "array", "items": { "$ref": "#/$defs/mark" } },
        },
        "required": ["path"],
        "additionalProperties": false,
        "$defs": {
            "mark": {
                "type": "object",
                "properties": { "name": { "type": "string" }, "column": { "type": ["integer", "null"] } },
                "required": ["name"],
                "additionalProperties": false,
            },
        },
    })
}
