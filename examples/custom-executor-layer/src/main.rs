//! Puts layers, a command hook, steering and a journal around an executor, and prints what becomes of some calls.
#![expect(clippy::print_stdout, reason = "what it prints is what it is for")]

mod cache;
mod filing;
mod narrator;
mod notes;
mod redacting;

use cache::Cache;
use filing::Filing;
use haft::core::Event;
use haft::hooks::{CommandHook, CommandHooks};
use haft::tools_core::{DecidedBy, Events, Journal, JournalEntry, Limits, MemoryJournal, Steer};
use haft::{
    AccessMode, Batch, CallScope, LocalExecutor, Policy, Resource, Rule, ToolCall, ToolExecutor as _,
};
use narrator::Narrator;
use notes::{NOTE, Notes};
use redacting::Redacting;
use serde_json::{Value, json};
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

/// Blocks notes that are not done; it gets the call as JSON on its standard input.
const NO_TODO: &str =
    r#"case "$(cat)" in *TODO*) echo "do what the note says is to do, then write it" >&2; exit 2;; esac"#;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let notes = Notes::default();
    notes.put("house", "water the plants, the front door has code:4711");
    let journal = Arc::new(MemoryJournal::default());
    let executor = executor(&notes, Arc::clone(&journal))?;

    title("A reply from the cache, until the note changes; what is secret is taken out");
    show(&executor, [("c1", "read_note", json!({ "path": "house" }))]).await?;
    show(&executor, [("c2", "read_note", json!({ "path": "house" }))]).await?;

    title("An input that a layer rewrites; and one where the policy refuses what the layer made of it");
    show(&executor, [("c3", "write_note", json!({ "path": "shopping", "text": "bread" }))]).await?;
    show(&executor, [("c4", "write_note", json!({ "path": "old-list", "text": "milk" }))]).await?;

    title("A hook that blocks a call");
    show(&executor, [("c5", "write_note", json!({ "path": "drafts/plan", "text": "TODO: a plan" }))]).await?;

    title("Updates, of which a layer suppresses some");
    show(&executor, [("c6", "count_notes", json!({}))]).await?;

    title("Steering: a person writes something new while the second call runs");
    let write = |text: &str| json!({ "path": "drafts/pets", "text": text });
    let calls = [
        ("c7", "write_note", write("feed the cat")),
        ("c8", "write_note", write("feed the dog")),
        ("c9", "write_note", write("feed the fish")),
    ];
    let steering = |next: &ToolCall| match next.id.as_str() {
        "c9" => Steer::skip("the user has written something new; read it first"),
        _ => Steer::Continue,
    };
    print(&executor, batch(calls)?.steered_by(steering)).await?;

    title("What the journal has kept");
    for record in journal.records() {
        let accesses = record.accesses.as_deref().unwrap_or_default().join(", ");
        match &record.entry {
            JournalEntry::Begun => println!("{} begins: {accesses}", record.call),
            JournalEntry::Ended { ran, status, .. } => {
                let ran = if *ran { "ran" } else { "did not run" };
                println!("{} ends: {status}, {ran}, decided by {}", record.call, who(&record.decided));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Makes an executor whose first layer is the outermost: first before a call, and last after it.
fn executor(notes: &Notes, journal: Arc<MemoryJournal>) -> Result<LocalExecutor, Box<dyn Error>> {
    let everywhere = |mode| Rule::access(mode, Resource::subtree(NOTE, ""));
    let archive = Rule::access(AccessMode::Write, Resource::subtree(NOTE, "archive"));
    let policy =
        Policy::new().allow(everywhere(AccessMode::Read)).allow(everywhere(AccessMode::Write)).deny(archive);
    let hook = CommandHook::before("write_note".parse()?, ["/bin/sh", "-c", NO_TODO]);
    // Updates are made only when somebody observes; here every one is wanted, however soon it comes.
    let events = Events::new([Arc::new(|_: &Event| {}) as _]);
    let limits = Limits { update_interval: Duration::ZERO, ..Limits::default() };
    Ok(LocalExecutor::builder(notes.tools()?)
        .policy(policy)
        .limits(limits)
        .events(events)
        .journal(Journal::new(journal))
        .layer(Narrator)
        .layer(Cache::default())
        .layer(Redacting)
        .layer(Filing)
        .layer(CommandHooks::new([hook], "/", std::env::vars_os())?)
        .build())
}

fn title(text: &str) {
    println!("\n{text}\n");
}

fn batch<const N: usize>(calls: [(&str, &str, Value); N]) -> Result<Batch, Box<dyn Error>> {
    let calls = calls.into_iter().map(|(id, tool, input)| Ok(ToolCall::new(id.parse()?, tool, input)));
    Ok(Batch::new(CallScope::new("run-1".parse()?), calls.collect::<Result<_, Box<dyn Error>>>()?))
}

async fn show<const N: usize>(
    executor: &LocalExecutor,
    calls: [(&str, &str, Value); N],
) -> Result<(), Box<dyn Error>> {
    print(executor, batch(calls)?).await
}

/// Executes a batch, and prints what the model is answered.
async fn print(executor: &LocalExecutor, batch: Batch) -> Result<(), Box<dyn Error>> {
    for call in batch.calls() {
        println!("{} {} {}", call.id, call.name, call.input);
    }
    for reply in executor.execute_batch(batch).await.into_replies()? {
        println!("{} -> {}: {}", reply.call_id, reply.status, reply.output.to_text());
    }
    Ok(())
}

fn who(decided: &DecidedBy) -> String {
    match decided {
        DecidedBy::Rule { rules, .. } if rules.is_empty() => "no rule".to_owned(),
        DecidedBy::Rule { decision, rules, .. } => format!("the rule {} ({decision})", rules.join(", ")),
        DecidedBy::Person { .. } => "a person".to_owned(),
        DecidedBy::Layer { .. } => "a layer".to_owned(),
        _ => "nobody".to_owned(),
    }
}
