//! Opening a root.

use std::fs;

use expect_test::{Expect, expect};
use haft_workdir::Workdir;

use crate::fixture::{Fixture, path};

/// Opens a path that must not open and compares what the host and the model are told.
fn check(given: &str, expected: &Expect) {
    let fixture = Fixture::new("file = text\nloop -> loop");
    let error = Workdir::open(fixture.fill(given)).unwrap_err();
    expected.assert_eq(&format!("{}\n{}", fixture.hide(&error.to_string()), error.model_text()));
}

#[test]
fn says_that_a_root_is_missing() {
    check(
        "{root}/missing",
        &expect![[r#"
        working directory `{root}/missing` does not exist; create it or name another
        the working directory is not available; ask the user to check that it is still there"#]],
    );
    check(
        "",
        &expect![[r#"
        working directory `` does not exist; create it or name another
        the working directory is not available; ask the user to check that it is still there"#]],
    );
}

#[test]
fn says_that_a_root_is_not_a_directory() {
    check(
        "{root}/file",
        &expect![[r#"
        `{root}/file` is not a directory; name the directory to work in
        the working directory is not available; ask the user to check that it is still there"#]],
    );
}

#[test]
fn says_that_a_root_cannot_be_opened() {
    check(
        "{root}/loop",
        &expect![[r#"
        cannot open working directory `{root}/loop`; check its permissions or name another
        the working directory is not available; ask the user to check that it is still there"#]],
    );
}

#[test]
fn opens_a_root_through_a_link_and_accepts_both_names() {
    let fixture = Fixture::new("file = text");
    let alias = fixture.scratch().join("alias");
    std::os::unix::fs::symlink(fixture.root(), &alias).unwrap();
    let workdir = Workdir::open(&alias).unwrap();
    assert_eq!(workdir.root_path(), fixture.root().canonicalize().unwrap());
    for name in [&alias, workdir.root_path()] {
        assert_eq!(path(&workdir, name.join("file").to_str().unwrap()).as_str(), "file");
    }
}

#[test]
fn opens_the_whole_file_system() {
    let fixture = Fixture::new("file = text\nlink -> {root}/file");
    for workdir in [Workdir::open("/").unwrap(), Workdir::open_by_components("/").unwrap()] {
        let file = fixture.root().canonicalize().unwrap().join("file");
        let expected = file.to_str().unwrap().trim_start_matches('/');
        assert_eq!(path(&workdir, file.to_str().unwrap()).as_str(), expected);
        assert_eq!(path(&workdir, &fixture.fill("{root}/link")).as_str(), expected);
        assert!(workdir.resolve("..").is_err());
    }
}

#[test]
fn finds_the_host_directory_of_a_path() {
    let fixture = Fixture::new("src/main.rs =");
    let workdir = fixture.workdir();
    let host = |text| workdir.host_directory(&path(&workdir, text));
    assert_eq!(host(".").unwrap(), workdir.root_path());
    assert_eq!(host("src").unwrap(), workdir.root_path().join("src"));
    expect!["`src/main.rs` is not a directory"].assert_eq(&host("src/main.rs").unwrap_err().to_string());
    expect!["`new` does not exist"].assert_eq(&host("new").unwrap_err().to_string());
}

#[test]
fn notices_that_the_host_directory_was_replaced() {
    let fixture = Fixture::new("src/main.rs =");
    let workdir = fixture.workdir();
    let source = path(&workdir, "src");
    fs::rename(fixture.root(), fixture.scratch().join("moved")).unwrap();
    let expected = expect!["working directory `{root}` is no longer what was opened; open it again"];
    expected.assert_eq(&fixture.hide(&workdir.host_directory(&source).unwrap_err().to_string()));
    fs::create_dir_all(fixture.root().join("src")).unwrap();
    expected.assert_eq(&fixture.hide(&workdir.host_directory(&source).unwrap_err().to_string()));
}

#[test]
fn keeps_to_the_opened_directory_when_the_root_is_renamed() {
    let fixture = Fixture::new("file = mine\nabsolute -> {root}/file");
    let workdirs = fixture.workdirs();
    fs::rename(fixture.root(), fixture.scratch().join("moved")).unwrap();
    std::os::unix::fs::symlink(fixture.outside(), fixture.root()).unwrap();
    for workdir in workdirs {
        assert_eq!(workdir.read(&path(&workdir, "file"), 100).unwrap(), b"mine");
        assert_eq!(workdir.read(&path(&workdir, "absolute"), 100).unwrap(), b"mine");
        assert_eq!(path(&workdir, &fixture.fill("{root}/file")).as_str(), "file");
        assert!(workdir.read(&path(&workdir, "secret"), 100).is_err());
    }
    fixture.assert_outside_untouched();
}

#[test]
fn can_be_shared_between_threads() {
    fn check<T: Send + Sync + std::fmt::Debug + 'static>() {}
    check::<Workdir>();
    check::<haft_workdir::WorkdirPath>();
    check::<haft_workdir::Walk>();
    check::<haft_workdir::Error>();
}
