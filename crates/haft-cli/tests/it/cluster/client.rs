//! A client of `haft serve` whose calls are made by workers, and the person who answers what waits.

use super::engine::Engine;
use crate::served::{Served, post, tool_call};
use crate::{haft, shown};
use serde_json::{Value, json};
use std::io::Read as _;
use std::path::Path;

/// Is a server before an engine, on a machine of its own.
pub(crate) struct Front<'a> {
    served: Served,
    directory: &'a Path,
    engine: &'a Engine,
}

impl<'a> Front<'a> {
    pub(crate) fn start(directory: &'a Path, engine: &'a Engine, arguments: &[&str]) -> Self {
        Self::start_at(directory, engine, "127.0.0.1:0", arguments)
    }

    pub(crate) fn start_at(
        directory: &'a Path,
        engine: &'a Engine,
        listen: &str,
        arguments: &[&str],
    ) -> Self {
        let served = Served::run(
            haft(directory, &["serve", "--http", listen, "--executor", "restate"])
                .args(["--restate", &engine.ingress])
                .args(arguments),
        );
        Self { served, directory, engine }
    }

    pub(crate) fn address(&self) -> &str {
        self.served.address()
    }

    /// Makes a call as a client that cannot be asked anything, and gives the text of its result.
    pub(crate) fn says(&self, tool: &str, input: &Value) -> String {
        says(self.address(), tool, input)
    }

    /// Makes a call that comes to wait, and gives the name by which it is answered.
    pub(crate) fn waits(&self, tool: &str, input: &Value) -> String {
        let result = call(self.address(), tool, input);
        let told = &result["structuredContent"];
        assert_eq!(told["error"], json!("approval_required"), "{result}");
        told["pending"].as_str().unwrap().to_owned()
    }

    /// What `haft approvals` says of the calls in the engine.
    pub(crate) fn approvals(&self, arguments: &[&str]) -> String {
        let place = self.engine.arguments();
        shown(&haft(self.directory, &["approvals"]).args(arguments).args(place).output().unwrap())
    }
}

/// Makes a call as a client that cannot be asked anything, and gives its result.
fn call(address: &str, tool: &str, input: &Value) -> Value {
    let mut told = String::new();
    post(address, &tool_call(1, tool, input), &[]).read_to_string(&mut told).unwrap();
    let message = told.lines().find_map(|line| {
        let message: Value = serde_json::from_str(line.strip_prefix("data: ").unwrap_or(line)).ok()?;
        message.get("result").cloned()
    });
    message.unwrap_or_else(|| panic!("there is no result: {told}"))
}

/// As [`call`]; gives the text of the result.
pub(crate) fn says(address: &str, tool: &str, input: &Value) -> String {
    let result = call(address, tool, input);
    let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("there is no text: {result}"));
    text.to_owned()
}
