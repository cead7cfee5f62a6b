//! A server of the Model Context Protocol with one tool: a fixture of the tests.
//!
//! Its first argument names a file with the tool's description; each start of it is noted in the file of the second one.

use serde_json::{Value, json};
use std::fs::{self, OpenOptions};
use std::io::{self, BufRead as _, Write as _};

fn main() -> io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let mut next = || arguments.next().ok_or(io::ErrorKind::InvalidInput);
    let (description, starts) = (next()?, next()?);
    writeln!(OpenOptions::new().append(true).create(true).open(starts)?, "started")?;
    for line in io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line?)?;
        let params = &message["params"];
        let answer = match message["method"].as_str().unwrap_or_default() {
            "initialize" => Ok(json!({
                "protocolVersion": "2025-11-25",
                "capabilities": { "tools": {} },
                "serverInfo": { "name": "echo", "version": "1" },
            })),
            "tools/list" => Ok(json!({ "tools": [{
                "name": "say",
                "description": fs::read_to_string(&description)?.trim(),
                "inputSchema": {
                    "type": "object", "properties": { "text": { "type": "string" } }, "required": ["text"]
                },
            }] })),
            "tools/call" => {
                Ok(json!({ "content": [{ "type": "text", "text": params["arguments"]["text"] }] }))
            }
            _ if message["id"].is_null() => continue,
            _ => Err(json!({ "code": -32601, "message": "there is no such method" })),
        };
        let (name, value) = answer.map_or_else(|error| ("error", error), |result| ("result", result));
        let mut out = io::stdout().lock();
        writeln!(out, "{}", json!({ "jsonrpc": "2.0", "id": message["id"], name: value }))?;
        out.flush()?;
    }
    Ok(())
}
