use super::rounds::{Exchange, Halt, told};
use crate::Era;
use crate::client::convert::rpc_error;
use crate::client::session::Request;
use crate::shown::line;
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use std::time::Duration;
use tokio::time::sleep;

/// How long is waited before a server is asked how far a task is, where it does not say, and the bounds of what it says.
const INTERVAL: Duration = Duration::from_secs(1);
const SHORTEST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(10);

/// The most bytes of what a server tells of a task.
const MOST_BYTES: usize = 1_024;

/// The most bytes of a task's id.
const MOST_ID_BYTES: usize = 1_024;

/// Is a task that a server made of a call: told to be cancelled when it is dropped before its end.
pub(super) struct TaskHandle<'a> {
    exchange: &'a Exchange<'a>,
    id: String,
    /// What it was when it was made.
    task: Value,
    is_over: bool,
}

impl<'a> TaskHandle<'a> {
    pub(super) fn new(exchange: &'a Exchange<'a>, mut result: Value) -> Result<Self, Halt> {
        let task = match exchange.era() {
            Era::Legacy => result.get_mut("task").map(Value::take).unwrap_or_default(),
            Era::Modern => result,
        };
        match task.get("taskId") {
            Some(Value::String(id)) if id.len() <= MOST_ID_BYTES => {
                let id = id.clone();
                Ok(Self { exchange, id, task, is_over: false })
            }
            _ => Err(told("the server made a task of the call, and does not name it")),
        }
    }

    /// Asks how far the task is until it is done, and gives the call's result.
    pub(super) async fn result(mut self) -> Result<Value, Halt> {
        let mut answered: HashSet<String> = HashSet::new();
        let mut task = self.task.take();
        loop {
            match task.get("status").and_then(Value::as_str) {
                Some("completed" | "failed") if self.exchange.era() == Era::Legacy => {
                    let result = self.ask("tasks/result").await;
                    self.is_over = true;
                    return result;
                }
                // The task as it was made does not have its result with it.
                Some("completed") if task.get("result").is_some() => {
                    self.is_over = true;
                    return Ok(task["result"].take());
                }
                Some("failed") if task.get("error").is_some() => {
                    self.is_over = true;
                    return Err(Halt::Begun(rpc_error(task["error"].take())));
                }
                Some("cancelled") => {
                    self.is_over = true;
                    return Err(told(&format!("the server cancelled the call{}", Self::said(&task))));
                }
                Some("input_required") if self.exchange.era() == Era::Modern => {
                    let wanted = task.get_mut("inputRequests").map(Value::take).unwrap_or_default();
                    self.answer(wanted, &mut answered).await?;
                }
                Some("completed" | "failed" | "working" | "submitted" | "input_required") => {}
                status => {
                    let status = status.map(|status| line(status, 60)).unwrap_or_default();
                    return Err(told(&format!("the call is in a state that is not known here: `{status}`")));
                }
            }
            sleep(interval(&task)).await;
            task = self.ask("tasks/get").await?;
            // That the server still knows it is news, too.
            self.exchange.watch.tell(&format!("the server works on it{}", Self::said(&task)));
        }
    }

    /// Answers what has not been answered yet.
    async fn answer(&self, wanted: Value, answered: &mut HashSet<String>) -> Result<(), Halt> {
        let Value::Object(wanted) = wanted else { return Ok(()) };
        let new: Map<String, Value> = wanted.into_iter().filter(|(key, _)| !answered.contains(key)).collect();
        if new.is_empty() {
            return Ok(());
        }
        answered.extend(new.keys().cloned());
        let answers = self.exchange.answers(new.into()).await?;
        let params = json!({ "taskId": self.id, "inputResponses": answers });
        self.exchange.send(Request { method: "tasks/update", params }).await?;
        Ok(())
    }

    async fn ask(&self, method: &'static str) -> Result<Value, Halt> {
        self.exchange.send(Request { method, params: json!({ "taskId": self.id }) }).await
    }

    fn said(task: &Value) -> String {
        let said = task.get("statusMessage").and_then(Value::as_str);
        said.map(|said| format!(": {}", line(said, MOST_BYTES))).unwrap_or_default()
    }
}

impl Drop for TaskHandle<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            let generation = self.exchange.connection.generation;
            self.exchange.server.shared().leave_task(generation, std::mem::take(&mut self.id));
        }
    }
}

/// How long the server wants to be left alone, within bounds.
fn interval(task: &Value) -> Duration {
    let said = task.get("pollIntervalMs").or_else(|| task.get("pollInterval")).and_then(Value::as_u64);
    said.map_or(INTERVAL, Duration::from_millis).clamp(SHORTEST, LONGEST)
}
