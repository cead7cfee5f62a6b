//! Measures what the sandbox adds to a script that does nothing.
//!
//! `cargo bench -p haft-tool-shell --features sandbox --bench sandbox`. Every row is the median of calls that take turns
//! with those of the other rows, so that what else the machine does falls on all of them.

#![expect(clippy::print_stdout, reason = "the table is what the benchmark is for")]

use haft_testkit::{Tree, call};
use haft_tool_shell::{Bash, Environment, Scratch, ShellSandbox};
use haft_tools_core::ToolRegistry;
use serde_json::json;
use std::time::{Duration, Instant};

type Fault = Box<dyn std::error::Error>;

/// How often each is called.
const ROUNDS: usize = 200;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Fault> {
    let tree = Tree::new().directory(".git/hooks").file(".git/config", "");
    let sandbox = ShellSandbox::prefer().protect(".git/hooks").protect(".git/config");
    for lack in sandbox.lacks() {
        println!("weaker: {lack}");
    }
    let place = Tree::new();
    let sandbox = sandbox.scratch(Scratch::in_directory(place.path())?);
    let bash = || Bash::new(tree.workdir(), Environment::minimal());
    let off = ToolRegistry::new().with(bash())?;
    let on = ToolRegistry::new().with(bash().sandbox(sandbox))?;
    // The last is one that the analysis knows nothing of, so that it gets a network and protected places of its own.
    let rows = [
        ("off", &off, "true"),
        ("on", &on, "true"),
        ("off, opaque", &off, "$T true"),
        ("on, opaque", &on, "$T true"),
    ];
    let mut times = vec![Vec::with_capacity(ROUNDS); rows.len()];
    for round in 0..ROUNDS + 5 {
        for ((_, registry, script), times) in rows.iter().zip(&mut times) {
            let started = Instant::now();
            let reply = call(registry, "bash", json!({ "command": script })).await;
            let took = started.elapsed();
            if !reply.output.to_text().ends_with("[exit code 0]") {
                return Err(reply.output.to_text().into());
            }
            // What is first is slower.
            if round >= 5 {
                times.push(took);
            }
        }
    }
    for ((name, ..), times) in rows.iter().zip(times) {
        println!("{name:12} {}", shown(times));
    }
    Ok(())
}

fn shown(mut times: Vec<Duration>) -> String {
    times.sort();
    let at = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or_default();
    format!("median {:?}, 95 % {:?}", at(50), at(95))
}
