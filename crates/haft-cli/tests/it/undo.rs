//! What is undone, what is refused and what is said of it.

use crate::{haft, shown};
use haft_testkit::Tree;
use serde_json::{Value, json};

/// What stands for the list of runs where there is none.
const NONE: &str =
    "No run has changed anything by a tool for files; what commands change is not recorded.\nexit 0\n";

fn say(tree: &Tree, code: i32, arguments: &[&str]) -> String {
    let output = haft(tree.path(), arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", shown(&output));
    shown(&output)
}

fn call(tree: &Tree, tool: &str, input: &Value) {
    say(tree, 0, &["call", tool, &input.to_string(), "--yes"]);
}

fn runs(tree: &Tree) -> Vec<String> {
    let output = haft(tree.path(), &["undo", "--json"]).output().unwrap();
    let runs: Value = serde_json::from_slice(&output.stdout).unwrap();
    runs.as_array().unwrap().iter().map(|run| run["run"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_run_is_shown_undone_and_done_again() {
    let tree = Tree::new().executable("a.txt", "one\ntwo\n");
    assert_eq!(say(&tree, 0, &["undo"]), NONE);
    call(&tree, "edit_file", &json!({ "path": "a.txt", "edits": [{ "old": "two", "new": "three" }] }));
    call(&tree, "write_file", &json!({ "path": "new/b.txt", "content": "b\n" }));
    let runs_now = runs(&tree);
    let (made, edited) = (&runs_now[0], &runs_now[1]);
    for command in ["undo", "diff"] {
        let listed = say(&tree, 0, &[command]);
        assert!(listed.starts_with(&format!("{made}  1 change  ")), "{listed}");
        assert!(
            listed
                .ends_with("\nstderr: Undo one with `haft undo RUN`; see it with `haft diff RUN`.\nexit 0\n"),
            "{listed}"
        );
    }
    let diff = say(&tree, 0, &["diff", edited]);
    assert_eq!(
        diff,
        "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+three\nexit 0\n"
    );
    assert_eq!(say(&tree, 0, &["undo", edited, "--dry-run"]), "restores a.txt\nexit 0\n");
    assert_eq!(tree.read("a.txt"), "one\nthree\n");
    assert!(say(&tree, 0, &["undo", edited]).starts_with("restored a.txt\n"));
    assert_eq!(tree.read("a.txt"), "one\ntwo\n");
    assert!(say(&tree, 1, &["undo", edited]).contains("was undone before"));
    let undoing = runs(&tree)[0].clone();
    say(&tree, 0, &["undo", &undoing]);
    assert_eq!(tree.read("a.txt"), "one\nthree\n");
    say(&tree, 0, &["undo", made]);
    assert!(tree.list().iter().all(|path| !path.starts_with("new")), "{:?}", tree.list());
}

#[test]
fn what_has_changed_since_is_named_and_nothing_is_undone() {
    let tree = Tree::new().file("a.txt", "one\n");
    call(&tree, "write_file", &json!({ "path": "a.txt", "content": "two\n" }));
    call(&tree, "write_file", &json!({ "path": "a.txt", "content": "three\n" }));
    let first = runs(&tree)[1].clone();
    let said = say(&tree, 1, &["undo", &first]);
    assert!(said.contains("nothing was undone"), "{said}");
    assert!(said.contains("`a.txt` has changed since, by the call `cli` of the run `run-"), "{said}");
    assert_eq!(tree.read("a.txt"), "three\n");
    let said = say(&tree, 2, &["undo", "run-nothing"]);
    assert!(
        said.contains("no run `run-nothing` has changed anything; the latest that have are `run-"),
        "{said}"
    );
    let said = say(&tree, 2, &["undo", &first, "--call", "c9"]);
    assert!(said.contains("these calls have: `cli` (write_file)"), "{said}");
}

#[test]
fn nothing_is_recorded_where_nothing_is_to_be() {
    let tree = Tree::new();
    let input = json!({ "path": "a.txt", "content": "a\n" }).to_string();
    say(&tree, 0, &["call", "write_file", &input, "--yes", "--undo-space", "0"]);
    assert_eq!(say(&tree, 0, &["undo"]), NONE);
}

/// Changes files in three turns: `a.txt` in the first, `b.txt` and `new/c.txt` in the second, `d.txt` in the third.
const THREE_TURNS: &str = r#"{"calls":[{"id":"c1","name":"edit_file","input":{"path":"a.txt","edits":[{"old":"one","new":"1"}]}}]}
{"calls":[{"id":"c2","name":"write_file","input":{"path":"b.txt","content":"2\n"}},{"id":"c3","name":"write_file","input":{"path":"new/c.txt","content":"3\n"}}]}
{"calls":[{"id":"c4","name":"write_file","input":{"path":"d.txt","content":"4\n"}}]}
{"text":"All is written."}
"#;

/// Plays three turns that change files, and gives the run.
fn three_turns() -> (Tree, String) {
    let tree = Tree::new().file("play/session.jsonl", THREE_TURNS);
    let tree = tree.file("work/a.txt", "one\ntwo\n").file("work/b.txt", "b\n");
    say(&tree, 0, &["run", "play", "--workdir", "work", "--yes"]);
    let runs = runs(&tree);
    assert_eq!(runs.len(), 1, "{runs:?}");
    let run = runs.into_iter().next().unwrap();
    (tree, run)
}

/// What is in the directory of the run, as paths and contents.
fn files(tree: &Tree) -> Vec<(String, String)> {
    let paths = tree.list().into_iter().filter(|path| path.starts_with("work/") && !path.ends_with('/'));
    paths.map(|path| (path["work/".len()..].to_owned(), tree.read(&path))).collect()
}

/// Takes back a part of a run, whose diff and plan are as expected, and then that; gives what is there in between.
fn check_part(part: &[&str; 2], diff: &str, effects: &str, there: &[(&str, &str)]) {
    let (tree, run) = three_turns();
    let all = files(&tree);
    let with =
        |command: &str, more: &[&str]| say(&tree, 0, &[&[command, run.as_str()], &part[..], more].concat());
    assert_eq!(with("diff", &[]), format!("{diff}exit 0\n"));
    assert_eq!(
        with("undo", &["--dry-run"]),
        format!("{}exit 0\n", effects.replace("restored", "restores").replace("removed", "removes"))
    );
    assert_eq!(files(&tree), all);
    let said = with("undo", &[]);
    assert!(said.starts_with(&format!("{effects}stderr: `haft undo undo-")), "{said}");
    let there: Vec<_> = there.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
    assert_eq!(files(&tree), there);
    let again = say(&tree, 1, &[&["undo", run.as_str()], &part[..]].concat());
    assert!(again.contains("was undone before"), "{again}");
    assert_eq!(files(&tree), there);
    let undoing = runs(&tree)[0].clone();
    say(&tree, 0, &["undo", &undoing]);
    assert_eq!(files(&tree), all);
}

const DIFF_OF_B: &str = "\
diff --git a/b.txt b/b.txt
--- a/b.txt
+++ b/b.txt
@@ -1 +1 @@
-b
+2
";

const DIFF_OF_C: &str = "\
diff --git a/new/c.txt b/new/c.txt
new file mode 100644
--- /dev/null
+++ b/new/c.txt
@@ -0,0 +1 @@
+3
";

#[test]
fn one_call_of_a_run_is_shown_and_undone() {
    check_part(
        &["--call", "c2"],
        DIFF_OF_B,
        "restored b.txt\n",
        &[("a.txt", "1\ntwo\n"), ("b.txt", "b\n"), ("d.txt", "4\n"), ("new/c.txt", "3\n")],
    );
}

#[test]
fn one_turn_of_a_run_is_shown_and_undone() {
    check_part(
        &["--turn", "2"],
        &format!("{DIFF_OF_B}{DIFF_OF_C}"),
        "restored b.txt\nremoved new\nremoved new/c.txt\n",
        &[("a.txt", "1\ntwo\n"), ("b.txt", "b\n"), ("d.txt", "4\n")],
    );
}

#[test]
fn what_is_left_of_a_run_is_undone_after_a_part_of_it() {
    let (tree, run) = three_turns();
    say(&tree, 0, &["undo", &run, "--turn", "2"]);
    say(&tree, 0, &["undo", &run, "--call", "c1"]);
    let diff = say(&tree, 0, &["diff", &run]);
    assert!(diff.starts_with("diff --git a/d.txt b/d.txt\n") && !diff.contains("a.txt"), "{diff}");
    say(&tree, 0, &["undo", &run]);
    let before = [("a.txt", "one\ntwo\n"), ("b.txt", "b\n")];
    assert_eq!(files(&tree), before.map(|(path, text)| (path.to_owned(), text.to_owned())));
    assert!(tree.list().iter().all(|path| path != "work/new/"), "{:?}", tree.list());
}

#[test]
fn a_part_that_a_later_one_builds_on_is_not_undone() {
    let session = THREE_TURNS.replace("d.txt", "a.txt");
    let tree = Tree::new().file("play/session.jsonl", &session);
    let tree = tree.file("work/a.txt", "one\ntwo\n").file("work/b.txt", "b\n");
    say(&tree, 0, &["run", "play", "--workdir", "work", "--yes"]);
    let (run, all) = (runs(&tree)[0].clone(), files(&tree));
    for part in [["--turn", "1"], ["--call", "c1"]] {
        let said = say(&tree, 1, &[&["undo", run.as_str()], &part[..]].concat());
        assert!(
            said.contains(&format!("`a.txt` has changed since, by the call `c4` of the run `{run}`")),
            "{said}"
        );
        assert_eq!(files(&tree), all);
    }
    say(&tree, 0, &["undo", &run, "--turn", "3"]);
    say(&tree, 0, &["undo", &run, "--turn", "1"]);
    assert_eq!(tree.read("work/a.txt"), "one\ntwo\n");
    let said = say(&tree, 2, &["undo", &run, "--turn", "4"]);
    assert!(said.contains("turn 4 of the run"), "{said}");
    assert!(said.contains("in turn 1, 2, 3"), "{said}");
}

#[test]
fn a_name_puts_no_other_file_into_a_patch() {
    let tree = Tree::new();
    let name = "d\nnew file mode 100755\n--- /dev/null\n+++ b/evil.sh\n@@ -0,0 +1 @@\n+evil \"\\\u{85}";
    call(&tree, "write_file", &json!({ "path": name, "content": "benign\n" }));
    let run = runs(&tree)[0].clone();
    let quoted =
        r#"d\nnew file mode 100755\n--- /dev/null\n+++ b/evil.sh\n@@ -0,0 +1 @@\n+evil \"\\\302\205"#;
    let expected = format!(
        "diff --git \"a/{quoted}\" \"b/{quoted}\"\nnew file mode 100644\n--- /dev/null\n+++ \"b/{quoted}\"\n@@ -0,0 +1 @@\n+benign\nexit 0\n"
    );
    assert_eq!(say(&tree, 0, &["diff", &run]), expected);
    // git makes of it the one file that was made.
    let patch = haft(tree.path(), &["diff", &run]).output().unwrap().stdout;
    let elsewhere = Tree::new().file("made.patch", &String::from_utf8(patch).unwrap());
    let git = std::process::Command::new("git")
        .args(["apply", "made.patch"])
        .current_dir(elsewhere.path())
        .env("GIT_CEILING_DIRECTORIES", elsewhere.path().parent().unwrap())
        .output()
        .unwrap();
    assert!(git.status.success(), "{git:?}");
    assert_eq!(elsewhere.read(name), "benign\n");
}
