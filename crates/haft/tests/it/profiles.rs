use haft::policy::{PolicyLoader, Profile};
use haft_testkit::Tree;

/// Every test in a profile holds with the tools and the language that programs use.
#[test]
fn each_profile_passes_its_own_tests() {
    let tree = Tree::new().file("src/lib.rs", "");
    let workdir = tree.workdir();
    let tools = haft::default_tools(&workdir).unwrap();
    for profile in Profile::ALL {
        let file = Tree::new().file("profile.toml", profile.text());
        let language = haft::DefaultRules::new(&workdir).language();
        let count = profile.file(&language).unwrap().test_count();
        let files = PolicyLoader::new(language).without_default_profile().tools(&tools);
        let loaded = files.command_line(file.path().join("profile.toml")).load();
        let loaded = loaded.unwrap_or_else(|error| panic!("the profile {profile}:\n{error}"));
        assert_eq!((loaded.tests_passed, loaded.tests_not_run, loaded.notes), (count, 0, Vec::new()));
        assert!(count > 5, "the profile {profile} has {count} tests");
    }
}

#[test]
fn places_of_the_host_are_opened_by_no_wildcard() {
    let tree = Tree::new().file("policies/[team].toml", "");
    let workdir = tree.workdir();
    let policy = workdir.root_path().join("policies/[team].toml");
    let language = haft::DefaultRules::new(&workdir).protect(&policy).unwrap().language();
    let tool = haft::core::ToolSpec::new("t".parse().unwrap(), "Writes.", haft::core::Schema::empty());
    let allows = |rule: &str, access: &str| {
        language.rule(rule).unwrap().contains(&tool, Some(&language.access(access).unwrap()))
    };
    assert!(allows("write(**)", "write(policies/t.toml)"));
    assert!(!allows("write(**)", r"write(policies/\[team\].toml)"));
    assert!(!allows("write(policies/*)", r"write(policies/\[team\].toml)"));
    assert!(allows(r"write(policies/\[team\].toml)", r"write(policies/\[team\].toml)"));

    // However long it is, no pattern has to say it.
    let long = workdir.root_path().join("x/".repeat(1_000)).join("policy.toml");
    assert!(haft::DefaultRules::new(&workdir).protect(&long).is_ok());

    let error = haft::DefaultRules::new(&workdir).protect("policies").unwrap_err();
    assert_eq!(error.to_string(), "`policies` is not an absolute path in UTF-8; name one to protect it");
    assert!(haft::DefaultRules::new(&workdir).protect(workdir.root_path()).is_err());
}
