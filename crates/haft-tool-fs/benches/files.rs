//! Reading slices of a large file and editing one, beside what the same costs with nothing around it.
//!
//! `cargo xtask bench files -- [MEBIBYTES]` takes a file of so many (100 by default). Times are the least of several.

#![cfg(unix)]
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark speaks on the terminal")]

use haft_core::ToolReply;
use haft_testkit::{Tree, call};
use haft_tools_core::ToolRegistry;
use serde_json::{Value, json};
use std::env;
use std::fs::{self, File};
use std::hint::black_box;
use std::io::Read as _;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

const LINE: &str = "    let value = compute(with, some, arguments); // and a few words\n";

/// Up to how many mebibytes a file can be edited.
const EDITED_MEBIBYTES: usize = 60;

/// How often each is done.
const TIMES: u32 = 7;

struct Bench {
    registry: ToolRegistry,
    runtime: tokio::runtime::Runtime,
}

impl Bench {
    fn call(&self, tool: &str, input: &Value) -> ToolReply {
        let reply = self.runtime.block_on(call(&self.registry, tool, input.clone()));
        assert!(reply.status.is_ok(), "{}", reply.output.to_text());
        reply
    }
}

fn main() {
    let mebibytes = env::args().skip(1).find_map(|argument| argument.parse::<usize>().ok()).unwrap_or(100);
    let lines = mebibytes * 1024 * 1024 / LINE.len();
    let text = LINE.repeat(lines / 2) + "    let needle = 1;\n" + &LINE.repeat(lines / 2);
    let tree = Tree::new().file("large.rs", &text).file("small.rs", &LINE.repeat(16));
    let large = tree.path().join("large.rs");
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_time().build().unwrap();
    let bench = Bench { registry: ToolRegistry::of(haft_tool_fs::tools(&tree.workdir())).unwrap(), runtime };
    drop(text);

    // A file that has just been written is not remembered, so each call passes over it.
    let middle = json!({ "path": "large.rs", "offset": lines / 2, "limit": 100 });
    touch(&large, SystemTime::now() + Duration::from_hours(1));
    let count = least(|| scan(&large));
    let slice = least(|| bench.call("read_file", &middle));
    row("100 lines of the middle, with all lines counted", slice, "a count with memchr", count);
    touch(&large, SystemTime::now() - Duration::from_hours(1));
    bench.call("read_file", &middle);
    let known = least(|| bench.call("read_file", &middle));
    row("the same of a file that was read before", known, "a count with memchr", count);

    let small = tree.path().join("small.rs");
    let floor = least(|| {
        bench
            .runtime
            .block_on(bench.runtime.spawn_blocking({
                let small = small.clone();
                move || fs::read(small).unwrap()
            }))
            .unwrap()
    });
    let read = least(|| bench.call("read_file", &json!({ "path": "small.rs" })));
    row("a file of 1 KiB, through the whole executor", read, "fs::read on another thread", floor);

    if mebibytes > EDITED_MEBIBYTES {
        return;
    }
    let mut names = ["needle", "noodle"];
    let floor = least(|| {
        rewrite(&large, names);
        names.reverse();
    });
    let edit = least(|| {
        let [old, new] = names;
        let edits = json!([{ "old": format!("let {old} = 1"), "new": format!("let {new} = 1") }]);
        bench.call("edit_file", &json!({ "path": "large.rs", "edits": edits }));
        names.reverse();
    });
    row("a unique edit, with its preview and fsync", edit, "read, find, write, rename", floor);
}

/// Counts line feeds through a buffer.
fn scan(path: &Path) -> usize {
    let mut file = File::open(path).unwrap();
    let mut buffer = vec![0; 64 * 1024];
    let mut lines = 0;
    loop {
        match file.read(&mut buffer).unwrap() {
            0 => return black_box(lines),
            read => lines += memchr::memchr_iter(b'\n', &buffer[..read]).count(),
        }
    }
}

/// Replaces a name in the way that promises least.
fn rewrite(path: &Path, [old, new]: [&str; 2]) {
    let bytes = fs::read(path).unwrap();
    let at = memchr::memmem::find(&bytes, old.as_bytes()).unwrap();
    let beside = path.with_extension("new");
    let changed = [&bytes[..at], new.as_bytes(), &bytes[at + old.len()..]].concat();
    fs::write(&beside, changed).unwrap();
    fs::rename(beside, path).unwrap();
}

fn touch(path: &Path, modified: SystemTime) {
    File::options().write(true).open(path).unwrap().set_modified(modified).unwrap();
}

fn least<T>(mut work: impl FnMut() -> T) -> Duration {
    let mut once = || {
        let started = Instant::now();
        black_box(work());
        started.elapsed()
    };
    (0..TIMES).map(|_| once()).min().unwrap_or_default()
}

fn row(name: &str, took: Duration, floor_name: &str, floor: Duration) {
    let ratio = took.as_secs_f64() / floor.as_secs_f64();
    println!("{name:<50} {took:>12.1?}   {floor_name:<28} {floor:>12.1?}   {ratio:>6.2}×");
}
