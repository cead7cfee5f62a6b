use crate::fixture::{read, resource, write};
use crate::resources::resources;
use expect_test::{Expect, expect};
use haft_tools_core::{Access, AccessMode, Accesses, Resource};
use proptest::prelude::*;

const MODES: [AccessMode; 5] =
    [AccessMode::Read, AccessMode::Write, AccessMode::Execute, AccessMode::Connect, AccessMode::Call];

fn accesses() -> impl Strategy<Value = Access> {
    let declared = (
        prop::sample::select(MODES.as_slice()),
        resources(),
        any::<bool>(),
        any::<bool>(),
        any::<Option<String>>(),
    );
    prop_oneof![
        9 => declared.prop_map(|(mode, resource, unordered, within, detail)| {
            let access = Access::new(mode, resource.clone());
            let access = if within { access.ordered_in(&place_of(&resource)) } else { access };
            let access = if unordered { access.unordered() } else { access };
            match detail {
                Some(detail) => access.with_detail(detail),
                None => access,
            }
        }),
        1 => any::<String>().prop_map(Access::opaque),
    ]
}

/// The first segment of a resource's path.
fn place_of(resource: &Resource) -> Resource {
    let first = resource.path().split('/').next().unwrap_or_default();
    Resource::exact(resource.scheme().clone(), first)
}

fn changes_nothing(mode: AccessMode) -> bool {
    matches!(mode, AccessMode::Read | AccessMode::Connect)
}

proptest! {
    #[test]
    fn conflicts_are_mutual(one in accesses(), other in accesses()) {
        prop_assert_eq!(one.conflicts_with(&other), other.conflicts_with(&one));
    }

    #[test]
    fn what_cannot_be_told_conflicts_with_everything(detail in any::<String>(), other in accesses()) {
        prop_assert!(Access::opaque(detail.as_str()).conflicts_with(&other));
        prop_assert!(Access::opaque(detail).unordered().conflicts_with(&other.unordered()));
    }

    #[test]
    fn what_is_exclusive_conflicts_with_everything(access in accesses(), other in accesses()) {
        prop_assert!(access.clone().exclusive().conflicts_with(&other));
        prop_assert!(other.conflicts_with(&access.exclusive()));
    }

    #[test]
    fn two_conflict_when_one_changes_what_they_share(
        (one, other) in (prop::sample::select(MODES.as_slice()), prop::sample::select(MODES.as_slice())),
        (mine, others) in (resources(), resources()),
    ) {
        // What is changed stands for everything below it.
        let reach = |mode, resource: &Resource| if changes_nothing(mode) {
            resource.clone()
        } else {
            Resource::subtree(resource.scheme().clone(), resource.path())
        };
        let overlap = reach(one, &mine).overlaps(&reach(other, &others));
        let expected = overlap && !(changes_nothing(one) && changes_nothing(other));
        prop_assert_eq!(Access::new(one, mine).conflicts_with(&Access::new(other, others)), expected);
    }

    #[test]
    fn unordered_changes_nothing_but_the_order(access in accesses(), other in accesses()) {
        let relaxed = access.clone().unordered();
        prop_assert_eq!(
            (relaxed.mode(), relaxed.resource(), relaxed.detail(), relaxed.is_opaque(), relaxed.to_string()),
            (access.mode(), access.resource(), access.detail(), access.is_opaque(), access.to_string())
        );
        prop_assert!(!relaxed.conflicts_with(&other) || access.conflicts_with(&other));
    }

    #[test]
    fn a_wider_place_changes_nothing_but_the_order(
        (mode, resource) in (prop::sample::select(MODES.as_slice()), resources()),
        other in accesses(),
    ) {
        let access = Access::new(mode, resource.clone());
        let wider = access.clone().ordered_in(&place_of(&resource));
        prop_assert_eq!(
            (wider.mode(), wider.resource(), wider.detail(), wider.is_opaque(), wider.to_string()),
            (access.mode(), access.resource(), access.detail(), access.is_opaque(), access.to_string())
        );
        prop_assert_eq!(changes_nothing(mode), !wider.conflicts_with(&wider));
        prop_assert!(!access.conflicts_with(&other) || wider.conflicts_with(&other));
    }

    #[test]
    fn reads_back_what_it_wrote(access in accesses()) {
        let json = serde_json::to_string(&access).unwrap();
        prop_assert_eq!(serde_json::from_str::<Access>(&json).unwrap(), access);
    }

    #[test]
    fn lists_conflict_when_any_two_of_them_do(
        one in prop::collection::vec(accesses(), 0..4),
        other in prop::collection::vec(accesses(), 0..4),
    ) {
        let expected = one.iter().any(|mine| other.iter().any(|others| mine.conflicts_with(others)));
        let (one, other): (Accesses, Accesses) = (one.into_iter().collect(), other.into_iter().collect());
        prop_assert_eq!(one.conflict_with(&other), expected);
        prop_assert_eq!(other.conflict_with(&one), expected);
    }
}

#[test]
fn calls_of_one_server_conflict_unless_both_change_nothing() {
    let call = |tool: &str| Access::call(resource(tool)).ordered_in(&resource("mcp:s"));
    let check = |one: &Access, other: &Access, conflict| assert_eq!(one.conflicts_with(other), conflict);
    check(&call("mcp:s/a"), &call("mcp:s/b"), true);
    check(&call("mcp:s/a"), &call("mcp:s/b").unordered(), true);
    check(&call("mcp:s/a").unordered(), &call("mcp:s/b").unordered(), false);
    check(&call("mcp:s/a"), &Access::call(resource("mcp:s2/a")).ordered_in(&resource("mcp:s2")), false);
    check(&call("mcp:s/a"), &read("file:a"), false);
    check(&read("file:a").ordered_in(&resource("file:b")), &read("net:c"), true);
}

#[test]
fn the_printed_form_names_what_is_done_with_what() {
    let check = |access: Access, expect: Expect| expect.assert_eq(&access.to_string());
    check(read("file:src/lib.rs"), expect!["read file:src/lib.rs"]);
    check(write("file:src/**"), expect!["write file:src/**"]);
    check(
        Access::execute(resource("exec:git status")).with_detail("in `src`"),
        expect!["exec exec:git status"],
    );
    check(Access::connect(resource("net:api.github.com:443")), expect!["connect net:api.github.com:443"]);
    check(Access::call(resource("mcp:github/create_issue")), expect!["call mcp:github/create_issue"]);
    check(Access::opaque("a script that cannot be read"), expect!["opaque (a script that cannot be read)"]);
    check(Access::opaque("ls)\nread file:a\u{202e}"), expect![[r#"opaque (ls)\u{a}read file:a\u{202e})"#]]);
}

#[test]
fn the_json_form_is_stable() {
    let check = |access: Access, expect: Expect| expect.assert_eq(&serde_json::to_string(&access).unwrap());
    check(
        read("file:a"),
        expect![[r#"{"kind":"resource","mode":"read","resource":"file:a","order":"shared"}"#]],
    );
    check(
        write("file:a/**").with_detail("3 lines"),
        expect![[r#"{"kind":"resource","mode":"write","resource":"file:a/**","detail":"3 lines"}"#]],
    );
    check(
        write("file:a").unordered(),
        expect![[r#"{"kind":"resource","mode":"write","resource":"file:a","order":"shared"}"#]],
    );
    check(
        Access::call(resource("mcp:s/a")).ordered_in(&resource("mcp:s")),
        expect![[r#"{"kind":"resource","mode":"call","resource":"mcp:s/a","within":"mcp:s/**"}"#]],
    );
    check(
        Access::execute(resource("exec:ls")),
        expect![[r#"{"kind":"resource","mode":"execute","resource":"exec:ls"}"#]],
    );
    check(Access::opaque("eval"), expect![[r#"{"kind":"opaque","detail":"eval","order":"exclusive"}"#]]);
}

#[test]
fn json_of_an_unknown_kind_is_refused() {
    let check = |json: &str, expect: Expect| {
        expect.assert_eq(&serde_json::from_str::<Access>(json).unwrap_err().to_string());
    };
    check(
        r#"{"kind":"magic"}"#,
        expect!["unknown variant `magic`, expected `resource` or `opaque` at line 1 column 16"],
    );
    check(
        r#"{"kind":"resource","mode":"read","resource":"src"}"#,
        expect![
            "a resource starts with a scheme and a colon, as in `file:src/lib.rs`; `src` does not at line 1 column 50"
        ],
    );
    check(
        r#"{"kind":"resource","mode":"own","resource":"file:a"}"#,
        expect![
            "unknown variant `own`, expected one of `read`, `write`, `execute`, `connect`, `call` at line 1 column 52"
        ],
    );
}
