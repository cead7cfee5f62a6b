//! Measures what deciding a call costs, with real patterns of files, commands and hosts.
//!
//! Run it with `cargo xtask bench policy`. A thousand rules are 600 patterns of files, 200 of commands, 100 of hosts and 100
//! selectors and resources, over lists of what is allowed, asked about and denied. Each of them is another one, and the
//! call is contained by none but the last of what is allowed, so that nothing is found early.

#![expect(clippy::print_stdout, reason = "the table is what the benchmark is for")]

use haft::core::{Decision, Schema, ToolSpec};
use haft::shell::EXEC;
use haft::tools_core::{AgentPolicy, Mode, PolicyLayer, RuleLanguage, Rules};
use haft::{Access, Accesses, CallScope, Policy, Resource, Scheme, Workdir};
use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// How many times each row is measured; the fastest counts, since noise only ever adds.
const ROUNDS: u32 = 30;

/// How many calls are decided in each.
const CALLS: u32 = 5_000;

fn main() -> Result<(), Box<dyn Error>> {
    let tool = ToolSpec::new("bash".parse()?, "Runs a command.", Schema::empty());
    let directory = tempfile::tempdir()?;
    let language = haft::DefaultRules::new(&Workdir::open(directory.path())?).language();
    let scope = CallScope::new("run-1".parse()?).with_agent("lead");
    let child = scope.child("run-2".parse()?).with_agent("explorer");
    let accesses = Accesses::from([
        Access::read(Resource::exact(haft::FILE, "src/deep/in/the/tree/lib.rs")),
        Access::execute(Resource::exact(EXEC, "cargo test --workspace")),
        Access::connect(Resource::exact(Scheme::new("net"), "api.example.org:443")),
    ]);

    println!("{:<44} {:>12}", "deciding a call with 3 accesses", "one call");
    for count in [10, 100, 1_000] {
        let start = Instant::now();
        let policy = policy(&language, count)?;
        let verdict = policy.decide(&tool, &accesses).to_string();
        let compiled = start.elapsed();
        row(&format!("{count} rules"), fastest(|| policy.decide(&tool, &accesses).decision()));
        if count == 1_000 {
            let opaque = Accesses::from(Access::opaque("eval"));
            row("  one opaque access instead", fastest(|| policy.decide(&tool, &opaque).decision()));
            let agents = with_agents(&language, policy.clone())?;
            let as_a_child = fastest(|| agents.decide_in(&child, Mode::Default, &tool, &accesses).decision());
            row("  by a child, each agent with 50 rules more", as_a_child);
            println!("  reading and compiling the rules {compiled:>22.1?}");
            println!("  {verdict}");
        }
    }
    Ok(())
}

fn row(name: &str, time: Duration) {
    println!("{name:<44} {:>9.0} ns", time.as_secs_f64() * 1e9 / f64::from(CALLS));
}

fn fastest(decide: impl Fn() -> Decision) -> Duration {
    let round = |_| {
        let start = Instant::now();
        for _ in 0..CALLS {
            black_box(decide());
        }
        start.elapsed()
    };
    (0..ROUNDS).map(round).min().unwrap_or_default()
}

/// Makes a policy of so many rules, and of those that allow the call behind them.
fn policy(language: &RuleLanguage, count: usize) -> Result<Policy, Box<dyn Error>> {
    let mut rules = Rules::new();
    for place in 0..count {
        let rule = language.rule(&rule(place))?;
        rules = match place % 3 {
            0 => rules.allow(rule),
            1 => rules.ask(rule),
            _ => rules.deny(rule),
        };
    }
    for text in ["read(src/**)", "exec(cargo test *)", "connect(api.example.org)"] {
        rules = rules.allow(language.rule(text)?);
    }
    Ok(Policy::layered([PolicyLayer::new("user", rules)]).language(language.clone()))
}

/// Writes one of many rules, of ten kinds by turns.
fn rule(place: usize) -> String {
    let mode = if (place / 10).is_multiple_of(2) { "read" } else { "write" };
    match place % 10 {
        0 => format!("{mode}(crates/part-{place}/**)"),
        1 => format!("{mode}(docs/{place}/*.md)"),
        2 => format!("{mode}(**/.secret-{place})"),
        3 => format!("{mode}(src/module-{place}/file.rs)"),
        4 => format!("{mode}(*.suffix{place})"),
        5 => format!("{mode}(generated/**/{place}-*.json)"),
        6 => format!("exec(program-{place} check *)"),
        7 => format!("exec(git subcommand-{place} *)"),
        8 => match place / 10 % 3 {
            0 => format!("connect(*.host-{place}.example.net)"),
            1 => format!("connect(host-{place}.example.org:8443)"),
            _ => format!("connect(host-{place}.example.com)"),
        },
        _ => match place / 10 % 4 {
            0 => format!("tool_{place}"),
            1 => format!("@server-{place}/create"),
            2 => format!("read(output:part-{place}/**)"),
            _ => format!("call(@server-{place})"),
        },
    }
}

fn with_agents(language: &RuleLanguage, policy: Policy) -> Result<Policy, Box<dyn Error>> {
    let mut agent = Rules::new().allow(language.rule("*")?);
    for place in 0..50 {
        agent = agent.deny(language.rule(&rule(place))?);
    }
    let layers = || [PolicyLayer::new("user", agent.clone())];
    Ok(policy.agent("lead", AgentPolicy::new(layers())).agent("explorer", AgentPolicy::new(layers())))
}
