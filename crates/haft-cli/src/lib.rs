//! The `haft` command: lists, calls and runs tools in a terminal.
//!
//! This is the program and no library for others: [`main`] is all it has, and what is stable is the command line, which
//! `haft --help` tells. It is apart from the program's own file so that it is compiled beside the crates it needs and not
//! after the last of them.

#[macro_use]
mod printed;

mod agent;
mod agent_run;
mod approvals;
mod arguments;
mod attend;
mod bench;
mod call;
mod changes;
mod chat;
mod cluster;
mod completions;
mod conclude;
mod config;
mod delegation;
mod doctor;
mod editor;
mod exit;
mod glyphs;
mod grants;
mod groundwork;
mod ids;
mod import;
mod init;
mod interrupt;
mod journal;
mod keeper;
mod kept_state;
mod known_secrets;
mod left_behind;
mod looks_secret;
mod man;
mod mcp;
mod named_host;
mod offered;
mod openapi;
mod opened_workdir;
mod other_root;
mod outcome;
mod own_place;
mod own_tools;
mod paint;
mod person;
mod played;
mod policy;
mod policy_setup;
mod present;
mod progress;
mod prompt;
mod report;
mod resume;
mod run;
mod sandbox;
mod schema;
mod scratch;
mod scripts;
mod serve;
mod set_up;
mod shared_store;
mod small_file;
mod task;
mod telemetry;
mod timeline;
mod tools;
mod typed;
mod user_directories;
mod when;
mod work;
mod worker;

use arguments::{Arguments, Command};
use clap::{CommandFactory as _, FromArgMatches as _};
use exit::Exit;
use std::process::ExitCode;

/// Does what the arguments of this process ask for, and tells how it ended.
pub fn main() -> ExitCode {
    let read = Arguments::command().try_get_matches().and_then(|matches| {
        progress::prepare(&matches);
        Arguments::from_arg_matches(&matches)
    });
    let arguments = match read {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version are not errors, and clap knows where each belongs.
            let printed = error.print();
            if error.use_stderr() {
                return Exit::Usage.into();
            }
            printed::note_failure(printed);
            return printed::finish(Exit::Done).into();
        }
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            return exit::report(&anyhow::Error::new(error).context("cannot start the runtime")).into();
        }
    };
    let result = runtime.block_on(async {
        match arguments.command {
            Command::Tools(options) => tools::tools(&options).await,
            Command::Call(options) => call::call(options).await,
            Command::Run(options) => Box::pin(run::run(options)).await,
            Command::Agent(options) => Box::pin(agent::agent(*options)).await,
            Command::Serve(options) => serve::serve(*options).await,
            Command::Worker(options) => Box::pin(worker::worker(*options)).await,
            Command::Mcp { command } => mcp::mcp(command).await,
            Command::Openapi { command } => openapi::openapi(command).await,
            Command::Init(options) => init::init(&options),
            Command::Import(options) => import::import(&options),
            Command::Config { command } => config::config(&command),
            Command::Doctor(options) => doctor::doctor(options).await,
            Command::Policy { command } => policy::policy(&command),
            Command::Resume(options) => Box::pin(resume::resume(options)).await,
            Command::Approvals(command) => approvals::approvals(command).await,
            Command::Grants(command) => grants::grants(command).await,
            Command::Journal(options) => journal::journal(options).await,
            Command::Undo(options) => changes::undo(&options),
            Command::Diff(options) => changes::diff(&options),
            Command::Report(options) => report::report(options).await,
            Command::Completions(options) => Ok(completions::completions(&options)),
            Command::Man(options) => man::man(&options),
            Command::Schema(options) => schema::schema(&options),
        }
    });
    telemetry::end();
    // A tool that was abandoned may still sit in the blocking pool; its result is of no use to anybody.
    runtime.shutdown_background();
    printed::finish(result.unwrap_or_else(|error| exit::report(&error))).into()
}
