//! Measures what a script and a program cost beyond what the system takes for them, and what a large output costs.
//!
//! `cargo bench -p haft-tool-shell --features sandbox --bench shell`. Rows of one table take turns, so that what else the
//! machine does falls on all of them. Each is the median of its rounds.

#![expect(clippy::print_stdout, reason = "the table is what the benchmark is for")]

use haft_testkit::counting::CountingAll;
use haft_testkit::{Tree, call};
use haft_tool_shell::{Bash, Environment, ScriptOutputs, ShellSandbox};
use haft_tools_core::ToolRegistry;
use serde_json::{Value, json};
use std::io::Read as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

type Fault = Box<dyn std::error::Error>;

#[global_allocator]
static ALLOCATOR: CountingAll = CountingAll::new();

/// How often each short one is made, and each long one.
const ROUNDS: usize = 300;
const LARGE_ROUNDS: usize = 15;
const ROUNDS_BESIDE_MEMORY: usize = 60;

/// Prints about 135 MB in lines that differ.
const LARGE: &str = "seq 16000000";

/// Prints 135 MB of one line.
const FLOOD: &str = "yes 'a line like any other' | head -c 135000000";

fn main() -> Result<(), Fault> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let tree = Tree::new();
    let place = Tree::new();
    let outputs = ScriptOutputs::spilling_into(place.path()).bounded(1 << 30, 256 << 20);
    let bash = || Bash::new(tree.workdir(), Environment::minimal()).outputs(&outputs);
    let plain = ToolRegistry::new().with(bash())?.with(bash().program())?;
    let confined = ToolRegistry::new().with(bash().sandbox(ShellSandbox::prefer()))?;
    let run = |tools: &ToolRegistry, name: &str, input: Value| -> Result<(), Fault> {
        let reply = runtime.block_on(call(tools, name, input));
        let text = reply.output.to_text();
        if text.ends_with("[exit code 0]") { Ok(()) } else { Err(text.into()) }
    };
    // With the variables that a script has, since bash takes longer where there are more of them.
    let of_system = |program: &str, arguments: &[&str]| -> Result<(), Fault> {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env_clear()
            .envs([("LANG", "C.UTF-8"), ("PATH", "/usr/local/bin:/usr/bin:/bin")]);
        command.stdin(Stdio::null()).output()?;
        Ok(())
    };
    let mut rows: Vec<Row<'_>> = vec![
        ("std::process, bash -c true", Box::new(|| of_system("bash", &["-c", "true"]))),
        // By its path the standard library makes the process without copying the tables of memory.
        ("the same by its path", Box::new(|| of_system("/usr/bin/bash", &["-c", "true"]))),
        ("bash, true", Box::new(|| run(&plain, "bash", json!({ "command": "true" })))),
        ("run_program, true", Box::new(|| run(&plain, "run_program", json!({ "program": "true" })))),
        ("bash in a sandbox, true", Box::new(|| run(&confined, "bash", json!({ "command": "true" })))),
    ];
    measure(&mut rows, ROUNDS)?;
    println!("\nin a process that uses 1 GiB of memory");
    let used = std::hint::black_box(vec![1_u8; 1 << 30]);
    measure(&mut rows, ROUNDS_BESIDE_MEMORY)?;
    drop(used);
    for script in [LARGE, FLOOD] {
        println!("\n{script}");
        let mut rows: Vec<Row<'_>> = vec![
            ("a reader that throws it away", Box::new(|| thrown_away(script))),
            ("bash", Box::new(|| run(&plain, "bash", json!({ "command": script })))),
        ];
        measure(&mut rows, LARGE_ROUNDS)?;
        let (done, most) = ALLOCATOR.most_live(|| run(&plain, "bash", json!({ "command": script })));
        done?;
        println!("{:30} {} KiB of heap at most", "bash", most / 1024);
    }
    Ok(())
}

type Row<'a> = (&'static str, Box<dyn FnMut() -> Result<(), Fault> + 'a>);

/// Reads what a script prints with a buffer as large as a pipe, and does nothing with it.
fn thrown_away(script: &str) -> Result<(), Fault> {
    let mut command = Command::new("bash");
    let mut child = command.args(["-c", script]).stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
    let mut buffer = vec![0; 64 * 1024];
    if let Some(mut output) = child.stdout.take() {
        while output.read(&mut buffer)? > 0 {}
    }
    child.wait()?;
    Ok(())
}

fn measure(rows: &mut [Row<'_>], rounds: usize) -> Result<(), Fault> {
    let mut times = vec![Vec::with_capacity(rounds); rows.len()];
    // What is first is slower.
    for round in 0..rounds + 2 {
        for ((_, work), times) in rows.iter_mut().zip(&mut times) {
            let started = Instant::now();
            work()?;
            if round >= 2 {
                times.push(started.elapsed());
            }
        }
    }
    let mut first = None;
    for ((name, _), mut times) in rows.iter().zip(times) {
        times.sort();
        let median = times.get(times.len() / 2).copied().unwrap_or_default();
        let floor: Duration = *first.get_or_insert(median);
        println!("{name:30} {median:>12.3?}  {:.2}×", median.as_secs_f64() / floor.as_secs_f64());
    }
    Ok(())
}
