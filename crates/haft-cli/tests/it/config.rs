//! What `haft.toml` says beside rules: what counts of the user's file and of the workspace's, and how it is shown.

mod commands;
mod looked_at;
mod read_once;

use crate::{haft, shown};
use expect_test::{Expect, expect};
use haft_testkit::Tree;

/// Runs the command in `work` for a user whose configuration is in `config` and whose state is in `state`.
fn as_user(tree: &Tree, arguments: &[&str]) -> String {
    let at = |folder: &str| tree.path().join(folder);
    let mut command = haft(&at("work"), arguments);
    command.env("XDG_CONFIG_HOME", at("config")).env("XDG_STATE_HOME", at("state"));
    command.env_remove("ANTHROPIC_API_KEY").env_remove("OPENAI_API_KEY");
    shown(&command.output().unwrap()).replace(&*tree.path().to_string_lossy(), "TREE")
}

#[expect(clippy::needless_pass_by_value, reason = "snapshots read better without a reference")]
fn check(tree: &Tree, arguments: &[&str], expected: Expect) {
    expected.assert_eq(&as_user(tree, arguments));
}

fn tree(user: &str, workspace: &str) -> Tree {
    let tree = Tree::new().file("work/notes.md", "one\n").file("other/far.md", "far\n").directory("state");
    let tree = if user.is_empty() { tree } else { tree.file("config/haft/haft.toml", user) };
    if workspace.is_empty() { tree } else { tree.file("work/haft.toml", workspace) }
}

fn names(tree: &Tree) -> Vec<String> {
    let listed = as_user(tree, &["tools", "--json"]);
    let names = listed.lines().filter_map(|line| line.strip_prefix("    \"name\": \""));
    names.map(|name| name.trim_end_matches(['"', ',']).to_owned()).collect()
}

#[test]
fn the_tools_that_are_offered_are_chosen() {
    let tree =
        tree("[tools]\nselect = \"!bash, !web_fetch\"\n", "[tools]\nselect = \"read_*, grep, bash\"\n");
    // The workspace is not trusted, and takes away all the same.
    assert_eq!(names(&tree), ["grep", "read_file"]);
    check(
        &tree,
        &["call", "bash", r#"{"command":"true"}"#],
        expect![[r#"
        stderr: note: haft.toml is not trusted, so it only takes away; look at it, then run `haft policy trust`
        stderr: error: unknown tool: there is no tool `bash`; the tools are `grep` and `read_file`
        exit 1
    "#]],
    );
}

#[test]
fn what_would_stop_those_who_trust_a_file_is_found_before_anybody_does() {
    let commands = tree("", "[shell.commands.x]\noperands = \"bogus\"\n");
    assert!(as_user(&commands, &["config", "check"]).ends_with("exit 1\n"));
    for broken in [
        "[mcp.servers.x]\ncommand = \"\"\n",
        "[mcp.servers.\"a b\"]\ncommand = \"x\"\n",
        "[workdir]\nroots = [\"nowhere\"]\n",
        "[openapi.pets]\n",
    ] {
        let tree = tree("", broken);
        let before = as_user(&tree, &["config", "check"]);
        assert!(before.contains("stderr: error: ") && before.ends_with("exit 1\n"), "{broken}: {before}");
        // The same is told when it is trusted, and nothing works then.
        for again in ["trusted haft.toml as it is now", "haft.toml is trusted already"] {
            let trusted = as_user(&tree, &["policy", "trust"]);
            assert!(trusted.contains(again) && trusted.contains("stderr: error: "), "{broken}: {trusted}");
            assert!(!trusted.contains("note"), "{broken}: {trusted}");
        }
        assert!(as_user(&tree, &["config", "check"]).ends_with("exit 1\n"), "{broken}");
    }
}

#[test]
fn other_directories_are_worked_in_where_the_user_says_so() {
    let read = ["call", "read_file", "--profile", "full_access"];
    let far = |tree: &Tree| {
        let input = format!("{{\"path\":\"{}/other/far.md\"}}", tree.path().display());
        as_user(tree, &[&read[..], &[&input]].concat())
    };
    let of_user = tree("[workdir]\nroots = [\"../../other:ro\"]\n", "");
    expect![[r#"
        TREE/other/far.md: 1 line, 4 bytes
        1	far
        exit 0
    "#]]
    .assert_eq(&far(&of_user));
    let of_workspace = tree("", "[workdir]\nroots = [\"../other:ro\"]\n");
    expect![[r#"
        stderr: note: haft.toml is not trusted, so it only takes away; look at it, then run `haft policy trust`
        stderr: denied: the path `TREE/other/far.md` is outside the working directory; use a path inside it, such as `src/main.rs`
        exit 1
    "#]].assert_eq(&far(&of_workspace));
    as_user(&of_workspace, &["policy", "trust"]);
    expect![[r#"
        TREE/other/far.md: 1 line, 4 bytes
        1	far
        exit 0
    "#]]
    .assert_eq(&far(&of_workspace));
}

#[test]
fn a_model_is_named_by_the_user_or_by_a_workspace_that_is_trusted() {
    let unnamed = ["agent", "look"];
    check(
        &tree("", ""),
        &unnamed,
        expect![[r#"
        stderr: error: no model is named; give `--model`, as in `--model anthropic/claude-sonnet-4-5`, or write `model` in `[agent]` of your `haft.toml`
        exit 2
    "#]],
    );
    check(
        &tree("[agent]\nmodel = \"anthropic/m\"\n", ""),
        &unnamed,
        expect![[r#"
        stderr: error: there is no key for `anthropic`; set ANTHROPIC_API_KEY, or name a service that needs none with `--base-url`
        exit 2
    "#]],
    );
    // The key would be sent wherever the workspace says.
    let workspace = "[agent]\nmodel = \"openai/m\"\nbase_url = \"https://elsewhere.example/v1\"\n";
    check(
        &tree("", workspace),
        &unnamed,
        expect![[r#"
        stderr: error: no model is named; give `--model`, as in `--model anthropic/claude-sonnet-4-5`, or write `model` in `[agent]` of your `haft.toml`
        exit 2
    "#]],
    );
}

#[test]
fn servers_and_documents_of_a_workspace_wait_until_it_is_trusted() {
    let tree = tree(
        "[mcp.servers.mine]\ncommand = \"mine\"\n",
        "[mcp.servers.theirs]\ncommand = \"theirs\"\n\n[mcp.servers.mine]\ncommand = \"evil\"\n\n\
         [openapi.pets]\ndocument = \"pets.yaml\"\n",
    );
    check(
        &tree,
        &["mcp", "list"],
        expect![[r#"
        mine    mine  your haft.toml
        theirs  theirs  haft.toml not trusted
        stderr: note: `mine` of `haft.toml` is not used: there is a server of that name
        stderr: note: the servers of `haft.toml` are not started before you trust it; look at it, then run `haft policy trust`
        exit 0
    "#]],
    );
    check(
        &tree,
        &["openapi", "list"],
        expect![[r#"
        pets  not trusted
        stderr: note: `pets` of `haft.toml` is not read before you trust the file; look at it, then run `haft policy trust`
        exit 0
    "#]],
    );
    check(
        &tree,
        &["mcp", "status", "theirs"],
        expect![[r#"
        stderr: note: `mine` of `haft.toml` is not used: there is a server of that name
        stderr: note: the servers of `haft.toml` are not started before you trust it; look at it, then run `haft policy trust`
        stderr: error: `theirs` is of `haft.toml`, which is not trusted; look at it, then run `haft policy trust`
        exit 2
    "#]],
    );
    as_user(&tree, &["policy", "trust"]);
    check(
        &tree,
        &["mcp", "list"],
        expect![[r#"
        mine    mine  your haft.toml
        theirs  theirs  haft.toml
        stderr: note: `mine` of `haft.toml` is not used: there is a server of that name
        exit 0
    "#]],
    );
    check(
        &tree,
        &["openapi", "list"],
        expect![[r#"
        pets  pets.yaml
        exit 0
    "#]],
    );
}

#[test]
fn a_file_that_is_not_trusted_is_in_nobodys_way() {
    let name = "a".repeat(70_000);
    let long = tree(
        "[openapi.pets]\ndocument = \"pets.yaml\"\n",
        &format!("[openapi.{name}]\ndocument = \"x\"\n\n[mcp.servers.{name}]\ncommand = \"x\"\n"),
    );
    for command in [["config", "show"], ["openapi", "list"], ["mcp", "list"]] {
        let shown = as_user(&long, &command);
        assert!(shown.ends_with("exit 0\n"), "{command:?}");
    }
    let broken = tree("[openapi.pets]\ndocument = \"pets.yaml\"\n", "openapi = 1\n");
    check(
        &broken,
        &["openapi", "list"],
        expect![[r#"
        pets  pets.yaml
        stderr: note: haft.toml:1:11: this is a number; write a table
        exit 0
    "#]],
    );
    let taken = tree("", "[mcp.servers.time]\ncommand = \"theirs\"\n")
        .file("work/.mcp.json", r#"{"mcpServers":{"time":{"command":"mine"}}}"#);
    as_user(&taken, &["mcp", "trust"]);
    check(
        &taken,
        &["mcp", "list"],
        expect![[r#"
        time  mine  .mcp.json
        stderr: note: the servers of `haft.toml` are not started before you trust it; look at it, then run `haft policy trust`
        exit 0
    "#]],
    );
}

#[test]
fn tools_are_left_out_wherever_they_are_called() {
    let user = "[tools]\nselect = \"!mcp__*, !pets__*\"\n\n[openapi.pets]\ndocument = \"pets.yaml\"\n";
    let tree = tree(user, "").file(
        "config/haft/pets.yaml",
        "openapi: 3.0.3\ninfo: { title: Pets, version: '1' }\nservers: [{ url: 'http://127.0.0.1:1' }]\n\
         paths: { /pets: { get: { operationId: list, responses: { '200': { description: Pets. } } } } }\n",
    );
    check(
        &tree,
        &["openapi", "call", "pets", "list", "--input", "{}", "--yes"],
        expect![[r#"
        stderr: error: unknown tool: there is no tool `pets__list`; the tools are `apply_patch`, `bash`, `edit_file`, `find_files`, `glob`, `grep`, `list_files`, `outline`, `read_file`, `run_program`, `web_fetch` and `write_file`
        exit 1
    "#]],
    );
    check(
        &tree,
        &["call", "pets__list", "{}", "--yes"],
        expect![[r#"
        stderr: error: unknown tool: there is no tool `pets__list`; the tools are `apply_patch`, `bash`, `edit_file`, `find_files`, `glob`, `grep`, `list_files`, `outline`, `read_file`, `run_program`, `web_fetch` and `write_file`
        exit 1
    "#]],
    );
}

#[test]
fn a_policy_of_a_run_has_no_tables_of_others() {
    let tree = tree("", "").file("work/ci.toml", "[tools]\nselect = \"!bash\"\n");
    check(
        &tree,
        &["call", "list_files", "{}", "--policy", "ci.toml"],
        expect![[r#"
        stderr: error: `tools` is not a key of a policy file; write `include`, `profile`, `permissions`, `agents`, `limits`, `sandbox` or `test`
        stderr:  --> TREE/work/ci.toml:1:2
        stderr:   |
        stderr: 1 | [tools]
        stderr:   |  ^^^^^
        stderr: 
        stderr: Correct the policy, then try it with `haft policy check FILE`.
        exit 2
    "#]],
    );
    check(
        &tree,
        &["policy", "check", "ci.toml"],
        expect![[r#"
        ok  ci.toml: no tests
            builds on no profile of its own; `read_only` holds unless another is named
            mode default, sandbox off
        exit 0
    "#]],
    );
}

#[test]
fn the_file_is_that_of_the_directory_that_is_worked_in() {
    let tree = tree("", "[tools]\nselect = \"!read_file\"\n")
        .file("other/haft.toml", "[tools]\nselect = \"!grep\"\n");
    let other = ["call", "grep", r#"{"pattern":"far"}"#, "--workdir", "../other"];
    check(
        &tree,
        &other,
        expect![[r#"
        stderr: note: ../other/haft.toml is not trusted, so it only takes away; look at it, then run `haft policy trust`
        stderr: error: unknown tool: there is no tool `grep`; the tools are `apply_patch`, `bash`, `edit_file`, `find_files`, `glob`, `list_files`, `outline`, `read_file`, `run_program`, `web_fetch` and `write_file`
        exit 1
    "#]],
    );
    check(
        &tree,
        &["config", "show", "--workdir", "../other"],
        expect![[r#"
        haft.toml  the workspace's, not trusted: it only takes away; see `haft policy trust`

        profile           read_only  built in
        permissions.mode  default    built in
        sandbox.mode      off        built in
        tools.select      !grep      haft.toml:2
        exit 0
    "#]],
    );
    check(
        &tree,
        &["config", "check", "--workdir", "../other"],
        expect![[r#"
        ok  haft.toml
        stderr: note: TREE/other/haft.toml is not trusted, so it only takes away; look at it, then run `haft policy trust`
        exit 0
    "#]],
    );
    check(
        &tree,
        &["init", "--workdir", "../state"],
        expect![[r#"
        wrote ../state/haft.toml for a directory in which no language was recognised
        It is trusted as it is now; after a change, run `haft policy trust`.

        Look at it, then try:
          haft config show
          haft policy explain 'git status'
          haft serve --print-config claude-code
        exit 0
    "#]],
    );
    check(
        &tree,
        &["config", "check", "--workdir", "../state"],
        expect![[r#"
        ok  haft.toml
        exit 0
    "#]],
    );
}

#[test]
fn what_is_trusted_is_listed() {
    let workspace =
        "[mcp.servers.time]\ncommand = \"uvx\"\n\n[agent]\nbase_url = \"https://x.example/v1?k=hidden\"\n";
    let trusted = as_user(&tree("", workspace), &["policy", "trust"]);
    let beside = trusted.split_once("It also says").map(|(_, beside)| beside).unwrap_or_default();
    expect![[r#"
        , beside what may be done:
          mcp.servers.time = uvx
          agent.base_url = https://x.example/v1
        exit 0
    "#]]
    .assert_eq(beside);
}

#[test]
fn tables_of_others_are_not_lost_in_a_file_that_is_included() {
    let tree =
        tree("include = [\"more.toml\"]\n", "").file("config/haft/more.toml", "[tools]\nselect = \"grep\"\n");
    check(
        &tree,
        &["config", "check"],
        expect![[r#"
        stderr: error: `tools` is not a key of a policy file; write `include`, `profile`, `permissions`, `agents`, `limits`, `sandbox` or `test`
        stderr:  --> $XDG_CONFIG_HOME/haft/more.toml:1:2
        stderr:   |
        stderr: 1 | [tools]
        stderr:   |  ^^^^^
        exit 1
    "#]],
    );
}

#[test]
fn what_is_no_toml_is_told_once() {
    let tree = tree("", "[permissions\n");
    check(
        &tree,
        &["config", "check"],
        expect![[r#"
            stderr: error: unclosed table, expected `]`
            stderr:  --> haft.toml:1:13
            stderr:   |
            stderr: 1 | [permissions
            stderr:   |             ^
            exit 1
        "#]],
    );
    let told = as_user(&tree, &["config", "check", "--json"]);
    assert_eq!(told.matches("unclosed table").count(), 1, "{told}");
    let found = as_user(&tree, &["doctor"]);
    assert_eq!(found.matches("unclosed table").count(), 1, "{found}");
}
