//! What `haft.toml` says beside rules: what counts of the user's file and of the workspace's, and how it is shown.

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
        stderr: note: haft.toml is not trusted, so it only takes away; look at it, then say `haft policy trust`
        stderr: error: unknown tool: there is no tool `bash`; the tools are `grep` and `read_file`
        exit 1
    "#]],
    );
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
        stderr: note: haft.toml is not trusted, so it only takes away; look at it, then say `haft policy trust`
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

/// Both files say the same of some things.
fn two_files() -> Tree {
    tree(
        "profile = \"workspace_write\"\n\n[agent]\nmodel = \"openai/m\"\nheader = [\"api-key: hidden\"]\nmax_turns = 7\n\n\
         [mcp.servers.time]\ncommand = \"uvx\"\nargs = [\"--token\", \"hidden\"]\n",
        "profile = \"full_access\"\n\n[permissions]\nmode = \"plan\"\nallow = [\"bash\"]\ndeny = [\"read(**/.env)\"]\n\n\
         [agent]\nmax_turns = 9\n\n[mcp.servers.time]\nurl = \"https://u:hidden@x.example/?k=hidden\"\n\n\
         [limits]\ntimeout = \"1min\"\n\n[tools]\nselect = \"!bash\"\n",
    )
}

#[test]
fn what_is_set_is_shown_with_its_place() {
    let (tree, nothing) = (two_files(), tree("", ""));
    check(
        &tree,
        &["config", "show"],
        expect![[r#"
        $XDG_CONFIG_HOME/haft/haft.toml  yours
        haft.toml  the workspace's, not trusted: it only takes away; see `haft policy trust`

        sandbox.mode       off                     built in
        profile            workspace_write         $XDG_CONFIG_HOME/haft/haft.toml:1
        agent.model        openai/m                $XDG_CONFIG_HOME/haft/haft.toml:4
        agent.header       api-key                 $XDG_CONFIG_HOME/haft/haft.toml:5
        agent.max_turns    7                       $XDG_CONFIG_HOME/haft/haft.toml:6
        mcp.servers.time   uvx                     $XDG_CONFIG_HOME/haft/haft.toml:8
        profile            full_access             haft.toml:1  ignored: the file is not trusted and what holds without it is `workspace_write`
        permissions.mode   plan                    haft.toml:4
        permissions.allow  bash                    haft.toml:5  ignored: the file is not trusted
        permissions.deny   read(**/.env)           haft.toml:6
        agent.max_turns    9                       haft.toml:9  ignored: the file is not trusted
        mcp.servers.time   an address with a user  haft.toml:11  ignored: the file is not trusted
        limits.timeout     1min                    haft.toml:15
        tools.select       !bash                   haft.toml:18
        exit 0
    "#]],
    );
    check(
        &tree,
        &["config", "check"],
        expect![[r#"
        ok  $XDG_CONFIG_HOME/haft/haft.toml
        ok  haft.toml
        stderr: note: haft.toml is not trusted, so it only takes away; look at it, then say `haft policy trust`
        stderr: note: haft.toml:1: the profile `full_access` is ignored, because the file is not trusted and what holds without it is `workspace_write`
        exit 0
    "#]],
    );
    as_user(&tree, &["policy", "trust"]);
    check(
        &tree,
        &["config", "show"],
        expect![[r#"
        $XDG_CONFIG_HOME/haft/haft.toml  yours
        haft.toml  the workspace's, trusted

        sandbox.mode       off                     built in
        profile            workspace_write         $XDG_CONFIG_HOME/haft/haft.toml:1  overridden
        agent.model        openai/m                $XDG_CONFIG_HOME/haft/haft.toml:4
        agent.header       api-key                 $XDG_CONFIG_HOME/haft/haft.toml:5
        agent.max_turns    7                       $XDG_CONFIG_HOME/haft/haft.toml:6  overridden
        mcp.servers.time   uvx                     $XDG_CONFIG_HOME/haft/haft.toml:8
        profile            full_access             haft.toml:1
        permissions.mode   plan                    haft.toml:4
        permissions.allow  bash                    haft.toml:5
        permissions.deny   read(**/.env)           haft.toml:6
        agent.max_turns    9                       haft.toml:9
        mcp.servers.time   an address with a user  haft.toml:11  overridden
        limits.timeout     1min                    haft.toml:15
        tools.select       !bash                   haft.toml:18
        exit 0
    "#]],
    );
    check(
        &nothing,
        &["config", "show"],
        expect![[r#"
        There is no `haft.toml`, neither yours nor one here; `haft init` writes one.

        profile           read_only  built in
        permissions.mode  default    built in
        sandbox.mode      off        built in
        exit 0
    "#]],
    );
}

#[test]
fn widths_are_shown_with_where_they_are_set() {
    let tree = tree(
        "[limits.widths]\nread = 64\nexecute = 2\n",
        "profile = \"read_only\"\n\n[limits.widths]\nexecute = 1\nwrite = 3\n",
    );
    check(
        &tree,
        &["config", "show"],
        expect![[r#"
        $XDG_CONFIG_HOME/haft/haft.toml  yours
        haft.toml  the workspace's, not trusted: it only takes away; see `haft policy trust`

        permissions.mode       default    built in
        sandbox.mode           off        built in
        limits.widths.read     64         $XDG_CONFIG_HOME/haft/haft.toml:2
        limits.widths.execute  2          $XDG_CONFIG_HOME/haft/haft.toml:3  overridden
        profile                read_only  haft.toml:1
        limits.widths.execute  1          haft.toml:4
        limits.widths.write    3          haft.toml:5
        exit 0
    "#]],
    );
    as_user(&tree, &["policy", "trust"]);
    check(
        &tree,
        &["config", "show"],
        expect![[r#"
        $XDG_CONFIG_HOME/haft/haft.toml  yours
        haft.toml  the workspace's, trusted

        permissions.mode       default    built in
        sandbox.mode           off        built in
        limits.widths.read     64         $XDG_CONFIG_HOME/haft/haft.toml:2
        limits.widths.execute  2          $XDG_CONFIG_HOME/haft/haft.toml:3  overridden
        profile                read_only  haft.toml:1
        limits.widths.execute  1          haft.toml:4
        limits.widths.write    3          haft.toml:5
        exit 0
    "#]],
    );
}

#[test]
fn what_is_set_is_there_for_programs() {
    let tree = tree("profile = \"workspace_write\"\n", "[permissions]\nallow = [\"bash\"]\n");
    check(
        &tree,
        &["config", "show", "--json"],
        expect![[r#"
        {
          "files": [
            {
              "layer": "user",
              "name": "$XDG_CONFIG_HOME/haft/haft.toml",
              "path": "TREE/config/haft/haft.toml",
              "trusted": true
            },
            {
              "layer": "workspace",
              "name": "haft.toml",
              "path": "haft.toml",
              "trusted": false
            }
          ],
          "settings": [
            {
              "key": "permissions.mode",
              "reason": "built in",
              "state": "in_force",
              "value": "default"
            },
            {
              "key": "sandbox.mode",
              "reason": "built in",
              "state": "in_force",
              "value": "off"
            },
            {
              "file": "$XDG_CONFIG_HOME/haft/haft.toml",
              "key": "profile",
              "line": 1,
              "state": "in_force",
              "value": "workspace_write"
            },
            {
              "file": "haft.toml",
              "key": "permissions.allow",
              "line": 2,
              "reason": "the file is not trusted",
              "state": "ignored",
              "value": "bash"
            }
          ]
        }
        exit 0
    "#]],
    );
}

#[test]
fn all_that_is_wrong_is_told_with_its_place() {
    let wrong = |text: &str, expected: Expect| check(&tree(text, ""), &["config", "check"], expected);
    wrong(
        "[tools]\nselect = \"read file!\"\n",
        expect![[r#"
        stderr: error: TREE/config/haft/haft.toml:2:10: `file!` is not a selector term; write a tool name, `read_*`, `@origin` or `@origin/name`, with `!` for not
        exit 1
    "#]],
    );
    wrong(
        "[tool]\nselect = \"grep\"\n",
        expect![[r#"
        stderr: error: `tool` is not a key of this file; write `tools`
        stderr:  --> $XDG_CONFIG_HOME/haft/haft.toml:1:2
        stderr:   |
        stderr: 1 | [tool]
        stderr:   |  ^^^^
        exit 1
    "#]],
    );
    wrong(
        "[tools]\nselekt = \"grep\"\n",
        expect![[r#"
        stderr: error: TREE/config/haft/haft.toml:2:1: `selekt` is not known; did you mean `select`?
        exit 1
    "#]],
    );
    wrong(
        "[workdir]\nroots = \"..\"\n",
        expect![[r#"
        stderr: error: TREE/config/haft/haft.toml:2:9: this is a text; write a list
        exit 1
    "#]],
    );
    wrong(
        "[agent]\nmodel = \"m\"\n",
        expect![[r#"
            stderr: error: there is no provider `m`; write `anthropic/NAME` or `openai/NAME`, and where a service is that speaks like one of them with `--base-url` or in `[providers.m]` of your `haft.toml`
            exit 1
        "#]],
    );
    wrong(
        "[agent]\nmax_time = \"soon\"\n",
        expect![[r#"
        stderr: error: TREE/config/haft/haft.toml:2:12: write a number and its unit, as in `90s`, `10m` or `2h`
        exit 1
    "#]],
    );
    wrong(
        "[agent]\nmax_turns = 0\n",
        expect![[r#"
        stderr: error: TREE/config/haft/haft.toml:2:13: 0 is too small; write 1 or more
        exit 1
    "#]],
    );
    wrong(
        "[mcp.servers.a]\ncomand = \"x\"\n\n[openapi.b]\n",
        expect![[r#"
        stderr: error: TREE/config/haft/haft.toml:1:1: server `a`: nothing says how it is reached; write `command`, `url` or `unix`
        stderr: error: TREE/config/haft/haft.toml:2:1: server `a`: `comand`: it is not known, and has no effect; did you mean `command`?
        stderr: error: the document `b` of `$XDG_CONFIG_HOME/haft/haft.toml` is left out: it has no `document`; write a path or an address
        exit 1
    "#]],
    );
    wrong(
        "[agent\n",
        expect![[r#"
        stderr: error: unclosed table, expected `]`
        stderr:  --> $XDG_CONFIG_HOME/haft/haft.toml:1:7
        stderr:   |
        stderr: 1 | [agent
        stderr:   |       ^
        exit 1
    "#]],
    );
    check(
        &tree("", "[tools]\nselect = 5\n"),
        &["call", "list_files", "{}"],
        expect![[r#"
        stderr: error: haft.toml:2:10: this is a number; write a text
        exit 2
    "#]],
    );
}

#[test]
fn what_is_set_is_looked_at_without_being_used() {
    let check_user = |text: &str, expected: Expect| check(&tree(text, ""), &["config", "check"], expected);
    check_user(
        "[tools]\nselect = \"@github\"\n",
        expect![[r#"
        ok  $XDG_CONFIG_HOME/haft/haft.toml
        stderr: note: `select` of `[tools]` chooses none of haft's own tools; `haft tools` lists what is left
        exit 0
    "#]],
    );
    check_user(
        "[workdir]\nroots = [\"gone:ro\"]\n",
        expect![[r#"
        stderr: error: `roots` of `[workdir]`: cannot work in `TREE/config/haft/gone`; name an existing directory with `--root`, or in `roots` of `haft.toml`: working directory `TREE/config/haft/gone` does not exist; create it or name another
        exit 1
    "#]],
    );
    check_user(
        "[agent]\nheader = [\"Authorization Bearer hidden\"]\n",
        expect![[r#"
        stderr: error: TREE/config/haft/haft.toml:2:10: a header is its name, a colon and its value; write `--header 'NAME: VALUE'`
        exit 1
    "#]],
    );
    let tree = tree("[workdir]\nroots = [\"gone:ro\"]\n", "");
    check(
        &tree,
        &["call", "list_files", "{}"],
        expect![[r#"
        stderr: error: cannot work in `TREE/config/haft/gone`; name an existing directory with `--root`, or in `roots` of `haft.toml`
        stderr:   because: working directory `TREE/config/haft/gone` does not exist; create it or name another
        exit 2
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
        stderr: Mend the policy, and try it with `haft policy check FILE`.
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
        stderr: note: ../other/haft.toml is not trusted, so it only takes away; look at it, then say `haft policy trust`
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
        stderr: note: TREE/other/haft.toml is not trusted, so it only takes away; look at it, then say `haft policy trust`
        exit 0
    "#]],
    );
    check(
        &tree,
        &["init", "--workdir", "../state"],
        expect![[r#"
        wrote ../state/haft.toml for a directory in which no language was recognised
        It is trusted as it is now; after a change, say `haft policy trust`.

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

/// Entries that say of two commands that they only read.
const COMMANDS: &str = "[shell.commands.lines]\noptions = \"-n\"\noperands = \"read*\"\n\n[shell.commands.sweep]\noperands = \"read*\"\n";

/// Says how a script is decided.
fn decided(tree: &Tree, script: &str) -> String {
    as_user(tree, &["policy", "explain", script]).lines().next().unwrap_or_default().to_owned()
}

#[test]
fn commands_that_the_user_adds_are_known() {
    let known = tree(COMMANDS, "");
    let beside = tree("[shell]\ncatalogue = \"commands.toml\"\n", "")
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
        "[shell]\ncatalogue = \"../../work/commands.toml\"\n",
        "`catalogue` of `[shell]` names `../../work/commands.toml`, which lies elsewhere; put it beside `haft.toml`, where no \
         command may write, and give its name",
    );
    let of_workspace = tree("", "[shell]\ncatalogue = \"commands.toml\"\n")
        .file("work/commands.toml", "[lines]\noperands = \"read*\"\n");
    assert_eq!(decided(&of_workspace, "lines notes.md"), "ask  lines notes.md");
    check(
        &of_workspace,
        &["policy", "trust"],
        expect![[r#"
        stderr: error: haft.toml: `catalogue` of `[shell]` counts in your own `haft.toml` alone, because a file beside this one can change after it was trusted; write the entries here, as `[shell.commands.NAME]`
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
        "[shell]\ncatalogue = \"haft.toml\"\n",
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
