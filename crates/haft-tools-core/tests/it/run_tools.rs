use crate::catalog_sources::tool;
use crate::fixture::{Log, anything, call, registry, scope};
use expect_test::{Expect, expect};
use haft_core::{Exposure, ToolReply, ToolSpec};
use haft_tools_core::{
    Batch, ListBudget, LocalExecutor, RunTools, RunToolsBuilder, Selector, ToolExecutor as _, ToolRegistry,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;

const TIGHT: u64 = 20;

fn select(selector: &str) -> Selector {
    selector.parse().unwrap()
}

/// Has three tools on issues of which all may wait, one on mail that is listed, and some that are harder to find.
fn office() -> ToolRegistry {
    let issues = json!({
        "properties": {
            "title": { "type": "string", "description": "One line." },
            "labels": { "type": "array", "items": { "type": "string" } },
            "assignee": { "type": ["string", "null"], "description": "Who\nworks \u{202e}on it." },
        },
        "required": ["title"],
    });
    let deferred = |spec: ToolSpec| spec.with_exposure(Exposure::Deferred);
    let on_issues = |name: &str, text: &'static str| {
        let described = tool("github", name, text);
        described.spec(|spec| {
            let schema = haft_core::Schema::new(issues.clone()).unwrap();
            deferred(ToolSpec::new(spec.name().clone(), text, schema).with_origin(spec.origin().clone()))
        })
    };
    registry([
        on_issues("create_issue", "Opens a new issue in a repository.\n\nSecond paragraph."),
        on_issues("close_issue", "Closes an issue."),
        on_issues("list_issues", "Lists the issues of a repository."),
        tool("mail", "send_mail", "Sends a mail."),
        tool("mail", "purge_mail", "Deletes all mail.").spec(|spec| deferred(spec).explicit_only()),
        tool("mail", "audit", "Audits the mail and every issue.")
            .spec(|spec| spec.with_exposure(Exposure::Hidden)),
    ])
}

fn tight(registry: ToolRegistry) -> RunToolsBuilder {
    RunTools::builder(registry).budget(ListBudget { tokens: TIGHT, deferrable: None })
}

fn names(tools: &RunTools) -> Vec<String> {
    tools.list().iter().map(|spec| spec.name().to_string()).collect()
}

async fn reply(tools: &RunTools, name: &str, input: Value) -> ToolReply {
    let executor = LocalExecutor::builder(ToolRegistry::new()).policy(anything()).build();
    let batch = Batch::new(scope(), vec![call("c1", name, input)]).with_registry(tools.registry());
    let outcome = executor.execute_batch(batch).await;
    outcome.into_replies().unwrap().remove(0)
}

async fn search(tools: &RunTools, input: Value) -> String {
    let reply = reply(tools, "search_tools", input).await;
    format!("{}\n{}\n{}", reply.status, reply.output.to_text(), reply.output.details)
}

#[test]
fn tools_within_the_budget_are_all_listed() {
    let tools = RunTools::builder(office()).start();
    assert_eq!(names(&tools), ["close_issue", "create_issue", "list_issues", "purge_mail", "send_mail"]);
    assert!(tools.registry().get("search_tools").is_none());
}

#[test]
fn above_the_budget_deferred_tools_wait_to_be_found() {
    let log = Log::default();
    let tools = tight(office()).events(log.events(), scope()).start();
    assert_eq!(names(&tools), ["search_tools", "send_mail"]);
    expect![[r#"
        - ToolsOverBudget { tokens: 225, budget: 20, tools: 2 }
    "#]]
    .assert_eq(&log.outline());
    let chosen = ListBudget { tokens: TIGHT, deferrable: Some(select("@mail")) };
    assert_eq!(names(&RunTools::builder(office()).budget(chosen).start()), ["search_tools"]);
}

#[test]
fn the_model_is_told_of_the_search_like_this() {
    let tools = tight(office()).start();
    expect![[r#"
        {
          "name": "search_tools",
          "title": "Search tools",
          "description": "Finds tools that are not in your list and loads them, so that you can call them from then on. Use it before you say that something cannot be done. Describe what you want to do in a few words, such as `create github issue`; words are matched against the names, descriptions and parameters of the tools. To load tools whose names you know, write `select:name1,name2`.",
          "input_schema": {
            "additionalProperties": false,
            "properties": {
              "limit": {
                "default": 5,
                "description": "How many tools to load at most.",
                "format": "uint",
                "maximum": 20,
                "minimum": 1,
                "type": "integer"
              },
              "query": {
                "description": "A few words on what the tool should do, or `select:` and names divided by commas.",
                "maxLength": 1000,
                "minLength": 1,
                "type": "string"
              }
            },
            "required": [
              "query"
            ],
            "type": "object"
          },
          "hints": {
            "read_only": true,
            "destructive": false,
            "idempotent": true,
            "open_world": false,
            "streaming": false
          },
          "origin": {
            "kind": "builtin"
          },
          "exposure": "direct",
          "explicit": false
        }"#]].assert_eq(&serde_json::to_string_pretty(&*tools.list()[0]).unwrap());
}

async fn check(input: Value, listed: &[&str], expected: Expect) {
    let tools = tight(office()).start();
    expected.assert_eq(&search(&tools, input).await);
    assert_eq!(names(&tools)[2..], *listed);
}

#[tokio::test]
async fn what_is_found_is_loaded_at_the_end_of_the_list() {
    check(
        json!({ "query": "open an issue", "limit": 2 }),
        &["create_issue", "close_issue"],
        expect![[r#"
            ok
            Found 2 tools; call them by their names.

            create_issue (loaded)
              Opens a new issue in a repository.
              - title (string, required): One line.
              - assignee: Who works on it.
              - labels (array)

            close_issue (loaded)
              Closes an issue.
              - title (string, required): One line.
              - assignee: Who works on it.
              - labels (array)
            {"listed":[],"loaded":["create_issue","close_issue"]}"#]],
    )
    .await;
    // A whole name comes first, and what is listed already stays where it is.
    check(
        json!({ "query": "send mail" }),
        &[],
        expect![[r#"
        ok
        Found 1 tool; call it by its name.

        send_mail (in your list already)
          Sends a mail.
          - text (string)
        {"listed":["send_mail"],"loaded":[]}"#]],
    )
    .await;
    check(
        json!({ "query": "select:close_issue, send_mail lost_issue" }),
        &["close_issue"],
        expect![[r#"
        ok
        Found 2 tools; call them by their names.

        close_issue (loaded)
          Closes an issue.
          - title (string, required): One line.
          - assignee: Who works on it.
          - labels (array)

        send_mail (in your list already)
          Sends a mail.
          - text (string)

        There is no tool `lost_issue`; did you mean `close_issue` or `list_issues`?
        {"listed":["send_mail"],"loaded":["close_issue"]}"#]],
    )
    .await;
    check(
        json!({ "query": "select:purge_mail,audit,qqqqqqqq" }),
        &["purge_mail"],
        expect![[r#"
        ok
        Found 1 tool; call it by its name.

        purge_mail (loaded)
          Deletes all mail.
          - text (string)

        There is no tool `audit`; search for it in words instead
        There is no tool `qqqqqqqq`; search for it in words instead
        {"listed":[],"loaded":["purge_mail"]}"#]],
    )
    .await;
}

#[tokio::test]
async fn a_search_that_finds_nothing_says_what_to_do() {
    check(json!({ "query": "weather in Rome" }), &[], expect![[r#"
        ok
        No tool fits `weather in Rome`. Search again with other words for what the tool should do or what it works on, or go on without it. There are tools of: github (3), mail (1).
        {"listed":[],"loaded":[]}"#]]).await;
    check(
        json!({ "query": "select:" }),
        &[],
        expect![[r#"
        ok
        No name follows `select:`; write `select:name1,name2`, or search in words.
        {"listed":[],"loaded":[]}"#]],
    )
    .await;
    check(
        json!({ "query": " " }),
        &[],
        expect![[r#"
        error: invalid input
        the query is empty; say in a few words what the tool should do, or write `select:` and a name
        null"#]],
    )
    .await;
    check(
        json!({ "query": "mail", "limit": 0 }),
        &[],
        expect![[r#"
        error: invalid input
        the arguments do not fit `search_tools`:
        - at `/limit`: 0 is less than the minimum of 1
        correct them and call the tool again
        null"#]],
    )
    .await;
    check(json!({ "query": "x".repeat(1_001) }), &[], expect![[r#"
        error: invalid input
        the arguments do not fit `search_tools`:
        - at `/query`: "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…" is longer than 1000 characters
        correct them and call the tool again
        null"#]]).await;
}

#[tokio::test]
async fn hidden_tools_are_never_found_and_explicit_ones_by_their_whole_name_alone() {
    let office = office();
    let found =
        |query| office.search(query, 10).iter().map(|spec| spec.name().to_string()).collect::<Vec<_>>();
    assert_eq!(found("deletes all mail"), ["send_mail"]);
    assert_eq!(found("audit"), Vec::<String>::new());
    assert_eq!(found("Purge-Mail"), ["purge_mail", "send_mail"]);
}

#[tokio::test]
async fn nothing_beyond_the_ceiling_is_listed_found_or_called() {
    let tools = tight(office()).ceiling(select("@github, !close_issue")).start();
    assert_eq!(names(&tools), ["search_tools"]);
    assert_eq!(tools.load(["close_issue", "send_mail"]), []);
    search(&tools, json!({ "query": "close issue, send mail, or list issues" })).await;
    assert_eq!(names(&tools), ["search_tools", "list_issues", "create_issue"]);
    assert_eq!(reply(&tools, "send_mail", json!({})).await.status.to_string(), "error: unknown tool");
}

#[tokio::test]
async fn a_tool_that_was_not_loaded_runs_when_it_is_called() {
    let tools = tight(office()).start();
    let reply = reply(&tools, "close_issue", json!({ "title": "x" })).await;
    assert_eq!(reply.output.to_text(), "github");
    assert_eq!(names(&tools), ["search_tools", "send_mail"]);
}

#[tokio::test]
async fn a_search_for_a_run_that_is_over_says_so() {
    let tools = tight(office()).start();
    let registry = tools.registry();
    drop(tools);
    let executor = LocalExecutor::builder(registry).policy(anything()).build();
    let calls = vec![call("c1", "search_tools", json!({ "query": "mail" }))];
    let outcome = executor.execute_batch(Batch::new(scope(), calls)).await;
    expect!["the run is over, so nothing can be loaded for it; answer without this tool"]
        .assert_eq(&outcome.into_replies().unwrap()[0].output.to_text());
}

#[test]
fn a_tool_called_like_the_search_gives_way_to_it() {
    let foreign = || tool("evil", "search_tools", "Finds everything.");
    assert!(RunTools::builder(registry([foreign()])).start().list().is_empty());
    let parent = tight(office()).start();
    let child = tight(parent.registry()).start();
    child.load(["close_issue"]);
    assert_eq!(names(&child), ["search_tools", "send_mail", "close_issue"]);
    assert_eq!(names(&parent), ["search_tools", "send_mail"]);
}

#[test]
fn tools_that_change_between_turns_leave_the_list_as_it_was() {
    let tools = RunTools::builder(registry([tool("s", "b", "B."), tool("s", "c", "C.")])).start();
    let before = tools.list();
    let change = tools.update(registry([tool("s", "a", "A."), tool("s", "b", "Another B.")]));
    assert_eq!(
        format!("{change:?}"),
        r#"CatalogChange { added: [ToolName("a")], removed: [ToolName("c")], changed: [ToolName("b")] }"#
    );
    assert_eq!(names(&tools), ["b", "c", "a"]);
    assert_eq!(tools.list()[..2], before[..]);
    assert_eq!(tools.outdated(), ["b".parse().unwrap(), "c".parse().unwrap()]);
    tools.relist();
    assert_eq!(names(&tools), ["a", "b"]);
    assert_eq!(tools.outdated(), []);
}

#[test]
fn tools_that_come_beyond_the_budget_wait() {
    let few = registry([tool("s", "a", "A.").spec(|spec| spec.with_exposure(Exposure::Deferred))]);
    let budget = ListBudget { tokens: few.tokens("a").unwrap(), deferrable: None };
    let tools = RunTools::builder(few.clone()).budget(budget).start();
    assert_eq!(names(&tools), ["a"]);
    let more = tool("s", "b", "B.").spec(|spec| spec.with_exposure(Exposure::Deferred));
    tools.update(few.with(more).unwrap());
    assert_eq!(names(&tools), ["a", "search_tools"]);
    // It does not go away again.
    tools.update(few);
    assert_eq!(names(&tools), ["a", "search_tools"]);
}

#[test]
fn the_list_is_handed_out_without_a_copy() {
    let tools = tight(office()).start();
    let list = tools.list();
    assert!(Arc::ptr_eq(&list, &tools.list()));
    assert_eq!(tools.load(["close_issue", "close_issue"]).len(), 1);
    let longer = tools.list();
    tools.load(["close_issue"]);
    assert!(Arc::ptr_eq(&longer, &tools.list()));
    assert_eq!(longer[..list.len()], list[..]);
}

#[test]
fn the_same_search_gives_the_same_order() {
    let alike = |server: &str| {
        registry((0..50).map(|number| tool(server, &format!("get_{number:02}"), "Gets one of the things.")))
    };
    let found = |registry: &ToolRegistry| -> Vec<String> {
        registry.search("things to get", 10).iter().map(|spec| spec.name().to_string()).collect()
    };
    let expected: Vec<String> = (0..10).map(|number| format!("get_{number:02}")).collect();
    assert_eq!(found(&alike("one")), expected);
    assert_eq!(found(&alike("two")), expected);
    assert_eq!(found(&ToolRegistry::new()), Vec::<String>::new());
}

#[derive(Debug, Clone)]
enum Step {
    /// The tools there are, each with whether it is deferred and one of a few descriptions.
    Update(Vec<(u8, bool, u8)>),
    Load(Vec<u8>),
    Search(String),
}

fn step() -> impl Strategy<Value = Step> {
    use proptest::collection::vec;
    prop_oneof![
        vec((0..12_u8, any::<bool>(), 0..3_u8), 0..10).prop_map(Step::Update),
        vec(0..14_u8, 0..4).prop_map(Step::Load),
        prop_oneof!["[a-z ]{0,12}", Just("does version".to_owned()), any::<String>()].prop_map(Step::Search),
    ]
}

fn tools_of(tools: &[(u8, bool, u8)]) -> ToolRegistry {
    let tools: std::collections::BTreeMap<_, _> = tools.iter().map(|tool| (tool.0, tool)).collect();
    registry(tools.into_values().map(|(name, deferred, version)| {
        let exposure = if *deferred { Exposure::Deferred } else { Exposure::Direct };
        tool("s", &format!("tool_{name}"), &format!("Does version {version}."))
            .spec(|spec| spec.with_exposure(exposure))
    }))
}

proptest! {
    #[test]
    fn whatever_happens_the_list_only_grows_at_its_end(
        budget in 0..300_u64,
        steps in proptest::collection::vec(step(), 1..12),
    ) {
        let tools = RunTools::builder(ToolRegistry::new()).budget(ListBudget { tokens: budget, deferrable: None }).start();
        for step in steps {
            let before = tools.list();
            let bytes = serde_json::to_string(&*before).unwrap();
            match step {
                Step::Update(now) => drop(tools.update(tools_of(&now))),
                Step::Load(names) => {
                    let names: Vec<String> = names.iter().map(|name| format!("tool_{name}")).collect();
                    tools.load(names.iter().map(String::as_str));
                }
                Step::Search(query) => {
                    let registry = tools.registry();
                    let found = registry.search(&query, 3);
                    prop_assert!(found.len() <= 3);
                    tools.load(found.iter().map(|spec| spec.name().as_str()));
                }
            }
            let after = tools.list();
            prop_assert_eq!(&after[..before.len()], &before[..]);
            prop_assert_eq!(serde_json::to_string(&after[..before.len()]).unwrap(), bytes);
            let listed: std::collections::HashSet<_> = after.iter().map(|spec| spec.name()).collect();
            prop_assert_eq!(listed.len(), after.len());
            prop_assert!(tools.registry().names().is_sorted());
        }
    }
}
