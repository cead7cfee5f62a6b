//! Runs the example as a user would.

use expect_test::expect_file;
use std::process::Command;

#[test]
fn prints_what_the_agents_do() {
    let output = Command::new(env!("CARGO_BIN_EXE_subagents")).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert!(output.status.success());
    expect_file!["output.txt"].assert_eq(&String::from_utf8_lossy(&output.stdout));
}
