use crate::fixture::{Memory, access_of, decide, decision, language, layered, notes};
use expect_test::expect;
use haft_core::Decision;
use haft_policy::{LoadedPolicy, PolicyLoader, Profile, SandboxMode, Trust};
use haft_tools_core::{Access, Mode};
use proptest::prelude::*;
use std::time::Duration;

/// What a person wrote who lets agents work, within bounds.
const USER: &str = r#"
profile = "workspace_write"

[permissions]
mode = "default"
ask = ["write(Cargo.lock)"]
deny = ["write(secrets/**)", "connect(*)"]

[agents.explorer.permissions]
allow = ["read(**)"]

[agents.lead.ceiling]
deny = ["write(docs/**)"]

[limits]
timeout = "1min"

[limits.tools.bash]
timeout = "10s"

[sandbox]
mode = "prefer"
"#;

fn attacked(workspace: &str) -> LoadedPolicy {
    layered(USER, workspace, Trust::Untrusted)
}

#[test]
fn allowing_what_is_denied_or_asked_about_does_nothing() {
    let loaded = attacked(
        "[permissions]\nallow = [\"*\", \"opaque\", \"write(**)\", \"write(secrets/**)\", \"connect(*)\", \"write(Cargo.lock)\"]\n",
    );
    let said: Vec<String> = [
        "write(secrets/a)",
        "connect(example.org:443)",
        "write(Cargo.lock)",
        "write(.git/hooks/x)",
        "opaque",
        "write(src/a)",
    ]
    .map(|access| decide(&loaded, &[], access))
    .into();
    expect![[r#"
        write file:secrets/a: deny by the rule write(secrets/**) (user.toml:7)
        connect net:example.org:443: deny by the rule connect(*) (user.toml:7)
        write file:Cargo.lock: ask by the rule write(Cargo.lock) (user.toml:6)
        write file:.git/hooks/x: ask, no trusted rule speaks of it (a rule of the workspace layer, which is not trusted, allows it)
        opaque (not said): ask, no trusted rule speaks of it (a rule of the workspace layer, which is not trusted, allows it)
        write file:src/a: allow by the rule write(**) (profile workspace_write:12)"#]].assert_eq(&said.join("\n"));
}

#[test]
fn a_wider_profile_mode_sandbox_or_limit_is_ignored_and_that_is_told() {
    let loaded = attacked(
        r#"profile = "full_access"
[permissions]
mode = "auto"
[limits]
timeout = "1h"
retries.delay = "1ms"
idle_timeout = "1min"
output_bytes = "1 GiB"
widths.opaque = 64
widths.execute = 2
[limits.tools.bash]
timeout = "1h"
output_lines = 10
[sandbox]
mode = "off"
"#,
    );
    expect![[r#"
        work/haft.toml:1: the profile `full_access` is ignored, because the file is not trusted and what holds without it is `workspace_write`
        work/haft.toml:3: the mode `auto` is ignored, because the file is not trusted and what holds without it is `default`
        work/haft.toml:15: the sandbox `off` is ignored, because the file is not trusted and what holds without it is `prefer`
        work/haft.toml:5: the limit `timeout` is ignored, because the file is not trusted and what holds without it is narrower
        work/haft.toml:8: the limit `output_bytes` is ignored, because the file is not trusted and what holds without it is narrower
        work/haft.toml:6: the limit `retries.delay` is ignored, because the file is not trusted and what holds without it is narrower
        work/haft.toml:9: the limit `widths.opaque` is ignored, because the file is not trusted and what holds without it is narrower
        work/haft.toml:11: the limit `timeout` of `bash` is ignored, because the file is not trusted and what holds without it is narrower
    "#]].assert_eq(&notes(&loaded));
    assert_eq!(
        (loaded.profile, loaded.mode, loaded.sandbox, loaded.limits.timeout, loaded.limits.idle_timeout),
        (
            Some(Profile::WorkspaceWrite),
            Mode::Default,
            SandboxMode::Prefer,
            Duration::from_mins(1),
            Some(Duration::from_mins(1))
        )
    );
    // The first that concerns a tool counts, which is the person's.
    assert_eq!(loaded.tool_limits[0].1.timeout, Some(Duration::from_secs(10)));
    assert_eq!((loaded.tool_limits[1].1.timeout, loaded.tool_limits[1].1.output_lines), (None, Some(10)));
}

#[test]
fn a_narrower_profile_mode_sandbox_or_limit_counts() {
    let loaded = attacked(
        "profile = \"read_only\"\n[permissions]\nmode = \"plan\"\n[limits]\ntimeout = 5\n[sandbox]\nmode = \"require\"\n",
    );
    assert_eq!(notes(&loaded), "");
    assert_eq!(
        (loaded.profile, loaded.mode, loaded.sandbox, loaded.limits.timeout),
        (Some(Profile::ReadOnly), Mode::Plan, SandboxMode::Require, Duration::from_secs(5))
    );
}

#[test]
fn the_command_line_counts_over_what_was_narrowed() {
    let files = Memory::of([
        ("work.toml", "[permissions]\nmode = \"plan\"\n[limits]\ntimeout = 1\n"),
        ("run.toml", "[permissions]\nmode = \"auto\"\n[limits]\ntimeout = 30\n"),
    ]);
    let loaded = PolicyLoader::new(language())
        .source(files)
        .workspace("work.toml", Trust::Untrusted)
        .command_line("run.toml")
        .load()
        .unwrap();
    assert_eq!((loaded.mode, loaded.limits.timeout), (Mode::Auto, Duration::from_secs(30)));
}

#[test]
fn asking_instead_of_denying_what_is_unknown_is_no_narrower_mode() {
    let loaded = layered(
        "[permissions]\nmode = \"deny_unknown\"\n",
        "[permissions]\nmode = \"plan\"\n",
        Trust::Untrusted,
    );
    assert_eq!(loaded.mode, Mode::DenyUnknown);
}

#[test]
fn no_profile_is_narrower_than_none() {
    let loaded = layered("", "profile = \"read_only\"\n", Trust::Untrusted);
    assert_eq!(loaded.profile, None);
    expect![[r#"
        work/haft.toml:1: the profile `read_only` is ignored, because the file is not trusted and what holds without it is none
    "#]].assert_eq(&notes(&loaded));
}

#[test]
fn rules_of_agents_open_nothing() {
    let loaded = attacked(
        r#"
[agents.explorer.permissions]
allow = ["write(**)", "*"]
[agents.explorer.ceiling]
allow = ["write(**)", "*"]
[agents.lead.permissions]
allow = ["write(docs/**)"]
[agents.lead.ceiling]
allow = ["write(docs/**)"]
[agents.other.permissions]
allow = ["write(secrets/**)"]
"#,
    );
    let said = [
        decide(&loaded, &["explorer"], "write(src/a)"),
        // A ceiling that another layer adds does not replace the rules that were the ceiling before.
        decide(&loaded, &["explorer", "child"], "write(src/a)"),
        decide(&loaded, &["lead", "child"], "write(docs/a)"),
        decide(&loaded, &["other"], "write(secrets/a)"),
    ];
    expect![[r#"
        write file:src/a: ask, no trusted rule speaks of it (a rule of the workspace layer, which is not trusted, allows it) for the agent explorer
        write file:src/a: ask, no trusted rule speaks of it (a rule of the workspace layer, which is not trusted, allows it) in the ceiling of the agent explorer
        write file:docs/a: deny by the rule write(docs/**) (user.toml:13) in the ceiling of the agent lead
        write file:secrets/a: deny by the rule write(secrets/**) (user.toml:7)"#]].assert_eq(&said.join("\n"));
}

#[test]
fn taking_away_counts() {
    let loaded = attacked(
        "[permissions]\ndeny = [\"write(vendor/**)\"]\nask = [\"exec(git *)\"]\n[agents.explorer.permissions]\ndeny = [\"read(b)\"]\n",
    );
    let said = [
        decide(&loaded, &[], "write(vendor/a)"),
        decide(&loaded, &[], "exec(git status)"),
        decide(&loaded, &["explorer"], "read(b)"),
    ];
    expect![[r#"
        write file:vendor/a: deny by the rule write(vendor/**) (work/haft.toml:2)
        exec exec:git status: ask by the rule exec(git *) (work/haft.toml:3)
        read file:b: deny by the rule read(b) (work/haft.toml:5) for the agent explorer"#]]
    .assert_eq(&said.join("\n"));
}

const ACCESSES: [&str; 12] = [
    "read(src/a)",
    "read(b)",
    "write(src/a)",
    "write(secrets/a)",
    "write(docs/a)",
    "write(Cargo.lock)",
    "write(.git/hooks/x)",
    "exec(git status)",
    "exec(unheard-of)",
    "connect(example.org:443)",
    "call(mcp:github/x)",
    "opaque",
];

const CHAINS: [&[&str]; 6] = [
    &[],
    &["explorer"],
    &["lead"],
    &["lead", "explorer"],
    &["explorer", "lead", "other"],
    &["explorer", "child"],
];

fn rules() -> impl Strategy<Value = String> {
    let rule = prop::sample::select(vec![
        "*",
        "t",
        "!t",
        "@host",
        "opaque",
        "read(**)",
        "write(**)",
        "write(src/**)",
        "write(docs/**)",
        "write(secrets/**)",
        "write(Cargo.lock)",
        "write(.git/hooks/x)",
        "exec(git *)",
        "exec(@understood)",
        "connect(*)",
        "call(*)",
        "read(output:**)",
        "write(memory:**)",
    ]);
    prop::collection::vec((prop::sample::select(vec!["allow", "ask", "deny"]), rule), 0..5).prop_map(
        |rules| {
            ["allow", "ask", "deny"]
                .map(|list| {
                    let of_list = rules.iter().filter(|(name, _)| *name == list);
                    let rules: Vec<String> = of_list.map(|(_, rule)| format!("\"{rule}\"")).collect();
                    format!("{list} = [{}]\n", rules.join(", "))
                })
                .concat()
        },
    )
}

fn files() -> impl Strategy<Value = String> {
    let profile = prop::option::of(prop::sample::select(Profile::ALL.to_vec()));
    let mode = prop::option::of(prop::sample::select(Mode::ALL.to_vec()));
    let agents = prop::collection::btree_map(
        (
            prop::sample::select(vec!["explorer", "lead", "other", "child"]),
            prop::sample::select(vec!["permissions", "ceiling"]),
        ),
        rules(),
        0..4,
    );
    (profile, mode, rules(), agents).prop_map(|(profile, mode, rules, agents)| {
        let profile = profile.map_or(String::new(), |profile| format!("profile = \"{profile}\"\n"));
        let mode = mode.map_or(String::new(), |mode| format!("mode = \"{mode}\"\n"));
        let agents: Vec<String> = agents
            .into_iter()
            .map(|((name, table), rules)| format!("[agents.{name}.{table}]\n{rules}"))
            .collect();
        let agents = agents.concat();
        format!("{profile}[permissions]\n{mode}{rules}{agents}")
    })
}

fn decisions(loaded: &LoadedPolicy) -> Vec<(String, Decision)> {
    let accesses: Vec<Access> = ACCESSES.map(access_of).into();
    let each = CHAINS.iter().flat_map(|chain| accesses.iter().map(move |access| (chain, access)));
    each.map(|(chain, access)| (format!("{chain:?} {access}"), decision(loaded, chain, access))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_file_that_is_not_trusted_makes_nothing_more_lenient(user in files(), workspace in files()) {
        let alone = decisions(&layered(&user, "", Trust::Untrusted));
        let both = decisions(&layered(&user, &workspace, Trust::Untrusted));
        for ((what, before), (_, after)) in alone.into_iter().zip(both) {
            prop_assert!(after >= before, "{what}: {before} and then {after}");
        }
    }

    #[test]
    fn no_layer_lifts_a_deny_for_all_agents(user in rules(), workspace in files()) {
        let user = format!("[permissions]\n{user}");
        let (alone, both) = (layered(&user, "", Trust::Trusted), layered(&user, &workspace, Trust::Trusted));
        for ((what, before), (_, after)) in decisions(&alone).into_iter().zip(decisions(&both)) {
            prop_assert!(before != Decision::Deny || after == Decision::Deny, "{what}");
        }
    }
}
