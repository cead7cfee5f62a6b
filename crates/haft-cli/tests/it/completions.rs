//! The scripts by which shells complete the command, and what bash makes of the one for it.

use crate::{haft, shown};
use haft_testkit::Tree;
use std::process::{Command, Stdio};

fn script(shell: &str) -> String {
    let tree = Tree::new();
    let output = haft(tree.path(), &["completions", shell]).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// What bash offers where the last of these words is being written.
fn offered(words: &[&str]) -> Vec<String> {
    let tree = Tree::new().file("haft.bash", &script("bash"));
    let asked = format!(
        "source ./haft.bash; complete -p haft >/dev/null || exit 7; COMP_WORDS=({}); COMP_CWORD={}; \
         _haft haft '{}' '{}'; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        words.join(" "),
        words.len() - 1,
        words[words.len() - 1],
        words[words.len() - 2],
    );
    let mut bash = Command::new("bash");
    bash.args(["--norc", "-c", &asked]).current_dir(tree.path()).stdin(Stdio::null());
    let output = bash.output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn bash_completes_commands_options_and_values() {
    assert_eq!(offered(&["haft", "app"]), ["approvals"]);
    assert_eq!(offered(&["haft", "approvals", "ap"]), ["approve"]);
    assert_eq!(offered(&["haft", "tools", "--js"]), ["--json"]);
    assert_eq!(offered(&["haft", "approvals", "approve", "3f2a", "--for", "w"]), ["workspace"]);
}

#[test]
fn every_shell_has_a_script_that_knows_all_commands() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = script(shell);
        for command in ["tools", "approvals", "openapi", "completions", "max-cost"] {
            assert!(script.contains(command), "{shell} does not know `{command}`");
        }
    }
}

#[test]
fn another_shell_is_refused_with_those_there_are() {
    let tree = Tree::new();
    let output = haft(tree.path(), &["completions", "tcsh"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("[possible values: bash, elvish, fish, powershell, zsh]"), "{said}");
}

/// As `haft completions bash | head -1` has it.
#[test]
fn nothing_is_said_where_nobody_reads_on() {
    let tree = Tree::new();
    for arguments in [&["completions", "bash"][..], &["man"], &["man", "--markdown"]] {
        let mut command = haft(tree.path(), arguments);
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let child = command.stdout(writer).stderr(Stdio::piped()).spawn().unwrap();
        assert_eq!(shown(&child.wait_with_output().unwrap()), "exit 0\n", "{arguments:?}");
    }
}
