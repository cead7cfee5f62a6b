//! Many rules are looked up at once, and are found as if each had been tried.

use crate::fixture::spec;
use crate::patterns::language;
use crate::resources::resources;
use haft_core::{Origin, ToolSpec};
use haft_tools_core::{Access, AccessMode, Accesses, Policy, Rule};
use proptest::prelude::*;

const MODES: [AccessMode; 5] =
    [AccessMode::Read, AccessMode::Write, AccessMode::Execute, AccessMode::Connect, AccessMode::Call];

fn selectors() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "*",
        "t",
        "u",
        "t*",
        "!t",
        "!u",
        "@host",
        "@mcp",
        "@github",
        "@builtin",
        "@github/create",
        "@github/c*",
        "t, u",
        "*, !t",
    ])
}

fn rules() -> impl Strategy<Value = Rule> {
    let paths = prop::collection::vec(prop::sample::select(vec!["a", "b", "ab", "..", "é"]), 1..4);
    let patterns = (
        paths,
        prop::sample::select(vec!["", "/*", "/**"]),
        prop::sample::select(vec!["read", "write", "exec"]),
    );
    prop_oneof![
        4 => (prop::sample::select(MODES.to_vec()), resources()).prop_map(|(mode, within)| Rule::access(mode, within)),
        4 => patterns.prop_map(|(path, end, mode)| {
            language().rule(&format!("{mode}({}{end})", path.join("/"))).unwrap()
        }),
        2 => selectors().prop_map(|selector| Rule::tools(selector.parse().unwrap())),
        1 => selectors().prop_map(|selector| Rule::calls(selector.parse().unwrap())),
        1 => selectors().prop_map(|selector| Rule::opaque_of(selector.parse().unwrap())),
        1 => Just(Rule::opaque()),
    ]
}

fn accesses() -> impl Strategy<Value = Option<Access>> {
    let declared = (prop::sample::select(MODES.to_vec()), resources());
    prop_oneof![
        8 => declared.prop_map(|(mode, resource)| Some(Access::new(mode, resource))),
        1 => Just(Some(Access::opaque("eval"))),
        1 => Just(None),
    ]
}

fn tools() -> impl Strategy<Value = ToolSpec> {
    let mcp = |server: &str, tool: &str| Origin::Mcp { server: server.into(), tool: tool.into() };
    let origins = vec![
        Origin::Host,
        Origin::Builtin,
        mcp("github", "create"),
        mcp("builtin", "t"),
        mcp("mcp", "t"),
        Origin::Agent { name: "github".into() },
    ];
    (prop::sample::select(vec!["t", "u", "tt"]), prop::sample::select(origins), any::<bool>()).prop_map(
        |(name, origin, explicit)| {
            let spec = spec(name).with_origin(origin);
            if explicit { spec.explicit_only() } else { spec }
        },
    )
}

/// Numbers rules by the line that they are written in.
fn numbered(rules: Vec<Rule>) -> Vec<Rule> {
    (0..).zip(rules).map(|(line, rule)| rule.written_in("policy.toml", line)).collect()
}

fn line_of(rule: Option<&Rule>) -> Option<u32> {
    rule.map(|rule| rule.source().unwrap().line())
}

fn add(policy: Policy, rules: &[Rule], add: fn(Policy, Rule) -> Policy) -> Policy {
    rules.iter().cloned().fold(policy, add)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn the_rule_that_is_found_is_the_first_that_matches(
        rules in prop::collection::vec(rules(), 9..40), tool in tools(), access in accesses()
    ) {
        let rules = numbered(rules);
        let declared: Accesses = access.clone().into_iter().collect();
        let found = |policy: &Policy| line_of(policy.decide(&tool, &declared).rule());
        let first = |matches: &dyn Fn(&Rule) -> bool| line_of(rules.iter().find(|rule| matches(rule)));

        let touching = first(&|rule| rule.touches(&tool, access.as_ref()));
        prop_assert_eq!(found(&add(Policy::new(), &rules, Policy::deny)), touching);
        prop_assert_eq!(found(&add(Policy::new(), &rules, Policy::ask)), touching);
        let containing = first(&|rule| rule.contains(&tool, access.as_ref()));
        prop_assert_eq!(found(&add(Policy::new(), &rules, Policy::allow)), containing);
    }

    #[test]
    fn what_contains_an_access_touches_it(rule in rules(), tool in tools(), access in accesses()) {
        prop_assert!(!rule.contains(&tool, access.as_ref()) || rule.touches(&tool, access.as_ref()));
    }

    #[test]
    fn rules_that_are_added_after_a_look_are_found(
        rules in prop::collection::vec(rules(), 20..30), tool in tools(), access in accesses()
    ) {
        let declared: Accesses = access.into_iter().collect();
        let (first, second) = rules.split_at(12);
        let looked = add(Policy::new(), first, Policy::allow);
        let _ = looked.decide(&tool, &declared);
        let looked = add(looked, second, Policy::allow);
        let at_once = add(Policy::new(), &rules, Policy::allow);
        prop_assert_eq!(looked.decide(&tool, &declared).rule(), at_once.decide(&tool, &declared).rule());
    }
}
