//! Measures what the store costs, each row beside a floor of the same run.
//!
//! Run it with `cargo xtask bench store`. What waits for the disk is as fast as the disk, so only the ratio to the floor
//! travels from one machine to another.

#![expect(clippy::print_stdout, reason = "the table is what the benchmark is for")]

use haft_core::{Decision, Digest, ToolCall};
use haft_store::SqliteStore;
use haft_tools_core::{
    Access, Accesses, CallScope, Claim, DecidedBy, Grant, GrantPlace, GrantStore, Journal, JournalSink,
    JsonlJournal, MemoryGrants, PendingCall, PendingStore as _, Resource, Scheme,
};
use serde_json::json;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};

type Fault = Box<dyn std::error::Error>;

/// How often each row is measured; the fastest counts, since noise only ever adds.
const ROUNDS: usize = 7;

/// How many grants there are when one is looked up.
const GRANTS: usize = 1_000;

fn main() -> Result<(), Fault> {
    let runtime = Builder::new_current_thread().build()?;
    println!("| what is done | µs | floor | floor, µs | ratio |");
    println!("|---|---|---|---|---|");
    opening()?;
    looking_up(&runtime)?;
    journaling()?;
    claiming(&runtime)
}

/// Measures two works by turns, so that both meet the same noise, and prints a row about the fastest of each.
fn row(
    what: &str,
    floor_is: &str,
    parts: u32,
    mut work: impl FnMut() -> Result<(), Fault>,
    mut floor: impl FnMut() -> Result<(), Fault>,
) -> Result<(), Fault> {
    let mut best = [Duration::MAX; 2];
    for _ in 0..ROUNDS {
        let works: [&mut dyn FnMut() -> Result<(), Fault>; 2] = [&mut work, &mut floor];
        for (best, work) in best.iter_mut().zip(works) {
            let start = Instant::now();
            for _ in 0..parts {
                work()?;
            }
            *best = (*best).min(start.elapsed());
        }
    }
    let [work, floor] = best.map(|time| time.as_secs_f64() * 1e6 / f64::from(parts));
    println!("| {what} | {work:.1} | {floor_is} | {floor:.1} | {:.1} |", work / floor);
    Ok(())
}

fn opening() -> Result<(), Fault> {
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("haft.db");
    // Kept open, as in a host with several stores: the last to close it would write the log back.
    let _open = SqliteStore::open(&path)?;
    let plain = directory.path().join("plain");
    File::create(&plain)?;
    row(
        "opening a database that is there",
        "opening a file",
        20,
        || {
            SqliteStore::open(&path)?;
            Ok(())
        },
        || {
            OpenOptions::new().read(true).write(true).open(&plain)?;
            Ok(())
        },
    )
}

fn looking_up(runtime: &Runtime) -> Result<(), Fault> {
    let directory = tempfile::tempdir()?;
    let (store, memory) = (SqliteStore::open(directory.path().join("haft.db"))?, MemoryGrants::new());
    for number in 0..GRANTS {
        let place = GrantPlace::Session(format!("session-{number}"));
        let grant = Grant::new(Decision::Allow, format!("read(src/{number}/**)"), None, place);
        runtime.block_on(store.add(&grant))?;
        runtime.block_on(memory.add(&grant))?;
    }
    let places = [
        GrantPlace::Run("run-1".parse()?),
        GrantPlace::Session("session-500".to_owned()),
        GrantPlace::Workspace("/home/me/project".to_owned()),
        GrantPlace::Always,
    ];
    let look = |store: &dyn GrantStore| -> Result<(), Fault> {
        let held = runtime.block_on(store.holding(None, &places))?;
        if held.len() == 1 { Ok(()) } else { Err("one grant holds".into()) }
    };
    row(
        "one grant look-up, in 4 places, of 1,000 grants",
        "the same in memory, one by one",
        200,
        || look(&store),
        || look(&memory),
    )
}

fn journaling() -> Result<(), Fault> {
    let directory = tempfile::tempdir()?;
    let store = Arc::new(SqliteStore::open(directory.path().join("haft.db"))?);
    let lines = Arc::new(JsonlJournal::open(directory.path().join("journal.jsonl"))?);
    let append = |sink: Arc<dyn JournalSink>| {
        let journal = Journal::new(sink);
        move || -> Result<(), Fault> {
            let scope = CallScope::new("run-1".parse()?);
            let call = ToolCall::new("c1".parse()?, "write_file", json!({ "path": "a" }));
            let mut following = journal.call(&scope, &call);
            following.prepared(&accesses(), || Digest::of(&call.input));
            following.decided(|| DecidedBy::layer("bench"));
            // One record; that the call waits is the last that is written of it.
            Ok(following.waits()?)
        }
    };
    row("one journal append", "a line of `JsonlJournal`", 2_000, append(store), append(lines))
}

fn claiming(runtime: &Runtime) -> Result<(), Fault> {
    let directory = tempfile::tempdir()?;
    let store = SqliteStore::open(directory.path().join("haft.db"))?;
    let mut file = File::create(directory.path().join("plain"))?;
    let page = vec![0; 4096];
    let mut synced = move || -> Result<(), Fault> {
        file.write_all(&page)?;
        Ok(file.sync_data()?)
    };
    let mut number = 0_u32;
    let mut claim = || -> Result<(), Fault> {
        number += 1;
        let pending = pending(number)?;
        runtime.block_on(store.put(&pending))?;
        match runtime.block_on(store.claim(&pending))? {
            Claim::Taken => Ok(()),
            other => Err(format!("{other:?}").into()),
        }
    };
    row("one pending call put in and claimed", "a page written and synced, twice", 20, &mut claim, || {
        synced().and_then(|()| synced())
    })
}

fn accesses() -> Accesses {
    Accesses::from(Access::write(Resource::exact(Scheme::new("file"), "a")))
}

fn pending(number: u32) -> Result<PendingCall, Fault> {
    let input = json!({ "path": "a", "text": "x".repeat(500) });
    Ok(serde_json::from_value(json!({
        "version": 1,
        "id": format!("pending-{number}"),
        "call": { "id": "c1", "name": "write_file", "input": input },
        "run": "run-1",
        "accesses": accesses(),
        "unmet": [],
        "preview": { "kind": "arguments" },
        "asked_at_ms": 1_700_000_000_000_u64,
        "digest": Digest::of(&input),
    }))?)
}
