//! A server of the Model Context Protocol that asks, tells and changes: a fixture of the tests.
//!
//! Its arguments are its name and a directory. Files of its name there tell it what to do: with `NAME.fewer` it has a tool less,
//! with `NAME.changed` another description, which is what that file says if it says something, and with `NAME.dead` it ends at
//! once. It writes its process's id to `NAME.pid`.

use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{self, BufRead as _, Write as _};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// How often it is looked for files.
const LOOKING: Duration = Duration::from_millis(20);

#[derive(Clone)]
struct Guest {
    name: String,
    folder: PathBuf,
    /// What it has asked, by id.
    asked: Arc<Mutex<HashMap<String, Sender<Value>>>>,
}

fn main() -> io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let mut next = || arguments.next().ok_or(io::ErrorKind::InvalidInput);
    let guest = Guest { name: next()?, folder: next()?.into(), asked: Arc::default() };
    if guest.is("dead") {
        return Ok(());
    }
    std::fs::write(guest.file("pid"), std::process::id().to_string())?;
    let watching = guest.clone();
    thread::spawn(move || watching.watch());
    for line in io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line?)?;
        let answered = message["id"].as_str().filter(|_| message.get("method").is_none());
        if let Some(sender) = answered.and_then(|id| guest.waiting().remove(id)) {
            let _ = sender.send(message);
            continue;
        }
        if message["method"].is_string() && !message["id"].is_null() {
            let guest = guest.clone();
            thread::spawn(move || guest.answer(&message));
        }
    }
    Ok(())
}

impl Guest {
    fn file(&self, what: &str) -> PathBuf {
        self.folder.join(format!("{}.{what}", self.name))
    }

    fn is(&self, what: &str) -> bool {
        self.file(what).exists()
    }

    /// What it says of a tool since that was changed.
    fn changed(&self) -> Option<String> {
        let text = std::fs::read_to_string(self.file("changed")).ok()?;
        Some(if text.is_empty() { "Says something else.".to_owned() } else { text })
    }

    /// Tells when its tools change.
    fn watch(&self) {
        let state = || (self.is("fewer"), self.changed());
        let mut told = state();
        loop {
            thread::sleep(LOOKING);
            if state() != told {
                told = state();
                say(&json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }));
            }
        }
    }

    fn waiting(&self) -> std::sync::MutexGuard<'_, HashMap<String, Sender<Value>>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the client something, and gives all that it answers.
    fn ask(&self, method: &str, params: &Value) -> Receiver<Value> {
        let (sender, receiver) = channel();
        let id = {
            let mut waiting = self.waiting();
            let id = format!("ask-{}", waiting.len());
            waiting.insert(id.clone(), sender);
            id
        };
        say(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        receiver
    }

    fn tools(&self) -> Value {
        let described = self.changed().unwrap_or_else(|| "Says it again.".to_owned());
        let tool = |name: &str, description: &str| json!({ "name": name, "description": description, "inputSchema": { "type": "object" } });
        let mut tools = vec![
            tool("say", &described),
            tool("asks", "Asks who is there."),
            tool("samples", "Wants a turn of a model."),
            tool("waits", "Waits for ever."),
        ];
        if !self.is("fewer") {
            tools.push(tool("counts", "Counts to three."));
        }
        tools.into()
    }

    fn answer(&self, message: &Value) {
        let params = &message["params"];
        let result = match message["method"].as_str().unwrap_or_default() {
            "initialize" => json!({
                "protocolVersion": "2025-11-25",
                "capabilities": { "tools": { "listChanged": true } },
                "serverInfo": { "name": self.name, "version": "1" },
            }),
            "tools/list" => json!({ "tools": self.tools() }),
            "tools/call" => {
                let text = self.call(params["name"].as_str().unwrap_or_default(), params);
                json!({ "content": [{ "type": "text", "text": format!("{}: {text}", self.name) }] })
            }
            "ping" => json!({}),
            _ => {
                let error = json!({ "code": -32601, "message": "there is no such method" });
                return say(&json!({ "jsonrpc": "2.0", "id": message["id"], "error": error }));
            }
        };
        say(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }));
    }

    fn call(&self, tool: &str, params: &Value) -> String {
        match tool {
            "asks" => {
                let schema = json!({
                    "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"],
                });
                let question = json!({ "message": "Who is there?", "requestedSchema": schema });
                outcome(&self.ask("elicitation/create", &question), "/result/content/name")
            }
            "samples" => {
                let content = json!({ "type": "text", "text": "Which city?" });
                let turn = json!({ "messages": [{ "role": "user", "content": content }], "maxTokens": 10 });
                outcome(&self.ask("sampling/createMessage", &turn), "/result/content/text")
            }
            "counts" => {
                for count in 1..=3 {
                    let progress = json!({
                        "progressToken": params["_meta"]["progressToken"], "progress": count, "total": 3,
                        "message": format!("{} {count}", self.name),
                    });
                    say(&json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": progress }));
                    thread::sleep(Duration::from_millis(150));
                }
                "counted".to_owned()
            }
            "waits" => loop {
                let _ = std::fs::write(self.file("waits"), "");
                thread::park();
            },
            _ => params["arguments"]["text"].as_str().unwrap_or_default().to_owned(),
        }
    }
}

/// Waits for an answer, and gives of it what is of interest, or why there is none.
fn outcome(answer: &Receiver<Value>, place: &str) -> String {
    let Ok(answer) = answer.recv() else { return "nobody answers".to_owned() };
    let told = answer.pointer(place).or_else(|| answer.pointer("/error/message"));
    told.and_then(Value::as_str).map_or_else(|| answer.to_string(), str::to_owned)
}

fn say(message: &Value) {
    let mut out = io::stdout().lock();
    // Whoever does not read is gone.
    let _ = writeln!(out, "{message}").and_then(|()| out.flush());
}
