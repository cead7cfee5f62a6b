//! Has an agent work with a model of its own, which is asked over a wire format that nobody else speaks.
//!
//! `cargo run -p custom-provider`
#![expect(clippy::print_stdout, reason = "an example that speaks on the terminal")]

mod tally_line;
mod tally_model;
mod tally_service;

use haft::agent::{Agent, Budget, Price, Prices, RunEnd};
use haft::core::{Event, EventKind};
use haft::tools_core::Events;
use haft::{Accesses, CallContext, CallScope, LocalExecutor, Policy, Rule, ToolError, ToolRegistry, tool_fn};
use schemars::JsonSchema;
use serde::Deserialize;
use std::error::Error;
use std::sync::Arc;
use tally_model::TallyModel;

#[derive(Deserialize, JsonSchema)]
struct Sum {
    /// The numbers to add.
    numbers: Vec<i64>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    ask("What do 2, 3 and 37 make?", Budget::default().turns(10)).await?;
    // The model wants a second turn for its call, and is told that there is no other after this one.
    ask("What do 2, 3 and 37 make?", Budget::default().turns(1)).await?;
    // The service hangs up in the middle of its answer.
    ask("Hang up.", Budget::default()).await?;
    ask("Mumble.", Budget::default()).await
}

/// Runs one agent, and prints what happens.
async fn ask(prompt: &str, budget: Budget) -> Result<(), Box<dyn Error>> {
    println!("> {prompt}");
    let sum = tool_fn("sum", "Adds numbers.", Accesses::none(), |input: Sum, _: CallContext| async move {
        let sum = input.numbers.iter().try_fold(0_i64, |sum, number| sum.checked_add(*number));
        sum.ok_or_else(|| ToolError::invalid_input("the sum is too large; add smaller numbers"))
    })?;
    let events = Events::new([Arc::new(print) as _]);
    let executor = LocalExecutor::builder(ToolRegistry::new().with(sum)?)
        .policy(Policy::new().allow(Rule::tools("sum".parse()?)))
        .events(events.clone())
        .build();
    let agent = Agent::new(TallyModel::new("abacus-1"), executor)
        .system("You add numbers by the tool `sum`.")
        .events(events)
        .budget(budget)
        .prices(Prices::new().with("abacus-1", Price::new(2.0, 10.0)));
    let state = agent.run(CallScope::new("run-1".parse()?), prompt).await;
    let cost = state.spent().cost_nanos;
    match state.end() {
        Some(RunEnd::Failed { reason }) => println!("failed: {reason}"),
        Some(end) => println!("{end:?} after {} turns, {cost} billionths spent", state.turns()),
        None => println!("it waits for a person"),
    }
    println!();
    Ok(())
}

fn print(event: &Event) {
    match &event.kind {
        EventKind::TurnStarted { turn } => println!("turn {turn}"),
        EventKind::ReasoningDelta { text } => println!("  thinks {text:?}"),
        EventKind::TextDelta { text } => println!("  writes {text:?}"),
        EventKind::CallDelta { name, arguments, .. } => println!("  calls {name} {arguments}"),
        EventKind::Finished { reply } => println!("  {} -> {}", reply.name, reply.output.to_text()),
        EventKind::BudgetSpent { which } => println!("  the budget of {which} is spent"),
        _ => {}
    }
}
