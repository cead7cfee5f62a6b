//! A server of the Model Context Protocol that does what servers do and should not: a fixture of the tests.
//!
//! What it does from the start is said by its arguments (see [`Settings`]), what it does in a call by the tool that is
//! called (see [`tools`]). Without arguments it is a well-behaved server of both eras.

#![expect(clippy::print_stderr, reason = "writing there is what some servers do")]

mod outlet;
mod settings;
mod tools;

use outlet::Outlet;
use serde_json::{Value, json};
use settings::Settings;
use std::collections::HashMap;
use std::fs;
use std::io::{self, BufRead, BufReader};
use std::os::unix::net::UnixListener;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

pub(crate) fn main() -> ExitCode {
    let settings = match Settings::read(std::env::args().skip(1)) {
        Ok(settings) => settings,
        Err(fault) => {
            eprintln!("{fault}");
            return ExitCode::FAILURE;
        }
    };
    if let Some(text) = &settings.stderr {
        eprintln!("{text}");
    }
    if let Some(code) = settings.die {
        return ExitCode::from(code);
    }
    if settings.endless_stderr {
        let goes_on = || eprintln!("{}", "and on it goes ".repeat(100));
        // It has begun by the time that anything is answered.
        goes_on();
        thread::spawn(move || {
            loop {
                goes_on();
            }
        });
    }
    if let Some(path) = &settings.listen {
        let listener = UnixListener::bind(path).expect("the socket can be made");
        for stream in listener.incoming() {
            let stream = stream.expect("a connection");
            let outlet = Outlet::new(stream.try_clone().expect("a second handle"));
            let settings = settings.clone();
            thread::spawn(move || Server::new(settings, outlet).serve(BufReader::new(stream)));
        }
        return ExitCode::SUCCESS;
    }
    let ignores_end = settings.ignore_eof;
    Server::new(settings, Outlet::new(io::stdout())).serve(io::stdin().lock());
    if ignores_end {
        loop {
            thread::park();
        }
    }
    ExitCode::SUCCESS
}

/// Is one connection, as this side sees it.
struct Server {
    settings: Settings,
    outlet: Outlet,
    shared: Arc<Shared>,
    is_modern: bool,
}

/// Is what the tools of a connection have in common.
#[derive(Default)]
struct Shared {
    /// What the client has cancelled, and who waits for that.
    cancelled: Mutex<Vec<Value>>,
    on_cancel: Mutex<HashMap<String, mpsc::Sender<()>>>,
    /// Who waits for an answer of the client.
    on_answer: Mutex<HashMap<String, mpsc::Sender<Value>>>,
    /// From which level on the client wants messages, if it has said so for all requests.
    level: Mutex<Value>,
    /// The request by which the client listens.
    listening: Mutex<Option<Value>>,
}

impl Server {
    fn new(settings: Settings, outlet: Outlet) -> Self {
        Self { settings, outlet, shared: Arc::default(), is_modern: false }
    }

    fn serve(mut self, input: impl BufRead) {
        if self.settings.banner {
            self.outlet.raw(b"Welcome to the server!\n{\"not\": \"a message\"}\n\n[1,2]\n{broken\n");
        }
        thread::sleep(self.settings.slow_start);
        for line in input.lines() {
            let Ok(line) = line else { return };
            if self.settings.silent {
                continue;
            }
            if let Ok(message) = serde_json::from_str(&line) {
                self.take(&message);
            }
        }
    }

    fn take(&mut self, message: &Value) {
        let (id, params) = (&message["id"], &message["params"]);
        match message["method"].as_str() {
            Some("server/discover") => self.discover(id),
            Some("initialize") => self.initialize(id, params),
            Some("notifications/cancelled") => self.cancel(&params["requestId"]),
            Some("subscriptions/listen") => {
                *self.shared.listening.lock().expect("a lock") = Some(id.clone());
                let meta = json!({ "io.modelcontextprotocol/subscriptionId": id });
                let told = json!({ "notifications": params["notifications"], "_meta": meta });
                self.outlet.notify("notifications/subscriptions/acknowledged", &told);
            }
            Some("tools/list") => {
                let mut tools = tools::list();
                if let Some(file) = &self.settings.describe {
                    tools[0]["description"] = json!(fs::read_to_string(file).expect("the file is there"));
                }
                self.outlet.answer(id, &json!({ "tools": tools }));
            }
            Some("tools/call") => tools::call(&self.outlet, &self.shared, id, params),
            Some("logging/setLevel") if self.settings.refuse_level => {
                self.outlet.refuse(id, -32602, "not that one", &Value::Null);
            }
            Some("logging/setLevel") => {
                *self.shared.level.lock().expect("a lock") = params["level"].clone();
                self.outlet.answer(id, &json!({}));
            }
            Some("echo/params") => self.outlet.answer(id, params),
            Some(_) if id.is_null() => {}
            Some(_) => self.outlet.refuse(id, -32601, "there is no such method", &Value::Null),
            None => {
                let waiting = self.shared.on_answer.lock().expect("a lock").remove(&id.to_string());
                if let Some(waiting) = waiting {
                    // Whoever asked may be gone.
                    let _ = waiting.send(message.clone());
                }
            }
        }
    }

    fn discover(&mut self, id: &Value) {
        if self.settings.mute_discover {
            return;
        }
        if !self.settings.modern {
            return self.outlet.refuse(id, -32601, "there is no such method", &Value::Null);
        }
        self.is_modern = true;
        let info = json!({ "name": "hostile-server", "version": "1" });
        let result = json!({
            "resultType": "complete",
            "supportedVersions": ["2026-07-28"],
            "capabilities": self.capabilities(),
            "instructions": "Be careful.",
            "ttlMs": 0,
            "cacheScope": "private",
            "_meta": { "io.modelcontextprotocol/serverInfo": info },
        });
        self.outlet.answer(id, &result);
    }

    fn initialize(&mut self, id: &Value, params: &Value) {
        if self.settings.never_initialized {
            return;
        }
        if !self.settings.legacy || self.is_modern {
            let data = json!({ "supported": ["2026-07-28"], "requested": params["protocolVersion"] });
            return self.outlet.refuse(id, -32022, "this connection is of the other era", &data);
        }
        let result = json!({
            "protocolVersion": self.settings.revision.as_deref().unwrap_or("2025-11-25"),
            "capabilities": self.capabilities(),
            "serverInfo": { "name": "hostile-server", "version": "1" },
            "instructions": "Be careful.",
        });
        self.outlet.answer(id, &result);
    }

    fn capabilities(&self) -> Value {
        let mut capabilities = json!({ "tools": { "listChanged": true } });
        if self.settings.logging {
            capabilities["logging"] = json!({});
        }
        capabilities
    }

    fn cancel(&self, id: &Value) {
        self.shared.cancelled.lock().expect("a lock").push(id.clone());
        if let Some(waiting) = self.shared.on_cancel.lock().expect("a lock").remove(&id.to_string()) {
            // Whoever waited may be gone.
            let _ = waiting.send(());
        }
    }
}
