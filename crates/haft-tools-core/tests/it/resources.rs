use crate::fixture::{FILE, resource};
use expect_test::{Expect, expect};
use haft_tools_core::{Resource, Scheme};
use proptest::prelude::*;

const NET: Scheme = Scheme::new("net");

/// Makes paths of few segments, so that they often have something in common, and of anything at all.
pub(crate) fn paths() -> impl Strategy<Value = String> {
    let segment = prop::sample::select(vec![
        "",
        "a",
        "b",
        "ab",
        "*",
        "**",
        "\\",
        "\\*",
        "\n",
        "\u{1}",
        "\u{202e}",
        "é",
        "e\u{301}",
        ".",
        "..",
        ":",
        "u{41}",
        "👩\u{200d}🚀",
    ]);
    prop_oneof![
        3 => prop::collection::vec(segment, 0..5).prop_map(|segments| segments.join("/")),
        1 => any::<String>(),
    ]
}

pub(crate) fn resources() -> impl Strategy<Value = Resource> {
    (prop_oneof![9 => Just(FILE), 1 => Just(NET)], paths(), any::<bool>()).prop_map(
        |(scheme, path, subtree)| {
            if subtree { Resource::subtree(scheme, path) } else { Resource::exact(scheme, path) }
        },
    )
}

/// Says by the segments alone whether the one contains the other.
fn contains_by_segments(one: &Resource, other: &Resource) -> bool {
    if one.scheme() != other.scheme() {
        return false;
    }
    if !one.is_subtree() {
        return !other.is_subtree() && one.path() == other.path();
    }
    let (mine, others): (Vec<&str>, Vec<&str>) =
        (one.path().split('/').collect(), other.path().split('/').collect());
    one.path().is_empty() || others.starts_with(&mine)
}

proptest! {
    #[test]
    fn the_printed_form_reads_back_as_the_same(resource in resources()) {
        let printed = resource.to_string();
        prop_assert_eq!(printed.parse(), Ok(resource.clone()));
        prop_assert!(!printed.chars().any(char::is_control), "{printed:?}");
        let json = serde_json::to_string(&resource).unwrap();
        prop_assert_eq!(serde_json::from_str::<Resource>(&json).unwrap(), resource);
    }

    #[test]
    fn any_text_is_refused_or_reads_back_as_what_it_is_printed_as(text in "[a-z]{0,3}:?([a-z*\\\\/u{}0-9]|\\PC){0,12}") {
        if let Ok(resource) = text.parse::<Resource>() {
            prop_assert_eq!(resource.to_string().parse(), Ok(resource));
        }
    }

    #[test]
    fn a_resource_contains_what_has_its_segments_first(one in resources(), other in resources()) {
        prop_assert_eq!(one.contains(&other), contains_by_segments(&one, &other), "{} {}", one, other);
    }

    #[test]
    fn containing_is_an_order(one in resources(), two in resources(), three in resources()) {
        prop_assert!(one.contains(&one));
        prop_assert!(!(one.contains(&two) && two.contains(&three)) || one.contains(&three));
        prop_assert!(!(one.contains(&two) && two.contains(&one)) || one == two);
    }

    #[test]
    fn overlapping_is_mutual_and_is_containing_one_way_or_the_other(one in resources(), other in resources()) {
        prop_assert!(one.overlaps(&one));
        prop_assert_eq!(one.overlaps(&other), other.overlaps(&one));
        prop_assert_eq!(one.overlaps(&other), one.contains(&other) || other.contains(&one));
    }

    #[test]
    fn a_subtree_of_nothing_is_everything_of_its_scheme(path in paths(), subtree in any::<bool>()) {
        let everything = Resource::subtree(FILE, "");
        let make = |scheme| if subtree { Resource::subtree(scheme, path.as_str()) } else { Resource::exact(scheme, path.as_str()) };
        prop_assert!(everything.contains(&make(FILE)));
        prop_assert!(!everything.overlaps(&make(NET)));
    }
}

#[test]
fn contains_goes_by_whole_segments() {
    let table = [
        ("file:src/**", "file:src", true),
        ("file:src/**", "file:src/lib.rs", true),
        ("file:src/**", "file:src/a/**", true),
        ("file:src/**", "file:src2", false),
        ("file:src/**", "file:srcs/lib.rs", false),
        ("file:src/**", "file:**", false),
        ("file:src", "file:src/lib.rs", false),
        ("file:src", "file:src/**", false),
        ("file:**", "file:/etc/passwd", true),
        ("file:**", "file:", true),
        ("file:.", "file:", true),
        ("file:.", r"file:\u{2e}", false),
        ("file:**", "files:a", false),
        // An absolute path starts with an empty segment, and a directory has no empty one at its end.
        ("file:/etc/**", "file:/etc/passwd", true),
        ("file:/etc/**", "file:etc/passwd", false),
        ("file:src//**", "file:src/lib.rs", false),
        (r"file:\*/**", "file:a/b", false),
    ];
    for (one, other, expected) in table {
        assert_eq!(resource(one).contains(&resource(other)), expected, "{one} contains {other}");
    }
}

#[test]
fn a_path_never_looks_like_a_subtree_or_another_path() {
    let check = |path: &str, expect: Expect| expect.assert_eq(&Resource::exact(FILE, path).to_string());
    check("src/**", expect![[r"file:src/\*\*"]]);
    check("**", expect![[r"file:\*\*"]]);
    check(r"a\*", expect![[r"file:a\\\*"]]);
    check("a\nfile:b", expect![[r"file:a\u{a}file:b"]]);
    check("\u{1b}[31m", expect![[r"file:\u{1b}[31m"]]);
    check("gnp.\u{202e}sr", expect![[r"file:gnp.\u{202e}sr"]]);
    check("a\u{200b}b\u{2028}", expect![[r"file:a\u{200b}b\u{2028}"]]);
    check("naïve/日本語", expect!["file:naïve/日本語"]);
    check("", expect!["file:."]);
    check(".", expect![[r"file:\u{2e}"]]);
    check("./a", expect!["file:./a"]);
    check(".a", expect!["file:.a"]);
}

#[test]
fn what_is_not_a_resource_is_refused_with_how_to_write_it() {
    let check =
        |text: &str, expect: Expect| expect.assert_eq(&text.parse::<Resource>().unwrap_err().to_string());
    let no_scheme = expect![
        "a resource starts with a scheme and a colon, as in `file:src/lib.rs`; `src/lib.rs` does not"
    ];
    check("src/lib.rs", no_scheme);
    check(
        "File:a",
        expect!["a resource starts with a scheme and a colon, as in `file:src/lib.rs`; `File:a` does not"],
    );
    check(
        ":a",
        expect!["a resource starts with a scheme and a colon, as in `file:src/lib.rs`; `:a` does not"],
    );
    check("", expect!["a resource starts with a scheme and a colon, as in `file:src/lib.rs`; `` does not"]);
    check(
        "file:src/*.rs",
        expect![[
            r#"the resource `file:src/*.rs` holds a bare `*`; write `\*` for the character, or end in `/**` for a subtree"#
        ]],
    );
    check(
        "file:**/a",
        expect![[
            r#"the resource `file:**/a` holds a bare `*`; write `\*` for the character, or end in `/**` for a subtree"#
        ]],
    );
    check(
        "file:a**",
        expect![[
            r#"the resource `file:a**` holds a bare `*`; write `\*` for the character, or end in `/**` for a subtree"#
        ]],
    );
    check(
        r"file:a\b",
        expect![[
            r#"the resource `file:a\b` holds a bare `\`; write `\\` for the character, or end in `/**` for a subtree"#
        ]],
    );
    check(
        r"file:a\",
        expect![[
            r#"the resource `file:a\` holds a bare `\`; write `\\` for the character, or end in `/**` for a subtree"#
        ]],
    );
    check(
        r"file:\u{110000}",
        expect![[
            r#"the resource `file:\u{110000}` holds a bare `\`; write `\\` for the character, or end in `/**` for a subtree"#
        ]],
    );
    check(
        r"file:\u{+41}",
        expect![[
            r#"the resource `file:\u{+41}` holds a bare `\`; write `\\` for the character, or end in `/**` for a subtree"#
        ]],
    );
    check(
        r"file:\u41",
        expect![[
            r#"the resource `file:\u41` holds a bare `\`; write `\\` for the character, or end in `/**` for a subtree"#
        ]],
    );
}
