//! What a person or a script sees of the command: its output, its errors and its exit codes.

#![expect(clippy::unwrap_used, reason = "a fixture that cannot be built fails the test")]
#![expect(clippy::needless_raw_string_hashes, reason = "expect-test writes its snapshots with them")]

mod agent;
mod below;
mod call;
mod chat;
#[cfg(feature = "restate")]
mod cluster;
mod completions;
mod config;
mod console;
mod delegating;
mod doctor;
#[cfg(target_os = "linux")]
mod enduring;
mod gateway;
mod hiding;
mod import;
mod init;
mod interrupt;
mod interrupted;
mod jobs;
mod journal;
mod man;
mod mcp;
mod mcp_login;
mod openapi;
mod policy;
mod policy_files;
mod printing;
mod progress;
mod report;
mod roots;
mod run;
mod schema;
mod serve;
mod serve_ending;
mod served;
mod served_scripts;
mod service;
mod shared_store;
mod state;
#[cfg(feature = "otel")]
mod telemetry;
#[cfg(not(feature = "otel"))]
mod telemetry_absent;
mod terminal;
mod tools;
mod undo;
mod unreadable;
mod waiting;
mod within;

use expect_test::Expect;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Prepares the command in a directory, with nothing on standard input and so nobody to ask, for a user who has no policy
/// and trusts no workspace.
fn haft(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_haft"));
    command.args(arguments).current_dir(directory).stdin(Stdio::null());
    command.env("XDG_CONFIG_HOME", "/nonexistent").env("XDG_STATE_HOME", "/nonexistent");
    command.env("HAFT_STATE", directory.join(".haft-state/haft.db"));
    command
}

/// Writes what came of a command as a person sees it.
fn shown(output: &Output) -> String {
    let mut shown = String::new();
    for (name, bytes) in [("", &output.stdout), ("stderr: ", &output.stderr)] {
        for line in String::from_utf8_lossy(bytes).lines() {
            shown.push_str(name);
            shown.push_str(&without_ids(line));
            shown.push('\n');
        }
    }
    shown.push_str("exit ");
    shown.push_str(&output.status.code().map_or_else(|| "by signal".to_owned(), |code| code.to_string()));
    shown.push('\n');
    shown
}

/// Replaces what differs from run to run: the ids of what waits, where a line says what to do about it.
fn without_ids(line: &str) -> String {
    for (before, name) in [
        ("  haft approvals show ", "ID"),
        ("  haft approvals approve ", "ID"),
        ("go on with `haft resume ", "RUN`."),
        ("say more with `haft resume ", "RUN`."),
        ("go on with `haft agent --resume ", "RUN`"),
    ] {
        if let Some((start, _)) = line.split_once(before) {
            return format!("{start}{before}{name}");
        }
    }
    line.to_owned()
}

#[expect(clippy::needless_pass_by_value, reason = "snapshots read better without a reference")]
fn check(directory: &Path, arguments: &[&str], expected: Expect) {
    expected.assert_eq(&shown(&haft(directory, arguments).output().unwrap()));
}
