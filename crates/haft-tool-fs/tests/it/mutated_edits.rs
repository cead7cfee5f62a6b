//! A small part of what `cargo xtask bench edit` does with the sources of many crates.

use crate::fixture::registry;
use crate::mutation::{ASKS, Ask, Case, MUTATIONS, Mutation, Tally};
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

/// How many edits are tried of each kind.
const EACH: u64 = 10;

#[tokio::test]
async fn no_mutated_edit_goes_wrong() {
    let tree = Tree::new().file("a", "");
    let registry = registry(&tree);
    let mut random = fastrand::Rng::with_seed(7);
    let asked = |ask| MUTATIONS.into_iter().filter(move |each| ask == Ask::One || each.leaves_places());
    for (ask, mutation) in ASKS.into_iter().flat_map(|ask| asked(ask).map(move |mutation| (ask, mutation))) {
        let mut tally = Tally::default();
        let mut tries = 0;
        while tally.applied + tally.refused < if ask == Ask::One { EACH } else { EACH / 3 } {
            tries += 1;
            assert!(tries < 100_000, "no edit is derived for {mutation:?} {ask:?}");
            let source = SOURCES[random.usize(..SOURCES.len())];
            let Some(case) = Case::derive(source, mutation, ask, &mut random) else { continue };
            fs::write(tree.path().join("a"), &case.file).unwrap();
            let reply = call(&registry, "edit_file", case.input("a")).await;
            let is_right = case.judge(&tree.read_bytes("a"), reply.status.is_ok(), &mut tally);
            assert!(is_right, "{}\n{case:?}", reply.output.to_text());
        }
        println!("{mutation:?} {ask:?}: {tally}");
        let must_be_made = mutation == Mutation::Nothing && ask != Ask::WrongCount;
        assert!(!must_be_made || tally.refused == 0, "{ask:?}: plain edits were refused: {tally}");
    }
}
