//! The repository's own commands, run as `cargo xtask <command>`.
//!
//! One command is one module; [`ci`] only puts their checks in order. Every check is a function over text or over
//! parsed metadata, so that it can be tested without a checkout, and every failure ends with one sentence that says
//! how to repair it.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command line tool speaks on the terminal")]

mod api;
mod arguments;
mod bench;
mod browser;
mod built;
mod ci;
mod corpus;
mod crashes;
mod deploy;
mod docs;
mod durable;
mod examples;
mod features;
mod footprint;
mod fuzz;
mod help;
mod layers;
mod links;
mod mcp_clients;
mod mcp_conformance;
mod mcp_servers;
mod metadata;
mod minimal;
mod msrv;
mod nearest;
mod nginx;
mod packages;
mod postgres;
mod prism;
mod release;
mod sizes;
mod step;
mod test_directory;
mod together;
mod tool;
mod walk;
mod workspace;

use std::process::ExitCode;

use anyhow::Context as _;

use crate::arguments::Command;
use crate::step::{Outcome, StepResult};
use crate::workspace::Workspace;

/// A command that was not understood, as opposed to a check that failed.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    let arguments: Vec<String> =
        std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned()).collect();
    let command = match arguments::parse(&arguments) {
        Ok(command) => command,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::from(USAGE);
        }
    };
    match run(command) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs one command and tells whether it found everything in order.
fn run(command: Command) -> anyhow::Result<bool> {
    let workspace = Workspace::find().context("cannot find the workspace this command belongs to")?;
    let result = match command {
        Command::Help(topic) => {
            print!("{}", help::page(topic));
            return Ok(true);
        }
        Command::Ci(options) => return Ok(ci::run(&workspace, options)),
        Command::Layers => layers::run(&workspace),
        Command::Sizes => sizes::run(&workspace),
        Command::Features(together) => features::run(&workspace, together),
        Command::CountExamples => docs::count(&workspace),
        Command::Crashes => crashes::run(&workspace),
        Command::Deploy => deploy::run(&workspace),
        Command::Durable => durable::run(&workspace),
        Command::Postgres => postgres::run(&workspace),
        Command::Docs(mode, programs) => docs::run(&workspace, mode, programs),
        Command::Examples => examples::run(&workspace),
        Command::Msrv => msrv::run(&workspace),
        Command::Corpus(extent) => corpus::run(&workspace, extent),
        Command::McpClients => mcp_clients::run(&workspace),
        Command::McpConformance => mcp_conformance::run(&workspace),
        Command::McpInstances => mcp_clients::instances::run(&workspace),
        Command::McpServers => mcp_servers::run(&workspace),
        Command::Prism => prism::run(&workspace),
        Command::Browser => browser::run(&workspace),
        Command::Minimal => minimal::run(&workspace),
        Command::Api(mode) => api::run(&workspace, mode),
        Command::Semver => release::semver(&workspace),
        Command::Release(extent) => release::run(&workspace, extent),
        Command::Fuzz { target, arguments } => fuzz::run(&workspace, target, &arguments),
        Command::Walk(mode, programs) => walk::run(&workspace, mode, programs),
        Command::ListBenches => {
            print!("{}", bench::list());
            return Ok(true);
        }
        Command::AllBenches => bench::run_all(&workspace),
        Command::Bench { bench, arguments } => bench::run(&workspace, bench, &arguments),
    };
    Ok(report(&result))
}

/// Prints how a check that was asked for by name ended, and tells whether it passed.
fn report(result: &StepResult) -> bool {
    match result {
        Ok(Outcome::Done) => true,
        Ok(Outcome::Skipped(why)) => {
            eprintln!("skipped: {why}");
            true
        }
        Err(failure) => {
            eprintln!("{failure}");
            false
        }
    }
}
