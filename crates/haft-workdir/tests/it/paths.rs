//! What a `WorkdirPath` is made of.

use haft_workdir::WorkdirPath;

/// Builds a path from names that are plain.
fn path(names: &[&str]) -> WorkdirPath {
    names.iter().fold(WorkdirPath::root(), |path, name| path.join_file_name(name).unwrap())
}

#[test]
fn is_shown_relative_to_the_root() {
    let deep = path(&["src", "net", "mod.rs"]);
    assert_eq!((deep.as_str(), deep.file_name()), ("src/net/mod.rs", Some("mod.rs")));
    assert_eq!(deep.segments().collect::<Vec<_>>(), ["src", "net", "mod.rs"]);
    assert_eq!(format!("{deep} {deep:?}"), r#"src/net/mod.rs WorkdirPath("src/net/mod.rs")"#);
    assert!(!deep.is_root());
}

#[test]
fn of_the_root_has_no_names() {
    let root = WorkdirPath::root();
    assert_eq!((root.as_str(), root.file_name(), root.parent()), (".", None, None));
    assert_eq!(root.segments().count(), 0);
    assert!(root.is_root());
}

#[test]
fn has_parents_up_to_the_root() {
    let deep = path(&["a", "b"]);
    assert_eq!(deep.parent(), Some(path(&["a"])));
    assert_eq!(deep.parent().and_then(|parent| parent.parent()), Some(WorkdirPath::root()));
}

#[test]
fn takes_only_plain_names() {
    let root = WorkdirPath::root();
    let longest = "n".repeat(255);
    for name in ["a", "...", ".git", "a b", r"a\b", "naïve", &longest] {
        assert_eq!(root.join_file_name(name).unwrap().as_str(), name);
    }
    let too_long = "n".repeat(256);
    for name in ["", ".", "..", "/", "a/b", "/etc", "a\0", &too_long] {
        assert_eq!(root.join_file_name(name), None, "{name:?}");
    }
}

#[test]
fn lies_below_whole_names_only() {
    let (base, below, beside) = (path(&["src"]), path(&["src", "a"]), path(&["src-old", "a"]));
    assert_eq!(below.relative_to(&base), Some("a"));
    assert_eq!(base.relative_to(&base), Some(""));
    assert_eq!(beside.relative_to(&base), None);
    assert_eq!(base.relative_to(&below), None);
    assert_eq!(below.relative_to(&WorkdirPath::root()), Some("src/a"));
    assert!(below.starts_with(&base) && !beside.starts_with(&base));
}

#[test]
fn sorts_a_directory_right_before_its_contents() {
    let sorted = [path(&[]), path(&["a"]), path(&["a", "z"]), path(&["a-b"]), path(&["a0"]), path(&["b"])];
    assert!(sorted.is_sorted());
}
