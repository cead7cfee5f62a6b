//! A small part of what `cargo xtask bench edit` does with the sources of many crates.

use crate::fixture::registry;
use crate::mutation::{Case, MUTATIONS, Tally};
use haft_testkit::{Tree, call};
use std::fs;

const SOURCES: [&str; 6] = [
    include_str!("../../src/edit_file.rs"),
    include_str!("../../src/edit_file/nearest.rs"),
    include_str!("../../src/read_file/slice.rs"),
    include_str!("../../src/path_patterns.rs"),
    include_str!("../../src/list_files/render.rs"),
    include_str!("../../tests/it/attacks.rs"),
];

#[tokio::test]
async fn no_mutated_edit_goes_wrong() {
    let tree = Tree::new().file("a", "");
    let registry = registry(&tree);
    let mut random = fastrand::Rng::with_seed(7);
    for mutation in MUTATIONS {
        let mut tally = Tally::default();
        while tally.applied + tally.refused < 10 {
            let source = SOURCES[random.usize(..SOURCES.len())];
            let Some(case) = Case::derive(source, mutation, &mut random) else { continue };
            fs::write(tree.path().join("a"), &case.file).unwrap();
            let reply = call(&registry, "edit_file", case.input("a")).await;
            let is_right = case.judge(&tree.read_bytes("a"), reply.status.is_ok(), &mut tally);
            assert!(is_right, "{}\n{case:?}", reply.output.to_text());
        }
        println!("{mutation:?}: {tally}");
    }
}
