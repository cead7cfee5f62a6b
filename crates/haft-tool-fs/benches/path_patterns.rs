//! Measures how long it takes to look a file up among the patterns of rules, beside one look-up in a hash map.
//!
//! Run it with `cargo xtask bench path_patterns`. Only the ratio of a time to its floor travels from one machine to another.

#![cfg(unix)]
#![expect(clippy::print_stdout, reason = "the table is what the benchmark is for")]

use haft_tool_fs::PathPatterns;
use haft_tools_core::{PatternError, PatternSet, PatternSyntax as _, Resource};
use std::collections::HashMap;
use std::hint::black_box;
use std::time::{Duration, Instant};

const LOOK_UPS: u32 = 100_000;
const ROUNDS: usize = 15;

/// How the patterns of real policies look, with a number in each.
const FORMS: [&str; 10] = [
    "src/module{}/lib.rs",
    "crates/crate{}/**",
    "**/secret{}.env",
    "*.ext{}",
    "**/test_{}*",
    "docs/part{}/*.md",
    "./file{}.toml",
    "~/notes{}/**",
    "**/build{}/**/*.o",
    "packages/*/dist{}/[a-z]*.js",
];

const RESOURCES: [&str; 6] = [
    "file:src/module7/lib.rs",
    "file:crates/crate42/src/executor/run.rs",
    "file:a/b/c/d/nothing_of_the_kind.txt",
    "file:packages/web/dist9/main.js",
    "outside:/etc/ssl/certs/ca.pem",
    "file:src/**",
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let paths: HashMap<String, usize> =
        (0..1_000).map(|number| (format!("src/module{number}/lib.rs"), number)).collect();
    let floor = fastest(|| paths.get(black_box("src/module7/lib.rs")).copied());
    println!("one look-up in a hash map of 1,000 paths: {} ns", nanoseconds(floor));
    println!();
    println!("| resource | patterns | contained, reading | contained, writing | touched |");
    println!("|---|---:|---:|---:|---:|");
    for text in RESOURCES {
        let resource: Resource = text.parse()?;
        for count in [10, 100, 1_000, 10_000] {
            let reading = compiled(&PathPatterns::for_reading(), count)?;
            let writing = compiled(&PathPatterns::for_writing(), count)?;
            println!(
                "| `{text}` | {count} | {} ns | {} ns | {} ns |",
                nanoseconds(fastest(|| reading.first_containing(black_box(&resource)))),
                nanoseconds(fastest(|| writing.first_containing(black_box(&resource)))),
                nanoseconds(fastest(|| reading.first_touching(black_box(&resource)))),
            );
        }
    }
    Ok(())
}

fn compiled(syntax: &PathPatterns, count: usize) -> Result<Box<dyn PatternSet>, PatternError> {
    let number = |index: usize| (index / FORMS.len()).to_string();
    let patterns = (0..count).map(|index| FORMS[index % FORMS.len()].replace("{}", &number(index)).into());
    let syntax = syntax.clone().root("/home/ada/work").home("/home/ada");
    syntax.compile(&patterns.collect::<Vec<_>>())
}

/// The fastest of several measurements, since noise only ever adds.
fn fastest(look_up: impl Fn() -> Option<usize>) -> Duration {
    let measured = (0..ROUNDS).map(|_| {
        let start = Instant::now();
        for _ in 0..LOOK_UPS {
            black_box(look_up());
        }
        start.elapsed()
    });
    measured.min().unwrap_or_default()
}

fn nanoseconds(time: Duration) -> String {
    format!("{:.0}", time.as_secs_f64() * 1e9 / f64::from(LOOK_UPS))
}
