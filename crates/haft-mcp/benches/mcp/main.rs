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
use haft_testkit::Beside;
use haft_testkit::counting::{Counting, Spent};
use raw::Raw;
use serde_json::{Map, Value, json};
use std::process::{Command, ExitCode};
use std::time::Instant;
use tokio::runtime::Builder;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

type Fault = Box<dyn std::error::Error>;

/// Says to this program that it is the server.
const SERVER: &str = "HAFT_BENCH_SERVER";

/// How often each is measured, by turns: where the two processes of a connection happen to run changes the time of a round
/// several times over, so that the median of the ratios of all rounds says more than the least times.
const ROUNDS: usize = 41;

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
    println!("{}", Beside::head("rmcp"));
    Builder::new_current_thread().enable_all().build()?.block_on(one_at_a_time())?;
    Builder::new_multi_thread().worker_threads(2).enable_all().build()?.block_on(async {
        in_flight("echo, 64 in flight, all", "1.05", "echo", CALLS).await?;
        in_flight("10 ms, 64 in flight, all", "15 ms", "sleep", IN_FLIGHT).await?;
        let ours = async || {
            Measured::connect(program()?, Era::Legacy).await?.close().await;
            Ok(())
        };
        row("connecting and leaving", "20 ms", 1, ours, async || raw().await?.close().await).await
    })
}

/// Measures both by turns, and prints what they took.
async fn row(
    name: &str,
    goal: &str,
    calls: u32,
    ours: impl AsyncFn() -> Result<(), Fault>,
    theirs: impl AsyncFn() -> Result<(), Fault>,
) -> Result<(), Fault> {
    let mut row = Beside::new(name, goal);
    for _ in 0..ROUNDS {
        let start = Instant::now();
        ours().await?;
        let one = start.elapsed();
        theirs().await?;
        row.round(one / calls, start.elapsed().saturating_sub(one) / calls);
    }
    println!("{row}");
    Ok(())
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
    let one = async || {
        for _ in 0..CALLS {
            ours.call("echo", Value::Object(arguments())).await?;
        }
        Ok(())
    };
    let other = async || {
        for _ in 0..CALLS {
            theirs.call("echo", arguments()).await?;
        }
        Ok(())
    };
    row("echo, one at a time, each", "1.10", CALLS, one, other).await?;
    let before = Spent::so_far();
    one().await?;
    let between = Spent::so_far();
    other().await?;
    let each = [between - before, Spent::so_far() - between];
    let each = each.map(|spent| spent.allocations / u64::from(CALLS));
    println!("{:<40} {:>10} {:>10} {:>32}", "  allocations", each[0], each[1], 140);
    ours.close().await;
    theirs.close().await
}

/// Makes so many calls, never more than 64 at once.
async fn in_flight(name: &str, goal: &str, tool: &'static str, calls: u32) -> Result<(), Fault> {
    let (ours, theirs) = connect().await?;
    let each = calls / IN_FLIGHT;
    let one = async || {
        together(async || {
            for _ in 0..each {
                ours.call(tool, Value::Object(arguments())).await?;
            }
            Ok(())
        })
        .await
    };
    let other = async || {
        together(async || {
            for _ in 0..each {
                theirs.call(tool, arguments()).await?;
            }
            Ok(())
        })
        .await
    };
    row(name, goal, 1, one, other).await?;
    ours.close().await;
    theirs.close().await
}

async fn together(work: impl AsyncFn() -> Result<(), Fault>) -> Result<(), Fault> {
    let all = futures_util::future::join_all((0..IN_FLIGHT).map(|_| work())).await;
    all.into_iter().collect()
}
