use crate::{Tools, tree};
use haft_tool_search::SearchOptions;
use serde_json::json;
use std::time::{Duration, Instant};

const FILES: usize = 500_000;

/// How long a search may take, and how long it may take in truth.
const DEADLINE: Duration = Duration::from_secs(1);
const MOST: Duration = Duration::from_millis(1200);

/// Searches more files than can be searched in time.
pub(crate) fn measure() {
    println!("{FILES} files with a deadline of {DEADLINE:?}, of which it may take {MOST:?}");
    let tools = Tools::over(&tree::many(FILES), SearchOptions::default().timeout(DEADLINE));
    for (tool, input) in [
        ("grep", json!({ "pattern": "needle", "mode": "count", "limit": 1000, "sort": "modified" })),
        ("grep", json!({ "pattern": "nothing like it" })),
        ("grep", json!({ "pattern": "needle" })),
        ("glob", json!({ "pattern": "*.txt", "sort": "modified" })),
        ("glob", json!({ "pattern": "*.txt" })),
    ] {
        let started = Instant::now();
        let reply = tools.call(tool, &input);
        let took = started.elapsed();
        let text = reply.output.to_text();
        let (paths, end) = text.rsplit_once("\n\n").unwrap_or(("", &text));
        let is_ordered = input["sort"] == "modified" || paths.lines().is_sorted();
        let missed = if took > MOST { ", missed" } else { "" };
        println!("{tool} {input}: {took:.2?}{missed}, ordered: {is_ordered}");
        println!("    {}", end.replace('\n', "\n    "));
    }
}
