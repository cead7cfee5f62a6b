//! Rules and accesses as people write them: what is read is written and read again, a rule that contains touches, a rule that
//! denies holds, and what is suggested allows.
#![no_main]

use std::sync::LazyLock;

use haft::core::{Decision, Schema, ToolSpec};
use haft::tools_core::RuleLanguage;
use haft::{Accesses, Policy, Workdir};
use haft_testkit::Tree;
use libfuzzer_sys::fuzz_target;

static PLACE: LazyLock<(Tree, RuleLanguage, ToolSpec)> = LazyLock::new(|| {
    let tree = Tree::new();
    let workdir = Workdir::open(tree.path()).expect("the tree is there");
    let language = haft::DefaultRules::new(&workdir).home("/home/u").language();
    let schema = Schema::new(serde_json::json!({ "type": "object" })).expect("it is a schema");
    let spec = ToolSpec::new("bash".parse().expect("a name"), "Runs.", schema);
    (tree, language, spec)
});

// The first line is an access, the others are rules.
fuzz_target!(|text: &str| {
    let (_, language, spec) = &*PLACE;
    let (access, rules) = text.split_once('\n').unwrap_or((text, ""));
    for rule in rules.split('\n').chain([access]) {
        let Ok(rule) = language.rule(rule) else { continue };
        let shown = rule.to_string();
        let again = language.rule(&shown).unwrap_or_else(|error| panic!("`{shown}` was a rule: {error}"));
        assert_eq!(again.to_string(), shown);
    }
    let Ok(access) = language.access(access) else { return };
    let accesses = Accesses::from_iter([access.clone()]);
    for rule in rules.split('\n').filter_map(|rule| language.rule(rule).ok()) {
        let (contains, touches) = (rule.contains(spec, Some(&access)), rule.touches(spec, Some(&access)));
        assert!(!contains || touches, "`{rule}` contains {access:?} and does not touch it");
        let allowed = Policy::new().language(language.clone()).allow(rule.clone());
        let decision = allowed.decide(spec, &accesses).decision();
        assert!(decision != Decision::Allow || touches, "`{rule}` allows {access:?} and does not touch it");
        let denied = allowed.deny(rule.clone()).decide(spec, &accesses).decision();
        assert_eq!(denied == Decision::Deny, touches, "`{rule}` denies what it touches: {access:?}");
    }
    if let Some(rule) = language.suggest(&access) {
        let allowed = Policy::new().language(language.clone()).allow(rule.clone());
        assert_eq!(
            allowed.decide(spec, &accesses).decision(),
            Decision::Allow,
            "`{rule}` is suggested for {access:?}"
        );
        let shown = rule.to_string();
        let again = language.rule(&shown).unwrap_or_else(|error| panic!("`{shown}` is suggested: {error}"));
        assert!(again.contains(spec, Some(&access)), "`{shown}` is no more what was suggested");
    }
});
