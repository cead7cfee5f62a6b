use super::{FilePatch, Kind, parse};
use expect_test::{Expect, expect};
use proptest::prelude::*;
use std::fmt::Write as _;

/// Checks what a patch is read as, in short.
fn check(patch: &str, expected: &Expect) {
    let text = match parse(patch) {
        Ok(files) => files.iter().map(short).collect(),
        Err(error) => format!("error: {error}\n"),
    };
    expected.assert_eq(&text);
}

fn short(file: &FilePatch) -> String {
    let mut text = match &file.kind {
        Kind::Add { content } => format!("add {} {content:?}", file.path),
        Kind::Delete { .. } => format!("delete {}", file.path),
        Kind::Update { to: Some(to), .. } => format!("update {} to {to}", file.path),
        Kind::Update { to: None, .. } => format!("update {}", file.path),
    };
    if let Some(executable) = file.executable {
        write!(text, " executable: {executable}").unwrap();
    }
    text.push('\n');
    if let Kind::Delete { hunks } | Kind::Update { hunks, .. } = &file.kind {
        for hunk in hunks {
            let (old, new) = (hunk.old().join("|"), hunk.new_lines().join("|"));
            writeln!(
                text,
                "  {:?} {:?} {old} => {new} {:?} {}",
                hunk.at, hunk.anchors, hunk.unended, hunk.is_end
            )
            .unwrap();
        }
    }
    text
}

#[test]
fn reads_every_kind_of_a_begin_patch() {
    check(
        "*** Begin Patch\n*** Add File: new.txt\n+one\n+\n*** Delete File: old.txt\n*** Update File: a.rs\n*** Move to: b.rs\n\
         @@ impl A\n@@ fn run\n keep\n-old\n+new\n\n@@\n-x\n+y\n*** End of File\n*** End Patch\n",
        &expect![[r#"
            add new.txt "one\n\n"
            delete old.txt
            update a.rs to b.rs
              None ["impl A", "fn run"] keep|old| => keep|new| (false, false) false
              None [] x => y (false, false) true
        "#]],
    );
}

#[test]
fn reads_what_git_writes() {
    check(
        "From 0123\nSubject: x\n\ndiff --git a/src/a.rs b/src/a.rs\nindex 1..2 100644\n--- a/src/a.rs\n+++ b/src/a.rs\n@@ -1,2 +1,2 @@ fn x\n keep\n-old\n+new\n\
         diff --git a/run b/run\nold mode 100644\nnew mode 100755\ndiff --git a/x y b/x z\nsimilarity index 100%\nrename from x y\nrename to x z\n\
         diff --git a/n b/n\nnew file mode 100755\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+one\n\\ No newline at end of file\n\
         diff --git a/d b/d\ndeleted file mode 100644\n--- a/d\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n-- \n2.40\n",
        &expect![[r#"
            update src/a.rs
              Some(1) [] keep|old => keep|new (false, false) false
            update run executable: true
            update x y to x z
            add n "one" executable: true
            delete d
              Some(1) [] gone =>  (false, false) false
        "#]],
    );
}

#[test]
fn reads_plain_diffs() {
    check(
        "--- old.txt\t2020-01-01\n+++ old.txt\t2020-01-02\n@@ -3 +3 @@\n-a\n+b\n@@ -9,0 +10 @@\n+c\n",
        &expect![[r"
            update old.txt
              Some(3) [] a => b (false, false) false
              Some(9) []  => c (false, false) false
        "]],
    );
    check(
        "--- a/x\n+++ b/x\n@@ -1,2 +1,1 @@\n--- sql comment\n+++ more\n-b\n",
        &expect![[r"
        update x
          Some(1) [] -- sql comment|b => ++ more (false, false) false
    "]],
    );
    check(
        "--- \"a/caf\\303\\251\"\n+++ \"b/caf\\303\\251\"\n@@ -1 +1 @@\n-a\n+b\n",
        &expect![[r"
        update café
          Some(1) [] a => b (false, false) false
    "]],
    );
}

#[test]
fn reads_hunks_without_numbers() {
    check(
        "--- a/x\n+++ b/x\n@@ ... @@\n a\n\n-b\n+c\n@@ fn run() @@\n-d\n+e\n\n--- a/y\n+++ b/y\n@@ @@\n-f\n+g\n",
        &expect![[r#"
            update x
              None [] a||b => a||c (false, false) false
              None ["fn run()"] d => e (false, false) false
            update y
              None [] f => g (false, false) false
        "#]],
    );
}

#[test]
fn says_what_is_wrong() {
    for (patch, expected) in [
        (
            "",
            expect![[r"
            error: there is no change in it; give a patch that starts with `*** Begin Patch`, or a unified diff with `--- a/path` and `+++ b/path` above its hunks
        "]],
        ),
        (
            "some words\n",
            expect![[r"
            error: there is no change in it; give a patch that starts with `*** Begin Patch`, or a unified diff with `--- a/path` and `+++ b/path` above its hunks
        "]],
        ),
        (
            "*** Begin Patch\n*** Update File: a\n-x\n+y\n",
            expect![[r"
            error: it does not end with `*** End Patch`, so it may be cut off; give it whole
        "]],
        ),
        (
            "*** Begin Patch\n*** Update File: a\nx\n*** End Patch",
            expect![[r"
            error: line 3, `x`, is none of `*** Add File: path`, `*** Update File: path`, `*** Delete File: path`, and no line of a hunk, which starts with a blank, `-`, `+` or `@@`
        "]],
        ),
        (
            "*** Begin Patch\n*** Add File: a\nx\n*** End Patch",
            expect![[r"
            error: line 3 of the patch is in a new file and does not start with `+`; start each of its lines so
        "]],
        ),
        (
            "*** Begin Patch\n*** Update File: a\n*** End Patch",
            expect![[r"
            error: the file at line 2 has no hunk; give its lines with ` `, `-` or `+` in front
        "]],
        ),
        (
            "@@ -1 +1 @@\n-a\n+b\n",
            expect![[r"
            error: the hunk at line 1 has no `--- path` and `+++ path` above it
        "]],
        ),
        (
            "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n-b\n",
            expect![[r"
            error: the hunk at line 3 says that it has 3 old and 3 new lines but ends after 2 and 1, so the patch may be cut off; give it whole, with the right counts
        "]],
        ),
        (
            "--- a/x\n+++ b/x\n@@ nonsense\nwords\n",
            expect![[r"
                error: the hunk at line 3 has no lines; give its lines, or leave it out
            "]],
        ),
        (
            "--- a/x\n+++ b/x\n@@ -1 +1 @@\n a\n",
            expect![[r"
            error: the hunk at line 3 changes nothing; leave it out
        "]],
        ),
        (
            "diff --git a/x b/x\nindex 1..2\nGIT binary patch\nliteral 3\n",
            expect![[r"
            error: line 3 is of a binary patch, which is not made here; write the file another way
        "]],
        ),
        (
            "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+target\n",
            expect![[r"
                error: line 2 is of a symbolic link, which is not made or changed here; make it with a command
            "]],
        ),
        (
            "diff --git a/l b/l\nindex 1..2 120000\n--- a/l\n+++ b/l\n@@ -1 +1 @@\n-a\n+b\n",
            expect![[r"
                error: line 2 is of a symbolic link, which is not made or changed here; make it with a command
            "]],
        ),
        (
            "diff --git a/m b/m\ndeleted file mode 160000\n",
            expect![[r"
            error: line 2 is of a submodule, which is not made or changed here; use git for it
        "]],
        ),
        (
            "diff --git a/x b/x\nold mode 100644\nnew mode 755\n",
            expect![[r"
            error: the mode at line 3 is not that of a file; write 100644 or 100755
        "]],
        ),
        (
            "diff --git a/x b/x\nindex 1..2\nBinary files a/x and b/x differ\n",
            expect![[r"
            error: line 3 is of a binary patch, which is not made here; write the file another way
        "]],
        ),
    ] {
        check(patch, &expected);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_makes_it_panic(lines in prop::collection::vec(prop_oneof![
        "\\PC{0,12}",
        prop::sample::select(vec![
            "*** Begin Patch", "*** Add File: a", "*** Update File: a", "*** Move to: b", "*** End of File", "*** End Patch",
            "--- a/x", "+++ b/x", "@@ -1,2 +1,2 @@", "@@ x", "diff --git a/x b/x", "diff --git é", "rename from x", "\\ No newline", "+a", "-b", " c", "", "--- \"\\3",
        ]).prop_map(str::to_owned),
    ], 0..20)) {
        let _ = parse(&lines.join("\n"));
    }
}
