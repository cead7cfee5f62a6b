use crate::fixture::spec;
use expect_test::{Expect, expect};
use haft_core::{Origin, ToolSpec};
use haft_tools_core::Selector;
use proptest::prelude::*;

fn of(name: &str, origin: Origin) -> ToolSpec {
    spec(name).with_origin(origin)
}

/// Lists one tool of every origin, with the names that could mislead.
fn tools() -> Vec<ToolSpec> {
    let mcp = |server: &str, tool: &str| Origin::Mcp { server: server.to_owned(), tool: tool.to_owned() };
    let openapi = |document: &str, operation: &str| Origin::OpenApi {
        document: document.to_owned(),
        operation: operation.to_owned(),
    };
    vec![
        of("bash", Origin::Builtin).explicit_only(),
        of("read_file", Origin::Builtin),
        of("read_secret", Origin::Host),
        of("github__create_issue", mcp("github", "create issue")),
        of("github__close", mcp("github", "close")).explicit_only(),
        of("fake__read", mcp("builtin", "read_file")),
        of("fake2__read", mcp("openapi", "get")),
        of("pets__get", openapi("pets", "GET /pets/{id}")),
        of("explore", Origin::Agent { name: "explorer".to_owned() }),
    ]
}

fn chosen(selector: &str) -> String {
    let selector: Selector = selector.parse().unwrap();
    let tools = tools();
    let names: Vec<&str> =
        tools.iter().filter(|tool| selector.matches(tool)).map(|tool| tool.name().as_str()).collect();
    names.join(" ")
}

fn check(selector: &str, expect: Expect) {
    expect.assert_eq(&chosen(selector));
}

#[test]
fn names_choose_by_the_name_a_model_knows() {
    check(
        "*",
        expect!["read_file read_secret github__create_issue fake__read fake2__read pets__get explore"],
    );
    check("read_file", expect!["read_file"]);
    check("read_*", expect!["read_file read_secret"]);
    check("*read*", expect!["read_file read_secret fake__read fake2__read"]);
    check("r*d_f*e", expect!["read_file"]);
    check("READ_FILE", expect![]);
    check("nothing", expect![]);
    check("create*", expect![]);
}

#[test]
fn origins_choose_by_where_a_tool_is_from() {
    check("@builtin", expect!["read_file"]);
    check("@host", expect!["read_secret"]);
    check("@mcp", expect!["github__create_issue fake__read fake2__read"]);
    check("@openapi", expect!["pets__get"]);
    check("@agent", expect!["explore"]);
    check("@github", expect!["github__create_issue"]);
    check("@github/c*", expect!["github__create_issue"]);
    check("@github/github__create_issue", expect![]);
    check("@pets/GET", expect![]);
    check("@pets/GET*", expect!["pets__get"]);
    check("@explorer", expect!["explore"]);
    check("@explorer/explore", expect!["explore"]);
    check("@mcp/read_file", expect!["fake__read"]);
    check("@builtin/read_file", expect!["read_file"]);
}

#[test]
fn the_last_term_that_matches_decides() {
    check("*, !read_*", expect!["github__create_issue fake__read fake2__read pets__get explore"]);
    check("!read_*", expect!["github__create_issue fake__read fake2__read pets__get explore"]);
    check(
        "!read_*, read_secret",
        expect!["read_secret github__create_issue fake__read fake2__read pets__get explore"],
    );
    check("read_secret, !read_*", expect![]);
    check("!*", expect![]);
    check("!*, read_file", expect!["read_file"]);
    check("!@mcp !@openapi", expect!["read_file read_secret explore"]);
}

#[test]
fn tools_that_are_explicit_only_are_chosen_by_their_whole_name_alone() {
    check("bash", expect!["bash"]);
    check("bas*", expect![]);
    check("bash*", expect![]);
    check("@builtin, bash", expect!["bash read_file"]);
    check("bash, !bash", expect![]);
    check("bash, !b*", expect![]);
    check("@github/close", expect!["github__close"]);
    check("@github/close*", expect![]);
    check("!read_file", expect!["read_secret github__create_issue fake__read fake2__read pets__get explore"]);
}

#[test]
fn what_is_not_a_selector_is_refused_with_how_to_write_it() {
    let check = |text: &str, expect: Expect| {
        expect.assert_eq(&text.parse::<Selector>().unwrap_err().to_string());
    };
    check("", expect!["a selector cannot be empty; write `*` for every tool"]);
    check(" , ,", expect!["a selector cannot be empty; write `*` for every tool"]);
    check(
        "read file!",
        expect![
            "`file!` is not a selector term; write a tool name, `read_*`, `@origin` or `@origin/name`, with `!` for not"
        ],
    );
    check(
        "!",
        expect![
            "`!` is not a selector term; write a tool name, `read_*`, `@origin` or `@origin/name`, with `!` for not"
        ],
    );
    check(
        "!!bash",
        expect![
            "`!!bash` is not a selector term; write a tool name, `read_*`, `@origin` or `@origin/name`, with `!` for not"
        ],
    );
    check(
        "@",
        expect![
            "`@` is not a selector term; write a tool name, `read_*`, `@origin` or `@origin/name`, with `!` for not"
        ],
    );
    check(
        "@/create",
        expect![
            "`@/create` is not a selector term; write a tool name, `read_*`, `@origin` or `@origin/name`, with `!` for not"
        ],
    );
    check(
        "@github/",
        expect![
            "`@github/` is not a selector term; write a tool name, `read_*`, `@origin` or `@origin/name`, with `!` for not"
        ],
    );
    check(
        "!@git*",
        expect![
            "`!@git*` is not a selector term; write a tool name, `read_*`, `@origin` or `@origin/name`, with `!` for not"
        ],
    );
    check(
        "read.file",
        expect![
            "`read.file` is not a selector term; write a tool name, `read_*`, `@origin` or `@origin/name`, with `!` for not"
        ],
    );
    check(
        "read_?",
        expect![
            "`read_?` is not a selector term; write a tool name, `read_*`, `@origin` or `@origin/name`, with `!` for not"
        ],
    );
    check(
        "créer",
        expect![
            "`créer` is not a selector term; write a tool name, `read_*`, `@origin` or `@origin/name`, with `!` for not"
        ],
    );
}

#[test]
fn a_hostile_pattern_is_matched_in_little_time() {
    let name = "a".repeat(4_000);
    let tool = of("tool", Origin::Mcp { server: "s".to_owned(), tool: name });
    let pattern: Selector = format!("@s/{}b", "*a".repeat(2_000)).parse().unwrap();
    assert!(!pattern.matches(&tool));
}

proptest! {
    #[test]
    fn the_printed_form_reads_back_as_the_same(text in "(!?@?[a-z*/_!@é-]{1,6}[, ]{0,2}){1,5}") {
        if let Ok(selector) = text.parse::<Selector>() {
            prop_assert_eq!(selector.to_string().parse(), Ok(selector));
        }
    }

    #[test]
    fn a_pattern_matches_like_its_pieces_found_in_order(pattern in "[ab*]{1,8}", name in "[ab]{1,10}") {
        let selector: Selector = pattern.parse().unwrap();
        prop_assert_eq!(selector.matches(&of(&name, Origin::Host)), matches_slowly(pattern.as_bytes(), name.as_bytes()));
    }
}

fn matches_slowly(pattern: &[u8], text: &[u8]) -> bool {
    match pattern.split_first() {
        None => text.is_empty(),
        Some((b'*', rest)) => (0..=text.len()).any(|taken| matches_slowly(rest, &text[taken..])),
        Some((first, rest)) => text.first() == Some(first) && matches_slowly(rest, &text[1..]),
    }
}
