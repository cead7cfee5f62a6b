//! How soon a search has ended that is cancelled while it is at work.

use crate::Tools;
use haft_core::ReplyStatus;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// How often each is cancelled.
const TIMES: u32 = 21;

/// How long it works before.
const AT_WORK: Duration = Duration::from_millis(15);

/// How long it may take to end.
const TARGET: Duration = Duration::from_millis(50);

/// A line as long as a large file, in which a match is looked for and not found.
const LINE_BYTES: usize = 256 << 20;

pub(crate) fn measure(tools: &Tools) {
    println!("from cancelling a search to its reply, of {TIMES} the median and the longest");
    let class = r"\b[A-Z]{9}_[0-9]{7}_[a-z]{5}\b";
    row(tools, "`grep`, a class that nothing matches", "grep", &json!({ "pattern": class }));
    row(tools, "`find_files`, what is like nothing", "find_files", &json!({ "query": "qzqzqzqzqzqz" }));
    row(tools, "`outline`, all of it", "outline", &json!({ "name": "q*z*q", "role": "both" }));
    let tree = Path::new(env!("CARGO_TARGET_TMPDIR")).join("search-line");
    fs::create_dir_all(&tree).unwrap();
    fs::write(tree.join("lines"), "abcdefgh 0123456\n".repeat(LINE_BYTES / 17)).unwrap();
    let one = Tools::over(&tree, haft_tool_search::SearchOptions::default());
    row(&one, "`grep`, a file of 256 MiB", "grep", &json!({ "pattern": class }));
    fs::remove_dir_all(&tree).unwrap();
    println!();
}

fn row(tools: &Tools, name: &str, tool: &str, input: &Value) {
    let mut times: Vec<Duration> = (0..TIMES).filter_map(|_| once(tools, tool, input)).collect();
    times.sort();
    let (Some(median), Some(longest)) = (times.get(times.len() / 2), times.last()) else {
        println!("{name:<44} was done before");
        return;
    };
    let missed = if *longest > TARGET { " (missed)" } else { "" };
    println!("{name:<44} {median:>9.1?} {longest:>9.1?} {TARGET:>9.0?}{missed}");
}

/// Cancels a search at work; nothing where it was done before that.
fn once(tools: &Tools, tool: &str, input: &Value) -> Option<Duration> {
    let cancelled = CancellationToken::new();
    let token = cancelled.clone();
    let other = thread::spawn(move || {
        thread::sleep(AT_WORK);
        let at = Instant::now();
        token.cancel();
        at
    });
    let reply = tools.call_until(tool, input, cancelled);
    let ended = Instant::now();
    let at = other.join().unwrap();
    (reply.status == ReplyStatus::Cancelled).then(|| ended.saturating_duration_since(at))
}
