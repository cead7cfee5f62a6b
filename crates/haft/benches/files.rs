//! Reading slices of a large file and editing one, beside what the same costs with nothing around it.
//!
//! `cargo xtask bench files -- [MEBIBYTES]` takes a file of so many to read from (100 by default); the one that is edited has
//! 50. Times are the least of several, and bytes the most that all threads held at once. Edits are synced to the disk, which
//! their floor is not: with `TMPDIR` on a file system in memory, syncing costs nothing.

#![cfg(unix)]
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark speaks on the terminal")]

use haft::store::SqliteChanges;
use haft::tools_core::Selector;
use haft::{
    Batch, CallScope, LocalExecutor, Policy, Rule, ToolCall, ToolExecutor as _, ToolRegistry, ToolReply,
    Workdir,
};
use haft_testkit::Tree;
use haft_testkit::counting::CountingAll;
use serde_json::{Value, json};
use std::env;
use std::fs::{self, File};
use std::hint::black_box;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

#[global_allocator]
static ALLOCATOR: CountingAll = CountingAll::new();

const LINE: &str = "    let value = compute(with, some, arguments); // and a few words\n";

/// How large the file is that is edited.
const EDITED_MEBIBYTES: usize = 50;

/// How often what takes milliseconds is done, and how often what takes microseconds.
const TIMES: u32 = 9;
const OFTEN: u32 = 5_000;

struct Bench {
    executor: LocalExecutor,
    runtime: tokio::runtime::Runtime,
}

impl Bench {
    fn new(workdir: &Workdir) -> Self {
        let registry = ToolRegistry::of(haft::fs::tools(workdir)).unwrap();
        let policy = Policy::new().allow(Rule::tools(Selector::all()));
        let executor = LocalExecutor::builder(registry).policy(policy).build();
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_time().build().unwrap();
        Self { executor, runtime }
    }

    fn call(&self, tool: &str, input: &Value) -> ToolReply {
        let scope = CallScope::new("bench".parse().unwrap());
        let call = ToolCall::new("c1".parse().unwrap(), tool, input.clone());
        let outcome = self.runtime.block_on(self.executor.execute_batch(Batch::new(scope, vec![call])));
        let reply = outcome.into_replies().unwrap().remove(0);
        assert!(reply.status.is_ok(), "{}", reply.output.to_text());
        reply
    }
}

fn main() {
    let mebibytes = env::args().skip(1).find_map(|argument| argument.parse::<usize>().ok()).unwrap_or(100);
    println!(
        "{:<48} {:>10}   {:<28} {:>10}   {:>6} {:>10} {:>9}",
        "", "", "floor", "", "ratio", "more", "KiB"
    );
    reading(mebibytes);
    small();
    resolving();
    editing();
}

/// A tree with a large file, which has a needle in its middle.
fn large(mebibytes: usize) -> (Tree, usize) {
    let lines = mebibytes * 1024 * 1024 / LINE.len();
    let text = LINE.repeat(lines / 2) + "    let needle = 1;\n" + &LINE.repeat(lines / 2);
    (Tree::new().file("large.rs", &text), lines)
}

fn reading(mebibytes: usize) {
    let (tree, lines) = large(mebibytes);
    let bench = Bench::new(&tree.workdir());
    let path = tree.path().join("large.rs");
    // A file that has just been written is not remembered, so each call passes over it.
    let middle = json!({ "path": "large.rs", "offset": lines / 2, "limit": 100 });
    touch(&path, SystemTime::now() + Duration::from_hours(1));
    let count = least(TIMES, || scan(&path));
    let slice = least(TIMES, || bench.call("read_file", &middle));
    let (_, most) = ALLOCATOR.most_live(|| bench.call("read_file", &middle));
    row("100 lines of the middle, all lines counted", slice, "a count with memchr", count, Some(most));
    touch(&path, SystemTime::now() - Duration::from_hours(1));
    bench.call("read_file", &middle);
    let known = least(TIMES, || bench.call("read_file", &middle));
    let (_, most) = ALLOCATOR.most_live(|| bench.call("read_file", &middle));
    row("the same of a file that was read before", known, "a count with memchr", count, Some(most));
}

fn small() {
    let tree = Tree::new().file("small.rs", &LINE.repeat(16));
    let bench = Bench::new(&tree.workdir());
    let path = tree.path().join("small.rs");
    let floor = least(OFTEN, || {
        let path = path.clone();
        bench.runtime.block_on(bench.runtime.spawn_blocking(move || fs::read(path).unwrap())).unwrap()
    });
    let input = json!({ "path": "small.rs" });
    let read = least(OFTEN, || bench.call("read_file", &input));
    let (_, most) = ALLOCATOR.most_live(|| bench.call("read_file", &input));
    row("a file of 1 KiB, through the whole executor", read, "fs::read on another thread", floor, Some(most));
}

fn resolving() {
    const DEEP: &str = "a/b/c/d/e/f/g/h.rs";
    let tree = Tree::new().file(DEEP, "");
    let workdir = tree.workdir();
    let path = tree.path().join(DEEP);
    let floor = least(OFTEN, || File::open(&path).unwrap());
    let resolved = least(OFTEN, || workdir.resolve(DEEP).unwrap());
    row("a path 8 deep is resolved", resolved, "open", floor, None);
    let path = workdir.resolve(DEEP).unwrap();
    let opened = least(OFTEN, || workdir.open_file(&path).unwrap());
    row("a resolved path 8 deep is opened", opened, "open", floor, None);
}

fn editing() {
    let (tree, _) = large(EDITED_MEBIBYTES);
    let path = tree.path().join("large.rs");
    let mut names = ["needle", "noodle"];
    let floor = least(TIMES, || {
        rewrite(&path, names);
        names.reverse();
    });
    edited("a unique edit in 50 MiB, synced", &tree.workdir(), floor, &mut names);
    let state = tempfile::tempdir().unwrap();
    let journal = SqliteChanges::open(state.path().join("changes.db")).unwrap();
    let workdir = tree.workdir().journalled(Arc::new(journal));
    edited("the same, and what was there kept in a journal", &workdir, floor, &mut names);
}

fn edited(name: &str, workdir: &Workdir, floor: Duration, names: &mut [&str; 2]) {
    let bench = Bench::new(workdir);
    let mut edit = || {
        let [old, new] = names;
        let edits = json!([{ "old": format!("let {old} = 1"), "new": format!("let {new} = 1") }]);
        bench.call("edit_file", &json!({ "path": "large.rs", "edits": edits }));
        names.reverse();
    };
    let took = least(TIMES, &mut edit);
    let ((), most) = ALLOCATOR.most_live(edit);
    row(name, took, "read, find, write, rename", floor, Some(most));
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

fn least<T>(times: u32, mut work: impl FnMut() -> T) -> Duration {
    let mut once = || {
        let started = Instant::now();
        black_box(work());
        started.elapsed()
    };
    (0..times).map(|_| once()).min().unwrap_or_default()
}

fn row(name: &str, took: Duration, floor_name: &str, floor: Duration, most: Option<i64>) {
    let ratio = took.as_secs_f64() / floor.as_secs_f64();
    let more = format!("{:+.1}µs", (took.as_secs_f64() - floor.as_secs_f64()) * 1e6);
    let most = most.map_or_else(String::new, |bytes| (bytes / 1024).to_string());
    println!(
        "{name:<48} {took:>10.1?}   {floor_name:<28} {floor:>10.1?}   {ratio:>5.2}× {more:>10} {most:>9}"
    );
}
