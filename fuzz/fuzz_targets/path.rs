//! A path that a model writes stays below its root, and what it was resolved to is resolved to itself.
#![no_main]

use std::path::PathBuf;
use std::sync::LazyLock;

use haft::Workdir;
use haft_testkit::Tree;
use libfuzzer_sys::fuzz_target;

/// A root with links that lead to its own places, out of it, round in circles and to nothing.
static PLACE: LazyLock<(Tree, Workdir, PathBuf)> = LazyLock::new(|| {
    let tree = Tree::new()
        .file("root/src/main.rs", "fn main() {}\n")
        .file("root/notes.txt", "notes\n")
        .file("secret/key", "key\n")
        .directory("root/empty/deep")
        .link("root/in", "src")
        .link("root/src/up", "..")
        .link("root/out", "../secret")
        .link("root/src/far", "/etc")
        .link("root/loop", "loop")
        .link("root/a", "b")
        .link("root/b", "a")
        .link("root/gone", "nowhere/at/all");
    let root = tree.path().canonicalize().expect("the tree is there").join("root");
    let workdir = Workdir::open(&root).expect("the root is there");
    (tree, workdir, root)
});

fuzz_target!(|text: &str| {
    let (_, workdir, root) = &*PLACE;
    let path = match workdir.resolve(text) {
        Ok(path) => path,
        Err(error) => {
            let shown = error.model_text();
            let root = root.to_str().expect("it is UTF-8");
            assert!(text.contains(root) || !shown.contains(root), "the model is told of the host: {shown}");
            return;
        }
    };
    assert!(!path.is_absolute(), "there is no other root");
    assert!(
        path.segments().all(|name| !matches!(name, "" | "." | "..") && !name.contains(['/', '\0'])),
        "{path:?}"
    );
    assert_eq!(
        workdir.resolve(path.as_str()).ok().as_ref(),
        Some(&path),
        "what is resolved is resolved to itself"
    );
    if let (Some(parent), Some(name)) = (path.parent(), path.file_name()) {
        assert_eq!(parent.join_file_name(name).as_ref(), Some(&path));
        assert!(path.starts_with(&parent));
    }
    // Nothing on the way is a link, so what is there is where its name says.
    let place = if path.is_root() { root.clone() } else { root.join(path.as_str()) };
    for there in place.ancestors().take_while(|there| there.starts_with(root)) {
        if let Ok(real) = there.canonicalize() {
            assert_eq!(real, there, "`{text}` leads through a link");
        }
    }
});
