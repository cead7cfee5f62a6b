//! More and more files searched.

use crate::{Bench, least, milliseconds, point};
use haft::{ToolRegistry, search};
use haft_testkit::Tree;
use serde_json::json;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// In one directory.
const TOGETHER: usize = 100;

pub(crate) fn sweep() {
    let tree = Tree::new();
    let registry = ToolRegistry::of(search::tools(&tree.workdir())).unwrap();
    let bench = Bench::new(registry);
    let mut made = 0;
    for files in [100, 1_000, 10_000, 50_000] {
        make(tree.path(), made..files);
        made = files;
        let times = if files > 5_000 { 5 } else { 15 };
        let grep = least(times, || bench.call("grep", vec![json!({ "pattern": "needle_[0-9]+" })]));
        let find = least(times, || bench.call("find_files", vec![json!({ "query": "file_42.rs" })]));
        let glob = least(times, || bench.call("glob", vec![json!({ "pattern": "**/file_42.rs" })]));
        point("files", "grep", files, milliseconds(grep));
        point("files", "find_files", files, milliseconds(find));
        point("files", "glob", files, milliseconds(glob));
        if let Some(rg) = ripgrep(tree.path()) {
            point("files", "rg as a process", files, milliseconds(least(times, rg)));
        }
    }
}

fn make(root: &Path, numbers: std::ops::Range<usize>) {
    for number in numbers {
        let directory = root.join(format!("src/part_{}", number / TOGETHER));
        if number % TOGETHER == 0 {
            fs::create_dir_all(&directory).unwrap();
        }
        let lines = format!("fn function_{number}() -> u32 {{\n    {number}\n}}\n").repeat(20);
        let needle = if number % 500 == 0 { format!("// needle_{number}\n") } else { String::new() };
        fs::write(directory.join(format!("file_{number}.rs")), lines + &needle).unwrap();
    }
}

/// The same search by ripgrep, where it is there.
fn ripgrep(root: &Path) -> Option<impl Fn() + '_> {
    let run = move || {
        let mut rg = Command::new("rg");
        rg.args(["--line-number", "needle_[0-9]+", "."]).current_dir(root);
        rg.stdin(Stdio::null()).stdout(Stdio::null()).status()
    };
    run().ok()?;
    Some(move || assert!(run().unwrap().success()))
}
