#![expect(clippy::needless_raw_string_hashes, reason = "expect-test writes its snapshots with them")]

use super::pages::StaleCursor;
use super::served_tools::ServedTools;
use super::*;
use crate::server::toolbox::Toolset;
use expect_test::{Expect, expect};
use haft_core::{CallId, Exposure, Origin, Schema, ToolError, ToolHints, ToolName, ToolSpec};
use haft_testkit::laid_out;
use haft_tools_core::{CallScope, LocalExecutor, MemoryPending, Prepared, Tool, ToolRegistry};
use proptest::collection::{hash_set, vec};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

/// Is a tool that is never run here.
struct Described(ToolSpec);

impl Tool for Described {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn prepare(&self, _: &Value, _: &CallScope) -> Result<Prepared, ToolError> {
        Err(ToolError::failed("it is not run here"))
    }
}

fn spec(name: &str) -> ToolSpec {
    let schema = json!({
        "properties": { "path": { "type": "string", "description": "Where it is." }, "limit": { "type": "integer" } },
        "required": ["path"],
    });
    ToolSpec::new(name.parse().unwrap(), format!("Does {name}."), Schema::new(schema).unwrap())
}

fn registry(specs: impl IntoIterator<Item = ToolSpec>) -> ToolRegistry {
    ToolRegistry::of(specs.into_iter().map(|spec| Arc::new(Described(spec)) as Arc<dyn Tool>)).unwrap()
}

fn named(names: impl IntoIterator<Item = String>) -> ToolRegistry {
    registry(names.into_iter().map(|name| spec(&name)))
}

/// Tools of all sorts.
fn sorts() -> ToolRegistry {
    let server = Origin::Mcp { server: "github".to_owned(), tool: "list".to_owned() };
    let hints = ToolHints { read_only: true, open_world: true, ..ToolHints::default() };
    registry([
        spec("read_file").with_title("Read a file").with_origin(Origin::Builtin).with_hints(hints),
        spec("github__list_pull_request_review_comments").with_origin(server).with_hints(hints),
        spec("deferred_tool").with_exposure(Exposure::Deferred),
        spec("hidden_tool").with_exposure(Exposure::Hidden),
        spec("explicit_tool").explicit_only(),
    ])
    .aliased("cat", "read_file")
    .unwrap()
}

fn served(registry: ToolRegistry, mode: &str) -> Arc<ServedTools> {
    Arc::new(ServedTools::of(registry, mode.parse().unwrap()))
}

fn listed(served: &ServedTools) -> Vec<&str> {
    served.pages().iter().map(|tool| tool.name.as_str()).collect()
}

/// Says what calls of these names and arguments stand for.
async fn check(tools: &Arc<ServedTools>, calls: &[(&str, Value)], expected: Expect) {
    let id: CallId = "c1".parse().unwrap();
    let mut told = String::new();
    for (name, input) in calls {
        let _ = writeln!(told, "{name:?} {input}");
        let line = match tools.resolve(&id, name, input.clone()).await {
            Resolved::Call { name, input } => format!("  calls {name} {input}\n"),
            Resolved::Reply(reply) => {
                let text = reply.output.to_text().replace("\n\n", "\n.\n").replace('\n', "\n    ");
                format!("  {}: {text}\n", reply.status)
            }
        };
        told.push_str(&line);
    }
    expected.assert_eq(&told);
}

#[test]
fn each_mode_lists_its_own() {
    assert_eq!(listed(&served(sorts(), "full")), ["github__list_pull_request_r_f5756b184605", "read_file"]);
    assert_eq!(listed(&served(sorts(), "search")), ["call_tool", "describe_tool", "search_tools"]);
    assert_eq!(
        listed(&served(sorts(), "deferred_tool, explicit_tool, hidden_tool")),
        ["deferred_tool", "explicit_tool"]
    );
    assert_eq!(listed(&served(ToolRegistry::new(), "full")), [""; 0]);
}

#[test]
fn a_tool_is_told_of_in_the_protocols_words() {
    let tools = served(sorts(), "full");
    let told: Vec<&ServedTool> = tools.pages().iter().collect();
    expect![[r#"
        [
          {
            "annotations": {"openWorldHint": true, "readOnlyHint": true},
            "description": "[github] Does github__list_pull_request_review_comments.",
            "inputSchema": {
              "properties": {"limit": {"type": "integer"}, "path": {"description": "Where it is.", "type": "string"}},
              "required": ["path"],
              "type": "object"
            },
            "name": "github__list_pull_request_r_f5756b184605"
          },
          {
            "annotations": {"destructiveHint": false, "idempotentHint": false, "openWorldHint": true, "readOnlyHint": true},
            "description": "Does read_file.",
            "inputSchema": {
              "properties": {"limit": {"type": "integer"}, "path": {"description": "Where it is.", "type": "string"}},
              "required": ["path"],
              "type": "object"
            },
            "name": "read_file",
            "title": "Read a file"
          }
        ]"#]]
    .assert_eq(&laid_out(&told));
}

#[test]
fn what_a_server_hides_in_its_words_is_shown() {
    let origin = Origin::Mcp { server: "evil\n".to_owned(), tool: "t".to_owned() };
    let hiding = ToolSpec::new("evil__t".parse().unwrap(), "Safe.\u{202e}\u{1b}[2J", Schema::empty());
    let tools = served(registry([hiding.with_title("T\u{200b}").with_origin(origin)]), "full");
    let tool = tools.listed("evil__t").unwrap();
    assert_eq!(tool.description, r"[evil\n] Safe.\u{202e}\u{1b}[2J");
    assert_eq!(tool.title.as_deref(), Some(r"T\u{200b}"));
}

#[tokio::test]
async fn calls_reach_what_is_served_and_nothing_else() {
    let calls = [
        ("read_file", json!({ "path": "a" })),
        ("cat", json!({ "path": "a" })),
        ("github__list_pull_request_r_f5756b184605", json!({})),
        ("github__list_pull_request_review_comments", json!({})),
        ("deferred_tool", json!({})),
        ("hidden_tool", json!({})),
        ("explicit_tool", json!({})),
        ("call_tool", json!({ "name": "hidden_tool" })),
        ("raed_file", json!({})),
        ("\u{1b}[2J zzz\n", json!({})),
        ("", json!({})),
    ];
    check(&served(sorts(), "full"), &calls, expect![[r#"
        "read_file" {"path":"a"}
          calls read_file {"path":"a"}
        "cat" {"path":"a"}
          calls read_file {"path":"a"}
        "github__list_pull_request_r_f5756b184605" {}
          calls github__list_pull_request_review_comments {}
        "github__list_pull_request_review_comments" {}
          calls github__list_pull_request_review_comments {}
        "deferred_tool" {}
          calls deferred_tool {}
        "hidden_tool" {}
          error: unknown tool: there is no tool `hidden_tool`; the tools are `github__list_pull_request_r_f5756b184605` and `read_file`
        "explicit_tool" {}
          error: unknown tool: there is no tool `explicit_tool`; the tools are `github__list_pull_request_r_f5756b184605` and `read_file`
        "call_tool" {"name":"hidden_tool"}
          error: unknown tool: there is no tool `call_tool`; the tools are `github__list_pull_request_r_f5756b184605` and `read_file`
        "raed_file" {}
          error: unknown tool: there is no tool `raed_file`; did you mean `read_file`?
        "\u{1b}[2J zzz\n" {}
          error: unknown tool: there is no tool `[2J zzz`; the tools are `github__list_pull_request_r_f5756b184605` and `read_file`
        "" {}
          error: unknown tool: the call names no tool; the tools are `github__list_pull_request_r_f5756b184605` and `read_file`
    "#]]).await;
    let calls = [("read_file", json!({})), ("explicit_tool", json!({})), ("deferred_tool", json!({}))];
    check(
        &served(sorts(), "explicit_tool"),
        &calls,
        expect![[r#"
            "read_file" {}
              error: unknown tool: there is no tool `read_file`; the only tool is `explicit_tool`
            "explicit_tool" {}
              calls explicit_tool {}
            "deferred_tool" {}
              error: unknown tool: there is no tool `deferred_tool`; the only tool is `explicit_tool`
        "#]],
    )
    .await;
    check(
        &served(ToolRegistry::new(), "full"),
        &calls[..1],
        expect![[r#"
            "read_file" {}
              error: unknown tool: there is no tool `read_file`, and there are no others; answer without tools
        "#]],
    )
    .await;
}

#[tokio::test]
async fn tools_are_found_described_and_called_by_three_of_them() {
    let calls = [
        ("search_tools", json!({ "query": "pull requests" })),
        ("search_tools", json!({ "query": "hidden explicit" })),
        ("search_tools", json!({ "query": "does tool", "limit": 1 })),
        ("search_tools", json!({ "query": " " })),
        ("search_tools", json!({ "query": "read", "limit": "all" })),
        ("search_tools", json!([])),
        ("describe_tool", json!({ "name": "read_file" })),
        ("describe_tool", json!({ "name": "hidden_tool" })),
        ("describe_tool", json!({ "name": "zzz" })),
        ("call_tool", json!({ "name": "read_file", "arguments": { "path": "a" } })),
        ("call_tool", json!({ "name": "github__list_pull_request_r_f5756b184605" })),
        ("call_tool", json!({ "name": "read_file", "arguments": "{\"path\":\"a\"}" })),
        ("call_tool", json!({ "name": "hidden_tool", "arguments": {} })),
        ("call_tool", json!({ "name": "call_tool", "arguments": {} })),
        ("call_tool", json!({ "arguments": {} })),
        ("call_tool", json!(null)),
        ("read_file", json!({ "path": "a" })),
    ];
    check(&served(sorts(), "search"), &calls, expect![[r#"
        "search_tools" {"query":"pull requests"}
          ok: Found 1 tool; call it with `call_tool`.
            .
            github__list_pull_request_r_f5756b184605
              [github] Does github__list_pull_request_review_comments.
              - path (string, required): Where it is.
              - limit (integer)
        "search_tools" {"query":"hidden explicit"}
          ok: No tool fits `hidden explicit`. Search again with other words for what the tool should do or what it works on, or go on without it. There are tools of: builtin (1), github (1), host (1).
        "search_tools" {"limit":1,"query":"does tool"}
          ok: Found 1 tool; call it with `call_tool`.
            .
            deferred_tool
              Does deferred_tool.
              - path (string, required): Where it is.
              - limit (integer)
        "search_tools" {"query":" "}
          error: invalid input: `search_tools` needs `query`, a text that is not empty; repeat the call with it
        "search_tools" {"limit":"all","query":"read"}
          error: invalid input: `limit` of `search_tools` is a number from 1 to 20; write it so, or leave it out
        "search_tools" []
          error: invalid input: `search_tools` needs `query`, a text that is not empty; repeat the call with it
        "describe_tool" {"name":"read_file"}
          ok: read_file
            .
            Does read_file.
            .
            Arguments, as JSON Schema:
            {"properties":{"limit":{"type":"integer"},"path":{"description":"Where it is.","type":"string"}},"required":["path"],"type":"object"}
        "describe_tool" {"name":"hidden_tool"}
          error: not found: there is no tool `hidden_tool`; find the tools there are with `search_tools`
        "describe_tool" {"name":"zzz"}
          error: not found: there is no tool `zzz`; find the tools there are with `search_tools`
        "call_tool" {"arguments":{"path":"a"},"name":"read_file"}
          calls read_file {"path":"a"}
        "call_tool" {"name":"github__list_pull_request_r_f5756b184605"}
          calls github__list_pull_request_review_comments {}
        "call_tool" {"arguments":"{\"path\":\"a\"}","name":"read_file"}
          calls read_file "{\"path\":\"a\"}"
        "call_tool" {"arguments":{},"name":"hidden_tool"}
          error: unknown tool: there is no tool `hidden_tool`; find the tools there are with `search_tools`
        "call_tool" {"arguments":{},"name":"call_tool"}
          error: unknown tool: there is no tool `call_tool`; find the tools there are with `search_tools`
        "call_tool" {"arguments":{}}
          error: invalid input: `call_tool` needs `name`, a text that is not empty; repeat the call with it
        "call_tool" null
          error: invalid input: `call_tool` needs `name`, a text that is not empty; repeat the call with it
        "read_file" {"path":"a"}
          calls read_file {"path":"a"}
    "#]]).await;
}

#[tokio::test]
async fn a_tool_of_a_meta_tools_name_is_called_through_them() {
    let registry = named(["call_tool".to_owned(), "describe_tool".to_owned()]);
    let calls = [
        ("call_tool", json!({ "name": "call_tool", "arguments": { "name": "describe_tool" } })),
        ("call_tool", json!({ "name": "describe_tool" })),
    ];
    check(
        &served(registry.clone(), "search"),
        &calls,
        expect![[r#"
            "call_tool" {"arguments":{"name":"describe_tool"},"name":"call_tool"}
              calls call_tool {"name":"describe_tool"}
            "call_tool" {"name":"describe_tool"}
              calls describe_tool {}
        "#]],
    )
    .await;
    check(
        &served(registry, "full"),
        &calls[..1],
        expect![[r#"
            "call_tool" {"arguments":{"name":"describe_tool"},"name":"call_tool"}
              calls call_tool {"arguments":{"name":"describe_tool"},"name":"call_tool"}
        "#]],
    )
    .await;
}

#[test]
fn a_thousand_tools_are_listed_in_two_pages_of_their_snapshot() {
    let names = |count: usize| (0..count).map(|number| format!("tool_{number:04}"));
    let tools = served(named(names(1_000)), "full");
    let first = tools.pages().at(None).unwrap();
    let second = tools.pages().at(first.next.as_deref()).unwrap();
    assert_eq!((first.items.len(), second.items.len(), &second.next), (500, 500, &None));
    assert_eq!(listed(&tools).len(), 1_000);
    assert!(tools.listed("tool_0777").is_some() && tools.listed("tool_1000").is_none());

    let cursor = first.next.unwrap();
    // Another instance that has the same tools goes on where this one stopped.
    let elsewhere = served(named(names(1_000)), "full");
    assert_eq!(elsewhere.pages().at(Some(&cursor)).unwrap(), second);
    // One that has others does not.
    for others in [served(named(names(1_001)), "full"), served(named(names(1_000)), "search")] {
        assert_eq!(others.pages().at(Some(&cursor)), Err(StaleCursor));
    }
    let mapped = tools.pages().map(|tool| tool.name.clone());
    assert_eq!(mapped.at(Some(&cursor)).unwrap().items.len(), 500);
    for wrong in
        ["", "x", "0", "AAAAAAAAAAAAAAAA", &cursor[1..], &format!("{cursor}A"), &"A".repeat(1 << 20), "é\0"]
    {
        assert_eq!(tools.pages().at(Some(wrong)), Err(StaleCursor), "{wrong:.20}");
    }
}

#[test]
fn a_page_has_no_more_than_a_mebibyte() {
    let large = |number: u32| {
        ToolSpec::new(format!("tool_{number}").parse().unwrap(), "x".repeat(400 << 10), Schema::empty())
    };
    let huge = ToolSpec::new("tool_2_huge".parse().unwrap(), "x".repeat(3 << 20), Schema::empty());
    let tools = served(registry((0..5).map(large).chain([huge])), "full");
    let (mut sizes, mut cursor) = (Vec::new(), None);
    loop {
        let page = tools.pages().at(cursor.as_deref()).unwrap();
        sizes.push(page.items.len());
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(sizes, [2, 1, 1, 2]);
}

#[tokio::test]
async fn a_shelf_keeps_what_stays_and_sees_what_changes() {
    let tools = Arc::new(Mutex::new(sorts()));
    let toolset = || {
        let (tools, registry) = (Arc::clone(&tools), sorts());
        let executor = Arc::new(LocalExecutor::builder(registry).build());
        let scope = CallScope::new("mcp-1".parse().unwrap());
        let pending = Arc::new(MemoryPending::default());
        Arc::new(Toolset::new(move || tools.lock().unwrap().clone(), executor, scope, pending))
    };
    let (one, other) = (toolset(), toolset());
    let shelf = Shelf::new(ServeMode::Full);
    assert!(shelf.with("read_file").is_none());
    let first = shelf.of(&one);
    assert!(Arc::ptr_eq(&first, &shelf.of(&one)) && Arc::ptr_eq(&first, &shelf.of(&other)));
    assert!(shelf.with("read_file").is_some() && shelf.with("hidden_tool").is_none());
    let ready = first.ready(|tools| tools.pages().map(|tool| tool.name.to_string()));
    assert!(Arc::ptr_eq(&ready, &first.ready(|_| unreachable!("it is made once"))));

    let more = tools.lock().unwrap().with(Described(spec("more"))).unwrap();
    *tools.lock().unwrap() = more;
    let second = shelf.of(&one);
    assert_eq!(listed(&second).len(), listed(&first).len() + 1);
    assert!(Arc::ptr_eq(&second, &shelf.of(&other)));
}

#[test]
fn clients_are_told_of_the_policy_and_how_to_search() {
    let executor = Arc::new(LocalExecutor::builder(ToolRegistry::new()).build());
    let scope = CallScope::new("mcp-1".parse().unwrap());
    let toolset = || {
        Toolset::new(ToolRegistry::new, executor.clone(), scope.clone(), Arc::new(MemoryPending::default()))
    };
    assert_eq!(instructions(&ServeMode::Full, &toolset()), None);
    let told =
        instructions(&ServeMode::Search, &toolset().instructions("Reading is allowed.\u{202e}\n")).unwrap();
    expect![[r#"
        Only three tools are listed, since there are many: find the one you need with `search_tools`, look at its arguments with `describe_tool` where they are not clear, and call it with `call_tool`.

        Reading is allowed.\u{202e}"#]].assert_eq(&told);
    let long = instructions(&ServeMode::Full, &toolset().instructions("ö".repeat(10_000))).unwrap();
    assert_eq!(long.len(), (4 << 10) + "…".len());
}

/// Names that are hard to keep apart: alike where they are cut, and crafted from what others are shortened to.
fn names() -> impl Strategy<Value = HashSet<String>> {
    let parts = (vec("[a-z_]{1,30}", 1..4), vec("[a-z0-9]{0,30}|_[0-9a-f]{12}", 1..8));
    (parts, hash_set("[a-zA-Z0-9_-]{1,64}", 0..6)).prop_map(|((starts, ends), others)| {
        let mut names: HashSet<String> =
            starts.iter().flat_map(|start| ends.iter().map(move |end| format!("{start}{end}"))).collect();
        let crafted: Vec<String> =
            names.iter().map(|name| ToolName::project(name).shortened(40).to_string()).collect();
        names.extend(crafted);
        names.extend(others);
        names.retain(|name| name.len() <= 64);
        names
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Every tool is served under a short name that no other has and that leads back to it, whatever else there is.
    #[test]
    fn names_are_short_apart_and_lead_back(names in names()) {
        let tools = served(named(names.clone()), "full");
        let mut seen = HashSet::new();
        for name in &names {
            let short = tools.served_name(name).unwrap().clone();
            prop_assert!(short.as_str().len() <= 40);
            prop_assert_eq!(tools.own_name(short.as_str()).unwrap().as_str(), name);
            prop_assert!(tools.listed(short.as_str()).is_some());
            // It depends on nothing but the name.
            prop_assert_eq!(&short, &name.parse::<ToolName>().unwrap().shortened(40));
            seen.insert(short);
        }
        prop_assert_eq!(seen.len(), names.len());
    }

    /// Going from page to page gives everything once, in order, whatever the sizes.
    #[test]
    fn pages_give_everything_once(sizes in vec(prop_oneof![0_usize..200, 200_000_usize..1_200_000], 0..40)) {
        let pages = Pages::of(sizes.iter().copied().enumerate().collect(), |(at, size)| format!("{at}{}", "x".repeat(*size)));
        let (mut seen, mut cursor) = (Vec::new(), None);
        loop {
            let page = pages.at(cursor.as_deref()).unwrap();
            seen.extend(page.items.iter().map(|(_, size)| *size));
            cursor = page.next;
            if cursor.is_none() {
                break;
            }
        }
        prop_assert_eq!(seen, sizes);
    }

    /// No cursor that was not given leads anywhere, and none breaks anything.
    #[test]
    fn foreign_cursors_lead_nowhere(cursor in any::<String>()) {
        let pages = Pages::of(vec![1, 2, 3], ToString::to_string);
        prop_assert_eq!(pages.at(Some(&cursor)), Err(StaleCursor));
    }
}
