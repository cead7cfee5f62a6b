//! What a server leaves behind, and the server that is tried.

use std::fs;
use std::path::{Path, PathBuf};
use tokio::runtime::Handle;

pub(crate) fn hostile_server() -> PathBuf {
    let this = std::env::current_exe().unwrap();
    this.ancestors().nth(2).unwrap().join("examples").join("hostile-server")
}

/// How many descriptors and children this process has, and how many tasks its runtime.
pub(crate) fn counts() -> [usize; 3] {
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
