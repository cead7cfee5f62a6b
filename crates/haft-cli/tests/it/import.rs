//! What `haft import` carries over, what it lists instead, and what it never does.

use crate::{haft, shown};
use expect_test::{Expect, expect};
use haft_testkit::Tree;
use std::fs;

fn as_user(tree: &Tree, arguments: &[&str]) -> String {
    let at = |folder: &str| tree.path().join(folder);
    let mut command = haft(&at("work"), arguments);
    command.env("XDG_CONFIG_HOME", at("config")).env("XDG_STATE_HOME", at("state")).env("HOME", at("home"));
    command.env_remove("CODEX_HOME");
    shown(&command.output().unwrap()).replace(&*tree.path().to_string_lossy(), "TREE")
}

#[expect(clippy::needless_pass_by_value, reason = "snapshots read better without a reference")]
fn check(tree: &Tree, arguments: &[&str], expected: Expect) {
    expected.assert_eq(&as_user(tree, arguments));
}

fn tree() -> Tree {
    Tree::new().directory("work").directory("state").directory("config").directory("home")
}

fn written(tree: &Tree, file: &str) -> String {
    fs::read_to_string(tree.path().join(file)).unwrap()
}

/// The lines that would be written, and those that are left out.
fn carried(settings: &str) -> String {
    let tree = tree().file("work/.claude/settings.json", settings);
    let json: serde_json::Value =
        serde_json::from_str(as_user(&tree, &["import", "--json"]).split("exit").next().unwrap()).unwrap();
    let left = json["left"].as_array().unwrap().iter();
    let left =
        left.map(|left| format!("{} -> {}\n", left["at"].as_str().unwrap(), left["why"].as_str().unwrap()));
    format!("{}---\n{}", json["text"].as_str().unwrap(), left.collect::<String>())
}

#[test]
fn rules_of_claude_code_become_rules_that_allow_no_more_and_deny_no_less() {
    let settings = r#"{ "permissions": {
        "allow": ["Bash(npm run build)", "Bash(git diff:*)", "Bash(git * main)", "Bash(* --version)", "Bash(echo \"$X\")",
            "Read(src/**)", "Read(./notes.md)", "Edit(/src/**)", "Read(//etc/hosts)", "Read(~/notes/**)", "Edit(../x)",
            "WebFetch(domain:example.com)", "WebFetch", "mcp__github__create_issue", "mcp__github", "Task", "Grep",
            "Bash(curl -H 'Authorization: Bearer sk-live-1':*)", 7],
        "ask": ["Bash(git push:*)", "Edit(Cargo.lock)"],
        "deny": ["Read(./.env)", "Read(./secrets/**)", "Bash(rm:*)", "Edit(/.env)", "WebFetch(domain:evil.example)", "Bash(x|y)",
            "mcp__github__delete_*", "Read(!a)"],
        "defaultMode": "acceptEdits",
        "additionalDirectories": ["../docs/", "odd:ro"],
        "disableBypassPermissionsMode": "disable"
    } }"#;
    expect![[r#"
        [permissions]
        mode = "accept_edits"
        allow = [
            "exec(npm run build)",
            "exec(git diff *)",
            "exec(git * main)",
            "read(src/**)",
            "read(./notes.md)",
            "write(src/**)",
            "read(/etc/hosts)",
            "read(~/notes/**)",
            "web_fetch",
            "call(@github/create_issue)",
            "call(@github)",
        ]
        ask = [
            "exec(git push*)",
            "write(Cargo.lock)",
        ]
        deny = [
            "read(.env)",
            "read(secrets/**)",
            "exec(rm*)",
            "write(./.env)",
            "connect(evil.example)",
            "call(@github/delete_*)",
        ]
        ---
        permissions.additionalDirectories[0] -> there is no directory `../docs/`; write it as one of `roots` of `[workdir]` once there is
        permissions.additionalDirectories[1] -> its end would be read as how the directory may be used; write it as one of `roots` of `[workdir]`, with `:ro` or `:rw` behind it
        permissions.allow[3] `Bash(* --version)` -> it allows whatever program there is; name the program
        permissions.allow[4] `Bash(echo "$X")` -> it has signs that patterns of commands read otherwise; write the rule yourself, and try it with `haft policy explain 'echo "$X"'`
        permissions.allow[10] `Edit(../x)` -> where it leads cannot be told for sure; write the rule yourself
        permissions.allow[11] `WebFetch(domain:example.com)` -> it is about the tool that fetches pages, and a rule about a host holds for commands, too; if they may reach it, write `connect(example.com)`
        permissions.allow[15] `Task` -> what agents may do is said by `[agents.NAME.permissions]`
        permissions.allow[16] `Grep` -> looking at the files of the directory is allowed by every profile
        permissions.allow[17] -> it may hold a secret, which is not copied; write the rule yourself, with a `*` in its place
        permissions.allow[18] -> it is not text
        permissions.deny[5] `Bash(x|y)` -> it has signs that patterns of commands read otherwise; write the rule yourself, and try it with `haft policy explain 'x|y'`
        permissions.deny[7] `Read(!a)` -> it is a negated pattern; write what is meant as a rule of another list
        permissions.disableBypassPermissionsMode -> it has no counterpart here
    "#]].assert_eq(&carried(settings));
}

#[test]
fn other_settings_are_carried_over_or_listed() {
    let settings = r#"{ "$schema": "x", "model": "opus", "env": { "TOKEN": "hunter2" }, "statusLine": {}, "apiKeyHelper": "x",
        "hooks": { "PreToolUse": [] }, "sandbox": { "enabled": true, "excludedCommands": ["git"] },
        "enableAllProjectMcpServers": true, "permissions": { "defaultMode": "bypassPermissions" }, "unheardOf": 1 }"#;
    expect![[r#"
        [sandbox]
        mode = "prefer"
        ---
        apiKeyHelper -> keys come from variables of the environment, and no program is run for them
        enableAllProjectMcpServers -> servers of a project start once you have run `haft policy trust`, or `haft mcp trust` for its `.mcp.json`
        env.TOKEN -> variables of commands are those of haft's own environment; set TOKEN where haft is started
        hooks.PreToolUse -> programs that look at calls are a part of hosts, by the crate `haft-hooks`, and not of `haft.toml`; say what must not happen by a rule of `deny`
        model -> it is a short name; write the whole one as `model` of `[agent]`, as in `anthropic/claude-sonnet-4-5`
        permissions.defaultMode -> it lets everything through; if you mean that, give `--profile full_access` for a run of its own
        sandbox.excludedCommands -> what is outside the sandbox follows from what a call was allowed
        unheardOf -> it has no counterpart here
    "#]].assert_eq(&carried(settings));
}

const MCP_JSON: &str = r#"{ "mcpServers": {
    "time": { "command": "uvx", "args": ["mcp-server-time", "--api-key", "abc", "--token=xyz", "--zone", "UTC"],
        "env": { "TOKEN": "hunter2", "KEPT": "${KEPT}" }, "timeout": 5000, "odd": 1 },
    "docs": { "type": "http", "url": "https://mcp.example.com/mcp", "headers": { "Authorization": "Bearer hunter2" } },
    "hidden": { "url": "https://mcp.example.com/mcp?key=hunter2" },
    "old": { "type": "sse", "url": "https://mcp.example.com/sse" },
    "a b": { "command": "x" },
    "none": {}
} }"#;

#[test]
fn servers_are_carried_over_without_their_secrets() {
    let tree = tree().file("work/.mcp.json", MCP_JSON);
    let unasked = as_user(&tree, &["import", "mcp-json"]);
    expect![[r#"
        read `.mcp.json`

        haft.toml
        + [mcp.servers.docs]
        + headers = { Authorization = "Bearer ${DOCS_AUTHORIZATION}" }
        + url = "https://mcp.example.com/mcp"
        + 
        + [mcp.servers.time]
        + args = ["mcp-server-time", "--api-key", "${TIME_ARG_3}", "--token=${TIME_ARG_4}", "--zone", "UTC"]
        + command = "uvx"
        + env = { KEPT = "${KEPT}", TOKEN = "${TOKEN}" }
        + limits = { timeout = "5000ms" }

        Not carried over:
          .mcp.json: mcpServers.a b
            a server cannot be called so here; add it as `a_b` with `haft mcp add`
          .mcp.json: mcpServers.docs.headers.Authorization
            its value may be a secret, and is not copied; set the variable DOCS_AUTHORIZATION to it where haft is started
          .mcp.json: mcpServers.hidden.url
            its address may hold a secret, which is not copied; add the server with `haft mcp add`, with a variable for that part
          .mcp.json: mcpServers.none
            it could not be used: nothing says how it is reached; write `command`, `url` or `unix`
          .mcp.json: mcpServers.old.type
            the transport `sse` of 2024 is not spoken; if the server has streamable HTTP, too, add that address with `haft mcp add`
          .mcp.json: mcpServers.time.args[2]
            its value may be a secret, and is not copied; set the variable TIME_ARG_3 to it where haft is started
          .mcp.json: mcpServers.time.args[3]
            its value may be a secret, and is not copied; set the variable TIME_ARG_4 to it where haft is started
          .mcp.json: mcpServers.time.env.TOKEN
            its value may be a secret, and is not copied; set the variable TOKEN to it where haft is started
          .mcp.json: mcpServers.time.odd
            it has no counterpart here

        Nothing was written; `haft import --write` writes it.
        exit 0
    "#]]
    .assert_eq(&unasked);
    assert!(!tree.path().join("work/haft.toml").exists(), "nothing is written unasked");
    let (told, _) = unasked.split_once("\n\nNothing was written").unwrap();
    assert_eq!(
        as_user(&tree, &["import", "--write"]),
        format!("{told}\n\nwrote haft.toml; look at it, then run `haft policy trust`.\nexit 0\n")
    );
    let text = written(&tree, "work/haft.toml");
    assert!(!text.contains("hunter2") && !text.contains("abc") && !text.contains("xyz"), "{text}");
    // Once more there is nothing to do.
    let (_, left) = told.split_once("Not carried over:").unwrap();
    assert_eq!(
        as_user(&tree, &["import", "mcp-json", "--write"]),
        format!(
            "read `.mcp.json`\n\nNot carried over:{left}\n\n\
             There is nothing to write: all that can be carried over is in `haft.toml` already.\nexit 0\n"
        )
    );
    assert_eq!(written(&tree, "work/haft.toml"), text);
}

#[test]
fn what_is_set_is_kept_with_its_comments_and_its_form() {
    let before = "# Ours.\nprofile = \"read_only\" # for now\n\n[permissions]\nallow = [\n    \"read(**)\", # all\n    # and more\n]\n\
                  deny = [\"bash\"]\nmode = 'plan'\n\n[mcp.servers.time]\ncommand = \"ours\"\n\n# The end.\n";
    let settings =
        r#"{ "permissions": { "allow": ["Edit(src/**)"], "deny": ["WebFetch"], "defaultMode": "default" } }"#;
    let tree = tree()
        .file("work/haft.toml", before)
        .file("work/.claude/settings.json", settings)
        .file("work/.mcp.json", r#"{"mcpServers":{"time":{"command":"theirs"}}}"#);
    check(
        &tree,
        &["import", "--write"],
        expect![[r#"
            read `.mcp.json` and `.claude/settings.json`

            haft.toml
                  "read(**)", # all
                  # and more
            +     "write(src/**)",
              ]
            - deny = ["bash"]
            + deny = ["bash", "web_fetch"]
              mode = 'plan'


            Not carried over:
              .claude/settings.json: permissions.defaultMode
                `permissions.mode` is set already, and kept as it is
              .mcp.json: mcpServers.time
                `mcp.servers.time` is set already, and kept as it is

            wrote haft.toml; look at it, then run `haft policy trust`.
            exit 0
        "#]],
    );
    expect![[r##"
        # Ours.
        profile = "read_only" # for now

        [permissions]
        allow = [
            "read(**)", # all
            # and more
            "write(src/**)",
        ]
        deny = ["bash", "web_fetch"]
        mode = 'plan'

        [mcp.servers.time]
        command = "ours"

        # The end.
    "##]]
    .assert_eq(&written(&tree, "work/haft.toml"));
}

#[test]
#[expect(clippy::too_many_lines, reason = "it is the files and what is made of them")]
fn a_user_s_own_files_go_into_their_own() {
    let codex = r#"
model = "llama"
model_provider = "local"
model_reasoning_effort = "high"
approval_policy = "on-request"
sandbox_mode = "workspace-write"
notify = ["x"]

[sandbox_workspace_write]
network_access = true
writable_roots = ["/srv/data"]

[model_providers.local]
name = "Local"
base_url = "http://127.0.0.1:11434/v1"
env_key = "LOCAL_KEY"
wire_api = "chat"
http_headers = { "X-Secret" = "hunter2" }
env_http_headers = { "X-Team" = "TEAM" }

[mcp_servers.docs]
url = "https://mcp.example.com/mcp"
bearer_token_env_var = "DOCS_TOKEN"
startup_timeout_sec = 10
disabled_tools = ["delete"]
enabled_tools = ["read"]

[projects."/home/ann/x"]
trust_level = "trusted"
"#;
    let claude = r#"{ "numStartups": 7, "mcpServers": { "mine": { "command": "mine" } }, "projects": { "/x": { "mcpServers": { "no": {} } } } }"#;
    let tree = tree()
        .file("home/.codex/config.toml", codex)
        .file("home/.claude.json", claude)
        .file("home/.claude/settings.json", r#"{ "permissions": { "allow": ["Read(/x)"], "additionalDirectories": ["x"] }, "model": "claude-sonnet-4-5" }"#);
    check(
        &tree,
        &["import", "--user", "--write"],
        expect![[r#"
        read `~/.claude.json`, `~/.claude/settings.json` and `~/.codex/config.toml`

        $XDG_CONFIG_HOME/haft/haft.toml
        + profile = "workspace_write"
        + 
        + [agent]
        + model = "anthropic/claude-sonnet-4-5"
        + 
        + [sandbox]
        + mode = "require"
        + 
        + [permissions]
        + deny = [
        +     "call(@docs/delete)",
        + ]
        + 
        + [mcp.servers.docs]
        + headers = { Authorization = "Bearer ${DOCS_TOKEN}" }
        + limits = { start_timeout = "10s" }
        + url = "https://mcp.example.com/mcp"
        + 
        + [mcp.servers.mine]
        + command = "mine"
        + 
        + [providers.local]
        + like = "openai"
        + base_url = "http://127.0.0.1:11434/v1"
        + key = "LOCAL_KEY"
        + wire = "chat"
        + header = ["X-Team: $TEAM"]

        Not carried over:
          ~/.claude/settings.json: permissions.additionalDirectories[0]
            it begins in whatever directory is worked in; write it whole as one of `roots` of `[workdir]`
          ~/.claude/settings.json: permissions.allow[0] `Read(/x)`
            it begins in the directory of the settings there, which is not a place of a project; write it with `~/`
          ~/.codex/config.toml: model
            another file says something else of `agent.model`, which was carried over
          ~/.codex/config.toml: mcp_servers.docs.enabled_tools
            leave the others out with `select` of `[tools]`, as in `!@docs/delete_*`
          ~/.codex/config.toml: model_providers.local.http_headers.X-Secret
            its value may be a secret, and is not copied; write `header = ["X-Secret: $VARIABLE"]`
          ~/.codex/config.toml: notify
            no program is run when something has happened
          ~/.codex/config.toml: projects."/home/ann/x"
            trust is not carried over; look at the `haft.toml` that is there, then run `haft policy trust`
          ~/.codex/config.toml: sandbox_workspace_write.network_access
            which hosts are reached is said by rules; write `connect(HOST)` into `allow`
          ~/.codex/config.toml: sandbox_workspace_write.writable_roots[0]
            there is no directory `/srv/data`; write it as one of `roots` of `[workdir]` once there is

        wrote $XDG_CONFIG_HOME/haft/haft.toml; `haft config show` shows what is set.
        exit 0
    "#]],
    );
    let text = written(&tree, "config/haft/haft.toml");
    assert!(!text.contains("hunter2"), "{text}");
    expect![[r#"
        profile = "workspace_write"

        [agent]
        model = "anthropic/claude-sonnet-4-5"

        [sandbox]
        mode = "require"

        [permissions]
        deny = [
            "call(@docs/delete)",
        ]

        [mcp.servers.docs]
        headers = { Authorization = "Bearer ${DOCS_TOKEN}" }
        limits = { start_timeout = "10s" }
        url = "https://mcp.example.com/mcp"

        [mcp.servers.mine]
        command = "mine"

        [providers.local]
        like = "openai"
        base_url = "http://127.0.0.1:11434/v1"
        key = "LOCAL_KEY"
        wire = "chat"
        header = ["X-Team: $TEAM"]
    "#]]
    .assert_eq(&text);
    check(
        &tree,
        &["config", "check"],
        expect![[r#"
        stderr: error: TREE/config/haft/haft.toml:15:29: server `docs`: `headers.Authorization`: the variable `DOCS_TOKEN` is not set; set it, or write a default as in `${DOCS_TOKEN:-…}`
        exit 1
    "#]],
    );
}

#[test]
fn what_codex_never_let_through_unasked_is_not_let_through() {
    let profile = |text: &str| {
        let tree = tree().file("work/.codex/config.toml", text);
        let json: serde_json::Value = serde_json::from_str(
            as_user(&tree, &["import", "codex", "--json"]).split("exit").next().unwrap(),
        )
        .unwrap();
        json["text"].as_str().unwrap().replace('\n', " ")
    };
    expect![[r#"profile = "read_only"  [sandbox] mode = "require" "#]]
        .assert_eq(&profile("sandbox_mode = \"workspace-write\"\napproval_policy = \"untrusted\""));
    expect![[r#"profile = "read_only"  [sandbox] mode = "require"  [permissions] mode = "deny_unknown" "#]]
        .assert_eq(&profile("sandbox_mode = \"read-only\"\napproval_policy = \"never\""));
    expect![[""]].assert_eq(&profile("sandbox_mode = \"danger-full-access\""));
}

#[test]
fn what_cannot_be_read_is_listed_and_harms_nothing() {
    check(
        &tree(),
        &["import"],
        expect![[r#"
        There is nothing to import: no file of these programs is here.
        `haft import --user` reads your own.
        exit 0
    "#]],
    );
    let broken = tree()
        .file("work/.mcp.json", "{\"mcpServers\": hunter2")
        .file("work/.claude/settings.json", "[1]")
        .file("work/.codex/config.toml", "a = ");
    check(
        &broken,
        &["import", "--write"],
        expect![[r#"
        read `.mcp.json`, `.claude/settings.json` and `.codex/config.toml`

        Not carried over:
          .mcp.json: the file
            it is not JSON, at line 1, column 16
          .claude/settings.json: the file
            it is not a table
          .codex/config.toml: the file
            it is not TOML

        There is nothing to write: all that can be carried over is in `haft.toml` already.
        exit 0
    "#]],
    );
    assert!(!broken.path().join("work/haft.toml").exists());
    // A file that is not right is not changed.
    let tree = tree()
        .file("work/.mcp.json", r#"{"mcpServers":{"a":{"command":"x"}}}"#)
        .file("work/haft.toml", "a = \n");
    check(
        &tree,
        &["import", "--write"],
        expect![[r#"
        stderr: error: cannot change `haft.toml`; see `haft config check`
        stderr:   because: string values must be quoted, expected literal string
        exit 2
    "#]],
    );
    assert_eq!(written(&tree, "work/haft.toml"), "a = \n");
}

#[test]
fn a_file_whose_tests_would_fail_is_put_back() {
    let before =
        "[permissions]\nallow = [\"read(**)\"]\n\n[[test]]\naccess = \"write(src/a)\"\nexpect = \"ask\"\n";
    let settings = r#"{ "permissions": { "allow": ["Edit(src/**)"] } }"#;
    let tree = tree().file("work/haft.toml", before).file("work/.claude/settings.json", settings);
    check(
        &tree,
        &["import", "--write"],
        expect![[r#"
            read `.claude/settings.json`

            haft.toml
              [permissions]
            - allow = ["read(**)"]
            + allow = ["read(**)", "write(src/**)"]

              [[test]]
            stderr: error: `haft.toml` would not be right with that, and was left as it was: the test expects ask and gets allow
            exit 2
        "#]],
    );
    assert_eq!(written(&tree, "work/haft.toml"), before);
}
