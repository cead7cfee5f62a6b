//! Measures what a connection to a server costs, each row beside the client of rmcp alone in the same run.
//!
//! Run it with `cargo bench -p haft-mcp --features client,measured`. Only the ratio of two times travels from one machine
//! to another; allocations are exact.

#![cfg(unix)]
#![expect(clippy::print_stdout, reason = "the tables are what the benchmark is for")]

mod raw;
#[path = "../../examples/hostile-server/main.rs"]
mod server;

use haft_mcp::measured::Measured;
use haft_mcp::{Era, ServerProgram};
use haft_testkit::counting::{Counting, Spent};
use raw::Raw;
use serde_json::{Map, Value, json};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};
use tokio::runtime::Builder;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

type Fault = Box<dyn std::error::Error>;

/// Says to this program that it is the server.
const SERVER: &str = "HAFT_BENCH_SERVER";

/// How often each is measured; the least counts, since all else is the machine's.
const ROUNDS: usize = 5;

const CALLS: u32 = 2_000;
const IN_FLIGHT: u32 = 64;

fn main() -> ExitCode {
    if std::env::var_os(SERVER).is_some() {
        return server::main();
    }
    match measure() {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            println!("{fault}");
            ExitCode::FAILURE
        }
    }
}

fn measure() -> Result<(), Fault> {
    println!("{:<34} {:>12} {:>12} {:>7} {:>12}", "", "haft", "rmcp", "ratio", "allocations");
    Builder::new_current_thread().enable_all().build()?.block_on(one_at_a_time())?;
    Builder::new_multi_thread().worker_threads(2).enable_all().build()?.block_on(async {
        in_flight("echo, 64 in flight", "echo", CALLS).await?;
        in_flight("10 ms, 64 in flight, all", "sleep", IN_FLIGHT).await?;
        connecting().await
    })
}

fn row(name: &str, ours: Duration, theirs: Duration, allocations: &str) {
    let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
    let [ours, theirs] = [ours, theirs].map(|time| format!("{time:.1?}"));
    println!("{name:<34} {ours:>12} {theirs:>12} {ratio:>7.3} {allocations:>12}");
}

fn program() -> Result<ServerProgram, Fault> {
    let no_arguments: [&str; 0] = [];
    let mut program = ServerProgram::new(std::env::current_exe()?, no_arguments);
    program.variables.insert(SERVER.to_owned(), "1".into());
    Ok(program)
}

async fn connect() -> Result<(Measured, Raw), Fault> {
    Ok((Measured::connect(program()?, Era::Legacy).await?, raw().await?))
}

async fn raw() -> Result<Raw, Fault> {
    let mut command = Command::new(std::env::current_exe()?);
    command.env(SERVER, "1");
    Raw::connect(command).await
}

fn arguments() -> Map<String, Value> {
    [("text".to_owned(), json!("hello world")), ("ms".to_owned(), json!(10))].into_iter().collect()
}

async fn one_at_a_time() -> Result<(), Fault> {
    let (ours, theirs) = connect().await?;
    let (mut best, mut spent) = ([Duration::MAX; 2], [0; 2]);
    for _ in 0..ROUNDS {
        let (start, before) = (Instant::now(), Spent::so_far());
        for _ in 0..CALLS {
            ours.call("echo", Value::Object(arguments())).await?;
        }
        best[0] = best[0].min(start.elapsed() / CALLS);
        spent[0] = (Spent::so_far() - before).allocations / u64::from(CALLS);
        let (start, before) = (Instant::now(), Spent::so_far());
        for _ in 0..CALLS {
            theirs.call("echo", arguments()).await?;
        }
        best[1] = best[1].min(start.elapsed() / CALLS);
        spent[1] = (Spent::so_far() - before).allocations / u64::from(CALLS);
    }
    row("echo, one at a time, each", best[0], best[1], &format!("{} / {}", spent[0], spent[1]));
    ours.close().await;
    theirs.close().await
}

/// Makes so many calls, never more than 64 at once.
async fn in_flight(name: &str, tool: &'static str, calls: u32) -> Result<(), Fault> {
    let (ours, theirs) = connect().await?;
    let mut best = [Duration::MAX; 2];
    let each = calls / IN_FLIGHT;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        together(async || {
            for _ in 0..each {
                ours.call(tool, Value::Object(arguments())).await?;
            }
            Ok(())
        })
        .await?;
        best[0] = best[0].min(start.elapsed());
        let start = Instant::now();
        together(async || {
            for _ in 0..each {
                theirs.call(tool, arguments()).await?;
            }
            Ok(())
        })
        .await?;
        best[1] = best[1].min(start.elapsed());
    }
    row(name, best[0], best[1], "");
    ours.close().await;
    theirs.close().await
}

async fn together(work: impl AsyncFn() -> Result<(), Fault>) -> Result<(), Fault> {
    let all = futures_util::future::join_all((0..IN_FLIGHT).map(|_| work())).await;
    all.into_iter().collect()
}

async fn connecting() -> Result<(), Fault> {
    let mut best = [Duration::MAX; 2];
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let ours = Measured::connect(program()?, Era::Legacy).await?;
        best[0] = best[0].min(start.elapsed());
        ours.close().await;
        let start = Instant::now();
        let theirs = raw().await?;
        best[1] = best[1].min(start.elapsed());
        theirs.close().await?;
    }
    row("connecting", best[0], best[1], "");
    Ok(())
}
