use super::Shared;
use super::outlet::Outlet;
use serde_json::{Value, json};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

/// The tools, and what each does.
const TOOLS: [(&str, &str); 19] = [
    ("echo", "Answers with `text`."),
    ("sleep", "Answers after `ms` milliseconds."),
    ("big", "Answers with a text of `bytes` bytes; with `id_last`, the id stands behind it."),
    ("deep", "Answers with lists in lists, deeper than most readers go."),
    ("text-id", "Answers with its id as a text."),
    ("wrong-id", "Answers with an id that nobody gave, and then with the right one."),
    ("twice", "Answers twice."),
    ("after-cancel", "Answers when it is cancelled."),
    ("cancel-same-id", "Cancels a request of its own that has the id of the call, then answers."),
    ("cancelled", "Answers with the ids that were cancelled."),
    ("never", "Does not answer."),
    ("progress", "Tells of progress `count` times, then answers."),
    ("storm", "Tells `count` times that its resources have changed, then answers."),
    ("log", "Writes `text` to the client's log, then answers."),
    ("level", "Answers with the level from which on the client wants messages of the log."),
    ("change", "Tells that the tools have changed, then answers."),
    ("ask", "Asks the client for `method` with `params`, and answers with what the client says."),
    ("refuse", "Answers with an error."),
    ("die", "Ends with the exit code `code`."),
];

pub(crate) fn list() -> Vec<Value> {
    let schema = json!({ "type": "object" });
    let tool =
        |(name, description)| json!({ "name": name, "description": description, "inputSchema": schema });
    TOOLS.map(tool).into()
}

pub(crate) fn call(outlet: &Outlet, shared: &Arc<Shared>, id: &Value, params: &Value) {
    let arguments = &params["arguments"];
    let number = |name: &str| arguments[name].as_u64().unwrap_or_default();
    match params["name"].as_str().unwrap_or_default() {
        "echo" => outlet.answer(id, &text(&arguments["text"])),
        "sleep" => {
            let (outlet, id, pause) = (outlet.clone(), id.clone(), Duration::from_millis(number("ms")));
            thread::spawn(move || {
                thread::sleep(pause);
                outlet.answer(&id, &text(&json!("slept")));
            });
        }
        "big" => big(outlet, id, number("bytes"), arguments["id_last"] == true),
        "deep" => {
            let (open, close) = ("[".repeat(1_000), "]".repeat(1_000));
            let line = format!("{{\"jsonrpc\":\"2.0\",\"result\":{open}{close},\"id\":{id}}}\n");
            outlet.raw(line.as_bytes());
        }
        "text-id" => outlet.answer(&json!(id.to_string()), &text(&json!("as a text"))),
        "wrong-id" => {
            outlet.answer(&json!(999_999), &text(&json!("wrong")));
            outlet.answer(&json!("no such id"), &text(&json!("wrong")));
            outlet.answer(id, &text(&json!("right")));
        }
        "twice" => {
            outlet.answer(id, &text(&json!("first")));
            outlet.answer(id, &text(&json!("second")));
        }
        "after-cancel" => {
            let (send, receive) = mpsc::channel();
            shared.on_cancel.lock().expect("a lock").insert(id.to_string(), send);
            let (outlet, id) = (outlet.clone(), id.clone());
            thread::spawn(move || {
                if receive.recv().is_ok() {
                    outlet.answer(&id, &text(&json!("too late")));
                }
            });
        }
        "cancel-same-id" => {
            outlet.notify("notifications/cancelled", &json!({ "requestId": id }));
            outlet.answer(id, &text(&json!("mine")));
        }
        "cancelled" => {
            let cancelled = shared.cancelled.lock().expect("a lock").clone();
            outlet.answer(id, &json!({ "content": [], "structuredContent": { "cancelled": cancelled } }));
        }
        "never" => {}
        "progress" => {
            let token = &params["_meta"]["progressToken"];
            for done in 1..=number("count") {
                let told =
                    json!({ "progressToken": token, "progress": done, "message": format!("step {done}") });
                outlet.notify("notifications/progress", &told);
            }
            outlet.answer(id, &text(&json!("done")));
        }
        "storm" => {
            for _ in 0..number("count") {
                outlet.notify("notifications/resources/list_changed", &json!({}));
            }
            outlet.answer(id, &text(&json!("calm")));
        }
        "log" => {
            let told = json!({ "level": "warning", "data": arguments["text"] });
            outlet.notify("notifications/message", &told);
            outlet.answer(id, &text(&json!("written")));
        }
        "level" => {
            let said = &params["_meta"]["io.modelcontextprotocol/logLevel"];
            let said = if said.is_null() { &*shared.level.lock().expect("a lock") } else { said };
            outlet.answer(id, &text(&json!(said.as_str().unwrap_or("none"))));
        }
        "change" => {
            let told = match shared.listening.lock().expect("a lock").clone() {
                Some(id) => json!({ "_meta": { "io.modelcontextprotocol/subscriptionId": id } }),
                None => json!({}),
            };
            // In the modern era only who listens is told; there every request says who makes it.
            if told != json!({}) || params["_meta"]["io.modelcontextprotocol/clientInfo"].is_null() {
                outlet.notify("notifications/tools/list_changed", &told);
            }
            outlet.answer(id, &text(&json!("changed")));
        }
        "ask" => ask(outlet, shared, id, arguments),
        "refuse" => outlet.refuse(id, -32602, "not like that", &json!({ "why": "because" })),
        "die" => die(i32::try_from(number("code")).unwrap_or_default()),
        other => outlet.refuse(id, -32602, &format!("there is no tool {other}"), &Value::Null),
    }
}

#[expect(clippy::exit, reason = "it is to end in the middle of everything")]
fn die(code: i32) {
    eprintln!("goodbye");
    std::process::exit(code);
}

fn text(text: &Value) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

/// Writes the answer piece by piece, so that this side is not the larger of the two.
fn big(outlet: &Outlet, id: &Value, bytes: u64, id_last: bool) {
    let before = if id_last { String::new() } else { format!("\"id\":{id},") };
    let after = if id_last { format!(",\"id\":{id}") } else { String::new() };
    let mut line =
        format!("{{\"jsonrpc\":\"2.0\",{before}\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":\"");
    line.extend(std::iter::repeat_n('x', usize::try_from(bytes).unwrap_or_default()));
    line.push_str("\"}]}");
    line.push_str(&after);
    line.push_str("}\n");
    outlet.raw(line.as_bytes());
}

fn ask(outlet: &Outlet, shared: &Arc<Shared>, id: &Value, arguments: &Value) {
    let asked = json!(format!("ask-{id}"));
    let (send, receive) = mpsc::channel();
    shared.on_answer.lock().expect("a lock").insert(asked.to_string(), send);
    let (method, params) = (&arguments["method"], &arguments["params"]);
    outlet.message(&json!({ "jsonrpc": "2.0", "id": asked, "method": method, "params": params }));
    let (outlet, id) = (outlet.clone(), id.clone());
    thread::spawn(move || {
        if let Ok(answer) = receive.recv() {
            let said = json!({ "result": answer["result"], "error": answer["error"] });
            outlet.answer(&id, &json!({ "content": [], "structuredContent": said }));
        }
    });
}
