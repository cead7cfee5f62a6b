//! Measures what it costs to be served, each row beside a server of rmcp alone with the same tool, the same client and the
//! same run.
//!
//! Run it with `cargo bench -p haft-mcp --features server-http --bench serve`. Only the ratio of two times travels from one
//! machine to another. The memory of those who only listen is measured of a process that does nothing else.

#![cfg(unix)]
#![expect(clippy::print_stdout, reason = "the tables are what the benchmark is for")]

mod bare;
mod client;
mod echo;
mod ours;

use client::{Lines, Web};
use haft_testkit::Beside;
use std::io::{BufRead as _, BufReader, Read as _};
use std::net::SocketAddr;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

type Fault = Box<dyn std::error::Error>;

/// Says to this program which server it is.
const SERVER: &str = "HAFT_BENCH_SERVER";

/// How often both are measured in turn, each time for so short that what else the machine does hits both or neither.
const ROUNDS: usize = 41;
const CALLS: u32 = 250;
/// How many calls are made of those that are in flight together.
const MANY: u32 = 1_024;
const IN_FLIGHT: u32 = 64;
const TOOLS: usize = 1_000;
/// How often they are listed in a round: one list alone is mostly the time in which a server wakes up.
const LISTS: u32 = 20;
const LISTENERS: usize = 10_000;

fn main() -> ExitCode {
    let result = match std::env::var(SERVER) {
        Ok(server) => serve(&server),
        Err(_) => measure(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            println!("{fault}");
            ExitCode::FAILURE
        }
    }
}

/// Is one of the servers, until standard input ends.
fn serve(server: &str) -> Result<(), Fault> {
    if server == "bytes" {
        return client::serve_bytes();
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    match server {
        "ours over HTTP" => runtime.spawn(async { ours::over_http(1).await.ok() }),
        "ours over HTTP, many tools" => runtime.spawn(async { ours::over_http(TOOLS).await.ok() }),
        "rmcp over HTTP" => runtime.spawn(async { bare::over_http().await.ok() }),
        "ours over lines" => return runtime.block_on(ours::over_lines()),
        "rmcp over pipes" => return runtime.block_on(bare::over_pipes()),
        _ => return runtime.block_on(bare::over_lines()),
    };
    std::io::stdin().read_to_end(&mut Vec::new())?;
    runtime.shutdown_background();
    Ok(())
}

/// Is a server in a process of its own.
struct Process(Child);

impl Process {
    fn start(server: &str) -> Result<Self, Fault> {
        let mut command = Command::new(std::env::current_exe()?);
        Ok(Self(command.env(SERVER, server).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?))
    }

    fn at_address(server: &str) -> Result<(Self, SocketAddr), Fault> {
        let mut process = Self::start(server)?;
        let mut line = String::new();
        BufReader::new(process.0.stdout.as_mut().ok_or("no output")?).read_line(&mut line)?;
        Ok((process, line.trim().parse()?))
    }

    fn lines(&mut self) -> Result<Lines, Fault> {
        Ok(Lines::new(self.0.stdin.take().ok_or("no input")?, self.0.stdout.take().ok_or("no output")?))
    }

    /// How many bytes of memory it holds.
    fn memory(&self) -> Result<u64, Fault> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.0.id()))?;
        let resident =
            status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB"));
        Ok(resident.ok_or("no memory")?.parse::<u64>()? * 1024)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

fn measure() -> Result<(), Fault> {
    println!("{}", Beside::head("without"));
    let (_ours, ours) = Process::at_address("ours over HTTP")?;
    let (_bare, bare) = Process::at_address("rmcp over HTTP")?;
    let (mut one, mut other) = (Web::connect(ours)?, Web::connect(bare)?);
    row("echo over HTTP, one at a time, each", "1.15", CALLS, || one.echo(CALLS), || other.echo(CALLS))?;
    let together = |at| client::together(at, IN_FLIGHT, MANY);
    row("echo over HTTP, 64 in flight, each", "1.11", MANY, || together(ours), || together(bare))?;

    for (server, how) in [("rmcp over lines", ""), ("rmcp over pipes", ", its pipes")] {
        let (mut ours, mut bare) = (Process::start("ours over lines")?, Process::start(server)?);
        let (mut one, mut other) = (ours.lines()?, bare.lines()?);
        let name = format!("echo over lines, one at a time{how}, each");
        row(&name, "1.15", CALLS, || one.echo(CALLS, 1), || other.echo(CALLS, 1))?;
        let (one, other) = (|| one.echo(MANY, IN_FLIGHT), || other.echo(MANY, IN_FLIGHT));
        row(&format!("echo over lines, 64 in flight{how}, each"), "1.11", MANY, one, other)?;
    }

    let (_ours, ours) = Process::at_address("ours over HTTP, many tools")?;
    let (_bytes, bytes) = Process::at_address("bytes")?;
    let (mut one, mut other) = (Web::connect(ours)?, Web::connect(bytes)?);
    let pages = one.list(TOOLS)?;
    let total: usize = pages.iter().sum();
    println!("{TOOLS} tools are {} pages of {total} bytes together", pages.len());
    let ours = || (0..LISTS).try_for_each(|_| one.list(TOOLS).map(|_| ()));
    row("1,000 tools listed", "2.0", LISTS, ours, || (0..LISTS).try_for_each(|_| other.bytes(&pages)))?;
    listeners()
}

/// Measures both by turns, and prints what they took.
fn row(
    name: &str,
    goal: &str,
    calls: u32,
    mut ours: impl FnMut() -> Result<(), Fault>,
    mut theirs: impl FnMut() -> Result<(), Fault>,
) -> Result<(), Fault> {
    let mut row = Beside::new(name, goal);
    for _ in 0..ROUNDS {
        let start = Instant::now();
        ours()?;
        let one = start.elapsed();
        theirs()?;
        row.round(one / calls, start.elapsed().saturating_sub(one) / calls);
    }
    println!("{row}");
    Ok(())
}

/// Prints what each of those costs who only listen.
fn listeners() -> Result<(), Fault> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum })?;
    let (process, address) = Process::at_address("ours over HTTP")?;
    Web::connect(address)?.echo(100)?;
    let before = process.memory()?;
    let mut all = Vec::with_capacity(LISTENERS);
    for _ in 0..LISTENERS {
        all.push(Web::connect(address)?.listen()?);
    }
    std::thread::sleep(Duration::from_secs(1));
    let each = process.memory()?.saturating_sub(before) / LISTENERS as u64;
    println!("{LISTENERS} who only listen: {each} bytes each, at most 65536");
    Ok(())
}
