//! Commands that are added to those that are known.

use super::{as_user, check, tree};
use expect_test::expect;
use haft_testkit::Tree;

/// Entries that say of two commands that they only read.
const COMMANDS: &str = "[shell.commands.lines]\noptions = \"-n\"\noperands = \"read*\"\n\n[shell.commands.sweep]\noperands = \"read*\"\n";

/// Says how a script is decided.
fn decided(tree: &Tree, script: &str) -> String {
    as_user(tree, &["policy", "explain", script]).lines().next().unwrap_or_default().to_owned()
}

#[test]
fn commands_that_the_user_adds_are_known() {
    let known = tree(COMMANDS, "");
    let beside = tree("[shell]\ncatalog = \"commands.toml\"\n", "")
        .file("config/haft/commands.toml", "[lines]\noptions = \"-n\"\noperands = \"read*\"\n");
    for (tree, script, decision) in [
        (&known, "lines -n notes.md", "allow"),
        (&known, "lines --other notes.md", "ask"),
        (&known, "lines notes.md && rm notes.md", "ask"),
        (&tree("", ""), "lines -n notes.md", "ask"),
        (&beside, "lines -n notes.md", "allow"),
    ] {
        assert_eq!(decided(tree, script), format!("{decision}  {script}"));
    }
}

#[test]
fn commands_of_a_workspace_are_known_when_it_is_trusted() {
    // Its own tests go by what it says of commands before it is trusted, too.
    let rules = "[permissions]\nallow = [\"exec(lines *)\", \"read(**)\"]\n\n[[test]]\ncommand = \"lines -n a\"\n\
                 expect = \"allow\"\n";
    let tree = tree("", &format!("{rules}\n{COMMANDS}"));
    assert_eq!(decided(&tree, "sweep notes.md"), "ask  sweep notes.md");
    let trusted = as_user(&tree, &["policy", "trust"]);
    let beside = "It also says, beside what may be done:\n  shell.commands.lines = what it does\n  shell.commands.sweep = \
                  what it does\nexit 0\n";
    assert!(trusted.ends_with(beside), "{trusted}");
    assert_eq!(decided(&tree, "sweep notes.md"), "allow  sweep notes.md");
}

#[test]
fn the_user_s_word_of_a_command_goes_before_the_workspace_s() {
    let tree = tree(
        "[shell.commands.sweep]\noperands = \"write*\"\n",
        "[shell.commands.sweep]\noperands = \"read*\"\n",
    );
    as_user(&tree, &["policy", "trust"]);
    assert_eq!(decided(&tree, "sweep notes.md"), "ask  sweep notes.md");
}

#[test]
fn no_entry_says_anew_what_is_known_and_no_file_beside_a_workspace_s_counts() {
    let refused = |user: &str, expected: &str| {
        let tree = tree(user, "").file("work/commands.toml", "[lines]\noperands = \"read*\"\n");
        let shown = as_user(&tree, &["policy", "explain", "true"]);
        assert_eq!(shown, format!("stderr: error: TREE/config/haft/haft.toml: {expected}\nexit 2\n"));
    };
    refused(
        "[shell.commands.rm]\noperands = \"read*\"\n",
        "`[shell.commands.rm]`: `rm` is known already, and what is known of it stays as it is",
    );
    refused(
        "[shell.commands.mine]\nalso = \"env\"\noperands = \"text*\"\n",
        "`[shell.commands.mine]`: `env` is known already, and what is known of it stays as it is",
    );
    refused(
        "[shell.commands.\"./x\"]\noperands = \"read*\"\n",
        "`[shell.commands../x]`: `./x` is a path; what a file does changes with it, so name a command",
    );
    refused(
        "[shell]\ncatalog = \"../../work/commands.toml\"\n",
        "`catalog` of `[shell]` names `../../work/commands.toml`, which lies elsewhere; put it beside `haft.toml`, where no \
         command may write, and give its name",
    );
    let of_workspace = tree("", "[shell]\ncatalog = \"commands.toml\"\n")
        .file("work/commands.toml", "[lines]\noperands = \"read*\"\n");
    assert_eq!(decided(&of_workspace, "lines notes.md"), "ask  lines notes.md");
    check(
        &of_workspace,
        &["policy", "trust"],
        expect![[r#"
        stderr: error: haft.toml: `catalog` of `[shell]` counts in your own `haft.toml` alone, because a file beside this one can change after it was trusted; write the entries here, as `[shell.commands.NAME]`
        exit 2
    "#]],
    );
}

#[test]
fn an_untrusted_workspace_makes_nothing_be_allowed_by_what_it_says_of_commands() {
    for entry in [
        "[shell.commands.sweep]\noperands = \"read*\"\n",
        "[shell.commands.sweep]\nopen = true\noperands = \"text*\"\n",
        "[shell.commands.other]\nalso = \"sweep\"\nopen = true\noperands = \"text*\"\n",
        "[shell.commands.git]\nopen = true\noperands = \"text*\"\n",
        "[shell.commands.env]\nopen = true\noperands = \"text*\"\n",
        "[shell]\ncatalog = \"haft.toml\"\n",
    ] {
        let with = tree("", entry);
        let without = tree("", "[limits]\n");
        for script in
            ["sweep notes.md", "git push", "env git push", "sweep && rm notes.md", "env rm notes.md"]
        {
            assert_eq!(decided(&with, script), decided(&without, script), "{entry}: {script}");
        }
    }
}

#[test]
fn a_program_without_a_shell_is_decided_by_the_rules_about_commands() {
    let tree = tree("[permissions]\nallow = [\"exec(git log *)\"]\ndeny = [\"exec(git push *)\"]\n", "");
    for input in [
        r#"{"program":"cat","args":["notes.md"]}"#,
        r#"{"program":"git","args":["push"]}"#,
        r#"{"program":"env","args":["git","push"]}"#,
        r#"{"program":"bash","args":["-c","git push"]}"#,
        r#"{"program":"rm","args":["notes.md"]}"#,
        r#"{"program":"echo","args":["$(git push)","*"]}"#,
    ] {
        let shown = as_user(&tree, &["call", "run_program", input]);
        let is_denied = input.contains("push") && !input.contains("echo");
        let is_asked = input.contains("rm");
        let expected = if is_denied {
            "git push"
        } else if is_asked {
            "rm notes.md"
        } else {
            "exit 0"
        };
        assert!(shown.contains(expected), "{input}: {shown}");
        assert_eq!(shown.ends_with("exit 0\n"), !is_denied && !is_asked, "{input}: {shown}");
    }
}
