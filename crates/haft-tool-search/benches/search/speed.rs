use crate::Tools;
use crate::rg::Rg;
use serde_json::{Value, json};
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

/// How often each side is run, in turns.
const TIMES: u32 = 21;

/// What is searched for, by both.
struct Case {
    name: &'static str,
    tool: &'static str,
    input: Value,
    rg: &'static [&'static str],
    /// The most that it may take, as a part of what `rg` takes.
    target: f64,
}

pub(crate) fn measure(tools: &Tools, rg: &Rg, tree: &Path, chosen: &[&String]) {
    println!("{:<44} {:>9} {:>9} {:>7} {:>7}  found", "", "haft", "rg", "ratio", "target");
    let is_chosen =
        |case: &Case| chosen.is_empty() || chosen.iter().any(|word| case.name.contains(word.as_str()));
    for case in cases().into_iter().filter(is_chosen) {
        let (mut ours, mut theirs) = (Duration::MAX, Duration::MAX);
        for _ in 0..TIMES {
            ours = ours.min(took(|| tools.call(case.tool, &case.input)));
            theirs = theirs.min(took(|| rg.run(tree, case.rg)));
        }
        let text = tools.call(case.tool, &case.input).output.to_text();
        let summary = text.rsplit("\n\n").next().unwrap_or_default().lines().next().unwrap_or_default();
        let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
        let missed = if ratio > case.target { " (missed)" } else { "" };
        let summary: String = summary.chars().take(60).collect();
        println!(
            "{:<44} {ours:>9.1?} {theirs:>9.1?} {ratio:>6.2}× {:>6.2}×{missed}  {summary}",
            case.name, case.target
        );
    }
    println!();
}

fn cases() -> [Case; 7] {
    [
        Case {
            name: "a rare word, all of it",
            tool: "grep",
            input: json!({ "pattern": "quaternion" }),
            rg: &["-n", "-S", "quaternion"],
            target: 1.05,
        },
        Case {
            name: "a common regular expression, counted",
            tool: "grep",
            input: json!({ "pattern": r"impl<\w+> \w+ for Box<", "mode": "count", "limit": 1000 }),
            rg: &["-c", r"impl<\w+> \w+ for Box<"],
            target: 1.05,
        },
        Case {
            name: "an alternation that nothing matches",
            tool: "grep",
            input: json!({ "pattern": "zyxwvut|qponmlk_j|xyzzy_plugh|frobnicated_q" }),
            rg: &["-n", "-S", "zyxwvut|qponmlk_j|xyzzy_plugh|frobnicated_q"],
            target: 1.05,
        },
        Case {
            name: "a class that nothing matches",
            tool: "grep",
            input: json!({ "pattern": r"\b[A-Z]{9}_[0-9]{7}_[a-z]{5}\b" }),
            rg: &["-n", "-S", r"\b[A-Z]{9}_[0-9]{7}_[a-z]{5}\b"],
            target: 1.05,
        },
        Case {
            name: "the first 100 of a common word",
            tool: "grep",
            input: json!({ "pattern": "the", "limit": 100 }),
            rg: &["-n", "-S", "the"],
            target: 0.5,
        },
        Case {
            name: "all files listed",
            tool: "glob",
            input: json!({ "pattern": "*" }),
            rg: &["--files"],
            target: 1.0,
        },
        Case {
            name: "a file found by a part of its name",
            tool: "find_files",
            input: json!({ "query": "serialize_struct" }),
            rg: &["--files"],
            target: 1.0,
        },
    ]
}

fn took<T>(work: impl FnOnce() -> T) -> Duration {
    let started = Instant::now();
    black_box(work());
    started.elapsed()
}
