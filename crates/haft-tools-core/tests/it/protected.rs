//! What a domain protects is allowed by rules about it, and by none that chooses tools.

use crate::fixture::{read, scope, spec, write};
use crate::patterns::language;
use crate::policy_layers::{layer, rules};
use expect_test::{Expect, expect};
use haft_core::Decision;
use haft_tools_core::{Access, Accesses, AgentPolicy, Mode, Policy};

/// Shows what is decided about an access of the tool `t` in the default mode.
fn check(policy: Policy, access: Access, expect: Expect) {
    let (policy, accesses) = (policy.language(language()), Accesses::from(access));
    expect.assert_eq(&policy.decide(&spec("t"), &accesses).to_string());
}

#[test]
fn a_rule_that_chooses_tools_opens_nothing_that_is_protected() {
    for chosen in ["*", "t", "@host"] {
        let policy = || Policy::layered([layer("user", &[&format!("allow {chosen}")])]).language(language());
        let decide = |access: Access| policy().decide(&spec("t"), &Accesses::from(access)).decision();
        assert_eq!(decide(write("file:.hidden/a")), Decision::Ask, "{chosen}");
        assert_eq!(decide(write("file:a")), Decision::Allow, "{chosen}");
        assert_eq!(decide(write("output:.hidden")), Decision::Allow, "{chosen}: of another domain");
        assert_eq!(decide(Access::opaque("a script")), Decision::Allow, "{chosen}");
        let without = policy().decide(&spec("t"), &Accesses::none()).decision();
        assert_eq!(without, Decision::Allow, "{chosen}");
    }
    check(
        Policy::layered([layer("user", &["allow t"])]),
        write("file:.hidden"),
        expect!["write file:.hidden: ask, the rule t chooses tools and opens nothing that is protected"],
    );
}

#[test]
fn a_rule_about_it_opens_it_wherever_that_stands() {
    let many: Vec<String> = (0..20).map(|place| format!("allow t{place}")).collect();
    let many: Vec<&str> =
        many.iter().map(|text| &**text).chain(["allow *", "allow t", "allow write(.hidden/**)"]).collect();
    for layers in [
        vec![layer("user", &["allow *", "allow write(.hidden/**)"])],
        vec![layer("user", &["allow write(.hidden/**)"]), layer("command line", &["allow t"])],
        vec![layer("user", &many)],
    ] {
        check(
            Policy::layered(layers),
            write("file:.hidden/a"),
            expect!["write file:.hidden/a: allow by the rule write(.hidden/**)"],
        );
    }
    check(
        Policy::layered([
            layer("user", &["allow *"]),
            layer("workspace", &["allow write(.hidden/**)"]).untrusted(),
        ]),
        write("file:.hidden/a"),
        expect!["write file:.hidden/a: ask, the rule * chooses tools and opens nothing that is protected"],
    );
}

#[test]
fn asking_and_denying_by_tools_hold_for_it() {
    check(
        Policy::layered([layer("user", &["allow write(.hidden/**)", "deny t"])]),
        write("file:.hidden/a"),
        expect!["write file:.hidden/a: deny by the rule t"],
    );
    check(
        Policy::layered([layer("user", &["allow write(.hidden/**)", "ask *"])]),
        write("file:.hidden/a"),
        expect!["write file:.hidden/a: ask by the rule *"],
    );
}

#[test]
fn no_mode_opens_it_by_tools() {
    let policy =
        Policy::new().accept_edits(rules(&["allow *"])).auto(rules(&["allow t"])).language(language());
    for mode in [Mode::AcceptEdits, Mode::Auto] {
        let decide =
            |access: Access| policy.decide_in(&scope(), mode, &spec("t"), &Accesses::from(access)).decision();
        assert_eq!(
            (decide(write("file:a")), decide(write("file:.a"))),
            (Decision::Allow, Decision::Ask),
            "{mode}"
        );
    }
}

#[test]
fn what_was_opened_is_left_open_by_an_agent_that_lists_tools() {
    let policy = |rule: &str| {
        Policy::layered([layer("user", &[rule])])
            .agent("writer", AgentPolicy::new([layer("user", &["allow t"])]))
            .language(language())
    };
    let scope = scope().with_agent("writer");
    for (rule, expected) in [("allow write(.hidden)", Decision::Allow), ("allow *", Decision::Ask)] {
        let (policy, accesses) = (policy(rule), Accesses::from(write("file:.hidden")));
        let decided = policy.decide_in(&scope, Mode::Default, &spec("t"), &accesses).decision();
        assert_eq!(decided, expected, "{rule}");
    }
}

#[test]
fn it_is_explained_with_what_is_special_about_it() {
    let policy = Policy::layered([layer("user", &["allow *"])]).language(language());
    let accesses = Accesses::from([write("file:.hidden"), read("file:a")]);
    let explained = policy.explain(&spec("t"), &accesses)[0].explain(policy.rule_language());
    expect![[r#"
        {
          "access": "write file:.hidden",
          "decision": "ask",
          "rule": "*",
          "reason": "the rule * chooses tools and opens nothing that is protected; it is hidden, so only a rule that names it allows it",
          "change": "a rule about what is protected and not about the tool, or a person's word each time"
        }"#]].assert_eq(&serde_json::to_string_pretty(&explained).unwrap());
}
