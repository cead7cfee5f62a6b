//! More and more files searched.

use crate::{Bench, least, milliseconds, point};
use haft::{ToolRegistry, search};
use haft_testkit::Tree;
use serde_json::json;
use std::fs;
use std::path::Path;

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
        let floor = least(times, || read_all(tree.path()));
        point("files", "grep", files, milliseconds(grep));
        point("files", "find_files", files, milliseconds(find));
        point("files", "glob", files, milliseconds(glob));
        point("files", "all files listed and read", files, milliseconds(floor));
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

/// Lists and reads all files, on one thread.
fn read_all(directory: &Path) -> usize {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap());
    let read = |entry: fs::DirEntry| {
        if entry.file_type().unwrap().is_dir() {
            read_all(&entry.path())
        } else {
            fs::read(entry.path()).unwrap().len()
        }
    };
    entries.map(read).sum()
}
