use crate::fixture::{Memory, decide, language, layered, notes};
use expect_test::expect;
use haft_policy::{LoadedPolicy, PolicyLoader, Profile, SandboxMode, Trust};
use haft_tools_core::Mode;
use std::time::Duration;

fn of_three(user: &str, workspace: &str, command_line: &str) -> LoadedPolicy {
    let files = Memory::of([("user.toml", user), ("work.toml", workspace), ("run.toml", command_line)]);
    PolicyLoader::new(language())
        .source(files)
        .user("user.toml")
        .workspace("work.toml", Trust::Trusted)
        .command_line("run.toml")
        .load()
        .unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn without_any_file_the_narrowest_profile_decides() {
    let loaded = PolicyLoader::new(language()).load().unwrap();
    assert_eq!(
        (loaded.profile, loaded.mode, loaded.sandbox),
        (Some(Profile::ReadOnly), Mode::Default, SandboxMode::Off)
    );
    expect!["read file:a: allow by the rule read(**) (profile read_only:9)"].assert_eq(&decide(
        &loaded,
        &[],
        "read(a)",
    ));
    expect!["write file:a: ask, no rule speaks of it"].assert_eq(&decide(&loaded, &[], "write(a)"));
    let loaded = PolicyLoader::new(language()).without_default_profile().load().unwrap();
    expect!["read file:a: ask, no rule speaks of it"].assert_eq(&decide(&loaded, &[], "read(a)"));
}

#[test]
fn the_last_layer_that_speaks_decides_and_no_layer_lifts_a_deny() {
    let loaded = of_three(
        "[permissions]\nallow = [\"write(a)\"]\ndeny = [\"write(b)\"]\nask = [\"write(c)\"]\n",
        "[permissions]\nask = [\"write(a)\"]\nallow = [\"write(b)\", \"write(c)\"]\n",
        "[permissions]\nallow = [\"write(b)\"]\ndeny = [\"read(d)\"]\n",
    );
    let said: Vec<String> = ["write(a)", "write(b)", "write(c)", "read(d)", "read(e)", "write(e)"]
        .map(|access| decide(&loaded, &[], access))
        .into();
    expect![[r#"
        write file:a: ask by the rule write(a) (work.toml:2)
        write file:b: deny by the rule write(b) (user.toml:3)
        write file:c: allow by the rule write(c) (work.toml:3)
        read file:d: deny by the rule read(d) (run.toml:3)
        read file:e: allow by the rule read(**) (profile read_only:9)
        write file:e: ask, no rule speaks of it"#]]
    .assert_eq(&said.join("\n"));
}

#[test]
fn what_is_said_once_is_said_by_the_last_trusted_layer() {
    let loaded = of_three(
        "profile = \"workspace_write\"\n[permissions]\nmode = \"plan\"\n[limits]\ntimeout = 1\n[sandbox]\nmode = \"require\"\n",
        "profile = \"full_access\"\n[permissions]\nmode = \"auto\"\n[limits]\ntimeout = \"10min\"\n[sandbox]\nmode = \"off\"\n",
        "[limits]\ngrace = 1\n",
    );
    assert_eq!(
        (loaded.profile, loaded.mode, loaded.sandbox, loaded.limits.timeout, loaded.limits.grace),
        (
            Some(Profile::FullAccess),
            Mode::Auto,
            SandboxMode::Off,
            Duration::from_mins(10),
            Duration::from_secs(1)
        )
    );
}

#[test]
fn what_holds_whatever_tools_there_are_is_known_before_tests_are_run() {
    let files = || {
        // The test fails, and what is not trusted widens nothing.
        let user = "[sandbox]\nmode = \"prefer\"\n[[test]]\naccess = \"read(a)\"\nexpect = \"deny\"\n";
        let workspace = "[permissions]\nmode = \"auto\"\n[sandbox]\nmode = \"require\"\n";
        let files = Memory::of([("user.toml", user), ("work.toml", workspace)]);
        PolicyLoader::new(language()).source(files).user("user.toml").workspace("work.toml", Trust::Untrusted)
    };
    let said = |loader: PolicyLoader<'_>| {
        let switches = loader.switches().unwrap();
        (switches.mode, switches.sandbox)
    };
    assert!(files().load().is_err());
    assert_eq!(said(files()), (Mode::Default, SandboxMode::Require));
    assert_eq!(said(files().mode(Mode::Plan).sandbox(SandboxMode::Off)), (Mode::Plan, SandboxMode::Off));
}

#[test]
fn what_was_named_for_this_run_counts_over_all_files() {
    let loaded = PolicyLoader::new(language())
        .source(Memory::of([("run.toml", "profile = \"full_access\"\n[permissions]\nmode = \"auto\"\n")]))
        .command_line("run.toml")
        .profile(Profile::ReadOnly)
        .mode(Mode::Plan)
        .load()
        .unwrap();
    assert_eq!((loaded.profile, loaded.mode), (Some(Profile::ReadOnly), Mode::Plan));
    expect!["write file:a: deny, the mode plan lets nothing write, execute, connect or call"]
        .assert_eq(&decide(&loaded, &[], "write(a)"));
}

#[test]
fn limits_of_tools_count_from_the_last_layer_to_the_first() {
    let loaded = of_three(
        "[limits.tools.bash]\ntimeout = 1\n[limits.tools.\"*\"]\ntimeout = 2\n",
        "",
        "[limits.tools.\"@github\"]\noutput_lines = 10\n",
    );
    let tools: Vec<String> = loaded.tool_limits.iter().map(|(tools, _)| tools.to_string()).collect();
    assert_eq!(tools, ["@github", "bash", "*"]);
}

#[test]
fn rules_of_one_agent_are_merged_over_the_layers() {
    let loaded = of_three(
        "profile = \"full_access\"\n[agents.explorer.permissions]\nallow = [\"read(**)\"]\n",
        "[agents.explorer.permissions]\nallow = [\"write(notes/**)\"]\n[agents.writer.permissions]\ndeny = [\"read(a)\"]\n",
        "[agents.explorer.permissions]\ndeny = [\"read(secret)\"]\n",
    );
    let said = [
        decide(&loaded, &["explorer"], "read(a)"),
        decide(&loaded, &["explorer"], "write(notes/a)"),
        decide(&loaded, &["explorer"], "write(a)"),
        decide(&loaded, &["explorer"], "read(secret)"),
        decide(&loaded, &["writer"], "read(a)"),
        decide(&loaded, &["explorer", "writer"], "write(a)"),
    ];
    expect![[r#"
        read file:a: allow by the rule * (profile full_access:13)
        write file:notes/a: allow by the rule * (profile full_access:13)
        write file:a: ask, no rule speaks of it for the agent explorer
        read file:secret: deny by the rule read(secret) (run.toml:2) for the agent explorer
        read file:a: deny by the rule read(a) (work.toml:4) for the agent writer
        write file:a: ask, no rule speaks of it in the ceiling of the agent explorer"#]]
    .assert_eq(&said.join("\n"));
}

#[test]
fn modes_let_through_what_the_profiles_of_edits_and_work_contain() {
    let in_mode = |mode: &str, access: &str| {
        let text = format!("[permissions]\nmode = \"{mode}\"\nask = [\"write(asked)\"]\n");
        decide(&layered(&text, "", Trust::Trusted), &[], access)
    };
    let said = [
        in_mode("accept_edits", "write(a)"),
        in_mode("accept_edits", "write(asked)"),
        in_mode("accept_edits", "write(.git/hooks/pre-commit)"),
        in_mode("accept_edits", "exec(mkdir a)"),
        in_mode("auto", "exec(mkdir a)"),
        in_mode("auto", "exec(unheard-of)"),
        in_mode("auto", "connect(example.org:443)"),
        in_mode("deny_unknown", "write(a)"),
        in_mode("plan", "exec(mkdir a)"),
    ];
    expect![[r#"
        write file:a: allow by the rule write(**) of the mode accept_edits
        write file:asked: ask by the rule write(asked) (user.toml:3)
        write file:.git/hooks/pre-commit: ask, no rule speaks of it
        exec exec:mkdir a: ask, no rule speaks of it
        exec exec:mkdir a: allow by the rule exec(@understood) of the mode auto
        exec exec:unheard-of: ask, no rule speaks of it
        connect net:example.org:443: ask, no rule speaks of it
        write file:a: deny, the mode deny_unknown denies what would have to be asked about
        exec exec:mkdir a: deny, the mode plan lets nothing write, execute, connect or call"#]]
    .assert_eq(&said.join("\n"));
}

#[test]
fn a_program_without_commands_and_hosts_uses_the_profiles_all_the_same() {
    let language = haft_tools_core::RuleLanguage::new();
    let loaded = PolicyLoader::new(language).profile(Profile::WorkspaceWrite).load().unwrap();
    assert_eq!(notes(&loaded), "");
}

#[test]
fn the_files_of_others_are_read_beside_them() {
    let files = Memory::of([("haft.toml", "[model]\nname = 1\n[permissions]\nmode = \"plan\"\n")]);
    let loaded =
        PolicyLoader::new(language()).source(files).user("haft.toml").others(["model"]).load().unwrap();
    assert_eq!(loaded.mode, Mode::Plan);
}
