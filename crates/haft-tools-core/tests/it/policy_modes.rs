use crate::fixture::{read, scope, spec, write};
use crate::policy_layers::{layer, rules};
use expect_test::{Expect, expect};
use haft_core::Decision;
use haft_tools_core::{Access, Accesses, AgentPolicy, Mode, ModeSwitch, Policy};

fn policy() -> Policy {
    Policy::layered([layer(
        "user",
        &["allow read(a/**)", "allow t2", "ask write(asked)", "deny write(denied)"],
    )])
    .accept_edits(rules(&["allow write(a/**)", "allow write(asked)", "allow write(denied)"]))
    .auto(rules(&["allow write(a/**)", "allow exec(make)", "allow write(asked)"]))
    .agent("reader", AgentPolicy::new([layer("user", &["allow read(a/**)"])]))
}

/// Shows what each mode decides about a call of the tool.
fn check(tool: &str, accesses: impl Into<Accesses>, expect: Expect) {
    let (policy, tool, scope, accesses) = (policy(), spec(tool), scope(), accesses.into());
    let decided = |mode| policy.decide_in(&scope, mode, &tool, &accesses).to_string();
    let said: Vec<String> = Mode::ALL.iter().map(|mode| format!("{mode}: {}", decided(*mode))).collect();
    expect.assert_eq(&said.join("\n"));
}

#[test]
fn reading_is_decided_in_every_mode() {
    check(
        "t",
        read("file:a/b"),
        expect![[r#"
        plan: read file:a/b: allow by the rule read(a/**)
        deny_unknown: read file:a/b: allow by the rule read(a/**)
        default: read file:a/b: allow by the rule read(a/**)
        accept_edits: read file:a/b: allow by the rule read(a/**)
        auto: read file:a/b: allow by the rule read(a/**)"#]],
    );
    check(
        "t",
        read("file:b"),
        expect![[r#"
        plan: read file:b: ask, no rule speaks of it
        deny_unknown: read file:b: deny, the mode deny_unknown denies what would have to be asked about
        default: read file:b: ask, no rule speaks of it
        accept_edits: read file:b: ask, no rule speaks of it
        auto: read file:b: ask, no rule speaks of it"#]],
    );
}

#[test]
fn what_no_rule_speaks_of_is_decided_by_the_mode() {
    check(
        "t",
        write("file:a/b"),
        expect![[r#"
        plan: write file:a/b: deny, the mode plan lets nothing write, execute, connect or call
        deny_unknown: write file:a/b: deny, the mode deny_unknown denies what would have to be asked about
        default: write file:a/b: ask, no rule speaks of it
        accept_edits: write file:a/b: allow by the rule write(a/**) of the mode accept_edits
        auto: write file:a/b: allow by the rule write(a/**) of the mode auto"#]],
    );
    check(
        "t",
        write("file:b"),
        expect![[r#"
        plan: write file:b: deny, the mode plan lets nothing write, execute, connect or call
        deny_unknown: write file:b: deny, the mode deny_unknown denies what would have to be asked about
        default: write file:b: ask, no rule speaks of it
        accept_edits: write file:b: ask, no rule speaks of it
        auto: write file:b: ask, no rule speaks of it"#]],
    );
    check(
        "t",
        Access::execute("exec:make".parse().unwrap()),
        expect![[r#"
        plan: exec exec:make: deny, the mode plan lets nothing write, execute, connect or call
        deny_unknown: exec exec:make: deny, the mode deny_unknown denies what would have to be asked about
        default: exec exec:make: ask, no rule speaks of it
        accept_edits: exec exec:make: ask, no rule speaks of it
        auto: exec exec:make: allow by the rule exec(make) of the mode auto"#]],
    );
    check(
        "t",
        Access::opaque("eval"),
        expect![[r#"
        plan: opaque (eval): deny, the mode plan lets nothing write, execute, connect or call
        deny_unknown: opaque (eval): deny, the mode deny_unknown denies what would have to be asked about
        default: opaque (eval): ask, no rule speaks of it
        accept_edits: opaque (eval): ask, no rule speaks of it
        auto: opaque (eval): ask, no rule speaks of it"#]],
    );
    check(
        "t",
        Accesses::none(),
        expect![[r#"
        plan: ask, no rule speaks of it
        deny_unknown: deny, the mode deny_unknown denies what would have to be asked about
        default: ask, no rule speaks of it
        accept_edits: ask, no rule speaks of it
        auto: ask, no rule speaks of it"#]],
    );
}

#[test]
fn what_a_rule_speaks_of_is_opened_by_no_mode() {
    check(
        "t",
        write("file:asked"),
        expect![[r#"
        plan: write file:asked: deny, the mode plan lets nothing write, execute, connect or call
        deny_unknown: write file:asked: deny, the mode deny_unknown denies what would have to be asked about
        default: write file:asked: ask by the rule write(asked)
        accept_edits: write file:asked: ask by the rule write(asked)
        auto: write file:asked: ask by the rule write(asked)"#]],
    );
    check(
        "t",
        write("file:denied"),
        expect![[r#"
        plan: write file:denied: deny by the rule write(denied)
        deny_unknown: write file:denied: deny by the rule write(denied)
        default: write file:denied: deny by the rule write(denied)
        accept_edits: write file:denied: deny by the rule write(denied)
        auto: write file:denied: deny by the rule write(denied)"#]],
    );
}

#[test]
fn what_a_rule_allows_is_still_held_back_in_a_plan() {
    check(
        "t2",
        write("file:x"),
        expect![[r#"
        plan: write file:x: deny, the mode plan lets nothing write, execute, connect or call
        deny_unknown: write file:x: allow by the rule t2
        default: write file:x: allow by the rule t2
        accept_edits: write file:x: allow by the rule t2
        auto: write file:x: allow by the rule t2"#]],
    );
    check(
        "t2",
        Accesses::none(),
        expect![[r#"
        plan: allow by the rule t2
        deny_unknown: allow by the rule t2
        default: allow by the rule t2
        accept_edits: allow by the rule t2
        auto: allow by the rule t2"#]],
    );
    check(
        "t2",
        Access::call("mcp:github/x".parse().unwrap()),
        expect![[r#"
        plan: call mcp:github/x: deny, the mode plan lets nothing write, execute, connect or call
        deny_unknown: call mcp:github/x: allow by the rule t2
        default: call mcp:github/x: allow by the rule t2
        accept_edits: call mcp:github/x: allow by the rule t2
        auto: call mcp:github/x: allow by the rule t2"#]],
    );
}

#[test]
fn a_mode_opens_nothing_for_an_agent_that_its_rules_do_not() {
    let (policy, tool, accesses) = (policy(), spec("t"), Accesses::from(write("file:a/b")));
    let scope = scope().with_agent("reader");
    let decided = |mode| policy.decide_in(&scope, mode, &tool, &accesses).to_string();
    let said: Vec<String> = Mode::ALL.iter().map(|mode| format!("{mode}: {}", decided(*mode))).collect();
    expect![[r#"
        plan: write file:a/b: deny, the mode plan lets nothing write, execute, connect or call
        deny_unknown: write file:a/b: deny, the mode deny_unknown denies what would have to be asked about
        default: write file:a/b: ask, no rule speaks of it
        accept_edits: write file:a/b: ask, no rule speaks of it for the agent reader
        auto: write file:a/b: ask, no rule speaks of it for the agent reader"#]]
    .assert_eq(&said.join("\n"));
}

#[test]
fn a_rule_of_a_layer_that_is_not_trusted_is_no_word_against_the_mode() {
    let policy = Policy::layered([layer("workspace", &["allow write(a/**)"]).untrusted()])
        .accept_edits(rules(&["allow write(a/**)"]));
    let decide = |mode| {
        let accesses = Accesses::from(write("file:a/b"));
        policy.decide_in(&scope(), mode, &spec("t"), &accesses).decision()
    };
    assert_eq!((decide(Mode::Default), decide(Mode::AcceptEdits)), (Decision::Ask, Decision::Allow));
}

#[test]
fn modes_are_written_and_read_back() {
    for &mode in Mode::ALL {
        assert_eq!(mode.as_str().parse(), Ok(mode));
        assert_eq!(serde_json::to_value(mode).unwrap(), mode.as_str());
    }
    let error = "plann".parse::<Mode>().unwrap_err();
    expect!["`plann` is not a mode; write `plan`, `deny_unknown`, `default`, `accept_edits` or `auto`"]
        .assert_eq(&error.to_string());
}

#[test]
fn only_a_person_widens_a_mode() {
    let switch = ModeSwitch::new(Mode::Default);
    let other = switch.clone();
    assert!(!switch.narrow(Mode::AcceptEdits) && switch.get() == Mode::Default);
    assert!(switch.narrow(Mode::Default) && switch.get() == Mode::Default);
    assert!(switch.narrow(Mode::Plan) && other.get() == Mode::Plan);
    other.set(Mode::Auto);
    assert_eq!(switch.get(), Mode::Auto);
}

#[test]
fn what_delegates_is_left_to_the_rules_in_every_mode() {
    let delegates = || Access::delegate("agent:explorer".parse().unwrap());
    check(
        "t",
        delegates(),
        expect![[r#"
        plan: call agent:explorer: ask, no rule speaks of it
        deny_unknown: call agent:explorer: deny, the mode deny_unknown denies what would have to be asked about
        default: call agent:explorer: ask, no rule speaks of it
        accept_edits: call agent:explorer: ask, no rule speaks of it
        auto: call agent:explorer: ask, no rule speaks of it"#]],
    );
    check(
        "t2",
        Accesses::from([delegates(), write("file:a/b")]),
        expect![[r#"
        plan: write file:a/b: deny, the mode plan lets nothing write, execute, connect or call
        deny_unknown: call agent:explorer: allow by the rule t2
        default: call agent:explorer: allow by the rule t2
        accept_edits: call agent:explorer: allow by the rule t2
        auto: call agent:explorer: allow by the rule t2"#]],
    );
}
