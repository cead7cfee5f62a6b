//! What connections leave behind when they are closed. It is alone in its program, since descriptors and children are
//! those of the whole process.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "what cannot be measured fails the test")]

use haft_mcp::measured::Measured;
use haft_mcp::{Era, Program};
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use tokio::runtime::Handle;

fn hostile_server() -> PathBuf {
    let this = std::env::current_exe().unwrap();
    this.ancestors().nth(2).unwrap().join("examples").join("hostile-server")
}

/// How many descriptors and children this process has, and how many tasks its runtime.
fn counts() -> [usize; 3] {
    let descriptors = fs::read_dir("/proc/self/fd").unwrap().count();
    let this = std::process::id().to_string();
    let is_child = |process: &Path| {
        let stat = fs::read_to_string(process.join("stat")).unwrap_or_default();
        stat.rsplit_once(')')
            .and_then(|(_, fields)| fields.split_ascii_whitespace().nth(1).map(|parent| parent == this))
    };
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let children = processes.filter(|process| is_child(&process.path()) == Some(true)).count();
    [descriptors, children, Handle::current().metrics().num_alive_tasks()]
}

#[tokio::test]
async fn fifty_connections_leave_no_descriptor_no_process_and_no_task() {
    let once = async |era, call: &str| {
        let no_arguments: [&str; 0] = [];
        let session = Measured::connect(Program::new(hostile_server(), no_arguments), era).await.unwrap();
        // A server that dies in the call is closed as well.
        let _ = session.call(call, json!({ "text": "hi", "code": 1 })).await;
        session.close().await;
    };
    // What is made once for all is made now.
    once(Era::Modern, "echo").await;
    let before = counts();
    for round in 0..50 {
        let era = if round % 2 == 0 { Era::Modern } else { Era::Legacy };
        once(era, if round % 5 == 0 { "die" } else { "echo" }).await;
    }
    assert_eq!(counts(), before, "descriptors, children, tasks");
}
