//! Every known way out of a root, and that each is refused with its reason.

use expect_test::{Expect, expect};
use haft_workdir::ResolveError;

use crate::fixture::on_both;

const TREE: &str = "
    file = text
    dir/inner/file = text
    out -> {outside}
    out-file -> {outside}/secret
    out-relative -> ../outside/secret
    out-and-back -> ../root/file
    dir/climb -> ../../outside
    dir/inner/root-parent -> ../../..
    through -> dir/climb/secret
    system -> /etc/passwd
    slash -> /
    dangling -> nowhere
    dangling-deep -> dir/nowhere/file
    dangling-absolute -> {root}/nowhere
    dangling-chain -> dangling
    self -> self
    ping -> pong
    pong -> ping
    growing -> growing/growing
    here -> .
    down -> dir/inner
    onto-file -> file/
    sibling -> {root}-other/file
    pipe |
";

/// The name of the variant, so that the refusals are told apart by type and not only by their text.
fn variant(error: &ResolveError) -> &'static str {
    match error {
        ResolveError::Outside { .. } => "Outside",
        ResolveError::LinkOutside { .. } => "LinkOutside",
        ResolveError::DanglingLink { .. } => "DanglingLink",
        ResolveError::LinkLoop { .. } => "LinkLoop",
        ResolveError::NotUnicode { .. } => "NotUnicode",
        ResolveError::NotADirectory { .. } => "NotADirectory",
        ResolveError::ParentOfMissing { .. } => "ParentOfMissing",
        ResolveError::Nul { .. } => "Nul",
        ResolveError::TooLong { .. } => "TooLong",
        ResolveError::Lookup { .. } => "Lookup",
        _ => "another",
    }
}

/// Resolves each path, none of which may resolve, and compares what the model is told.
fn check(given: &[&str], expected: &Expect) {
    let answer = on_both(TREE, |fixture, workdir| {
        let refused = given.iter().map(|given| {
            let error = workdir.resolve(&fixture.fill(given)).expect_err(given);
            format!("{}: {}\n", variant(&error), fixture.hide(&error.model_text()))
        });
        refused.collect::<String>()
    });
    expected.assert_eq(&answer);
}

#[test]
fn refuses_to_climb_out() {
    check(
        &[
            "..",
            "../",
            "../outside/secret",
            "dir/../../outside/secret",
            "./../root/file",
            "../../../../etc/passwd",
        ],
        &expect![[r#"
            Outside: the path `..` is outside the working directory; use a path inside it, such as `src/main.rs`
            Outside: the path `../` is outside the working directory; use a path inside it, such as `src/main.rs`
            Outside: the path `../outside/secret` is outside the working directory; use a path inside it, such as `src/main.rs`
            Outside: the path `dir/../../outside/secret` is outside the working directory; use a path inside it, such as `src/main.rs`
            Outside: the path `./../root/file` is outside the working directory; use a path inside it, such as `src/main.rs`
            Outside: the path `../../../../etc/passwd` is outside the working directory; use a path inside it, such as `src/main.rs`
        "#]],
    );
}

#[test]
fn refuses_absolute_paths_outside() {
    check(
        &["/", "/etc/passwd", "{outside}/secret", "{root}/../outside/secret", "{root}-other/file"],
        &expect![[r#"
            Outside: the path `/` is outside the working directory; use a path inside it, such as `src/main.rs`
            Outside: the path `/etc/passwd` is outside the working directory; use a path inside it, such as `src/main.rs`
            Outside: the path `{outside}/secret` is outside the working directory; use a path inside it, such as `src/main.rs`
            Outside: the path `{root}/../outside/secret` is outside the working directory; use a path inside it, such as `src/main.rs`
            Outside: the path `{root}-other/file` is outside the working directory; use a path inside it, such as `src/main.rs`
        "#]],
    );
}

#[test]
fn refuses_to_climb_out_from_where_a_link_leads() {
    check(
        &["here/..", "down/../../../outside", "down/../.."],
        &expect![[r#"
        Outside: the path `here/..` is outside the working directory; use a path inside it, such as `src/main.rs`
        Outside: the path `down/../../../outside` is outside the working directory; use a path inside it, such as `src/main.rs`
        Outside: the path `down/../..` is outside the working directory; use a path inside it, such as `src/main.rs`
    "#]],
    );
}

#[test]
fn refuses_links_that_lead_out() {
    check(
        &["out", "out/", "out-file", "out-relative", "out-and-back", "through", "system", "slash", "sibling"],
        &expect![[r#"
            LinkOutside: the path `out` goes through the symbolic link `out`, which leads out of the working directory; use a path inside it that does not go through this link
            LinkOutside: the path `out/` goes through the symbolic link `out`, which leads out of the working directory; use a path inside it that does not go through this link
            LinkOutside: the path `out-file` goes through the symbolic link `out-file`, which leads out of the working directory; use a path inside it that does not go through this link
            LinkOutside: the path `out-relative` goes through the symbolic link `out-relative`, which leads out of the working directory; use a path inside it that does not go through this link
            LinkOutside: the path `out-and-back` goes through the symbolic link `out-and-back`, which leads out of the working directory; use a path inside it that does not go through this link
            LinkOutside: the path `through` goes through the symbolic link `through`, which leads out of the working directory; use a path inside it that does not go through this link
            LinkOutside: the path `system` goes through the symbolic link `system`, which leads out of the working directory; use a path inside it that does not go through this link
            LinkOutside: the path `slash` goes through the symbolic link `slash`, which leads out of the working directory; use a path inside it that does not go through this link
            LinkOutside: the path `sibling` goes through the symbolic link `sibling`, which leads out of the working directory; use a path inside it that does not go through this link
        "#]],
    );
}

#[test]
fn refuses_paths_below_links_that_lead_out() {
    check(
        &[
            "out/secret",
            "out/new/file",
            "dir/climb/secret",
            "dir/inner/root-parent/outside/secret",
            "slash/{root}/file",
        ],
        &expect![[r#"
            LinkOutside: the path `out/secret` goes through the symbolic link `out`, which leads out of the working directory; use a path inside it that does not go through this link
            LinkOutside: the path `out/new/file` goes through the symbolic link `out`, which leads out of the working directory; use a path inside it that does not go through this link
            LinkOutside: the path `dir/climb/secret` goes through the symbolic link `dir/climb`, which leads out of the working directory; use a path inside it that does not go through this link
            LinkOutside: the path `dir/inner/root-parent/outside/secret` goes through the symbolic link `dir/inner/root-parent`, which leads out of the working directory; use a path inside it that does not go through this link
            LinkOutside: the path `slash/{root}/file` goes through the symbolic link `slash`, which leads out of the working directory; use a path inside it that does not go through this link
        "#]],
    );
}

#[test]
fn refuses_dangling_links() {
    check(
        &[
            "dangling",
            "dangling/file",
            "dangling-deep",
            "dangling-absolute",
            "dangling-chain",
            "dangling/../file",
        ],
        &expect![[r#"
            DanglingLink: the path `dangling` goes through the symbolic link `dangling`, whose target does not exist; use the path of an existing file, or the path the link should lead to
            DanglingLink: the path `dangling/file` goes through the symbolic link `dangling`, whose target does not exist; use the path of an existing file, or the path the link should lead to
            DanglingLink: the path `dangling-deep` goes through the symbolic link `dangling-deep`, whose target does not exist; use the path of an existing file, or the path the link should lead to
            DanglingLink: the path `dangling-absolute` goes through the symbolic link `dangling-absolute`, whose target does not exist; use the path of an existing file, or the path the link should lead to
            DanglingLink: the path `dangling-chain` goes through the symbolic link `dangling-chain`, whose target does not exist; use the path of an existing file, or the path the link should lead to
            DanglingLink: the path `dangling/../file` goes through the symbolic link `dangling`, whose target does not exist; use the path of an existing file, or the path the link should lead to
        "#]],
    );
}

#[test]
fn refuses_link_loops() {
    check(
        &["self", "self/file", "ping", "pong/file", "growing"],
        &expect![[r#"
            LinkLoop: the path `self` goes through the symbolic link `self`, which leads back to itself or through too many others; use a path that does not go through this link
            LinkLoop: the path `self/file` goes through the symbolic link `self`, which leads back to itself or through too many others; use a path that does not go through this link
            LinkLoop: the path `ping` goes through the symbolic link `ping`, which leads back to itself or through too many others; use a path that does not go through this link
            LinkLoop: the path `pong/file` goes through the symbolic link `pong`, which leads back to itself or through too many others; use a path that does not go through this link
            LinkLoop: the path `growing` goes through the symbolic link `growing`, which leads back to itself or through too many others; use a path that does not go through this link
        "#]],
    );
}

#[test]
fn refuses_too_many_links() {
    check(
        &[&"here/".repeat(41)],
        &expect![[r#"
            LinkLoop: the path `here/here/here/here/here/here/here/here/here/here/here/here/here/here/here/here/here/here/here/here/here/here/here/here/here/here/here/here/here/here/here/here/here/here/here/here/here/here/here/here/…` goes through the symbolic link `here`, which leads back to itself or through too many others; use a path that does not go through this link
        "#]],
    );
}

#[test]
fn refuses_files_used_as_directories() {
    check(
        &["file/", "file/.", "file/..", "file/x", "file/../dir", "onto-file", "pipe/x"],
        &expect![[r#"
        NotADirectory: the path `file/` goes through `file`, which is not a directory; use `file` itself or another path
        NotADirectory: the path `file/.` goes through `file`, which is not a directory; use `file` itself or another path
        NotADirectory: the path `file/..` goes through `file`, which is not a directory; use `file` itself or another path
        NotADirectory: the path `file/x` goes through `file`, which is not a directory; use `file` itself or another path
        NotADirectory: the path `file/../dir` goes through `file`, which is not a directory; use `file` itself or another path
        NotADirectory: the path `onto-file` goes through `file`, which is not a directory; use `file` itself or another path
        NotADirectory: the path `pipe/x` goes through `pipe`, which is not a directory; use `pipe` itself or another path
    "#]],
    );
}

#[test]
fn refuses_parents_of_what_does_not_exist() {
    check(
        &["new/..", "new/../file", "dir/new/../../x", "new/deep/../file"],
        &expect![[r#"
        ParentOfMissing: the path `new/..` uses `..` below `new`, which does not exist; write the path without `..`
        ParentOfMissing: the path `new/../file` uses `..` below `new`, which does not exist; write the path without `..`
        ParentOfMissing: the path `dir/new/../../x` uses `..` below `dir/new`, which does not exist; write the path without `..`
        ParentOfMissing: the path `new/deep/../file` uses `..` below `new`, which does not exist; write the path without `..`
    "#]],
    );
}

#[test]
fn refuses_parents_of_what_does_not_exist_that_would_climb_out() {
    check(
        &["new/../../etc/x", "new/../../outside/secret"],
        &expect![[r#"
        Outside: the path `new/../../etc/x` is outside the working directory; use a path inside it, such as `src/main.rs`
        Outside: the path `new/../../outside/secret` is outside the working directory; use a path inside it, such as `src/main.rs`
    "#]],
    );
}

#[test]
fn refuses_nul_bytes() {
    check(
        &["file\0", "\0", "file\0/../../etc/passwd"],
        &expect![[r#"
        Nul: the path `file\u{0}` contains a NUL byte; write the path without it
        Nul: the path `\u{0}` contains a NUL byte; write the path without it
        Nul: the path `file\u{0}/../../etc/passwd` contains a NUL byte; write the path without it
    "#]],
    );
}

#[test]
fn refuses_paths_that_are_too_long() {
    check(
        &[&"n".repeat(256), &format!("dir/{}/x", "é".repeat(128)), &"d/".repeat(2048)],
        &expect![[r#"
        TooLong: the path `nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn…` is too long; use a path under 4096 bytes with names of at most 255 bytes
        TooLong: the path `dir/éééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééé/x` is too long; use a path under 4096 bytes with names of at most 255 bytes
        TooLong: the path `d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/…` is too long; use a path under 4096 bytes with names of at most 255 bytes
    "#]],
    );
}

#[test]
fn shows_hostile_text_on_one_line() {
    check(
        &["../\n\u{1b}[2J\u{7}evil", &format!("../{}", "x/".repeat(200))],
        &expect![[r#"
        Outside: the path `../\n\u{1b}[2J\u{7}evil` is outside the working directory; use a path inside it, such as `src/main.rs`
        Outside: the path `../x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x…` is outside the working directory; use a path inside it, such as `src/main.rs`
    "#]],
    );
}
