use super::*;
use proptest::prelude::*;

fn writing() -> PathPatterns {
    PathPatterns::for_writing().root("/home/ada/work").home("/home/ada")
}

/// Checks what a pattern opens for writing and what it does not; touching asks no place's leave.
fn check_with(syntax: &PathPatterns, pattern: &str, open: &[&str], closed: &[&str]) {
    let set = compile(syntax, &[pattern]);
    for (resources, expected) in [(open, true), (closed, false)] {
        for text in resources {
            let resource: Resource = text.parse().unwrap();
            assert_eq!(set.first_containing(&resource).is_some(), expected, "{pattern} opens {text}");
        }
    }
}

fn check(pattern: &str, open: &[&str], closed: &[&str]) {
    check_with(&writing(), pattern, open, closed);
}

#[test]
fn wildcards_open_nothing_that_is_protected() {
    let protected = [
        "file:.git",
        "file:.git/hooks",
        "file:.git/hooks/pre-commit",
        "file:.git/config",
        "file:a/b/.git/hooks/x",
        "file:.git/modules/a/hooks/x",
        "file:.git/modules/a/modules/b/c/config",
        "file:.git/worktrees/a/config.worktree",
        // Git takes what is in such a place for a repository of its own, too.
        "file:a/.git/worktrees/b/config",
        "file:a/.git/worktrees/b/c/hooks/x",
        "file:a/.git/worktrees/b/c/commondir",
        "file:.git/commondir",
        "file:.bashrc",
        "file:a/.zshrc",
        "file:.config/fish/config.fish",
        "file:.envrc",
        "file:a/.envrc/b",
        "file:.mcp.json",
        "file:haft.toml",
        "file:.haft/grants",
        "file:.gitconfig",
    ];
    for pattern in [
        "**",
        "*",
        ".*",
        ".*/**",
        "{.gi*,a}/**",
        "[.]git/hooks/**",
        ".gi?/hooks/*",
        "**/hooks/**",
        "*.json",
        "~/**",
        "/**",
    ] {
        check(pattern, &[], &protected);
    }
    check(
        "**",
        &["file:.git/index", "file:.gitignore", "file:hooks/a", "file:.github/x", "file:haft.toml.md"],
        &[],
    );
    check(".git/**", &["file:.git/index", "file:.git/info/exclude"], &protected);
}

#[test]
fn other_spellings_are_the_same_place() {
    for path in [
        ".GIT/Hooks/x",
        ".git./hooks/x",
        ".git /hooks/x",
        "GIT~1/hooks/x",
        ".g\u{200c}it/hooks/x",
        ".git/hooks::$INDEX/x",
        ".ENVRC",
        ".envrc...",
        ".\u{feff}envrc",
        ".Baſhrc",
    ] {
        let resource = Resource::exact(FILE, path);
        assert_eq!(compile(&writing(), &["**"]).first_containing(&resource), None, "{path}");
    }
}

#[test]
fn a_name_that_is_written_out_opens_its_place() {
    check(
        ".git/hooks/**",
        &["file:.git/hooks/a", "file:.git/hooks", "file:.git/hooks/**"],
        &["file:.git/config", "file:a/.git/hooks/a"],
    );
    check("**/.git/hooks/*", &["file:a/.git/hooks/a"], &["file:a/.git/config"]);
    check("**/.envrc", &["file:.envrc", "file:a/.envrc"], &["file:.bashrc"]);
    check("**/{.envrc,.bashrc}", &["file:.envrc", "file:a/.bashrc"], &["file:.zshrc"]);
    check(".haft/notes.md", &["file:.haft/notes.md"], &["file:.haft/grants"]);
    check(".haft/**", &["file:.haft/a", "file:.haft/a/**"], &["file:.haft/.envrc", "file:.HAFT/a"]);
    check(".git", &["file:.git", "file:.git/index"], &["file:.git/hooks/a", "file:.git/**"]);
    check(".git/modules/*/hooks/**", &["file:.git/modules/a/hooks/b"], &["file:.git/modules/a/config"]);
    check("~/.bashrc", &["outside:/home/ada/.bashrc"], &["file:.bashrc"]);
    check("/home/ada/work/.envrc", &["file:.envrc"], &["file:a/.envrc"]);
}

#[test]
fn a_tree_that_could_have_a_protected_place_in_it_is_not_opened() {
    check("**", &[], &["file:**", "file:src/**", "file:.git/**"]);
    check("src/**", &["file:src/a"], &["file:src/**"]);
}

#[test]
fn the_first_pattern_that_names_the_place_is_found() {
    let set = compile(&writing(), &["**", ".git/hooks/a", ".git/hooks/**", ".git/hooks/b"]);
    let found = |path: &str| set.first_containing(&Resource::exact(FILE, path));
    assert_eq!(["a", ".git/hooks/a", ".git/hooks/b"].map(found), [Some(0), Some(1), Some(2)]);
}

#[test]
fn touching_and_reading_know_no_protected_places() {
    let resource = Resource::exact(FILE, ".git/hooks/a");
    assert_eq!(compile(&writing(), &["**"]).first_touching(&resource), Some(0));
    assert_eq!(compile(&reading(), &["**"]).first_containing(&resource), Some(0));
}

#[test]
fn a_host_protects_more() {
    let syntax = ["state/*.db", "~/.config/agent/**", "/home/ada/work/policy", "~/work/rules.toml"]
        .into_iter()
        .fold(writing(), |syntax, place| syntax.protect(place).unwrap());
    check_with(
        &syntax,
        "**",
        &["file:a/policy", "file:state/a"],
        &["file:state/a.db", "file:STATE/A.DB", "file:policy/x", "file:rules.toml"],
    );
    check_with(&syntax, "state/a.db", &["file:state/a.db"], &[]);
    check_with(&syntax, "state/*.db", &[], &["file:state/a.db"]);
    check_with(&syntax, "{policy,rules.toml}", &["file:policy/a", "file:rules.toml"], &[]);
    check_with(&syntax, "/**", &["outside:/home/ada/.config/other"], &["outside:/home/ada/.config/agent/x"]);
    check_with(&syntax, "~/.config/agent/x", &["outside:/home/ada/.config/agent/x"], &[]);
}

#[test]
fn a_host_protects_names_that_some_file_systems_take_for_others() {
    for name in
        ["team:rules.toml", "rules.toml.", "rules.toml ", "rules\u{200b}.toml", "GIT~1", "Rules.Toml.. "]
    {
        let syntax = writing().protect(&format!("policies/{name}")).unwrap();
        let syntax = syntax.protect(&format!("/srv/{name}")).unwrap();
        let [inside, outside] = [format!("file:policies/{name}"), format!("outside:/srv/{name}")];
        for pattern in ["**", "/**", "policies/*", "/srv/*"] {
            check_with(&syntax, pattern, &[], &[&inside, &outside]);
        }
        check_with(&syntax, &format!("policies/{name}"), &[&inside], &[&outside]);
        check_with(&syntax, &format!("/srv/{name}"), &[&outside], &[&inside]);
    }
}

#[test]
fn all_lists_share_the_protected_places() {
    let syntax = writing();
    let copy = syntax.clone();
    let sets: Vec<_> = (0..100).map(|_| compile(&syntax, &["src/**"])).collect();
    let resource = Resource::exact(FILE, ".envrc");
    assert_eq!((syntax.suggest(&resource), syntax.remark(&resource).is_some()), (None, true));
    assert_eq!(Arc::strong_count(syntax.places().unwrap()), 1 + sets.len());
    // What is said later is not lost on those that were compiled before.
    let more = syntax.protect("src/own").unwrap().root("/srv/.git");
    check_with(&more, "**", &["file:src/a"], &["file:src/own", "file:hooks/x"]);
    check_with(&copy, "**", &["file:src/own", "file:hooks/x"], &[]);
}

#[test]
fn all_that_is_protected_has_a_word() {
    let syntax = writing().protect("state").unwrap();
    let protected =
        ["file:.git/hooks/x", "file:a/.envrc", "outside:/home/ada/.bashrc", "file:state/a", "file:.GIT"];
    let trees = ["file:**", "file:src/**", "outside:/etc/**"];
    let others = ["file:src/a", "file:@protected", "outside:/etc/hosts", "file:.git/index"];
    check_with(&syntax, "@protected", &[protected.as_slice(), &trees].concat(), &others);
    check_with(&syntax, "./@protected", &["file:@protected"], &[]);
    check_with(&syntax, "src/@protected", &["file:src/@protected"], &["file:.envrc"]);
    let set = compile(&syntax, &["@protected"]);
    for (resources, expected) in [(&protected[..], true), (&trees, true), (&others, false)] {
        for text in resources {
            assert_eq!(set.first_touching(&text.parse().unwrap()).is_some(), expected, "{text}");
            assert_eq!(syntax.protects(&text.parse().unwrap()), expected, "{text}");
        }
    }
    let set = compile(&syntax, &["**", ".envrc", "@protected", ".bashrc"]);
    let found = |path: &str| set.first_containing(&Resource::exact(FILE, path));
    assert_eq!([".envrc", ".bashrc", "state", "a"].map(found), [Some(1), Some(2), Some(2), Some(0)]);
    assert!(syntax.protects(&Resource::exact(FILE, "a/../b")), "where it leads cannot be told");
    assert!(!reading().protects(&Resource::exact(FILE, ".envrc")));
    let error = reading().compile(&["a".into(), "@protected".into()]).unwrap_err();
    expect!["1 0..10 nothing is protected from being read; write `./@protected` for a file of that name"]
        .assert_eq(&format!("{} {:?} {error}", error.index(), error.range()));
}

#[test]
fn a_host_protects_paths_as_they_are() {
    let long = format!("/srv/{}", vec!["x".repeat(200); 10].join("/"));
    let paths = [
        "/home/ada/work/[team], {a}*.toml",
        "/home/ada/.config/agent",
        "/srv/a\\b",
        "/srv/team:rules.toml ",
        &long,
    ];
    let syntax = paths.into_iter().fold(writing(), |syntax, path| syntax.protect_path(path).unwrap());
    check_with(
        &syntax,
        "**",
        &["file:team", "file:[team]"],
        &[r"file:[team], {a}\*.toml", r"file:[TEAM], {A}\*.toml/x"],
    );
    for path in &paths[1..] {
        let resource = Resource::exact(OUTSIDE, format!("{path}/below"));
        assert_eq!(compile(&syntax, &["/**"]).first_containing(&resource), None, "{path}");
    }
    check_with(&syntax, "/**", &["outside:/srv/b", "outside:/home/ada/x"], &[]);
    check_with(&syntax, r"./\[team\], \{a\}\*.toml", &[r"file:[team], {a}\*.toml"], &[]);
    assert_eq!(
        syntax.remark(&Resource::exact(OUTSIDE, "/home/ada/.config/agent/x")).as_deref(),
        Some(
            "`/home/ada/.config/agent` is protected, because the host keeps it: only a pattern that writes out its name allows it"
        )
    );
}

#[test]
fn refuses_paths_that_it_cannot_protect() {
    let check = |syntax: PathPatterns, path: &str, expected: &Expect| {
        expected.assert_eq(&syntax.protect_path(path).unwrap_err().to_string());
    };
    let not_one = expect!["`policies` is not an absolute path in UTF-8; name one to protect it"];
    check(writing(), "policies", &not_one);
    check(
        writing(),
        "/a/../b",
        &expect!["`/a/../b` is not an absolute path in UTF-8; name one to protect it"],
    );
    check(
        writing(),
        "/home/ada/work",
        &expect!["nothing could be written in the working directory; name a place in it"],
    );
    check(
        PathPatterns::for_writing(),
        "/srv/a",
        &expect![
            "nothing here says where the working directory is, and so not whether `/srv/a` leads into it"
        ],
    );
    // What lies above is protected outside alone, so that something can be written.
    let above = writing().protect_path("/home/ada").unwrap();
    check_with(&above, "**", &["file:src/a"], &["file:.envrc"]);
    check_with(&above, "/**", &["file:src/a", "outside:/srv/a"], &["outside:/home/ada/notes"]);
}

#[test]
fn refuses_to_protect_everything() {
    for place in ["**", "/home/ada/work/**", "~/work", "a/../b"] {
        assert!(writing().protect(place).is_err(), "{place}");
    }
}

#[test]
fn a_working_directory_in_a_protected_place_is_usable() {
    let syntax = PathPatterns::for_writing().root("/home/ada/.haft/trees/a");
    check_with(&syntax, "**", &["file:src/a"], &["file:.envrc", "file:.haft/a"]);
    // As the directory of a repository it has that repository's hooks.
    let syntax = PathPatterns::for_writing().root("/srv/a/.git");
    check_with(&syntax, "**", &["file:index"], &["file:hooks/a", "file:config"]);
}

#[test]
fn every_place_of_the_table_is_a_pattern_and_is_protected() {
    assert_eq!(Guarded::everywhere().len(), protected_places().len());
    let set = compile(&writing(), &["**"]);
    for place in protected_places() {
        let path = format!("a/{}", place.pattern().replace("**", "b").replace('*', "c"));
        assert_eq!(set.first_containing(&Resource::exact(FILE, path.as_str())), None, "{path}");
        assert_eq!(
            set.first_containing(&Resource::exact(FILE, format!("{path}/x"))).is_none(),
            place.covers_tree(),
            "{path}"
        );
        assert!(!place.reason().is_empty());
    }
}

#[test]
fn says_why_a_place_is_not_opened() {
    let syntax = writing().protect("~/policy.toml").unwrap();
    let remark = |resource: &str| syntax.remark(&resource.parse().unwrap());
    assert_eq!(
        remark("file:a/.GIT/hooks/x").as_deref(),
        Some(
            "`.git/hooks` is protected, because git runs what is in it: only a pattern that writes out its name allows it"
        )
    );
    assert_eq!(
        remark("file:.git").as_deref(),
        Some(
            "`.git` is protected, because it says where git finds its hooks and settings: only a pattern that writes out its name allows it"
        )
    );
    assert_eq!(
        remark("outside:/home/ada/policy.toml").as_deref(),
        Some(
            "`~/policy.toml` is protected, because the host keeps it: only a pattern that writes out its name allows it"
        )
    );
    assert_eq!(
        remark("file:src/**").as_deref(),
        Some(
            "a tree could have protected places in it, such as `.git/hooks` or `.envrc`: no pattern of paths allows all of it"
        )
    );
    assert_eq!(remark("file:src/lib.rs"), None);
    assert_eq!(reading().remark(&Resource::exact(FILE, ".envrc")), None);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn only_patterns_with_the_name_open_a_protected_place(
        pattern in prop::collection::vec(prop::sample::select(vec![".git", "hooks", ".envrc", "*", "**", "?*", ".*", "a", ".GIT"]), 1..5),
        path in prop::collection::vec(prop::sample::select(vec![".git", "hooks", ".envrc", "a", ".GIT", "Hooks"]), 1..5),
        is_tree in any::<bool>(),
    ) {
        let (pattern, path) = (format!("./{}", pattern.join("/")), path.join("/"));
        let resource = if is_tree { Resource::subtree(FILE, path.as_str()) } else { Resource::exact(FILE, path.as_str()) };
        if compile(&writing(), &[&pattern]).first_containing(&resource).is_some() {
            let written = format!("{}/", pattern.to_lowercase());
            let names = format!("/{}/", path.to_lowercase());
            for place in ["/.git/hooks/", "/.envrc/"] {
                prop_assert!(!names.contains(place) || written.contains(place), "{} opens {}", pattern, path);
            }
            prop_assert!(!names.ends_with("/.git/") || is_tree || written.ends_with("/.git/"), "{} opens {}", pattern, path);
            prop_assert!(!is_tree || names.contains("/.git/hooks/") || names.contains("/.envrc/"), "{} opens {}", pattern, &resource);
        }
    }
}
