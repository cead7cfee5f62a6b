//! Whatever a source is made into, its outline is of that source.

use super::{call, registry_with};
use haft_testkit::Tree;
use haft_tool_search::SearchOptions;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const SOURCES: [(&str, &str); 10] = [
    ("a.rs", include_str!("../../sources/sample.rs")),
    ("a.py", include_str!("../../sources/sample.py")),
    ("a.js", include_str!("../../sources/sample.js")),
    ("a.jsx", include_str!("../../sources/sample.jsx")),
    ("a.ts", include_str!("../../sources/sample.ts")),
    ("a.tsx", include_str!("../../sources/sample.tsx")),
    ("a.go", include_str!("../../sources/sample.go")),
    ("a.java", include_str!("../../sources/sample.java")),
    ("a.c", include_str!("../../sources/sample.c")),
    ("a.cpp", include_str!("../../sources/sample.cpp")),
];

/// What is done to a source.
#[derive(Debug, Clone)]
enum Change {
    Remove(prop::sample::Index, usize),
    Insert(prop::sample::Index, Vec<u8>),
    Repeat(prop::sample::Index, usize),
}

fn change() -> impl Strategy<Value = Change> {
    let at = any::<prop::sample::Index>;
    let piece = prop_oneof![
        prop::sample::select(vec![
            "{", "}", "(", ")", "<", ">", "\"", "'", "\n", "\r\n", "/*", "#", "fn ", "class ", "é"
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
        prop::collection::vec(1_u8.., 1..8),
    ];
    prop_oneof![
        (at(), 0_usize..200).prop_map(|(at, length)| Change::Remove(at, length)),
        (at(), piece).prop_map(|(at, piece)| Change::Insert(at, piece)),
        (at(), 0_usize..200).prop_map(|(at, length)| Change::Repeat(at, length)),
    ]
}

fn apply(source: &str, changes: Vec<Change>) -> Vec<u8> {
    let mut text = source.as_bytes().to_vec();
    for change in changes {
        match change {
            Change::Remove(at, length) => {
                let at = at.index(text.len() + 1);
                text.drain(at..(at + length).min(text.len()));
            }
            Change::Insert(at, piece) => {
                let at = at.index(text.len() + 1);
                text.splice(at..at, piece);
            }
            Change::Repeat(at, length) => {
                let at = at.index(text.len() + 1);
                let piece = text[at..(at + length).min(text.len())].to_vec();
                text.extend(piece);
            }
        }
    }
    text
}

/// Checks that each symbol is within the file and within what it is in, and that they are in order.
fn check(symbols: &[Value], lines: u64) -> Result<(), TestCaseError> {
    let mut around: Vec<(u64, u64)> = Vec::new();
    for symbol in symbols {
        let number = |name: &str| symbol[name].as_u64().unwrap();
        let (first, last, depth) = (number("first"), number("last"), number("depth"));
        prop_assert!(1 <= first && first <= last && last <= lines, "{symbol} of {lines} lines");
        let depth = usize::try_from(depth).unwrap();
        prop_assert!(depth <= around.len(), "{symbol}");
        around.truncate(depth);
        if let Some((outer_first, outer_last)) = around.last() {
            prop_assert!(
                *outer_first <= first && last <= *outer_last,
                "{symbol} in {outer_first}-{outer_last}"
            );
        }
        around.push((first, last));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn symbols_lie_in_their_file_and_in_each_other(
        source in prop::sample::select(SOURCES.to_vec()),
        changes in prop::collection::vec(change(), 0..12),
    ) {
        let (name, source) = source;
        let text = apply(source, changes);
        let tree = Tree::new().bytes(name, &text);
        let started = Instant::now();
        let reply = call(&tree, json!({ "path": name, "limit": 1000 }));
        prop_assert!(reply.status.is_ok(), "{}", reply.output.to_text());
        prop_assert!(started.elapsed() < Duration::from_mins(1));
        if let Some(file) = reply.output.details["files"].get(0) {
            check(file["symbols"].as_array().unwrap(), file["lines"].as_u64().unwrap())?;
        }
        let registry = registry_with(&tree, SearchOptions::default().threads(2));
        for role in ["both", "references"] {
            let reply = crate::call_of(&registry, "outline", json!({ "name": "*a*", "role": role, "limit": 1000 }));
            prop_assert!(reply.status.is_ok(), "{}", reply.output.to_text());
            let lines = text.split(|byte| *byte == b'\n').count() as u64;
            for place in reply.output.details["places"].as_array().unwrap() {
                prop_assert!(place["last"].as_u64().unwrap() <= lines, "{place}");
                prop_assert!(place["name"].as_str().unwrap().contains('a'), "{place}");
            }
        }
    }
}
