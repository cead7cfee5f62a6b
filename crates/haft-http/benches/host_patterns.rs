//! Measures how long it takes to look an endpoint up among the patterns of rules, beside one look-up in a hash map.
//!
//! Run it with `cargo xtask bench host_patterns`. Only the ratio of a time to its floor travels from one machine to another.

#![expect(clippy::print_stdout, reason = "the table is what the benchmark is for")]

use haft_http::{Endpoint, HostPattern, HostPatternError, HostPatternSet};
use std::collections::HashMap;
use std::hint::black_box;
use std::time::{Duration, Instant};

const LOOK_UPS: u32 = 100_000;
const ROUNDS: usize = 15;

/// How the patterns of real policies look, with a number in each.
const FORMS: [&str; 5] = [
    "api{}.example.org",
    "*.zone{}.example.com",
    "host{}.example.net:8443",
    "10.0.{}.0/24:*",
    "[fd00:{}::1]",
];

const ENDPOINTS: [&str; 5] = [
    "api7.example.org:443",
    "a.b.zone9.example.com:443",
    "nothing.of.the.kind.test:443",
    "10.0.7.1:22",
    "[fd00:8::1]:443",
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let names: HashMap<String, usize> =
        (0..1_000).map(|number| (format!("api{number}.example.org"), number)).collect();
    let floor = fastest(|| names.get(black_box("api7.example.org")).copied());
    println!("one look-up in a hash map of 1,000 names: {} ns", nanoseconds(floor));
    println!();
    println!("| endpoint | patterns | read | contained | touched |");
    println!("|---|---:|---:|---:|---:|");
    for text in ENDPOINTS {
        let endpoint: Endpoint = text.parse()?;
        for count in [10, 1_000] {
            let set = compiled(count)?;
            println!(
                "| `{text}` | {count} | {} ns | {} ns | {} ns |",
                nanoseconds(fastest(|| black_box(text)
                    .parse::<Endpoint>()
                    .ok()
                    .map(|endpoint| endpoint.port().into()))),
                nanoseconds(fastest(|| set.first_containing(black_box(&endpoint)))),
                nanoseconds(fastest(|| set.first_touching(black_box(&endpoint)))),
            );
        }
    }
    Ok(())
}

fn compiled(count: usize) -> Result<HostPatternSet, HostPatternError> {
    let number = |index: usize| (index / FORMS.len()).to_string();
    let patterns = (0..count).map(|index| FORMS[index % FORMS.len()].replace("{}", &number(index)).parse());
    Ok(HostPatternSet::new(patterns.collect::<Result<Vec<HostPattern>, _>>()?))
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
