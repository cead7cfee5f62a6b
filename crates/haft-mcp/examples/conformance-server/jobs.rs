use crate::tool::FixtureTool;
use crate::tools::{answered, ask, client, form, name, nothing, one};
use haft_core::{ToolError, ToolOutput};
use haft_mcp::{Ability, Ask};
use serde_json::json;
use std::time::Duration;
use tokio::time::sleep;

/// For how long a job works before it asks: long enough to be a task by then.
const WORK: Duration = Duration::from_millis(100);

/// The tools whose calls go on as tasks.
pub(crate) fn jobs() -> Vec<FixtureTool> {
    let seconds = json!({ "type": "object", "properties": { "seconds": { "type": "number" }, "label": { "type": "string" } } });
    vec![
        FixtureTool::new("greet", "Greets.", one("name", "string"), |input, _| async move {
            Ok(ToolOutput::text(format!("Hello, {}!", input["name"].as_str().unwrap_or_default())))
        }),
        FixtureTool::new("slow_compute", "Takes its time.", seconds, |input, _| async move {
            let seconds = input["seconds"].as_f64().unwrap_or_default().clamp(0.0, 60.0);
            sleep(Duration::from_secs_f64(seconds)).await;
            Ok(ToolOutput::text(format!("Computed for {seconds} s")))
        }),
        FixtureTool::new("failing_job", "Fails after a while.", nothing(), |_, cx| async move {
            let client = client(&cx)?;
            if !client.caller().can.tasks {
                client.needs(Ability::Tasks);
            }
            sleep(Duration::from_secs(1)).await;
            Err(ToolError::failed("This job intentionally fails"))
        }),
        FixtureTool::new("confirm_delete", "Asks before it is done.", file(), |_, cx| async move {
            sleep(WORK).await;
            let confirmed = ask(&cx, "confirm", form("Delete it?", one("confirm", "boolean"))).await??;
            let done = if confirmed["confirm"] == true { "Deleted" } else { "Kept" };
            Ok(ToolOutput::text(done))
        }),
        FixtureTool::new("multi_input", "Asks two things.", nothing(), |_, cx| async move {
            sleep(WORK).await;
            let asks = vec![
                Ask::new("first", form("What is the first?", one("name", "string"))),
                Ask::new("second", form("What is the second?", one("name", "string"))),
            ];
            let [first, second] = answered(client(&cx)?.ask(asks).await, ["first", "second"])?;
            Ok(ToolOutput::text(format!("{} {}", first["name"], second["name"])))
        }),
        FixtureTool::new(
            "test_tool_with_task",
            "Asks, and goes on as a task.",
            nothing(),
            |_, cx| async move {
                let answer = ask(&cx, "user_name", name()).await??;
                sleep(WORK).await;
                Ok(ToolOutput::text(format!("Hello, {}!", answer["name"].as_str().unwrap_or_default())))
            },
        ),
    ]
}

fn file() -> serde_json::Value {
    json!({ "type": "object", "properties": { "filename": { "type": "string" } } })
}
