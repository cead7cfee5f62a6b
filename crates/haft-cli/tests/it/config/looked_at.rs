//! What `haft config` says of the files.

use super::{as_user, check, tree};
use expect_test::{Expect, expect};
use haft_testkit::Tree;

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
        stderr: error: haft.toml:12:7: server `time`: `url`: it holds a user; write who you are in `headers`
        stderr: note: haft.toml is not trusted, so it only takes away; look at it, then run `haft policy trust`
        stderr: note: haft.toml:1: the profile `full_access` is ignored, because the file is not trusted and what holds without it is `workspace_write`
        exit 1
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
