//! Measures what the executor costs, each row beside a floor of the same run.
//!
//! Run it with `cargo xtask bench executor`. Only the ratio of a time to its floor travels from one machine to another;
//! allocations and bytes are exact.
//!
//! `cargo xtask bench executor -- --only pipeline --calls 1000` makes so many no-op calls and prints nothing, for tools
//! that count instructions: the difference of two runs with different numbers of calls is that of the calls alone.

#![expect(clippy::print_stdout, reason = "the tables are what the benchmark is for")]

mod files;
mod measuring;
mod one_call;
mod overlapping;
mod queueing;
mod tool_list;

use haft_testkit::counting::Counting;
use one_call::{Direct, Pipeline};
use tokio::runtime::Builder;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

type Fault = Box<dyn std::error::Error>;

/// How many calls are made, and how many tools there are, where only calls are made and nothing else is said.
const CALLS: u32 = 1_000;
const TOOLS: usize = 10;

const USAGE: &str = "the arguments are: --only direct|pipeline [--calls NUMBER] [--tools NUMBER]";

fn main() -> Result<(), Fault> {
    let runtime = Builder::new_current_thread().enable_time().build()?;
    let Arguments { only, calls, tools } = Arguments::read(std::env::args().skip(1))?;
    match only {
        Some(Only::Direct) => Ok(Direct::new()?.call(&runtime, calls)?),
        Some(Only::Pipeline) => Ok(Pipeline::new(tools)?.call(&runtime, calls)?),
        None => {
            one_call::table(&runtime)?;
            println!();
            tool_list::table()?;
            println!();
            overlapping::table(&runtime)?;
            println!();
            queueing::table(&runtime)
        }
    }
}

/// Says which calls are made without measuring them.
#[derive(Clone, Copy)]
enum Only {
    Direct,
    Pipeline,
}

struct Arguments {
    only: Option<Only>,
    calls: u32,
    tools: usize,
}

impl Arguments {
    fn read(mut arguments: impl Iterator<Item = String>) -> Result<Self, Fault> {
        let mut read = Self { only: None, calls: CALLS, tools: TOOLS };
        while let Some(argument) = arguments.next() {
            // Cargo says so to every benchmark.
            if argument == "--bench" {
                continue;
            }
            let value = arguments.next().ok_or(USAGE)?;
            match (argument.as_str(), value.as_str()) {
                ("--only", "direct") => read.only = Some(Only::Direct),
                ("--only", "pipeline") => read.only = Some(Only::Pipeline),
                ("--calls", number) => read.calls = number.parse().map_err(|_| USAGE)?,
                ("--tools", number) => read.tools = number.parse().map_err(|_| USAGE)?,
                _ => return Err(USAGE.into()),
            }
        }
        Ok(read)
    }
}
