use crate::fixture::{read, scope, spec, write};
use crate::patterns::language;
use crate::policy_layers::{layer, rules};
use expect_test::{Expect, expect};
use haft_tools_core::{Access, Accesses, AgentPolicy, Mode, Policy, Verdict};

fn policy() -> Policy {
    let written = language().rule("write(b/**)").unwrap().written_in("policy.toml", 3);
    Policy::layered([
        layer("user", &["allow read(a/**)", "ask write(a/b)"]),
        layer("workspace", &["allow write(c/**)"]).untrusted(),
        layer("command line", &[]),
    ])
    .deny(written)
    .accept_edits(rules(&["allow write(d/**)"]))
    .agent("reader", AgentPolicy::new([layer("user", &["allow read(a/**)"])]))
    .language(language())
}

/// Explains each access for the last of these agents, as JSON.
fn check<const N: usize>(agents: &[&str], mode: Mode, accesses: [Access; N], expect: Expect) {
    let (policy, accesses) = (policy(), Accesses::from(accesses));
    let scope = agents.iter().enumerate().fold(scope(), |scope, (depth, agent)| {
        let scope = if depth == 0 { scope } else { scope.child("child".parse().unwrap()) };
        scope.with_agent(*agent)
    });
    let verdicts = policy.explain_in(&scope, mode, &spec("t"), &accesses);
    let explained: Vec<_> =
        verdicts.iter().map(|verdict: &Verdict<'_>| verdict.explain(policy.rule_language())).collect();
    expect.assert_eq(&serde_json::to_string_pretty(&explained).unwrap());
}

#[test]
fn each_access_is_explained_with_the_rule_its_place_and_what_would_change_it() {
    check(
        &[],
        Mode::Default,
        [read("file:a/x"), write("file:a/b"), write("file:b/x")],
        expect![[r#"
        [
          {
            "access": "read file:a/x",
            "decision": "allow",
            "rule": "read(a/**)",
            "reason": "by the rule read(a/**)"
          },
          {
            "access": "write file:a/b",
            "decision": "ask",
            "rule": "write(a/b)",
            "reason": "by the rule write(a/b)",
            "change": "change or remove the rule `write(a/b)`"
          },
          {
            "access": "write file:b/x",
            "decision": "deny",
            "rule": "write(b/**)",
            "source": "policy.toml:3",
            "reason": "by the rule write(b/**) (policy.toml:3)",
            "change": "change or remove the rule `write(b/**)` at policy.toml:3"
          }
        ]"#]],
    );
}

#[test]
fn a_rule_is_suggested_for_what_no_rule_speaks_of() {
    check(
        &[],
        Mode::Default,
        [write("file:e/x"), write("file:x"), Access::opaque("eval")],
        expect![[r#"
        [
          {
            "access": "write file:e/x",
            "decision": "ask",
            "reason": "no rule speaks of it",
            "change": "a rule that allows it, such as `write(e/*)`"
          },
          {
            "access": "write file:x",
            "decision": "ask",
            "reason": "no rule speaks of it",
            "change": "a rule that allows it, or a person's word each time"
          },
          {
            "access": "opaque (eval)",
            "decision": "ask",
            "reason": "no rule speaks of it",
            "change": "a rule that allows it, such as `opaque`"
          }
        ]"#]],
    );
}

#[test]
fn what_is_special_about_a_resource_is_said_where_no_rule_speaks_of_it() {
    check(
        &[],
        Mode::Default,
        [write("file:.envrc"), read("file:.envrc")],
        expect![[r#"
        [
          {
            "access": "write file:.envrc",
            "decision": "ask",
            "reason": "no rule speaks of it; it is hidden, so only a rule that names it allows it",
            "change": "a rule that allows it, or a person's word each time"
          },
          {
            "access": "read file:.envrc",
            "decision": "ask",
            "reason": "no rule speaks of it; it is hidden, so only a rule that names it allows it",
            "change": "a rule that allows it, or a person's word each time"
          }
        ]"#]],
    );
}

#[test]
fn rules_that_are_not_trusted_are_named() {
    check(
        &[],
        Mode::Default,
        [write("file:c/x")],
        expect![[r#"
        [
          {
            "access": "write file:c/x",
            "decision": "ask",
            "rule": "write(c/**)",
            "reason": "no trusted rule speaks of it (a rule of the workspace layer, which is not trusted, allows it)",
            "change": "trust the workspace rules, of which `write(c/**)` allows it, or allow it in your own"
          }
        ]"#]],
    );
}

#[test]
fn the_mode_is_named_where_it_decides() {
    check(
        &[],
        Mode::Plan,
        [write("file:x")],
        expect![[r#"
        [
          {
            "access": "write file:x",
            "decision": "deny",
            "reason": "the mode plan lets nothing write, execute, connect or call",
            "change": "a person can change the mode, which is `plan`"
          }
        ]"#]],
    );
    check(
        &[],
        Mode::DenyUnknown,
        [write("file:a/b")],
        expect![[r#"
        [
          {
            "access": "write file:a/b",
            "decision": "deny",
            "reason": "the mode deny_unknown denies what would have to be asked about",
            "change": "a person can change the mode, which is `deny_unknown`"
          }
        ]"#]],
    );
    check(
        &[],
        Mode::AcceptEdits,
        [write("file:d/x")],
        expect![[r#"
        [
          {
            "access": "write file:d/x",
            "decision": "allow",
            "rule": "write(d/**)",
            "reason": "by the rule write(d/**) of the mode accept_edits"
          }
        ]"#]],
    );
}

#[test]
fn the_agent_is_named_whose_rules_decide() {
    check(
        &["reader"],
        Mode::Default,
        [write("file:d/x")],
        expect![[r#"
        [
          {
            "access": "write file:d/x",
            "decision": "ask",
            "reason": "no rule speaks of it",
            "change": "a rule that allows it, such as `write(d/*)`"
          }
        ]"#]],
    );
    check(
        &["reader", "other"],
        Mode::AcceptEdits,
        [write("file:d/x")],
        expect![[r#"
        [
          {
            "access": "write file:d/x",
            "decision": "ask",
            "reason": "no rule speaks of it in the ceiling of the agent reader",
            "change": "a rule that allows it in the ceiling of the agent `reader`, such as `write(d/*)`"
          }
        ]"#]],
    );
}

#[test]
fn a_call_without_accesses_is_explained_as_a_whole() {
    check(
        &[],
        Mode::Default,
        [],
        expect![[r#"
        [
          {
            "decision": "ask",
            "reason": "no rule speaks of it",
            "change": "a rule that allows it, or a person's word each time"
          }
        ]"#]],
    );
}
