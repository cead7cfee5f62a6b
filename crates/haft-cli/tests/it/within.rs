//! A `haft` that is started as a server by another.

use crate::mcp::User;
use serde_json::Value;
use std::collections::BTreeSet;

#[test]
fn a_haft_that_would_start_itself_without_end_as_a_server_does_so_twice() {
    let user = User::new();
    let mut add = user.command(&["mcp", "add", "again"]);
    for name in ["XDG_CONFIG_HOME", "XDG_STATE_HOME"] {
        add.arg("--env").arg(format!("{name}=${{{name}}}"));
    }
    let added = add.args(["--", env!("CARGO_BIN_EXE_haft"), "serve"]).output().unwrap();
    assert!(added.status.success(), "{}", String::from_utf8_lossy(&added.stderr));
    let output = user.command(&["tools", "--json"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let tools: Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = tools.to_string();
    let names: BTreeSet<&str> = text.split('"').filter(|name| name.ends_with("read_file")).collect();
    assert_eq!(names, BTreeSet::from(["read_file", "again__read_file", "again__again__read_file"]), "{said}");
}
