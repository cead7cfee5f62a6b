use crate::fixture::{Probe, anything, call, outline, registry, replies, reply};
use expect_test::{Expect, expect};
use haft_core::{Exposure, Origin, ToolSpec};
use haft_tools_core::{CollisionPolicy, LocalExecutor, RegistryError, Selector, ToolRegistry};
use serde_json::json;
use std::sync::Arc;

fn from(name: &str, server: &str) -> Probe {
    let origin = Origin::Mcp { server: server.to_owned(), tool: name.to_owned() };
    Probe::new(name).spec(|spec| spec.with_origin(origin)).says(server)
}

fn of(names: &[&str]) -> ToolRegistry {
    registry(names.iter().map(|name| Probe::new(name)))
}

fn names(registry: &ToolRegistry) -> Vec<&str> {
    registry.names().collect()
}

fn select(selector: &str) -> Selector {
    selector.parse().unwrap()
}

/// Lists the tools with what calling them by name says.
async fn answers(registry: &ToolRegistry, called: &[&str]) -> String {
    let executor = LocalExecutor::builder(registry.clone()).policy(anything()).build();
    let calls = called.iter().map(|name| call(&format!("call {name}"), name, json!({}))).collect();
    let replies = replies(&executor, calls).await;
    replies
        .iter()
        .map(|reply| format!("{}: {}\n", reply.name, reply.output.to_text()))
        .collect::<Vec<_>>()
        .concat()
}

fn check_refused(result: Result<ToolRegistry, RegistryError>, expect: Expect) {
    expect.assert_eq(&result.unwrap_err().to_string());
}

#[test]
fn tools_are_listed_by_name_however_they_were_added() {
    let expected = ["a", "a-b", "a_b", "b"];
    assert_eq!(names(&of(&["b", "a_b", "a", "a-b"])), expected);
    let one_by_one = of(&["b"]).with(Probe::new("a-b")).unwrap().with(Probe::new("a")).unwrap();
    assert_eq!(names(&one_by_one.with(Probe::new("a_b")).unwrap()), expected);
    let merged = of(&["b", "a"]).merge(&of(&["a_b", "a-b"]), CollisionPolicy::Refuse).unwrap();
    assert_eq!(names(&merged), expected);
    assert_eq!(merged.iter().map(|spec| spec.name().as_str()).collect::<Vec<_>>(), expected);
    assert_eq!(format!("{merged:?}"), r#"{"a", "a-b", "a_b", "b"}"#);
}

#[test]
fn a_change_leaves_the_old_registry_as_it_was() {
    let old = of(&["a"]);
    let new = old.with(Probe::new("b")).unwrap().aliased("c", "a").unwrap();
    assert_eq!((names(&old), old.len(), old.get("c")), (vec!["a"], 1, None));
    assert_eq!((names(&new), new.len(), new.is_empty()), (vec!["a", "b"], 2, false));
    assert!(ToolRegistry::new().is_empty());
}

#[test]
fn the_list_for_a_model_is_made_once() {
    let registry = of(&["a", "b"]);
    assert!(Arc::ptr_eq(&registry.direct_specs(), &registry.clone().direct_specs()));
    let deferred =
        registry.with(Probe::new("c").spec(|spec| spec.with_exposure(Exposure::Deferred))).unwrap();
    let listed = deferred.direct_specs();
    assert_eq!(listed.iter().map(|spec| spec.name().as_str()).collect::<Vec<_>>(), ["a", "b"]);
    assert!(Arc::ptr_eq(&registry.direct_specs()[0], &listed[0]), "a tool that did not change is not copied");
}

#[test]
fn two_tools_of_one_name_are_refused_with_both_origins() {
    let (github, gitlab) = (registry([from("close", "github")]), registry([from("close", "gitlab")]));
    check_refused(
        github.merge(&gitlab, CollisionPolicy::Refuse),
        expect![
            "two tools are called `close`: one from mcp:github/close, one from mcp:gitlab/close; prefix or rename one of them"
        ],
    );
    check_refused(
        gitlab.with(Probe::new("close")),
        expect![
            "two tools are called `close`: one from mcp:gitlab/close, one from host; prefix or rename one of them"
        ],
    );
    check_refused(
        ToolRegistry::of([Arc::new(Probe::new("a")) as _, Arc::new(from("a", "x")) as _]),
        expect!["two tools are called `a`: one from host, one from mcp:x/a; prefix or rename one of them"],
    );
    check_refused(
        of(&["a", "b"]).renamed("a", "b"),
        expect!["two tools are called `b`: one from host, one from host; prefix or rename one of them"],
    );
    check_refused(
        of(&["a", "b"]).aliased("a", "b"),
        expect!["two tools are called `a`: one from host, one from host; prefix or rename one of them"],
    );
    let aliased = github.aliased("shut", "close").unwrap();
    check_refused(
        aliased.with(from("shut", "door")),
        expect![
            "two tools are called `shut`: one from mcp:github/close, one from mcp:door/shut; prefix or rename one of them"
        ],
    );
    check_refused(
        registry([from("shut", "door")]).merge(&aliased, CollisionPolicy::Refuse),
        expect![
            "two tools are called `shut`: one from mcp:door/shut, one from mcp:github/close; prefix or rename one of them"
        ],
    );
    check_refused(
        aliased.with(Probe::new("b")).unwrap().aliased("shut", "b"),
        expect![
            "two tools are called `shut`: one from mcp:github/close, one from host; prefix or rename one of them"
        ],
    );
}

#[tokio::test]
async fn a_collision_policy_says_which_of_two_tools_stays() {
    let (first, last) = (
        registry([from("a", "first"), from("b", "first")]),
        registry([from("b", "last"), from("c", "last")]),
    );
    let kept = first.merge(&last, CollisionPolicy::KeepFirst).unwrap();
    expect![[r#"
        a: first
        b: first
        c: last
    "#]]
    .assert_eq(&answers(&kept, &["a", "b", "c"]).await);
    let replaced = first.merge(&last, CollisionPolicy::KeepLast).unwrap();
    expect![[r#"
        a: first
        b: last
        c: last
    "#]]
    .assert_eq(&answers(&replaced, &["a", "b", "c"]).await);
}

#[tokio::test]
async fn aliases_are_merged_and_never_take_a_tool_away() {
    let first = registry([from("a", "first")]).aliased("x", "a").unwrap();
    let last = registry([from("b", "last"), from("x", "last")]).aliased("a", "b").unwrap();
    check_refused(
        first.merge(&last, CollisionPolicy::Refuse),
        expect![
            "two tools are called `x`: one from mcp:first/a, one from mcp:last/x; prefix or rename one of them"
        ],
    );
    let kept = first.merge(&last, CollisionPolicy::KeepFirst).unwrap();
    expect![[r#"
        a: first
        b: last
        x: first
    "#]]
    .assert_eq(&answers(&kept, &["a", "b", "x"]).await);
    let replaced = first.merge(&last, CollisionPolicy::KeepLast).unwrap();
    expect![[r#"
        a: first
        b: last
        x: last
    "#]]
    .assert_eq(&answers(&replaced, &["a", "b", "x"]).await);
    assert_eq!((names(&kept), names(&replaced)), (vec!["a", "b"], vec!["a", "b", "x"]));
}

#[test]
fn a_namespace_is_put_before_every_name_and_keeps_them_apart() {
    let long = "a".repeat(60);
    let longer = format!("{long}b");
    let registry =
        of(&["close", &long, &longer]).aliased("shut", "close").unwrap().prefixed("github").unwrap();
    assert_eq!(registry.len(), 3);
    assert_eq!(registry.get("github__close").map(ToolSpec::title), Some("github__close"));
    assert_eq!(
        (registry.get("shut"), registry.get("github__shut"), registry.get("close")),
        (None, None, None)
    );
    assert!(registry.names().all(|name| name.len() <= 64), "{registry:?}");
    let odd = of(&["a"]).prefixed("my server").unwrap();
    expect![[r#"{"my_server__a_e6ac0ea46153"}"#]].assert_eq(&format!("{odd:?}"));
    // Which namespace ends where cannot be told from the name, so one of the two has to give way.
    let (one, other) = (of(&["b__c"]).prefixed("a").unwrap(), of(&["c"]).prefixed("a__b").unwrap());
    check_refused(
        one.merge(&other, CollisionPolicy::Refuse),
        expect!["two tools are called `a__b__c`: one from host, one from host; prefix or rename one of them"],
    );
}

#[tokio::test]
async fn a_renamed_tool_is_known_by_its_new_name_alone() {
    let registry =
        registry([from("close", "github"), from("open", "github")]).aliased("shut", "close").unwrap();
    let renamed = registry.renamed("close", "shut").unwrap();
    assert_eq!(names(&renamed), ["open", "shut"]);
    expect![[r#"
        shut: github
        close: there is no tool `close`; the tools are `open` and `shut`
    "#]]
    .assert_eq(&answers(&renamed, &["shut", "close"]).await);
    assert_eq!(names(&registry.renamed("shut", "end").unwrap()), ["end", "open"]);
    assert_eq!(registry.renamed("close", "close").unwrap().get("shut"), None);
    assert_eq!(renamed.get("shut").map(ToolSpec::origin), registry.get("close").map(ToolSpec::origin));
    check_refused(registry.renamed("clos", "x"), expect!["there is no tool called `clos` in this registry"]);
    check_refused(
        registry.renamed("close", "shut it"),
        expect![[r#"the tool name "shut it" holds ' '; use letters, digits, `_` and `-` only"#]],
    );
    check_refused(
        registry.renamed("close", "open"),
        expect![
            "two tools are called `open`: one from mcp:github/open, one from mcp:github/close; prefix or rename one of them"
        ],
    );
}

#[tokio::test]
async fn an_alias_reaches_its_tool_and_is_not_listed() {
    let registry = of(&["read_file"]).aliased("cat", "read_file").unwrap().aliased("type", "cat").unwrap();
    assert_eq!((names(&registry), registry.len(), registry.direct_specs().len()), (vec!["read_file"], 1, 1));
    assert_eq!(registry.get("type").map(ToolSpec::title), Some("read_file"));
    expect![[r#"
        read_file: {}
        cat: {}
        type: {}
    "#]]
    .assert_eq(&answers(&registry, &["read_file", "cat", "type"]).await);
    check_refused(registry.aliased("x", "reed"), expect!["there is no tool called `reed` in this registry"]);
    check_refused(
        registry.aliased("read file", "cat"),
        expect![[r#"the tool name "read file" holds ' '; use letters, digits, `_` and `-` only"#]],
    );
}

#[tokio::test]
async fn filtering_keeps_the_chosen_tools_with_their_aliases() {
    let all = of(&["read", "write", "bash"]).aliased("cat", "read").unwrap().aliased("tee", "write").unwrap();
    let filtered = all.filtered(&select("!write, !bash"));
    expect![[r#"
        read: {}
        cat: {}
        write: there is no tool `write`; the only tool is `read`
        tee: there is no tool `tee`; the only tool is `read`
    "#]]
    .assert_eq(&answers(&filtered, &["read", "cat", "write", "tee"]).await);
    assert!(all.filtered(&select("none")).is_empty());
}

#[tokio::test]
async fn a_hidden_tool_can_be_called_and_is_not_told_of() {
    let registry = of(&["read_file", "read_file_raw"]).aliased("read_raw", "read_file_raw").unwrap();
    let hidden = registry.hidden(&select("*_raw"));
    assert_eq!((names(&hidden).len(), hidden.direct_specs().len()), (2, 1));
    expect![[r#"
        read_file_raw: {}
        read_raw: {}
        read_file_ra: there is no tool `read_file_ra`; did you mean `read_file`?
    "#]]
    .assert_eq(&answers(&hidden, &["read_file_raw", "read_raw", "read_file_ra"]).await);
}

#[tokio::test]
async fn repair_is_off_for_the_chosen_tools_alone() {
    let schema = json!({ "properties": { "n": { "type": "integer" } } });
    let both = registry([Probe::new("a").schema(schema.clone()), Probe::new("b").schema(schema)]);
    let executor = LocalExecutor::builder(both.without_repair(&select("a"))).policy(anything()).build();
    let input = json!({ "n": "5" });
    expect![[r#"
        error: invalid input
        the arguments do not fit `a`:
        - at `/n`: "5" is not an integer
        correct them and call the tool again"#]]
    .assert_eq(&outline(&reply(&executor, "a", input.clone()).await));
    expect![[r#"
        ok
        {"n":5}
        [the arguments were changed: /n: took a string as the value it spells ("5" → 5)]"#]]
    .assert_eq(&outline(&reply(&executor, "b", input.clone()).await));
    // It stays off when the tool is given another name or place.
    let renamed = both.without_repair(&select("a")).hidden(&select("a")).prefixed("x").unwrap();
    let executor = LocalExecutor::builder(renamed).policy(anything()).build();
    assert!(!reply(&executor, "x__a", input).await.status.is_ok());
}

#[test]
fn the_nearest_names_are_those_a_model_may_use() {
    let registry = of(&["read_file", "write_file", "list_files", "bash", "read_dir", "secret_read"])
        .aliased("cat_file", "read_file")
        .unwrap()
        .hidden(&select("secret_*"));
    let check = |name: &str, expected: &[&str]| assert_eq!(registry.nearest(name), expected, "{name}");
    check("read_fil", &["read_file", "read_dir"]);
    check("ReadFile", &["read_file", "read_dir"]);
    check("files", &["list_files"]);
    check("cat_fil", &["read_file"]);
    check("secret_read", &[]);
    check("bsah", &["bash"]);
    check("", &[]);
    check("frobnicate", &[]);
    check(&"read_file".repeat(10_000), &[]);
}
