//! The pages of the manual, as groff reads them.

use crate::{haft, shown};
use expect_test::expect;
use haft_testkit::Tree;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// Has groff lay a page out, with all it can warn of; `None` where there is no groff.
fn laid_out(page: &[u8]) -> Option<String> {
    let mut groff = Command::new("groff");
    groff.args(["-man", "-Kutf8", "-Tutf8", "-ww", "-P-cbou"]);
    groff.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = groff.spawn().ok()?;
    let mut input = child.stdin.take().unwrap();
    input.write_all(page).unwrap();
    drop(input);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "groff warns");
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn a_page_says_what_a_command_takes() {
    let tree = Tree::new();
    let page = haft(tree.path(), &["man", "grants", "revoke"]).output().unwrap().stdout;
    let Some(text) = laid_out(&page) else { return };
    // The first line and the last have the version and the name at the margins.
    let lines: Vec<_> = text.lines().filter(|line| !line.is_empty()).collect();
    let body = lines[1..lines.len() - 1].iter().map(|line| format!("{}\n", line.trim_end()));
    expect![[r#"
        NAME
               haft-grants-revoke - Take them back
        SYNOPSIS
               haft grants revoke [--all] [--json] [-h|--help] [ID]
        DESCRIPTION
               Take them back
        OPTIONS
               --all  Take all back
               --json Print what was taken back as JSON
               -h, --help
                      Print help
               [ID]   The grants, or the beginnings of their ids
        EXTRA
               Examples:
                 haft grants revoke 3f2a 91c0
                 haft grants revoke --all
    "#]]
    .assert_eq(&body.collect::<String>());
}

#[test]
fn all_pages_are_written_and_can_be_read() {
    let tree = Tree::new();
    let said = shown(&haft(tree.path(), &["man", "--dir", "share/man1"]).output().unwrap());
    let folder = tree.path().join("share/man1");
    let mut names: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(
        said,
        format!(
            "wrote {} pages into share/man1\n\nRead one with `man -l share/man1/haft.1`.\nexit 0\n",
            names.len()
        )
    );
    for name in ["haft.1", "haft-mcp.1", "haft-mcp-add.1", "haft-completions.1"] {
        assert!(names.iter().any(|there| there == name), "{name} is not among {names:?}");
    }
    for name in names {
        let page = fs::read(folder.join(&name)).unwrap();
        if laid_out(&page).is_none() {
            return;
        }
    }
}

#[test]
fn a_command_that_is_not_there_and_a_place_that_cannot_be_written_are_refused() {
    let tree = Tree::new().file("file", "");
    let said = |arguments: &[&str]| shown(&haft(tree.path() as &Path, arguments).output().unwrap());
    expect![[r#"
        stderr: error: there is no command `haft mcp ad`; `haft mcp --help` lists those that there are
        exit 2
    "#]]
    .assert_eq(&said(&["man", "mcp", "ad"]));
    expect![[r#"
        stderr: error: cannot make `file/below`; name a directory with `--dir`
        stderr:   because: Not a directory (os error 20)
        exit 2
    "#]]
    .assert_eq(&said(&["man", "--dir", "file/below"]));
}
