//! Patches: all files of one are changed or none, and none that was not declared to be written.
#![no_main]

use std::cell::RefCell;
use std::collections::BTreeMap;

use haft::core::ReplyStatus;
use haft::fs::ApplyPatch;
use haft::{AccessMode, CallScope, ToolRegistry, Workdir};
use haft_testkit::{Tree, call};
use libfuzzer_sys::fuzz_target;
use serde_json::json;

struct Place {
    tree: Tree,
    registry: ToolRegistry,
    before: BTreeMap<String, Vec<u8>>,
    runtime: tokio::runtime::Runtime,
}

impl Place {
    fn new() -> Self {
        let tree = Tree::new()
            .file("a.txt", "one\ntwo\nthree\nfour\nfive\n")
            .file("src/main.rs", "fn main() {\n    println!(\"hello\");\n}\n")
            .bytes("crlf.txt", b"one\r\ntwo\r\nthree")
            .file("same.txt", "x\nx\nx\nx\n")
            .executable("run.sh", "#!/bin/sh\n")
            .link("link", "a.txt");
        let workdir = Workdir::open(tree.path()).expect("the tree is there");
        let registry = ToolRegistry::new().with(ApplyPatch::new(workdir)).expect("there is one tool");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        let before = contents(&tree);
        Self { tree, registry, before, runtime }
    }
}

fn contents(tree: &Tree) -> BTreeMap<String, Vec<u8>> {
    let is_file = |path: &String| !path.ends_with('/') && !path.contains(" -> ") && !path.ends_with('|');
    tree.list().into_iter().filter(is_file).map(|path| (path.clone(), tree.read_bytes(&path))).collect()
}

thread_local! {
    static PLACE: RefCell<Option<Place>> = const { RefCell::new(None) };
}

fuzz_target!(|patch: &str| {
    PLACE.with_borrow_mut(|kept| {
        let place = kept.get_or_insert_with(Place::new);
        let scope = CallScope::new("fuzz".parse().expect("an id"));
        let input = json!({ "patch": patch });
        let Ok(declared) = place.registry.declare("apply_patch", input.clone(), &scope) else { return };
        let reply = place.runtime.block_on(call(&place.registry, "apply_patch", input));
        let after = contents(&place.tree);
        let changed: Vec<&String> = after
            .keys()
            .chain(place.before.keys())
            .filter(|path| after.get(*path) != place.before.get(*path))
            .collect();
        if reply.status != ReplyStatus::Ok {
            assert!(
                changed.is_empty(),
                "{changed:?} were changed by a patch that failed: {}",
                reply.output.to_text()
            );
        }
        for path in &changed {
            let is_declared = declared.accesses.iter().any(|access| {
                access.mode() == Some(AccessMode::Write)
                    && access.resource().is_some_and(|resource| {
                        resource.contains(&haft::Resource::exact(haft::FILE, path.as_str()))
                    })
            });
            assert!(is_declared, "{path} was changed and not declared");
        }
        // The next one finds what this one found.
        if !changed.is_empty() || reply.status == ReplyStatus::Ok {
            *kept = None;
        }
    });
});
