mod enumerated;
mod protecting;

use super::*;
use crate::resource::{FILE, OUTSIDE};
use expect_test::{Expect, expect};

fn compile(syntax: &PathPatterns, patterns: &[&str]) -> Box<dyn PatternSet> {
    let patterns: Vec<Box<str>> = patterns.iter().map(|pattern| (*pattern).into()).collect();
    syntax.compile(&patterns).unwrap()
}

fn reading() -> PathPatterns {
    PathPatterns::for_reading().root("/home/ada/work").home("/home/ada")
}

/// Checks which of some resources, as they are printed, a pattern contains, and which it touches only.
fn check(pattern: &str, contained: &[&str], touched: &[&str], apart: &[&str]) {
    let set = compile(&reading(), &[pattern]);
    for (resources, expected) in
        [(contained, (true, true)), (touched, (false, true)), (apart, (false, false))]
    {
        for text in resources {
            let resource: Resource = text.parse().unwrap();
            let found = (set.first_containing(&resource).is_some(), set.first_touching(&resource).is_some());
            assert_eq!(found, expected, "{pattern} contains and touches {text}");
        }
    }
}

#[test]
fn two_stars_are_the_working_directory() {
    check(
        "**",
        &["file:.", "file:**", "file:a/.b", "file:a/**"],
        &["outside:/home/**"],
        &["outside:/etc/passwd"],
    );
}

#[test]
fn what_is_said_of_one_root_holds_in_no_other() {
    check("src/**", &["file:src/a"], &["file:**"], &["outside:/srv/ref/src/a", "outside:/srv/ref/**"]);
    check("./src/a", &["file:src/a"], &[], &["outside:/srv/ref/src/a", "outside:/src/a"]);
    check(
        "/srv/ref/**",
        &["outside:/srv/ref/src/a"],
        &["outside:/**"],
        &["file:srv/ref/src/a", "file:src/a"],
    );
    // A root that the working directory lies in holds it by its own name only.
    check(
        "/home/ada/**",
        &["outside:/home/ada/notes", "file:src/a"],
        &["outside:/**"],
        &["outside:/home/eve"],
    );
}

#[test]
fn a_name_matches_at_any_depth_with_all_below() {
    check(
        ".env",
        &["file:.env", "file:a/.env", "file:.env/a", "file:a/.env/**"],
        &["file:a/.ENV", "file:**", "file:a/**"],
        &["file:.envrc", "file:a/b", "outside:/x/.env"],
    );
    check("docs/", &["file:docs", "file:a/docs/b"], &[], &["file:doc"]);
}

#[test]
fn a_path_matches_from_the_working_directory() {
    check(
        "src/lib.rs",
        &["file:src/lib.rs"],
        &["file:src/**", "file:SRC/Lib.rs", "file:**"],
        &["file:a/src/lib.rs", "file:src", "file:src/bin/**"],
    );
    check("./Cargo.toml", &["file:Cargo.toml"], &["file:**"], &["file:a/Cargo.toml", "file:a/**"]);
    check(
        "src/**",
        &["file:src", "file:src/a/b", "file:src/**", "file:src/a/**"],
        &["file:**"],
        &["file:a/src/b"],
    );
}

#[test]
fn a_form_of_names_contains_no_more_than_it_matches() {
    check(
        "src/*.rs",
        &["file:src/a.rs"],
        &["file:src/**", "file:src/a.rs/b", "file:src/a.rs/**", "file:src/A.RS"],
        &["file:src/a.c", "file:src/b/a.rs", "file:src/b/**"],
    );
    check("src/*", &["file:src/a"], &["file:src/a/b", "file:src/**"], &["file:src", "file:b"]);
    check("**/[._]env?", &["file:.envx", "file:a/_envé"], &["file:.ENVX", "file:x/**"], &["file:.env"]);
}

#[test]
fn an_absolute_pattern_leads_into_the_working_directory_too() {
    check(
        "/home/ada/work/src/**",
        &["file:src/a", "file:src/**", "outside:/home/ada/work/src/a"],
        &["file:**", "outside:/home/**", "outside:/HOME/ada/work/src/a"],
        &["file:a", "outside:/home/ada/src/a"],
    );
    check(
        "~/**",
        &["file:**", "file:a", "outside:/home/ada/.ssh/**"],
        &["outside:/**"],
        &["outside:/home/bob"],
    );
    check("~", &["file:**", "outside:/home/ada"], &["outside:/**"], &["outside:/home/adam"]);
    check("/", &["file:**", "outside:/**", "outside:/etc/x"], &[], &[]);
    check("/**/*.pem", &["file:a.pem", "outside:/etc/x/a.pem"], &["file:**", "outside:/etc/**"], &["file:a"]);
    check(
        "/etc/hosts",
        &["outside:/etc/hosts"],
        &["outside:/etc/**", "outside:/ETC/hosts"],
        &["file:etc/hosts"],
    );
}

#[test]
fn what_is_inside_is_touched_by_a_tree_around_it() {
    check(
        "src/a",
        &[],
        &["outside:/home/**", "outside:/**", "outside:/Home/ADA/**"],
        &["outside:/etc/**", "outside:/home"],
    );
}

#[test]
fn what_cannot_be_told_is_touched_and_not_contained() {
    check(
        "src",
        &[],
        &["file:a/../src", "file:/etc", "outside:etc", "file:a\\u{0}"],
        &["net:src", "exec:src"],
    );
    let nothing = compile(&reading(), &[]);
    assert_eq!(nothing.first_touching(&Resource::exact(FILE, "..")), None);
}

#[test]
fn the_first_of_several_is_found() {
    let set = compile(&reading(), &["docs/**", "*.rs", "src/**", "src/a.rs", "**"]);
    let found = |path: &str| {
        let resource = Resource::exact(FILE, path);
        (set.first_containing(&resource), set.first_touching(&resource))
    };
    assert_eq!(found("src/a.rs"), (Some(1), Some(1)));
    assert_eq!(found("src/a"), (Some(2), Some(2)));
    assert_eq!(found("SRC/a"), (Some(4), Some(2)));
    assert_eq!(found("x"), (Some(4), Some(4)));
}

#[test]
fn the_working_directory_can_be_the_topmost() {
    let syntax = PathPatterns::for_reading().root("/");
    let set = compile(&syntax, &["src/**", "/etc/**"]);
    assert_eq!(set.first_containing(&Resource::exact(OUTSIDE, "/src/a")), Some(0));
    assert_eq!(set.first_containing(&Resource::exact(FILE, "etc/a")), Some(1));
}

#[test]
fn says_which_pattern_is_refused_and_why() {
    let check = |syntax: &PathPatterns, pattern: &str, expected: &Expect| {
        let error = syntax.compile(&["src".into(), pattern.into()]).unwrap_err();
        expected.assert_eq(&format!("{} {:?} {error}", error.index(), error.range()));
    };
    check(
        &reading(),
        "src/../a",
        &expect!["1 4..6 a `..` leads out of the directory before it; write where it leads to"],
    );
    check(
        &PathPatterns::for_reading(),
        "/etc/**",
        &expect![
            "1 0..1 nothing here says where the working directory is, and so not whether this leads into it; write a pattern without `/` or `~` at its start"
        ],
    );
    check(
        &PathPatterns::for_reading().root("/work"),
        "~/x",
        &expect!["1 0..1 nothing here says where the home directory is; write its absolute path"],
    );
    let without_root = PathPatterns::for_reading().root("relative").compile(&["/x".into()]);
    assert!(without_root.is_err());
}

#[test]
fn suggests_what_is_as_narrow_as_useful() {
    let check = |syntax: &PathPatterns, resource: &str, expected: Option<&str>| {
        let resource = resource.parse().unwrap();
        assert_eq!(syntax.suggest(&resource).as_deref(), expected, "{resource}");
    };
    let reading = reading();
    check(&reading, "file:src/a/lib.rs", Some("src/a/*"));
    check(&reading, "file:src/.env", Some("src/.env"));
    check(&reading, "file:Cargo.toml", Some("./Cargo.toml"));
    check(&reading, "file:~a", Some("./~a"));
    check(&reading, "file:~a/**", Some(r"\~a/**"));
    check(&reading, "file:~a/!b/c{d}", Some(r"\~a/!b/*"));
    check(&reading, "file:src/**", Some("src/**"));
    check(&reading, "file:src/a/**", Some("src/a/**"));
    check(&reading, "file:ab:c/d", Some("./ab:c/*"));
    check(&reading, "outside:/etc/hosts", Some("/etc/hosts"));
    check(&reading, "outside:/home/ada/work/src/a", Some("src/*"));
    for resource in ["file:**", "outside:/etc/**", "file:a\\u{202e}b", "file:..", "net:a:443"] {
        check(&reading, resource, None);
    }
    check(&PathPatterns::for_reading(), "outside:/etc/hosts", None);
    let writing = PathPatterns::for_writing().root("/home/ada/work");
    check(&writing, "file:src/a[1].rs", Some(r"src/a\[1\].rs"));
    check(&writing, "file:Cargo.toml", Some("./Cargo.toml"));
    for resource in ["file:src/**", "file:.envrc", "file:a/.GIT/hooks/x", "outside:/etc/hosts", "file:**"] {
        check(&writing, resource, None);
    }
}

#[test]
fn reads_paths_as_people_write_them() {
    let check = |text: &str, expected: &str| {
        assert_eq!(reading().resource(text).unwrap().to_string(), expected, "{text}");
    };
    check("Cargo.toml", "file:Cargo.toml");
    check("./src//lib.rs", "file:src/lib.rs");
    check("src/**", "file:src/**");
    check("docs/", "file:docs");
    check("**", "file:**");
    check(r"a\*b", r"file:a\*b");
    check("~/notes", "outside:/home/ada/notes");
    check("~/work/src/**", "file:src/**");
    check("/home/ada/work", "file:.");
    check("/etc/**", "outside:/etc/**");
    check("/**", "outside:**");
    for text in ["*", "*.rs", "**/a", "src/*", "{a,b}", "src/**/a", "../a", "", "a?/**"] {
        assert!(reading().resource(text).is_err(), "{text}");
    }
    assert!(reading().speaks_of(&FILE) && reading().speaks_of(&OUTSIDE));
    assert!(!reading().speaks_of(&Scheme::new("net")));
}
