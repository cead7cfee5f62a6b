//! Runs each recipe as a user would.

use expect_test::expect_file;
use std::process::{Command, Stdio};

fn check(name: &str) {
    let mut program = Command::new(env!("CARGO_BIN_EXE_cookbook"));
    let output = program.arg(name).stdin(Stdio::null()).output().expect("it can be started");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{name}");
    assert!(output.status.success(), "{name}: {}", output.status);
    let said = String::from_utf8_lossy(&output.stdout);
    // What the kernel can do differs from machine to machine.
    let lines = said.lines().filter(|line| !line.starts_with("kernel: "));
    let said: String = lines.flat_map(|line| [line, "\n"]).collect();
    expect_file![format!("output/{name}.txt")].assert_eq(&said);
}

macro_rules! recipes {
    ($($name:ident)*) => { $(#[test] fn $name() { check(stringify!($name)); })* };
}

recipes! {
    approve_later ask_a_person delegate huge_output layer own_loop read_only record_and_replay sandbox serve_tools use_a_server
    wrap_a_function
}
