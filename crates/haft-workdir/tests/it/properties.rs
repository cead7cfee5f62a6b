//! What holds for any tree and any path.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use haft_workdir::{Existing, WalkOptions, Workdir};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::fixture::{Fixture, path};

/// Something to put into a tree, if its directory is there and the name is free.
#[derive(Clone, Debug)]
enum Node {
    Directory(Vec<&'static str>),
    File(Vec<&'static str>),
    Link(Vec<&'static str>, String),
}

/// Names that clash often, one of which also exists outside.
fn name() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["a", "b", "c", "sub", "secret"])
}

/// Path text as a model or a link might have it; `{root}` and `{outside}` are filled in later.
fn text() -> impl Strategy<Value = String> + Clone {
    let step = prop::sample::select(vec!["a", "b", "c", "sub", "secret", ".", "..", "", "root", "outside"]);
    let start =
        prop::sample::select(vec!["", "", "", "", "{root}/", "{root}", "{outside}/", "/", "./", "../"]);
    (start, vec(step, 0..7)).prop_map(|(start, steps)| format!("{start}{}", steps.join("/")))
}

/// The same without `..` and without a target outside, so that no lookup ever leaves.
fn tame_text() -> impl Strategy<Value = String> + Clone {
    let step = prop::sample::select(vec!["a", "b", "c", "sub", "secret", ".", ""]);
    let start = prop::sample::select(vec!["./", "./", "{root}/"]);
    (start, vec(step, 1..5)).prop_map(|(start, steps)| format!("{start}{}", steps.join("/")))
}

fn tree(target: impl Strategy<Value = String> + Clone + 'static) -> impl Strategy<Value = Vec<Node>> {
    let place = || vec(name(), 1..4);
    let node = prop_oneof![
        3 => place().prop_map(Node::Directory),
        2 => place().prop_map(Node::File),
        4 => (place(), target).prop_map(|(place, target)| Node::Link(place, target)),
    ];
    vec(node, 1..16)
}

/// Builds a tree without following the links it puts there.
fn build(fixture: &Fixture, nodes: &[Node]) {
    for node in nodes {
        let (Node::Directory(names) | Node::File(names) | Node::Link(names, _)) = node;
        let mut place = fixture.root();
        for (index, name) in names.iter().enumerate() {
            place.push(name);
            let is_last = index + 1 == names.len();
            let found = fs::symlink_metadata(&place).ok();
            match (node, found) {
                (_, Some(found)) if found.is_dir() && !is_last => {}
                (_, Some(_)) => break,
                (Node::File(_), None) if is_last => fs::write(&place, "inside").unwrap(),
                (Node::Link(_, target), None) if is_last => {
                    let target = fixture.fill(target);
                    symlink(if target.is_empty() { "." } else { &target }, &place).unwrap();
                }
                (_, None) => fs::create_dir(&place).unwrap(),
            }
        }
    }
}

fn canonical(path: &Path) -> Option<std::path::PathBuf> {
    path.canonicalize().ok()
}

/// Nothing is written beside the sources: a failing case is printed, and becomes a test of its own.
fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases(300))]

    /// What resolves is where the system would arrive, and that is inside.
    #[test]
    fn resolves_only_to_where_the_system_arrives_inside(nodes in tree(text()), given in vec(text(), 1..12)) {
        let fixture = Fixture::new("");
        build(&fixture, &nodes);
        let root = fixture.root().canonicalize().unwrap();
        let [by_kernel, by_components] = fixture.workdirs();
        for given in given.iter().map(|given| fixture.fill(given)) {
            let resolved = by_kernel.resolve(&given);
            let same = by_components.resolve(&given);
            prop_assert_eq!(resolved.as_ref().map_err(ToString::to_string), same.as_ref().map_err(ToString::to_string));
            let Ok(resolved) = resolved else { continue };
            let host = root.join(resolved.as_str()).components().collect::<std::path::PathBuf>();
            if let Some(arrived) = canonical(&host) {
                // An existing place is its own canonical form, and the one the given text leads the system to.
                prop_assert_eq!(&arrived, &host, "{:?} is not fully resolved", given);
                prop_assert_eq!(canonical(&root.join(&given)), Some(arrived), "{:?} leads elsewhere", given);
            } else {
                // A place that does not exist has no link on the way: its deepest existing directory is canonical.
                let existing = host.ancestors().find(|place| fs::symlink_metadata(place).is_ok()).unwrap();
                prop_assert_eq!(canonical(existing), Some(existing.to_owned()), "{:?}", given);
                prop_assert!(existing.is_dir() && existing.starts_with(&root), "{:?}", given);
            }
            prop_assert_eq!(by_kernel.resolve(resolved.as_str()).unwrap(), resolved, "resolving again moves");
        }
    }

    /// What the system finds without leaving is not refused.
    #[test]
    fn resolves_all_that_exists_inside(nodes in tree(tame_text()), given in vec(tame_text(), 1..12)) {
        let fixture = Fixture::new("");
        build(&fixture, &nodes);
        let root = fixture.root().canonicalize().unwrap();
        for workdir in fixture.workdirs() {
            for given in given.iter().map(|given| fixture.fill(given)) {
                if let Some(arrived) = canonical(&root.join(&given)) {
                    let expected = arrived.strip_prefix(&root).unwrap().to_str().unwrap();
                    let expected = if expected.is_empty() { "." } else { expected };
                    prop_assert_eq!(path(&workdir, &given).to_string(), expected);
                }
            }
        }
    }

    /// No text makes anything panic, and what resolves is in its one spelling.
    #[test]
    fn accepts_any_text(given in ".*") {
        let fixture = Fixture::new("a/b = x");
        for workdir in fixture.workdirs() {
            match workdir.resolve(&given) {
                Ok(path) => {
                    let text = path.as_str();
                    prop_assert!(text == "." || text.split('/').all(|name| !matches!(name, "" | "." | "..")));
                }
                Err(error) => prop_assert!(error.model_text().chars().all(|character| !character.is_control())),
            }
        }
    }
}

proptest! {
    #![proptest_config(cases(60))]

    /// No operation on anything that resolves reads or changes the outside.
    #[test]
    fn operations_stay_inside(nodes in tree(text()), given in vec(text(), 2..8)) {
        let fixture = Fixture::new("");
        build(&fixture, &nodes);
        for workdir in fixture.workdirs() {
            let paths: Vec<_> = given.iter().filter_map(|given| workdir.resolve(&fixture.fill(given)).ok()).collect();
            for path in &paths {
                if let Ok(bytes) = workdir.read(path, 100) {
                    prop_assert_ne!(bytes, b"secret");
                }
                let _ = workdir.write_atomic(path, b"written", Existing::Replace);
                let _ = workdir.create_dir_all(path);
            }
            for pair in paths.windows(2) {
                let _ = workdir.rename(&pair[0], &pair[1], Existing::Replace);
                let _ = workdir.remove_file(&pair[1]);
            }
        }
        fixture.assert_outside_untouched();
    }

    /// A walk over everything meets each entry once, in order, and each has the kind the system says.
    #[test]
    fn walks_everything_in_order(nodes in tree(text())) {
        let fixture = Fixture::new("");
        build(&fixture, &nodes);
        let [by_kernel, by_components] = fixture.workdirs();
        let all = |workdir: &Workdir| {
            let walk = workdir.walk(&path(workdir, "."), WalkOptions::default()).unwrap();
            walk.map(|entry| entry.map(|entry| (entry.path().clone(), entry.kind())).unwrap()).collect::<Vec<_>>()
        };
        let met = all(&by_kernel);
        prop_assert_eq!(&met, &all(&by_components));
        prop_assert!(met.is_sorted_by(|left, right| left.0 < right.0));
        let listed = count(&fixture.root());
        prop_assert_eq!(met.len(), listed);
    }
}

/// Counts the entries below a host directory without following links.
fn count(directory: &Path) -> usize {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap());
    entries.map(|entry| 1 + if entry.file_type().unwrap().is_dir() { count(&entry.path()) } else { 0 }).sum()
}
