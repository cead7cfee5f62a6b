//! Whatever calls of these tools did, undoing their run restores every byte and mode, and a call that is refused did nothing.

use haft_testkit::{Tree, call};
use haft_tools_core::ToolRegistry;
use haft_workdir::{ChangeJournal as _, ChangeOrigin, MemoryChanges, UndoPlan, Workdir};
use proptest::collection::vec;
use proptest::prelude::{
    Just, ProptestConfig, Strategy, any, prop, prop_assert, prop_assert_eq, prop_oneof, proptest,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;

/// Places beside, in and above each other.
const PATHS: [&str; 8] = ["a", "b", "d", "d/a", "d/e", "d/e/a", "f", "f/a"];

/// What is at a path: the mode, and the content of a file.
type Found = BTreeMap<String, (u32, Option<Vec<u8>>)>;

fn found(root: &Path) -> Found {
    fn collect(directory: &Path, below: &str, found: &mut Found) {
        for entry in fs::read_dir(directory).unwrap() {
            let entry = entry.unwrap();
            let name = format!("{below}{}", entry.file_name().to_str().unwrap());
            let metadata = entry.metadata().unwrap();
            let mode = metadata.permissions().mode() & 0o7777;
            found.insert(name.clone(), (mode, metadata.is_file().then(|| fs::read(entry.path()).unwrap())));
            if metadata.is_dir() {
                collect(&entry.path(), &format!("{name}/"), found);
            }
        }
    }
    let mut all = Found::new();
    collect(root, "", &mut all);
    all
}

fn path() -> impl Strategy<Value = &'static str> {
    prop::sample::select(PATHS.as_slice())
}

fn line() -> impl Strategy<Value = &'static str> {
    prop::sample::select(["x", "y", "  x", "x ", "é", "x\r"].as_slice())
}

fn text() -> impl Strategy<Value = String> {
    (vec(line(), 0..4), any::<bool>())
        .prop_map(|(lines, is_ended)| lines.join("\n") + if is_ended { "\n" } else { "" })
}

/// A part of a patch, which may or may not fit what there is.
fn part() -> impl Strategy<Value = String> {
    prop_oneof![
        (path(), text()).prop_map(|(path, text)| {
            let lines = text.lines().fold(String::new(), |lines, line| lines + "+" + line + "\n");
            format!("*** Add File: {path}\n{lines}")
        }),
        path().prop_map(|path| format!("*** Delete File: {path}\n")),
        (path(), line(), line())
            .prop_map(|(path, old, new)| { format!("*** Update File: {path}\n@@\n-{old}\n+{new}\n") }),
        (path(), path(), line(), line()).prop_map(|(path, to, old, new)| {
            format!("*** Update File: {path}\n*** Move to: {to}\n@@\n-{old}\n+{new}\n")
        }),
    ]
}

fn arbitrary_call() -> impl Strategy<Value = (&'static str, Value)> {
    let of_all = prop_oneof![
        4 => (path(), text(), any::<bool>()).prop_map(|(path, content, create_only)| {
            ("write_file", json!({ "path": path, "content": content, "create_only": create_only }))
        }),
        4 => (path(), line(), line(), any::<bool>()).prop_map(|(path, old, new, all)| {
            ("edit_file", json!({ "path": path, "edits": [{ "old": old, "new": new, "all": all }] }))
        }),
        3 => vec(part(), 1..4).prop_map(|parts| {
            let patch = format!("*** Begin Patch\n{}*** End Patch\n", parts.concat());
            ("apply_patch", json!({ "patch": patch }))
        }),
    ];
    #[cfg(feature = "manage")]
    let of_all = prop_oneof![
        3 => of_all,
        1 => (path(), path()).prop_map(|(from, to)| ("move", json!({ "from": from, "to": to }))),
        1 => (path(), path()).prop_map(|(from, to)| ("copy", json!({ "from": from, "to": to }))),
        1 => (path(), any::<bool>()).prop_map(|(path, permanently)| {
            ("delete", json!({ "path": path, "permanently": permanently }))
        }),
        1 => path().prop_map(|path| ("make_directory", json!({ "path": path }))),
    ];
    of_all
}

fn registry(workdir: &Workdir) -> ToolRegistry {
    let tools = haft_tool_fs::tools(workdir);
    #[cfg(feature = "manage")]
    let tools = tools.into_iter().chain(haft_tool_fs::manage_tools(workdir));
    ToolRegistry::of(tools).unwrap()
}

fn undo(workdir: &Workdir, journal: &MemoryChanges, run: &str, as_run: &str) {
    let sets = journal.sets(&run.parse().unwrap()).unwrap();
    let origin = ChangeOrigin::new(as_run.parse().unwrap(), "undo".parse().unwrap());
    UndoPlan::new(workdir, &sets).unwrap().apply(workdir, origin).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn what_calls_did_is_undone_and_what_they_refused_was_not_done(
        files in vec((path(), text(), prop_oneof![Just(0o600), Just(0o644), Just(0o755), Just(0o440)]), 0..6),
        calls in vec(arbitrary_call(), 1..8),
    ) {
        let tree = Tree::new();
        for (path, content, mode) in files {
            let place = tree.path().join(path);
            if fs::create_dir_all(place.parent().unwrap()).is_ok() && fs::symlink_metadata(&place).is_err() {
                fs::write(&place, content).unwrap();
                fs::set_permissions(&place, fs::Permissions::from_mode(mode)).unwrap();
            }
        }
        let journal = Arc::new(MemoryChanges::default());
        let workdir = Workdir::open(tree.path()).unwrap().journalled(Arc::clone(&journal) as _);
        let tools = registry(&workdir);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let before = found(tree.path());
        for (tool, input) in calls {
            let now = found(tree.path());
            let reply = runtime.block_on(call(&tools, tool, input.clone()));
            let is_changed = found(tree.path()) != now;
            prop_assert!(reply.status.is_ok() || !is_changed, "{tool} {input}: {}", reply.output.to_text());
        }
        let after = found(tree.path());
        undo(&workdir, &journal, "test", "undo");
        prop_assert_eq!(found(tree.path()), before);
        undo(&workdir, &journal, "undo", "redo");
        prop_assert_eq!(found(tree.path()), after);
    }
}
