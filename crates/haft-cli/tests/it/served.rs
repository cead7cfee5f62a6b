//! `haft serve` as a process that listens for HTTP, and requests as any client can write them.

use crate::haft;
use rustix::process::{Pid, Signal};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Is a server that listens; dropped, it is ended.
pub(crate) struct Served {
    child: Option<Child>,
    address: String,
    /// What it answers when it is asked how many tasks it has.
    tasks: Mutex<Receiver<usize>>,
}

impl Served {
    /// Serves a directory over HTTP, for a user who has no servers.
    pub(crate) fn start(directory: &Path, arguments: &[&str]) -> Self {
        Self::run(haft(directory, &["serve", "--http", "127.0.0.1:0"]).args(arguments))
    }

    /// Starts a command that serves over HTTP.
    pub(crate) fn run(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        let address = loop {
            line.clear();
            assert!(said.read_line(&mut line).unwrap() > 0, "it does not say where it serves");
            if let Some(url) = line.trim_end().strip_prefix("Serving at http://") {
                break url.trim_end_matches("/mcp").to_owned();
            }
            let _ = std::io::stderr().write_all(line.as_bytes());
        };
        // Closed, it would have the server fail to say something.
        let (tell, tasks) = channel();
        std::thread::spawn(move || {
            for line in said.lines().map_while(Result::ok) {
                match line.strip_prefix("Tasks: ") {
                    Some(tasks) => drop(tell.send(tasks.parse().unwrap())),
                    None => std::io::stderr().write_all(format!("{line}\n").as_bytes()).unwrap(),
                }
            }
        });
        Self { child: Some(child), address, tasks: Mutex::new(tasks) }
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.as_ref().unwrap().id()
    }

    /// How many tasks its runtime has.
    pub(crate) fn tasks(&self) -> usize {
        let pid = Pid::from_child(self.child.as_ref().unwrap());
        rustix::process::kill_process(pid, Signal::USR1).unwrap();
        self.tasks.lock().unwrap().recv_timeout(Duration::from_secs(30)).unwrap()
    }

    /// Hands over the process, which then has to be waited for.
    pub(crate) fn into_child(mut self) -> Child {
        self.child.take().unwrap()
    }

    /// Begins a session of the older era.
    pub(crate) fn session(&self) -> String {
        let hello = json!({
            "jsonrpc": "2.0", "id": 1, "method": "initialize",
            "params": {
                "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" },
            },
        });
        let mut told = String::new();
        post(&self.address, &hello, &[]).read_to_string(&mut told).unwrap();
        let header = told.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
        let session = header.unwrap_or_else(|| panic!("there is no session: {told}")).trim().to_owned();
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        post(&self.address, &ready, &[("mcp-session-id", &session)]).read_to_string(&mut told).unwrap();
        session
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        if let Some(child) = self.child.take() {
            end(child);
        }
    }
}

/// Ends a server as its user does, so that it leaves nothing; one that does not end is killed.
pub(crate) fn end(mut child: Child) {
    let _ = rustix::process::kill_process(Pid::from_child(&child), Signal::TERM);
    let start = Instant::now();
    while matches!(child.try_wait(), Ok(None)) && start.elapsed() < Duration::from_secs(10) {
        std::thread::sleep(Duration::from_millis(5));
    }
    let _ = child.kill();
    let _ = child.wait();
}

/// Writes a call of the newer era.
pub(crate) fn tool_call(id: u32, tool: &str, arguments: &Value) -> Value {
    json!({
        "jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": { "name": tool, "arguments": arguments, "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        } },
    })
}

/// Sends a message in a request of its own, and gives what the answer is read from.
pub(crate) fn post(address: &str, message: &Value, headers: &[(&str, &str)]) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    let body = message.to_string();
    let mut head = format!(
        "POST /mcp HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\ncontent-length: {}\r\n",
        body.len(),
    );
    let mut add = |name: &str, value: &str| head.extend([name, ": ", value, "\r\n"]);
    if message["params"]["_meta"].is_object() {
        add("mcp-protocol-version", "2026-07-28");
        add("mcp-method", message["method"].as_str().unwrap());
        if let Some(name) = message["params"]["name"].as_str() {
            add("mcp-name", name);
        }
    } else if message["method"] != "initialize" {
        add("mcp-protocol-version", "2025-11-25");
    }
    for (name, value) in headers {
        add(name, value);
    }
    write!(stream, "{head}\r\n{body}").unwrap();
    stream
}
