//! Several roots.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use expect_test::{Expect, expect};
use haft_workdir::Existing::Replace;
use haft_workdir::RootAccess::{self, ReadOnly, ReadWrite};
use haft_workdir::{Error, WalkOptions, Workdir};

use crate::fixture::{Fixture, path};

const TREE: &str = "
    src/lib.rs = old
    vendor/lib.rs = old
    vendor/patches/one = old
    in -> {outside}/sub
    up -> ../outside/sub
";

/// The tree with other roots, for both ways to look paths up.
fn workdirs(fixture: &Fixture, others: &[(&str, RootAccess)]) -> [Workdir; 2] {
    fixture.workdirs().map(|workdir| {
        others
            .iter()
            .fold(workdir, |workdir, (path, access)| workdir.with_root(fixture.fill(path), *access).unwrap())
    })
}

/// Resolves and tries to write, and compares what comes of both.
fn check(others: &[(&str, RootAccess)], given: &[&str], expected: &Expect) {
    let answers: Vec<String> = [0, 1]
        .into_iter()
        .map(|which| {
            let fixture = Fixture::new(TREE);
            let workdir = &workdirs(&fixture, others)[which];
            let answer = given.iter().map(|given| {
                let resolved = workdir.resolve(&fixture.fill(given));
                let outcome = match &resolved {
                    Err(error) => error.model_text(),
                    Ok(path) => match workdir.write_atomic(path, b"new", Replace) {
                        Ok(_) => format!("{path} is written"),
                        Err(error) => format!("{path}: {}", error.model_text()),
                    },
                };
                fixture.hide(&format!("{given} => {outcome}\n"))
            });
            answer.collect()
        })
        .collect();
    assert_eq!(answers[0], answers[1], "the two ways to look paths up differ");
    expected.assert_eq(&answers[0]);
}

#[test]
fn reads_and_writes_another_root_by_absolute_paths() {
    check(
        &[("{outside}", ReadWrite)],
        &[
            "src/lib.rs",
            "{outside}/secret",
            "{outside}/./sub/../sub/new",
            "{outside}/",
            "{outside}2/x",
            "in/secret",
        ],
        &expect![[r#"
            src/lib.rs => src/lib.rs is written
            {outside}/secret => {outside}/secret is written
            {outside}/./sub/../sub/new => {outside}/sub/new is written
            {outside}/ => {outside}: `{outside}` is a directory, not a file; list it, or use the path of a file
            {outside}2/x => the path `{outside}2/x` is outside the working directory; use a path inside it, such as `src/main.rs`
            in/secret => {outside}/sub/secret is written
        "#]],
    );
}

#[test]
fn writes_nothing_in_a_root_for_reading() {
    check(
        &[("{outside}", ReadOnly)],
        &["src/lib.rs", "{outside}/secret", "{outside}/sub/new", "in/secret"],
        &expect![[r#"
            src/lib.rs => src/lib.rs is written
            {outside}/secret => {outside}/secret: `{outside}/secret` is in a directory that is for reading only; write somewhere else, or ask the user to do it
            {outside}/sub/new => {outside}/sub/new: `{outside}/sub/new` is in a directory that is for reading only; write somewhere else, or ask the user to do it
            in/secret => {outside}/sub/secret: `{outside}/sub/secret` is in a directory that is for reading only; write somewhere else, or ask the user to do it
        "#]],
    );
}

#[test]
fn leads_from_one_root_to_another_by_no_other_way() {
    check(
        &[("{outside}", ReadWrite)],
        &[
            "../outside/secret",
            "{root}/../outside/secret",
            "{outside}/../root/src/lib.rs",
            "up/secret",
            "src/../../outside/secret",
            "{outside}/new/../../root/src/lib.rs",
        ],
        &expect![[r#"
            ../outside/secret => the path `../outside/secret` is outside the working directory; use a path inside it, such as `src/main.rs`
            {root}/../outside/secret => the path `{root}/../outside/secret` is outside the working directory; use a path inside it, such as `src/main.rs`
            {outside}/../root/src/lib.rs => the path `{outside}/../root/src/lib.rs` is outside the working directory; use a path inside it, such as `src/main.rs`
            up/secret => the path `up/secret` goes through the symbolic link `up`, which leads out of the working directory; use a path inside it that does not go through this link
            src/../../outside/secret => the path `src/../../outside/secret` is outside the working directory; use a path inside it, such as `src/main.rs`
            {outside}/new/../../root/src/lib.rs => the path `{outside}/new/../../root/src/lib.rs` is outside the working directory; use a path inside it, such as `src/main.rs`
        "#]],
    );
}

#[test]
fn lets_the_innermost_decide() {
    let given = ["src/lib.rs", "vendor/lib.rs", "{root}/vendor/new/file", "vendor/patches/one", "vendored"];
    let expected = expect![[r#"
        src/lib.rs => src/lib.rs is written
        vendor/lib.rs => vendor/lib.rs: `vendor/lib.rs` is in a directory that is for reading only; write somewhere else, or ask the user to do it
        {root}/vendor/new/file => vendor/new/file: `vendor/new/file` is in a directory that is for reading only; write somewhere else, or ask the user to do it
        vendor/patches/one => vendor/patches/one is written
        vendored => vendored is written
    "#]];
    check(&[("{root}/vendor", ReadOnly), ("{root}/vendor/patches", ReadWrite)], &given, &expected);
    check(&[("{root}/vendor/patches", ReadWrite), ("{root}/vendor", ReadOnly)], &given, &expected);
    let whole = [("{root}", ReadOnly), ("{root}/src", ReadWrite)];
    check(
        &whole,
        &["src/lib.rs", "src/new", "vendor/lib.rs", "new"],
        &expect![[r#"
        src/lib.rs => src/lib.rs is written
        src/new => src/new is written
        vendor/lib.rs => vendor/lib.rs: `vendor/lib.rs` is in a directory that is for reading only; write somewhere else, or ask the user to do it
        new => new: `new` is in a directory that is for reading only; write somewhere else, or ask the user to do it
    "#]],
    );
    let outside = [("{outside}/sub", ReadWrite), ("{outside}", ReadOnly)];
    check(
        &outside,
        &["{outside}/secret", "{outside}/sub/secret", "in/secret"],
        &expect![[r#"
        {outside}/secret => {outside}/secret: `{outside}/secret` is in a directory that is for reading only; write somewhere else, or ask the user to do it
        {outside}/sub/secret => {outside}/sub/secret is written
        in/secret => {outside}/sub/secret is written
    "#]],
    );
}

#[test]
fn names_the_main_root_alike_when_it_lies_in_another() {
    let fixture = Fixture::new(TREE);
    let above = fixture.scratch().to_str().unwrap().to_owned();
    for workdir in workdirs(&fixture, &[(&above, ReadOnly)]) {
        for text in ["src/lib.rs", "{root}/src/lib.rs", "{outside}/../root/src/lib.rs"] {
            assert_eq!(path(&workdir, &fixture.fill(text)).as_str(), "src/lib.rs", "{text}");
        }
        assert!(path(&workdir, &fixture.root().to_string_lossy()).is_root());
        let secret = path(&workdir, &fixture.fill("{outside}/secret"));
        assert!(matches!(workdir.write_atomic(&secret, b"", Replace), Err(Error::ReadOnly { .. })));
        workdir.write_atomic(&path(&workdir, &fixture.fill("{root}/src/new")), b"", Replace).unwrap();

        // What a walk says it reads is in the root it is of.
        let walk = workdir.walk(&path(&workdir, &above), WalkOptions::default()).unwrap();
        let met: Vec<String> = walk.map(|entry| fixture.hide(entry.unwrap().path().as_str())).collect();
        assert_eq!(met, ["{outside}", "{outside}/secret", "{outside}/sub", "{outside}/sub/secret", "{root}"]);
        let inside = path(&workdir, &above).join_file_name("root").unwrap();
        let beside = inside.join_file_name("new").unwrap();
        assert!(matches!(workdir.write_atomic(&beside, b"", Replace), Err(Error::ReadOnly { .. })));
    }
}

#[test]
fn moves_and_removes_no_root() {
    let fixture = Fixture::new(TREE);
    let others = [("{root}/vendor/patches", ReadOnly), ("{outside}", ReadWrite)];
    for workdir in workdirs(&fixture, &others) {
        let at = |text: &str| path(&workdir, &fixture.fill(text));
        let rename = |from: &str, to: &str| {
            let error = workdir.rename(&at(from), &at(to), Replace).unwrap_err();
            fixture.hide(&error.model_text()) + "\n"
        };
        let said = [
            rename("vendor", "moved"),
            rename("src", "vendor/patches/src"),
            rename("vendor/patches/one", "one"),
            rename("src", "vendor/patches"),
            rename("{outside}", "moved"),
            workdir.remove_file(&at("vendor/patches/one")).unwrap_err().model_text() + "\n",
            workdir.remove_dir(&at("vendor/patches")).unwrap_err().model_text() + "\n",
            workdir.create_dir_all(&at("vendor/patches/new")).unwrap_err().model_text() + "\n",
            workdir.set_executable(&at("vendor/patches/one"), true).unwrap_err().model_text() + "\n",
        ];
        expect![[r#"
            you cannot rename `vendor`, because it is or holds a directory that the user named; use a path inside it
            `vendor/patches/src` is in a directory that is for reading only; write somewhere else, or ask the user to do it
            `vendor/patches/one` is in a directory that is for reading only; write somewhere else, or ask the user to do it
            `vendor/patches` is in a directory that is for reading only; write somewhere else, or ask the user to do it
            you cannot rename the working directory itself; use a path inside it
            `vendor/patches/one` is in a directory that is for reading only; write somewhere else, or ask the user to do it
            `vendor/patches` is in a directory that is for reading only; write somewhere else, or ask the user to do it
            `vendor/patches/new` is in a directory that is for reading only; write somewhere else, or ask the user to do it
            `vendor/patches/one` is in a directory that is for reading only; write somewhere else, or ask the user to do it
        "#]].assert_eq(&said.concat());
    }
    assert!(fixture.root().join("vendor/patches/one").exists());
}

#[test]
fn moves_between_roots() {
    for which in [0, 1] {
        let fixture = Fixture::new(TREE);
        let workdir = &workdirs(&fixture, &[("{outside}", ReadWrite)])[which];
        let at = |text: &str| path(workdir, &fixture.fill(text));
        let (from, to) = (at("src/lib.rs"), at("{outside}/new/lib.rs"));
        let _lock = workdir.lock([&from, &to]).unwrap();
        let created = workdir.create_dir_all(&to.parent().unwrap()).unwrap();
        assert_eq!(fixture.hide(created[0].as_str()), "{outside}/new");
        workdir.rename(&from, &to, Replace).unwrap();
        assert_eq!(workdir.read(&to, 10).unwrap(), b"old");
        assert!(matches!(workdir.kind(&from), Err(Error::NotFound { .. })));
        assert_eq!(workdir.near_names(&at("{outside}/secre")), [at("{outside}/secret")]);
        assert_eq!(workdir.host_directory(&at("{outside}/new")).unwrap(), fixture.outside().join("new"));
    }
}

#[test]
fn keeps_to_what_was_opened_when_a_root_is_replaced() {
    let fixture = Fixture::new("");
    let workdirs = workdirs(&fixture, &[("{outside}", ReadWrite)]);
    let moved = fixture.scratch().join("moved");
    fs::rename(fixture.outside(), &moved).unwrap();
    symlink("/etc", fixture.outside()).unwrap();
    for workdir in &workdirs {
        let secret = path(workdir, &fixture.fill("{outside}/secret"));
        assert_eq!(workdir.read(&secret, 10).unwrap(), b"secret");
        workdir.write_atomic(&path(workdir, &fixture.fill("{outside}/new")), b"", Replace).unwrap();
        assert!(workdir.host_directory(&secret.parent().unwrap()).is_err());
    }
    assert!(moved.join("new").exists());
}

#[test]
fn takes_the_whole_file_system_for_reading() {
    let fixture = Fixture::new(TREE);
    for workdir in workdirs(&fixture, &[("/", ReadOnly)]) {
        let secret = path(&workdir, &fixture.fill("{outside}/secret"));
        assert_eq!(fixture.hide(secret.as_str()), "{outside}/secret");
        assert_eq!(workdir.read(&secret, 10).unwrap(), b"secret");
        assert!(matches!(workdir.write_atomic(&secret, b"", Replace), Err(Error::ReadOnly { .. })));
        assert_eq!(path(&workdir, &fixture.fill("{root}/src/lib.rs")).as_str(), "src/lib.rs");
        let top = path(&workdir, "/");
        assert_eq!((top.as_str(), top.is_root(), top.parent()), ("/", true, None));
        let etc = path(&workdir, "/etc");
        assert_eq!((etc.file_name(), etc.parent().unwrap()), (Some("etc"), top));
        assert!(workdir.resolve("/..").is_err());
    }
}

#[test]
fn honours_ignore_files_of_another_root() {
    let fixture = Fixture::new("");
    fs::write(fixture.outside().join(".gitignore"), "sub/secret\n").unwrap();
    for workdir in workdirs(&fixture, &[("{outside}", ReadOnly)]) {
        let walked = |text: &str| -> Vec<String> {
            let walk = workdir.walk(&path(&workdir, &fixture.fill(text)), WalkOptions::default()).unwrap();
            walk.map(|entry| fixture.hide(entry.unwrap().path().as_str())).collect()
        };
        assert_eq!(walked("{outside}"), ["{outside}/secret", "{outside}/sub"]);
        assert_eq!(walked("{outside}/sub"), Vec::<String>::new());
        assert_eq!(walked("."), Vec::<String>::new());
    }
}

#[test]
fn can_do_without_the_others() {
    let fixture = Fixture::new(TREE);
    for workdir in workdirs(&fixture, &[("{outside}", ReadWrite), ("{root}/vendor", ReadOnly)]) {
        let alone = workdir.without_other_roots();
        assert!(alone.resolve(&fixture.fill("{outside}/secret")).is_err());
        assert!(alone.resolve("in/secret").is_err());
        let vendored = path(&alone, "vendor/lib.rs");
        assert!(matches!(alone.write_atomic(&vendored, b"", Replace), Err(Error::ReadOnly { .. })));
    }
}

#[test]
fn refuses_roots_that_cannot_be_opened() {
    let fixture = Fixture::new("file =");
    for missing in [fixture.root().join("missing"), fixture.root().join("file")] {
        let opened = fixture.workdir().with_root(Path::new(&missing), ReadOnly);
        assert!(matches!(opened, Err(Error::RootMissing { .. } | Error::RootNotADirectory { .. })));
    }
}
