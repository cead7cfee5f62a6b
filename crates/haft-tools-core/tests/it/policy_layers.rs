use crate::fixture::{read, spec, write};
use crate::patterns::language;
use expect_test::{Expect, expect};
use haft_core::Decision;
use haft_tools_core::{Access, Accesses, Policy, PolicyLayer, Rule, Rules};
use proptest::prelude::*;

fn rule(text: &str) -> Rule {
    language().rule(text).unwrap()
}

/// Makes rules of texts such as `allow read(a)`.
pub(crate) fn rules(texts: &[&str]) -> Rules {
    texts.iter().fold(Rules::new(), |rules, text| match text.split_once(' ').unwrap() {
        ("allow", text) => rules.allow(rule(text)),
        ("ask", text) => rules.ask(rule(text)),
        (_, text) => rules.deny(rule(text)),
    })
}

pub(crate) fn layer(name: &str, texts: &[&str]) -> PolicyLayer {
    PolicyLayer::new(name, rules(texts))
}

fn check(policy: &Policy, access: Access, expect: Expect) {
    expect.assert_eq(&policy.decide(&spec("t"), &Accesses::from(access)).to_string());
}

#[test]
fn a_deny_rule_of_any_layer_holds() {
    let policy = Policy::layered([
        layer("user", &["deny write(a)"]),
        layer("workspace", &["allow write(a)", "allow write(b)"]),
        layer("command line", &["allow *", "deny write(b)"]),
    ]);
    check(&policy, write("file:a"), expect!["write file:a: deny by the rule write(a)"]);
    check(&policy, write("file:b"), expect!["write file:b: deny by the rule write(b)"]);
    check(&policy, write("file:c"), expect!["write file:c: allow by the rule *"]);
}

#[test]
fn otherwise_the_last_layer_that_speaks_decides() {
    let policy = Policy::layered([
        layer("user", &["allow write(a)", "ask write(b)", "ask write(c)"]),
        layer("workspace", &["ask write(a)", "allow write(b)", "ask write(c)"]),
        layer("command line", &["allow write(d)"]),
    ]);
    check(&policy, write("file:a"), expect!["write file:a: ask by the rule write(a)"]);
    check(&policy, write("file:b"), expect!["write file:b: allow by the rule write(b)"]);
    check(&policy, write("file:c"), expect!["write file:c: ask by the rule write(c)"]);
    check(&policy, write("file:d"), expect!["write file:d: allow by the rule write(d)"]);
    check(&policy, write("file:e"), expect!["write file:e: ask, no rule speaks of it"]);
}

#[test]
fn a_layer_that_allows_a_part_does_not_speak_of_the_whole() {
    let policy = Policy::layered([
        layer("user", &["allow read(src/**)"]),
        layer("workspace", &["allow read(src/a/**)"]),
    ]);
    check(&policy, read("file:src/**"), expect!["read file:src/**: allow by the rule read(src/**)"]);
    let policy = Policy::layered([
        layer("user", &["allow read(src/**)"]),
        layer("workspace", &["ask read(src/a/**)"]),
    ]);
    check(&policy, read("file:src/**"), expect!["read file:src/**: ask by the rule read(src/a/**)"]);
}

#[test]
fn a_layer_that_is_not_trusted_takes_away_and_gives_nothing() {
    let untrusted = layer("workspace", &["allow *", "ask write(a)", "deny write(b)"]).untrusted();
    let policy = Policy::layered([
        layer("user", &["allow write(a)", "allow write(b)", "ask write(c)", "allow write(d)"]),
        untrusted,
    ]);
    check(&policy, write("file:a"), expect!["write file:a: ask by the rule write(a)"]);
    check(&policy, write("file:b"), expect!["write file:b: deny by the rule write(b)"]);
    check(&policy, write("file:c"), expect!["write file:c: ask by the rule write(c)"]);
    check(&policy, write("file:d"), expect!["write file:d: allow by the rule write(d)"]);
    check(
        &policy,
        write("file:e"),
        expect![
            "write file:e: ask, no trusted rule speaks of it (a rule of the workspace layer, which is not trusted, allows it)"
        ],
    );
    check(
        &policy,
        Access::opaque("eval"),
        expect![
            "opaque (eval): ask, no trusted rule speaks of it (a rule of the workspace layer, which is not trusted, allows it)"
        ],
    );
}

#[test]
fn a_trusted_layer_behind_one_that_is_not_trusted_decides() {
    let policy = Policy::layered([
        layer("workspace", &["allow write(a)", "ask write(b)"]).untrusted(),
        layer("command line", &["allow write(a)", "allow write(b)"]),
    ]);
    check(&policy, write("file:a"), expect!["write file:a: allow by the rule write(a)"]);
    check(&policy, write("file:b"), expect!["write file:b: allow by the rule write(b)"]);
}

#[test]
fn rules_that_are_added_in_code_belong_to_the_last_layer() {
    let policy = Policy::layered([layer("user", &["ask write(a)"]), layer("run", &[])]);
    check(
        &policy.clone().allow(rule("write(a)")),
        write("file:a"),
        expect!["write file:a: allow by the rule write(a)"],
    );
    check(
        &policy.clone().deny(rule("write(a)")),
        write("file:a"),
        expect!["write file:a: deny by the rule write(a)"],
    );
    let untrusted = Policy::layered([layer("workspace", &[]).untrusted()]);
    check(
        &untrusted.allow(rule("write(a)")),
        write("file:a"),
        expect![
            "write file:a: ask, no trusted rule speaks of it (a rule of the workspace layer, which is not trusted, allows it)"
        ],
    );
}

const RULES: [&str; 9] = [
    "*",
    "t",
    "!t",
    "opaque",
    "read(a/**)",
    "write(a/**)",
    "write(a/b)",
    "write(memory:**)",
    "call(@github)",
];

fn texts() -> impl Strategy<Value = Vec<String>> {
    let list = prop::sample::select(vec!["allow", "ask", "deny"]);
    let text = (list, prop::sample::select(RULES.to_vec())).prop_map(|(list, rule)| format!("{list} {rule}"));
    prop::collection::vec(text, 0..4)
}

fn layer_of(texts: &[String]) -> PolicyLayer {
    layer("layer", &texts.iter().map(String::as_str).collect::<Vec<_>>())
}

fn accesses() -> Vec<Access> {
    let mut accesses = ["file:a/b", "file:a/c", "file:a/**", "file:**", "memory:x"].map(write).to_vec();
    accesses.extend([
        read("file:a/b"),
        Access::call("mcp:github/x".parse().unwrap()),
        Access::opaque("eval"),
    ]);
    accesses
}

fn decisions(policy: &Policy) -> Vec<Decision> {
    let decide = |access: Access| policy.decide(&spec("t"), &Accesses::from(access)).decision();
    accesses().into_iter().map(decide).collect()
}

proptest! {
    #[test]
    fn no_layer_behind_another_lifts_what_that_denies(first in texts(), others in prop::collection::vec(texts(), 0..3)) {
        let alone = decisions(&Policy::layered([layer_of(&first)]));
        let all = decisions(&Policy::layered(std::iter::once(&first).chain(&others).map(|texts| layer_of(texts))));
        for (before, after) in alone.into_iter().zip(all) {
            prop_assert!(before != Decision::Deny || after == Decision::Deny);
        }
    }

    #[test]
    fn no_layer_that_is_not_trusted_makes_anything_more_lenient_wherever_it_stands(
        layers in prop::collection::vec(texts(), 0..3), untrusted in texts(), place in 0..4_usize
    ) {
        let mut all: Vec<PolicyLayer> = layers.iter().map(|texts| layer_of(texts)).collect();
        let without = decisions(&Policy::layered(all.clone()));
        all.insert(place.min(all.len()), layer_of(&untrusted).untrusted());
        let with = decisions(&Policy::layered(all));
        for (before, after) in without.into_iter().zip(with) {
            prop_assert!(after >= before, "{before} and then {after}");
        }
    }
}
