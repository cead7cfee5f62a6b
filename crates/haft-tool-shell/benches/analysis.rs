//! Measures what it costs to read a script before it runs, and to decide commands by rules.
//!
//! `cargo bench -p haft-tool-shell --bench analysis -- FILE` takes the scripts from a file with one JSON object a line, in
//! which `command` is the script; without a file a few are built in. Times are medians of the scripts, each the best of five.

#![expect(clippy::print_stdout, reason = "the tables are what the benchmark is for")]

use haft_testkit::Tree;
use haft_tool_shell::{Bash, CommandPatterns, Environment};
use haft_tools_core::{CallScope, PatternSyntax as _, Resource, Tool as _};
use serde_json::{Value, json};
use std::hint::black_box;
use std::time::{Duration, Instant};

type Fault = Box<dyn std::error::Error>;

const SCRIPTS: [&str; 6] = [
    "git status",
    "git log --oneline -20",
    "cd src && grep -rn 'fn main' --include='*.rs' . | head -20",
    "cargo test -q -p haft-core 2>&1 | tail -30",
    "for f in src/*.rs; do wc -l \"$f\"; done",
    "find . -name '*.toml' -not -path './target/*' | xargs grep -l tokio",
];

fn main() -> Result<(), Fault> {
    let scripts = match std::env::args().skip(1).find(|argument| !argument.starts_with('-')) {
        None => SCRIPTS.map(str::to_owned).to_vec(),
        Some(file) => {
            let command = |line: &str| {
                Some(serde_json::from_str::<Value>(line).ok()?.get("command")?.as_str()?.to_owned())
            };
            std::fs::read_to_string(file)?.lines().filter_map(command).collect()
        }
    };
    let tree = Tree::new().file("src/main.rs", "").directory(".git");
    let bash = Bash::new(tree.workdir(), Environment::minimal().with("HOME", "/home/ann")?);
    let scope = CallScope::new("run-1".parse()?);
    let mut times = Vec::new();
    let mut resources: Vec<Resource> = Vec::new();
    for script in &scripts {
        let input = json!({ "command": script });
        let Ok(prepared) = bash.prepare(&input, &scope) else { continue };
        resources.extend(prepared.accesses().iter().filter_map(|access| access.resource().cloned()));
        times.push(best(|| {
            let _ = black_box(bash.prepare(black_box(&input), &scope));
        }));
    }
    resources.retain(|resource| resource.scheme().as_str() == "exec");
    println!("prepare {} scripts: {}", scripts.len(), shown(times));
    let rules: Vec<Box<str>> = (0..1_000).map(|number| format!("program-{number} run *").into()).collect();
    for (name, more) in [("1,000 rules", None), ("1,000 rules and `@reads`", Some("@reads"))] {
        let rules: Vec<Box<str>> = rules.iter().cloned().chain(more.map(Box::from)).collect();
        let set = CommandPatterns::new().compile(&rules)?;
        let containing =
            resources.iter().map(|resource| best(|| _ = black_box(set.first_containing(resource))));
        println!("first_containing, {name}: {}", shown(containing.collect()));
        let touching = resources.iter().map(|resource| best(|| _ = black_box(set.first_touching(resource))));
        println!("first_touching, {name}: {}", shown(touching.collect()));
    }
    Ok(())
}

fn best(mut run: impl FnMut()) -> Duration {
    let once = |run: &mut dyn FnMut()| {
        let started = Instant::now();
        for _ in 0..20 {
            run();
        }
        started.elapsed() / 20
    };
    (0..5).map(|_| once(&mut run)).min().unwrap_or_default()
}

fn shown(mut times: Vec<Duration>) -> String {
    times.sort();
    let at = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or_default();
    format!("median {:?}, 95 % {:?}, most {:?}", at(50), at(95), times.last().copied().unwrap_or_default())
}
