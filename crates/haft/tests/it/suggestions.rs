//! Rules that are suggested for a grant: what a person is shown is what is remembered.

use haft::tools_core::RuleLanguage;
use haft::{Access, AccessMode, Resource, Scheme};
use haft_testkit::Tree;
use proptest::prelude::*;

fn language(tree: &Tree) -> RuleLanguage {
    haft::DefaultRules::new(&tree.workdir()).language()
}

fn suggested(language: &RuleLanguage, mode: AccessMode, scheme: &Scheme, path: &str) -> Option<String> {
    let access = Access::new(mode, Resource::exact(scheme.clone(), path));
    language.suggest(&access).map(|rule| rule.to_string())
}

#[test]
fn nothing_is_suggested_that_would_be_remembered_as_something_else() {
    let tree = Tree::new();
    let language = language(&tree);
    let check = |path: &str, expected: Option<&str>| {
        let found = suggested(&language, AccessMode::Write, &haft::FILE, path);
        assert_eq!(found.as_deref(), expected, "{path:?}");
    };
    check("Cargo.toml", Some("write(./Cargo.toml)"));
    check("src/a b.rs", Some("write(src/a b.rs)"));
    for path in [
        "Cargo.toml ",
        "Cargo.toml\u{a0}",
        "Cargo.toml\u{3000}",
        "src/lib.rs ",
        " src/lib.rs",
        "\u{3000}src/lib.rs",
    ] {
        check(path, None);
    }
    // What has no patterns is suggested as the resource that it is.
    let output = Scheme::new("output");
    let check = |path: &str, expected: Option<&str>| {
        assert_eq!(suggested(&language, AccessMode::Read, &output, path).as_deref(), expected, "{path:?}");
    };
    check("run-1/c1", Some("read(output:run-1/c1)"));
    for path in ["run-1/c1 ", "run-1/c1\u{a0}", "run-1/c1\u{3000}"] {
        check(path, None);
    }
}

/// Names with what rules and patterns are written in.
const HOSTILE: &str =
    r"[ab.:*?~!(){}\[\]\\,/@ '\x00\t\n\r\x{a0}\x{85}\x{2028}\x{202e}\x{3000}\x{feff}é]{1,10}";

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn what_is_suggested_reads_back_as_itself_and_is_about_what_was_asked(
        path in HOSTILE,
        scheme in prop::sample::select(vec!["file", "outside", "exec", "net", "output", "mcp"]),
        mode in prop::sample::select(vec![
            AccessMode::Read, AccessMode::Write, AccessMode::Execute, AccessMode::Connect, AccessMode::Call,
        ]),
        is_tree in any::<bool>(),
    ) {
        let tree = Tree::new();
        let language = language(&tree);
        let make = if is_tree { Resource::subtree } else { Resource::exact };
        let access = Access::new(mode, make(Scheme::new(scheme), path.as_str()));
        if let Some(rule) = language.suggest(&access) {
            let read = language.rule(&rule.to_string());
            prop_assert_eq!(read.as_ref().ok(), Some(&rule));
            let tool = haft::core::ToolSpec::new("any".parse().unwrap(), "Any.", haft::core::Schema::empty());
            prop_assert!(read.unwrap().contains(&tool, Some(&access)), "{} for {}", rule, access);
        }
    }
}
