use crate::fixture::{read, resource, scope, spec, write};
use crate::policy_layers::layer;
use expect_test::{Expect, expect};
use haft_core::Decision;
use haft_tools_core::{Access, Accesses, AgentPolicy, CallScope, Mode, Policy};
use proptest::prelude::*;

/// Makes the scope of the last of these agents, below the others; `-` is one without a name.
fn chain(agents: &[&str]) -> CallScope {
    agents.iter().enumerate().fold(scope(), |scope, (depth, agent)| {
        let scope = if depth == 0 { scope } else { scope.child(format!("child-{depth}").parse().unwrap()) };
        if *agent == "-" { scope } else { scope.with_agent(*agent) }
    })
}

fn agent(texts: &[&str]) -> AgentPolicy {
    AgentPolicy::new([layer("user", texts)])
}

/// Allows everything below `a`, but for what the agents' own rules say.
fn policy() -> Policy {
    Policy::layered([layer("user", &["allow read(a/**)", "allow write(a/**)", "deny write(a/secret)"])])
        .agent("reader", agent(&["allow read(a/**)"]))
        .agent("careful", agent(&["ask write(a/b)", "deny write(a/c)"]))
        .agent("wide", agent(&["allow *"]))
        .agent(
            "lead",
            agent(&["allow read(a/**)"]).ceiling([layer("user", &["allow write(a/b)", "allow read(a/b)"])]),
        )
}

fn check(scope: &CallScope, access: Access, expect: Expect) {
    let (policy, accesses) = (policy(), Accesses::from(access));
    expect.assert_eq(&policy.decide_in(scope, Mode::Default, &spec("t"), &accesses).to_string());
}

#[test]
fn rules_of_an_agent_take_away_from_what_holds_for_all() {
    check(&chain(&["reader"]), read("file:a/b"), expect!["read file:a/b: allow by the rule read(a/**)"]);
    check(
        &chain(&["reader"]),
        write("file:a/b"),
        expect!["write file:a/b: ask, no rule speaks of it for the agent reader"],
    );
    check(
        &chain(&["careful"]),
        write("file:a/b"),
        expect!["write file:a/b: ask by the rule write(a/b) for the agent careful"],
    );
    check(
        &chain(&["careful"]),
        write("file:a/c"),
        expect!["write file:a/c: deny by the rule write(a/c) for the agent careful"],
    );
    // Where they list nothing as allowed, what they do not speak of is left as it is.
    check(&chain(&["careful"]), write("file:a/d"), expect!["write file:a/d: allow by the rule write(a/**)"]);
    check(&chain(&["unknown"]), write("file:a/b"), expect!["write file:a/b: allow by the rule write(a/**)"]);
}

#[test]
fn no_agent_has_more_than_holds_for_all() {
    check(&chain(&["wide"]), write("file:b"), expect!["write file:b: ask, no rule speaks of it"]);
    check(
        &chain(&["wide"]),
        write("file:a/secret"),
        expect!["write file:a/secret: deny by the rule write(a/secret)"],
    );
}

#[test]
fn a_child_is_never_wider_than_its_parent() {
    check(
        &chain(&["reader", "wide"]),
        write("file:a/b"),
        expect!["write file:a/b: ask, no rule speaks of it in the ceiling of the agent reader"],
    );
    check(
        &chain(&["reader", "-"]),
        write("file:a/b"),
        expect!["write file:a/b: ask, no rule speaks of it in the ceiling of the agent reader"],
    );
    check(
        &chain(&["reader", "wide"]),
        read("file:a/b"),
        expect!["read file:a/b: allow by the rule read(a/**)"],
    );
    check(
        &chain(&["wide", "reader"]),
        write("file:a/b"),
        expect!["write file:a/b: ask, no rule speaks of it for the agent reader"],
    );
}

#[test]
fn neither_is_a_grandchild() {
    check(
        &chain(&["reader", "-", "wide"]),
        write("file:a/b"),
        expect!["write file:a/b: ask, no rule speaks of it in the ceiling of the agent reader"],
    );
    check(
        &chain(&["careful", "wide", "wide"]),
        write("file:a/c"),
        expect!["write file:a/c: deny by the rule write(a/c) in the ceiling of the agent careful"],
    );
    check(
        &chain(&["-", "-", "reader"]),
        write("file:a/b"),
        expect!["write file:a/b: ask, no rule speaks of it for the agent reader"],
    );
}

#[test]
fn a_ceiling_bounds_the_agents_below_in_place_of_its_agents_own_rules() {
    // The lead itself is bound by both.
    check(
        &chain(&["lead"]),
        write("file:a/b"),
        expect!["write file:a/b: ask, no rule speaks of it for the agent lead"],
    );
    check(
        &chain(&["lead"]),
        read("file:a/c"),
        expect!["read file:a/c: ask, no rule speaks of it in the ceiling of the agent lead"],
    );
    check(&chain(&["lead"]), read("file:a/b"), expect!["read file:a/b: allow by the rule read(a/**)"]);
    // So it may hand on what it may not do itself.
    check(
        &chain(&["lead", "wide"]),
        write("file:a/b"),
        expect!["write file:a/b: allow by the rule write(a/**)"],
    );
    check(
        &chain(&["lead", "wide"]),
        write("file:a/d"),
        expect!["write file:a/d: ask, no rule speaks of it in the ceiling of the agent lead"],
    );
    // But not past an agent above it.
    check(
        &chain(&["reader", "lead", "wide"]),
        write("file:a/b"),
        expect!["write file:a/b: ask, no rule speaks of it in the ceiling of the agent reader"],
    );
}

#[test]
fn the_nearest_of_equally_strict_levels_is_named() {
    check(
        &chain(&["reader", "reader"]),
        write("file:a/b"),
        expect!["write file:a/b: ask, no rule speaks of it for the agent reader"],
    );
    check(&chain(&["reader"]), write("file:b"), expect!["write file:b: ask, no rule speaks of it"]);
}

#[test]
fn a_scope_can_be_bounded_in_code() {
    let ceiling = Policy::layered([layer("host", &["allow read(a/**)"])]);
    let top = scope().with_ceiling(ceiling);
    check(&top, read("file:a/b"), expect!["read file:a/b: allow by the rule read(a/**)"]);
    check(
        &top,
        write("file:a/b"),
        expect!["write file:a/b: ask, no rule speaks of it in the ceiling of the agent run-1"],
    );
    let child = top.child("child".parse().unwrap()).with_agent("wide");
    check(
        &child,
        write("file:a/b"),
        expect!["write file:a/b: ask, no rule speaks of it in the ceiling of the agent run-1"],
    );
    check(
        &child.child("grandchild".parse().unwrap()),
        write("file:a/b"),
        expect!["write file:a/b: ask, no rule speaks of it in the ceiling of the agent run-1"],
    );
    let wider = child.with_ceiling(Policy::layered([layer("host", &["allow *"])]));
    check(
        &wider,
        write("file:a/b"),
        expect!["write file:a/b: ask, no rule speaks of it in the ceiling of the agent run-1"],
    );
}

#[test]
fn a_call_without_accesses_is_bounded_too() {
    let policy = policy().allow(haft_tools_core::Rule::tools("t".parse().unwrap()));
    let decide = |agents: &[&str]| {
        policy.decide_in(&chain(agents), Mode::Default, &spec("t"), &Accesses::none()).to_string()
    };
    expect![[r#"
        allow by the rule t
        ask, no rule speaks of it for the agent reader
        ask, no rule speaks of it in the ceiling of the agent reader"#]]
    .assert_eq(&[decide(&[]), decide(&["reader"]), decide(&["reader", "wide"])].join("\n"));
}

const NAMES: [&str; 6] = ["reader", "careful", "wide", "lead", "unknown", "-"];

fn accesses() -> Vec<Access> {
    let paths = ["file:a/b", "file:a/c", "file:a/d", "file:a/secret", "file:a/**", "file:b"];
    let all = paths.iter().flat_map(|path| [Access::read(resource(path)), Access::write(resource(path))]);
    all.chain([Access::opaque("eval")]).collect()
}

fn decide(agents: &[&str], access: &Access) -> Decision {
    policy().decide_in(&chain(agents), Mode::Default, &spec("t"), &Accesses::from(access.clone())).decision()
}

proptest! {
    #[test]
    fn below_agents_without_a_ceiling_nobody_may_more_than_any_of_them(
        agents in prop::collection::vec(prop::sample::select(NAMES.to_vec()), 1..5)
    ) {
        prop_assume!(agents.iter().rev().skip(1).all(|agent| *agent != "lead"));
        for access in accesses() {
            let decided = decide(&agents, &access);
            for agent in &agents {
                prop_assert!(decided >= decide(&[agent], &access), "{agents:?} {access}");
            }
        }
    }

    #[test]
    fn whoever_stands_above_takes_away_at_most(
        above in prop::sample::select(NAMES.to_vec()),
        agents in prop::collection::vec(prop::sample::select(NAMES.to_vec()), 1..4)
    ) {
        let below: Vec<&str> = std::iter::once(above).chain(agents.iter().copied()).collect();
        for access in accesses() {
            prop_assert!(decide(&below, &access) >= decide(&agents, &access), "{below:?} {access}");
        }
    }
}
