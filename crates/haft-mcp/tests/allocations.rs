//! What a call costs in allocations, which is the same on every machine.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "what cannot be measured fails the test")]

#[path = "../benches/mcp/raw.rs"]
mod raw;

use haft_mcp::measured::Measured;
use haft_mcp::{Era, ServerProgram};
use haft_testkit::counting::{Counting, Spent};
use raw::Raw;
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use std::process::Command;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How many calls are counted together.
const CALLS: u64 = 200;

/// What a call costs at most: in the legacy era some 31, in the modern one some 42.
const MOST: u64 = 50;

/// What a call of the library alone costs on top of which ours may cost a little, to know what becomes of it.
const MORE: u64 = 5;

fn hostile_server() -> PathBuf {
    let this = std::env::current_exe().unwrap();
    this.ancestors().nth(2).unwrap().join("examples").join("hostile-server")
}

fn arguments() -> Map<String, Value> {
    [("text".to_owned(), json!("hello world"))].into_iter().collect()
}

/// Makes calls one after the other, after some that are not counted, and gives what each cost.
async fn counted(call: impl AsyncFn()) -> u64 {
    for _ in 0..50 {
        call().await;
    }
    let before = Spent::so_far();
    for _ in 0..CALLS {
        call().await;
    }
    (Spent::so_far() - before).allocations / CALLS
}

#[tokio::test]
async fn a_call_costs_little_more_than_the_library_alone() {
    let raw = Raw::connect(Command::new(hostile_server())).await.unwrap();
    let alone = counted(async || {
        let result = raw.call("echo", arguments()).await.unwrap();
        assert_eq!(result.content.len(), 1);
    })
    .await;
    raw.close().await.unwrap();

    for era in [Era::Legacy, Era::Modern] {
        let no_arguments: [&str; 0] = [];
        let program = ServerProgram::new(hostile_server(), no_arguments);
        let ours = Measured::connect(program, era).await.unwrap();
        let cost = counted(async || {
            let result = ours.call("echo", Value::Object(arguments())).await.unwrap();
            assert_eq!(result["content"][0]["text"], "hello world");
        })
        .await;
        ours.close().await;
        assert!(cost <= alone + MORE, "{cost} are more than {alone} and {MORE} in the {era:?} era");
        assert!(cost <= MOST, "{cost} are more than {MOST} in the {era:?} era");
    }
}
