use crate::fixture::{read, resource, spec, write};
use crate::resources::resources;
use expect_test::{Expect, expect};
use haft_core::Decision;
use haft_tools_core::{Access, AccessMode, Accesses, Policy, Rule};
use proptest::prelude::*;

pub(crate) fn reading(within: &str) -> Rule {
    Rule::access(AccessMode::Read, resource(within))
}

pub(crate) fn writing(within: &str) -> Rule {
    Rule::access(AccessMode::Write, resource(within))
}

pub(crate) fn tools(selector: &str) -> Rule {
    Rule::tools(selector.parse().unwrap())
}

/// Decides a call of the tool `t`, and explains it access by access.
fn check<const N: usize>(policy: &Policy, accesses: [Access; N], expect: Expect) {
    let (tool, accesses) = (spec("t"), Accesses::from(accesses));
    let mut text = policy.decide(&tool, &accesses).to_string();
    let explained = policy.explain(&tool, &accesses);
    if explained.len() > 1 {
        for verdict in explained {
            text.push_str("\n- ");
            text.push_str(&verdict.to_string());
        }
    }
    expect.assert_eq(&text);
}

#[test]
fn what_no_rule_speaks_of_is_asked() {
    check(&Policy::new(), [read("file:a")], expect!["read file:a: ask, no rule speaks of it"]);
    check(&Policy::new(), [Access::opaque("eval")], expect!["opaque (eval): ask, no rule speaks of it"]);
    check(&Policy::new(), [], expect!["ask, no rule speaks of it"]);
}

#[test]
fn deny_goes_before_ask_and_ask_before_allow() {
    let policy =
        Policy::new().allow(reading("file:**")).ask(reading("file:a/**")).deny(reading("file:a/b/**"));
    check(&policy, [read("file:x")], expect!["read file:x: allow by the rule read(file:**)"]);
    check(&policy, [read("file:a/x")], expect!["read file:a/x: ask by the rule read(file:a/**)"]);
    check(&policy, [read("file:a/b/x")], expect!["read file:a/b/x: deny by the rule read(file:a/b/**)"]);
    check(
        &policy.allow(tools("t")),
        [read("file:a/b/x")],
        expect!["read file:a/b/x: deny by the rule read(file:a/b/**)"],
    );
}

#[test]
fn the_first_rule_of_a_decision_is_the_one_that_is_named() {
    let policy = Policy::new().allow(reading("file:a/**")).allow(tools("t")).allow(reading("file:**"));
    check(&policy, [read("file:a/x")], expect!["read file:a/x: allow by the rule read(file:a/**)"]);
    check(&policy, [read("file:b")], expect!["read file:b: allow by the rule t"]);
}

#[test]
fn the_strictest_decision_over_all_accesses_wins() {
    let policy = Policy::new().allow(reading("file:**")).deny(writing("file:.env"));
    check(
        &policy,
        [read("file:a"), read("file:b")],
        expect![[r#"
        read file:a: allow by the rule read(file:**)
        - read file:a: allow by the rule read(file:**)
        - read file:b: allow by the rule read(file:**)"#]],
    );
    check(
        &policy,
        [read("file:a"), write("file:b")],
        expect![[r#"
        write file:b: ask, no rule speaks of it
        - read file:a: allow by the rule read(file:**)
        - write file:b: ask, no rule speaks of it"#]],
    );
    check(
        &policy,
        [write("file:.env"), read("file:a")],
        expect![[r#"
        write file:.env: deny by the rule write(file:.env)
        - write file:.env: deny by the rule write(file:.env)
        - read file:a: allow by the rule read(file:**)"#]],
    );
    check(
        &policy,
        [write("file:b"), read("file:a"), write("file:.env")],
        expect![[r#"
        write file:.env: deny by the rule write(file:.env)
        - write file:b: ask, no rule speaks of it
        - read file:a: allow by the rule read(file:**)
        - write file:.env: deny by the rule write(file:.env)"#]],
    );
}

#[test]
fn allowing_needs_all_of_an_access_and_denying_any_part_of_it() {
    let policy = Policy::new().allow(reading("file:src/**")).deny(reading("file:src/secret/**"));
    check(
        &policy,
        [read("file:src/lib.rs")],
        expect!["read file:src/lib.rs: allow by the rule read(file:src/**)"],
    );
    check(
        &policy,
        [read("file:src/**")],
        expect!["read file:src/**: deny by the rule read(file:src/secret/**)"],
    );
    check(&policy, [read("file:**")], expect!["read file:**: deny by the rule read(file:src/secret/**)"]);
    check(
        &policy,
        [read("file:src/a/**")],
        expect!["read file:src/a/**: allow by the rule read(file:src/**)"],
    );
    let policy = Policy::new().allow(reading("file:src/a")).ask(writing("file:src/a/b"));
    check(&policy, [read("file:src/**")], expect!["read file:src/**: ask, no rule speaks of it"]);
    check(&policy, [write("file:src/**")], expect!["write file:src/**: ask by the rule write(file:src/a/b)"]);
}

#[test]
fn a_rule_speaks_of_its_own_mode_and_scheme_alone() {
    let policy = Policy::new().allow(writing("file:**"));
    check(&policy, [read("file:a")], expect!["read file:a: ask, no rule speaks of it"]);
    check(&policy, [Access::execute(resource("file:a"))], expect!["exec file:a: ask, no rule speaks of it"]);
    check(&policy, [write("memory:a")], expect!["write memory:a: ask, no rule speaks of it"]);
}

#[test]
fn what_cannot_be_told_is_decided_by_rules_that_name_the_tool_alone() {
    let everything = MODES.into_iter().fold(Policy::new(), |policy, mode| {
        policy.allow(Rule::access(mode, resource("file:**"))).deny(Rule::access(mode, resource("exec:**")))
    });
    check(&everything, [Access::opaque("eval")], expect!["opaque (eval): ask, no rule speaks of it"]);
    check(
        &everything.clone().allow(tools("t")),
        [Access::opaque("eval")],
        expect!["opaque (eval): allow by the rule t"],
    );
    check(
        &everything.deny(tools("t")),
        [Access::opaque("eval")],
        expect!["opaque (eval): deny by the rule t"],
    );
}

#[test]
fn a_call_without_accesses_is_decided_by_rules_that_name_the_tool_alone() {
    check(
        &Policy::new().allow(reading("file:**")).deny(writing("file:**")),
        [],
        expect!["ask, no rule speaks of it"],
    );
    check(&Policy::new().allow(tools("*")), [], expect!["allow by the rule *"]);
    check(&Policy::new().allow(tools("*")).ask(tools("t")), [], expect!["ask by the rule t"]);
    check(&Policy::new().allow(tools("!t")), [], expect!["ask, no rule speaks of it"]);
}

#[test]
fn wildcards_forbid_tools_that_are_explicit_only_and_do_not_allow_them() {
    let tool = spec("bash").explicit_only();
    let check = |policy: Policy, expect: Expect| {
        expect.assert_eq(&policy.decide(&tool, &Accesses::none()).to_string());
    };
    check(Policy::new().allow(tools("*")), expect!["ask, no rule speaks of it"]);
    check(Policy::new().allow(tools("!read")), expect!["ask, no rule speaks of it"]);
    check(Policy::new().allow(tools("bash")), expect!["allow by the rule bash"]);
    check(Policy::new().allow(tools("bash")).ask(tools("@host")), expect!["ask by the rule @host"]);
    check(Policy::new().allow(tools("bash")).deny(tools("*")), expect!["deny by the rule *"]);
    check(Policy::new().allow(tools("bash")).deny(tools("!read")), expect!["deny by the rule !read"]);
}

#[test]
fn a_hint_permits_nothing() {
    let claims = haft_core::ToolHints { read_only: true, idempotent: true, ..Default::default() };
    let tool = spec("t").with_hints(claims);
    let accesses = Accesses::from([write("file:a").unordered()]);
    assert_eq!(Policy::new().allow(reading("file:**")).decide(&tool, &accesses).decision(), Decision::Ask);
}

const MODES: [AccessMode; 5] =
    [AccessMode::Read, AccessMode::Write, AccessMode::Execute, AccessMode::Connect, AccessMode::Call];

fn rules() -> impl Strategy<Value = Rule> {
    let mode = prop::sample::select(&MODES[..2]);
    prop_oneof![
        (mode, resources()).prop_map(|(mode, within)| Rule::access(mode, within)),
        prop::sample::select(vec!["t", "*", "!t", "@host", "u"]).prop_map(tools),
    ]
}

pub(crate) fn policies() -> impl Strategy<Value = Policy> {
    prop::collection::vec((0..3, rules()), 0..6).prop_map(|rules| {
        rules.into_iter().fold(Policy::new(), |policy, (list, rule)| match list {
            0 => policy.allow(rule),
            1 => policy.ask(rule),
            _ => policy.deny(rule),
        })
    })
}

fn declarations() -> impl Strategy<Value = Accesses> {
    let access = prop_oneof![
        9 => (prop::sample::select(&MODES[..2]), resources()).prop_map(|(mode, resource)| Access::new(mode, resource)),
        1 => Just(Access::opaque("eval")),
    ];
    prop::collection::vec(access, 0..4).prop_map(|accesses| accesses.into_iter().collect())
}

proptest! {
    #[test]
    fn another_deny_rule_makes_nothing_more_lenient(policy in policies(), rule in rules(), accesses in declarations()) {
        let tool = spec("t");
        let before = policy.decide(&tool, &accesses).decision();
        prop_assert!(policy.clone().deny(rule.clone()).decide(&tool, &accesses).decision() >= before);
        prop_assert!(before == Decision::Allow || policy.ask(rule).decide(&tool, &accesses).decision() >= before);
    }

    #[test]
    fn another_allow_rule_lifts_no_deny_and_no_rule_to_ask(
        policy in policies(), rule in rules(), accesses in declarations()
    ) {
        let tool = spec("t");
        let before = policy.decide(&tool, &accesses);
        let after = policy.clone().allow(rule);
        let after = after.decide(&tool, &accesses);
        prop_assert!(after.decision() <= before.decision());
        prop_assert!(before.decision() != Decision::Deny || after.decision() == Decision::Deny);
        if before.decision() == Decision::Ask && before.rule().is_some() {
            prop_assert!(after.decision() != Decision::Allow);
        }
    }

    #[test]
    fn the_decision_is_the_strictest_of_those_that_are_explained(policy in policies(), accesses in declarations()) {
        let tool = spec("t");
        let explained = policy.explain(&tool, &accesses);
        let strictest = explained.iter().map(haft_tools_core::Verdict::decision).max();
        prop_assert_eq!(Some(policy.decide(&tool, &accesses).decision()), strictest);
        prop_assert_eq!(explained.len(), accesses.len().max(1));
    }

    #[test]
    fn declaring_more_makes_nothing_more_lenient(policy in policies(), one in declarations(), other in declarations()) {
        prop_assume!(!one.is_empty());
        let tool = spec("t");
        let both: Accesses = one.iter().chain(&other).cloned().collect();
        prop_assert!(policy.decide(&tool, &both).decision() >= policy.decide(&tool, &one).decision());
    }
}
