use crate::catalog_sources::{Indescribable, Now, Script, tool, tools_of};
use crate::fixture::{Log, Probe, registry, scope};
use expect_test::{Expect, expect};
use haft_tools_core::{
    Catalog, CatalogBuilder, CatalogChange, CatalogError, CollisionPolicy, FixedSource, SourceHealth, Tool,
    ToolRegistry, ToolSource,
};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

fn of(sources: &[&Script]) -> CatalogBuilder {
    sources.iter().fold(Catalog::builder(), |builder, source| builder.source((*source).clone()))
}

/// Prints a change as signed names.
fn outline(change: &CatalogChange) -> String {
    let signed = |sign: &'static str, names: &[haft_core::ToolName]| {
        names.iter().map(|name| format!("{sign}{name}")).collect::<Vec<_>>()
    };
    [signed("+", &change.added), signed("-", &change.removed), signed("~", &change.changed)]
        .concat()
        .join(" ")
}

/// Prints every tool with its origin, then every source with how it is doing.
fn state(catalog: &Catalog) -> String {
    let mut text = String::new();
    for spec in catalog.snapshot().iter() {
        writeln!(text, "{} from {}", spec.name(), spec.origin()).unwrap();
    }
    for status in catalog.statuses() {
        let health = match status.health {
            SourceHealth::Waiting => "waiting".to_owned(),
            SourceHealth::Ready { .. } => "ready".to_owned(),
            SourceHealth::Failed { reason, times, .. } => format!("failed {times}: {reason}"),
            other => format!("{other:?}"),
        };
        writeln!(text, "[{}] {} tools, {health}", status.name, status.tools).unwrap();
        for refused in status.refused {
            writeln!(text, "  #{}: {}", refused.position, refused.error).unwrap();
        }
    }
    text
}

async fn check(catalog: &Catalog, change: &str, expected: Expect) {
    assert_eq!(outline(&catalog.refresh().await), change);
    expected.assert_eq(&state(catalog));
}

#[tokio::test]
async fn what_two_sources_give_as_one_is_counted_for_one_of_them() {
    let shared = registry(vec![Probe::new("a"), Probe::new("b")]);
    let counts = async |collisions| {
        let catalog = Catalog::builder()
            .source(FixedSource::new("one", shared.clone()))
            .source(FixedSource::new("two", shared.clone()))
            .collisions(collisions)
            .build()
            .unwrap();
        catalog.refresh().await;
        catalog.statuses().into_iter().map(|status| status.tools).collect::<Vec<_>>()
    };
    assert_eq!(counts(CollisionPolicy::Refuse).await, [2, 0]);
    assert_eq!(counts(CollisionPolicy::KeepFirst).await, [2, 0]);
    assert_eq!(counts(CollisionPolicy::KeepLast).await, [0, 2]);
}

#[tokio::test]
async fn a_refresh_says_what_came_went_and_changed() {
    let log = Log::default();
    let (one, two) = (Script::of("one", &[("a", "A."), ("b", "B.")]), Script::of("two", &[("c", "C.")]));
    let catalog = of(&[&one, &two]).events(log.events(), scope()).build().unwrap();
    check(
        &catalog,
        "+a +b +c",
        expect![[r#"
            a from mcp:one/a
            b from mcp:one/b
            c from mcp:two/c
            [one] 2 tools, ready
            [two] 1 tools, ready
        "#]],
    )
    .await;
    one.gives(&[("b", "Another B."), ("d", "D.")]);
    assert_eq!(outline(&catalog.refresh().await), "+d -a ~b");
    assert_eq!(outline(&catalog.refresh().await), "");
    assert_eq!(outline(&catalog.detach("two")), "-c");
    assert_eq!(outline(&catalog.detach("two")), "");
    catalog.attach(two).unwrap();
    assert_eq!(outline(&catalog.refresh_source("two").await), "+c");
    let changes: Vec<String> = log.outline().lines().map(str::to_owned).collect();
    // The first refresh may take one step or two.
    assert_eq!(
        changes[changes.len() - 3..],
        [
            r#"- ToolsChanged { added: [ToolName("d")], removed: [ToolName("a")], changed: [ToolName("b")] }"#,
            r#"- ToolsChanged { added: [], removed: [ToolName("c")], changed: [] }"#,
            r#"- ToolsChanged { added: [ToolName("c")], removed: [], changed: [] }"#,
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_source_that_fails_panics_or_hangs_keeps_its_last_tools_and_holds_nobody_up() {
    let log = Log::default();
    let (sound, failing) = (Script::of("sound", &[("a", "A.")]), Script::of("failing", &[("b", "B.")]));
    let (panicking, hanging) = (Script::of("panicking", &[("c", "C.")]), Script::new("hanging", Now::Hangs));
    let catalog = of(&[&sound, &failing, &panicking, &hanging])
        .timeout(Duration::from_secs(5))
        .events(log.events(), scope())
        .build()
        .unwrap();
    let start = Instant::now();
    assert_eq!(outline(&catalog.refresh().await), "+a +b +c");
    assert_eq!(start.elapsed().as_secs(), 5);
    failing.now(Now::Fails("the server said no"));
    panicking.now(Now::Panics);
    sound.gives(&[("a", "A."), ("d", "D.")]);
    check(
        &catalog,
        "+d",
        expect![[r#"
            a from mcp:sound/a
            b from mcp:failing/b
            c from mcp:panicking/c
            d from mcp:sound/d
            [sound] 2 tools, ready
            [failing] 1 tools, failed 1: cannot list the tools: the server said no
            [panicking] 1 tools, failed 1: it panicked: no tools today
            [hanging] 0 tools, failed 2: it did not give its tools within 5 s
        "#]],
    )
    .await;
    let failures: Vec<String> =
        log.outline().lines().filter(|line| line.contains("SourceFailed")).map(str::to_owned).collect();
    assert_eq!(failures.len(), 4, "{failures:?}");
    failing.gives(&[]);
    assert_eq!(outline(&catalog.refresh_source("failing").await), "-b");
}

#[tokio::test(start_paused = true)]
async fn the_tools_of_a_source_that_answers_are_there_while_another_is_waited_for() {
    let slow = Script::new("slow", Now::Takes(Duration::from_secs(10), tools_of("slow", &[("b", "B.")])));
    let catalog = of(&[&Script::of("fast", &[("a", "A.")]), &slow]).build().unwrap();
    let refresh = catalog.refresh();
    tokio::pin!(refresh);
    assert!(tokio::time::timeout(Duration::from_secs(1), &mut refresh).await.is_err());
    assert_eq!(catalog.snapshot().names().collect::<Vec<_>>(), ["a"]);
    assert_eq!(outline(&refresh.await), "+a +b");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_was_overtaken_changes_nothing() {
    let source = Script::new("s", Now::Takes(Duration::from_secs(10), tools_of("s", &[("old", "Old.")])));
    let catalog = of(&[&source]).build().unwrap();
    let overtaken = catalog.refresh();
    tokio::pin!(overtaken);
    assert!(tokio::time::timeout(Duration::from_secs(1), &mut overtaken).await.is_err());
    source.gives(&[("new", "New.")]);
    assert_eq!(outline(&catalog.refresh().await), "+new");
    overtaken.await;
    assert_eq!(catalog.snapshot().names().collect::<Vec<_>>(), ["new"]);
}

#[tokio::test]
async fn a_tool_that_cannot_be_used_is_left_out_with_its_reason() {
    let schema = json!({ "properties": { "a": { "type": "float" } } });
    let tools: Vec<Arc<dyn Tool>> = vec![
        Arc::new(tool("s", "a", "A.")),
        Arc::new(Indescribable),
        Arc::new(Probe::new("bad").schema(schema)),
        Arc::new(tool("s", "a", "Also A.")),
        Arc::new(tool("s", "search_tools", "Finds.")),
        Arc::new(tool("s", "b", "B.")),
        Arc::new(tool("s", "c", "C.")),
    ];
    let catalog = of(&[&Script::new("s", Now::Gives(tools))]).most_tools(6).build().unwrap();
    check(&catalog, "+a +b", expect![[r#"
        a from mcp:s/a
        b from mcp:s/b
        [s] 2 tools, ready
          #1: a tool cannot be used, because it panicked when it was asked to describe itself: I am nothing
          #2: the input schema of the tool `bad` cannot be used: at `/properties/a/type`: "float" is not valid under any of the schemas listed in the 'anyOf' keyword
          #3: two tools are called `a`: one from mcp:s/a, one from mcp:s/a; prefix or rename one of them
          #4: the name `search_tools` is kept for the tool that searches for others; rename the tool or prefix it
          #6: 7 tools are too many; the first 6 of them were taken
    "#]]).await;
}

#[tokio::test]
async fn tools_of_one_name_are_kept_apart_as_the_host_says() {
    let check = async |change: fn(CatalogBuilder) -> CatalogBuilder, expected: Expect| {
        let (one, two) =
            (Script::of("one", &[("a", "A."), ("x", "X.")]), Script::of("two", &[("x", "Other.")]));
        let catalog = change(of(&[&one, &two])).build().unwrap();
        catalog.refresh().await;
        expected.assert_eq(&state(&catalog));
    };
    check(
        |builder| builder,
        expect![[r#"
        a from mcp:one/a
        x from mcp:one/x
        [one] 2 tools, ready
        [two] 0 tools, ready
          #0: two tools are called `x`: one from mcp:one/x, one from mcp:two/x; prefix or rename one of them
    "#]],
    )
    .await;
    check(
        |builder| builder.collisions(CollisionPolicy::KeepFirst),
        expect![[r#"
        a from mcp:one/a
        x from mcp:one/x
        [one] 2 tools, ready
        [two] 0 tools, ready
    "#]],
    )
    .await;
    check(
        |builder| builder.collisions(CollisionPolicy::KeepLast),
        expect![[r#"
        a from mcp:one/a
        x from mcp:two/x
        [one] 1 tools, ready
        [two] 1 tools, ready
    "#]],
    )
    .await;
    check(
        CatalogBuilder::prefixed,
        expect![[r#"
        one__a from mcp:one/a
        one__x from mcp:one/x
        two__x from mcp:two/x
        [one] 2 tools, ready
        [two] 1 tools, ready
    "#]],
    )
    .await;
}

#[tokio::test]
async fn an_alias_never_stands_for_the_tool_of_another_source() {
    let named = |server: &str| registry([tool(server, "x", "X.")]).aliased("y", "x").unwrap();
    let catalog = Catalog::builder()
        .source(FixedSource::new("one", registry([tool("one", "x", "X.")])))
        .source(FixedSource::new("two", named("two")))
        .build()
        .unwrap();
    catalog.refresh().await;
    assert!(catalog.snapshot().get("y").is_none());
    catalog.detach("one");
    assert_eq!(catalog.snapshot().get("y").unwrap().origin().to_string(), "mcp:two/x");
}

#[test]
fn sources_must_have_names_of_their_own() {
    let named = |name: &'static str| FixedSource::new(name, ToolRegistry::new());
    let refused = Catalog::builder().source(named("a")).source(named("a")).build().unwrap_err();
    assert_eq!(refused, CatalogError::Duplicate { name: "a".into() });
    assert_eq!(Catalog::builder().source(named("")).build().unwrap_err(), CatalogError::Unnamed);
}

#[tokio::test]
async fn a_snapshot_stays_as_it_was_and_is_shared_while_nothing_changes() {
    let source = Script::of("s", &[("a", "A.")]);
    let catalog = of(&[&source]).build().unwrap();
    catalog.refresh().await;
    let (before, list) = (catalog.snapshot(), catalog.snapshot().direct_specs());
    catalog.refresh().await;
    assert!(Arc::ptr_eq(&list, &catalog.snapshot().direct_specs()));
    source.gives(&[("b", "B.")]);
    catalog.refresh().await;
    assert_eq!(before.names().collect::<Vec<_>>(), ["a"]);
    assert_eq!(catalog.snapshot().names().collect::<Vec<_>>(), ["b"]);
}

/// Lets everything that is due happen.
async fn settle() {
    tokio::time::sleep(Duration::from_secs(1)).await;
}

#[tokio::test(start_paused = true)]
async fn followed_sources_are_asked_when_they_tell_of_a_change_and_after_a_failure() {
    let (one, two) = (Script::of("one", &[("a", "A.")]), Script::of("two", &[("b", "B.")]));
    let catalog = of(&[&one]).build().unwrap();
    let following = tokio::spawn({
        let catalog = catalog.clone();
        async move { catalog.follow().await }
    });
    let names = || catalog.snapshot().names().map(str::to_owned).collect::<Vec<_>>();
    settle().await;
    assert_eq!(names(), ["a"]);

    catalog.attach(Arc::new(two.clone()) as Arc<dyn ToolSource>).unwrap();
    settle().await;
    assert_eq!(names(), ["a", "b"]);

    // Many changes at once are one refresh.
    two.gives(&[("c", "C.")]);
    (0..100).for_each(|_| two.signal.raise());
    settle().await;
    assert_eq!((names(), two.asked(), one.asked()), (vec!["a".to_owned(), "c".to_owned()], 2, 1));

    two.now(Now::Fails("gone"));
    two.signal.raise();
    settle().await;
    two.gives(&[("d", "D.")]);
    settle().await;
    assert_eq!(names(), ["a", "c"]);
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert_eq!((names(), two.asked()), (vec!["a".to_owned(), "d".to_owned()], 4));

    catalog.detach("two");
    two.signal.raise();
    settle().await;
    assert_eq!((names(), two.asked()), (vec!["a".to_owned()], 4));
    following.abort();
}

#[tokio::test(start_paused = true)]
async fn a_source_that_keeps_failing_is_asked_ever_more_rarely() {
    let check = async |delay: Duration, asked: u32| {
        let source = Script::new("s", Now::Fails("gone"));
        let catalog = of(&[&source]).retry_delay(delay).build().unwrap();
        let _ = tokio::time::timeout(Duration::from_secs(100), catalog.follow()).await;
        assert_eq!(source.asked(), asked);
    };
    // After 0, 1, 3, 7, 15, 31, 63 and 95 s.
    check(Duration::from_secs(1), 8).await;
    check(Duration::MAX, 1).await;
    // At 100 ms for the start, and every 3.2 s in the end.
    check(Duration::ZERO, 36).await;
}

#[tokio::test(start_paused = true)]
async fn ten_thousand_tools_are_merged_and_one_that_changes_is_told() {
    let mut tools: Vec<(String, String)> =
        (0..10_000).map(|number| (format!("tool_{number:05}"), format!("Does {number}."))).collect();
    let given = |tools: &[(String, String)]| {
        let tools: Vec<(&str, &str)> = tools.iter().map(|(name, text)| (&**name, &**text)).collect();
        tools_of("s", &tools)
    };
    let source = Script::new("s", Now::Gives(given(&tools)));
    let catalog = of(&[&source]).build().unwrap();
    assert_eq!(catalog.refresh().await.added.len(), 10_000);
    tools[7].1.push('!');
    source.now(Now::Gives(given(&tools)));
    assert_eq!(outline(&catalog.refresh().await), "~tool_00007");
    let snapshot = catalog.snapshot();
    assert!(snapshot.names().is_sorted());
    let found: Vec<&str> = snapshot.search("7777", 2).iter().map(|spec| spec.name().as_str()).collect();
    assert_eq!(found, ["tool_07777"]);
}

const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];

/// What a source does next: give these tools, each with one of a few descriptions, or fail.
fn next() -> impl Strategy<Value = Option<BTreeMap<&'static str, &'static str>>> {
    let tools = btree_map(prop::sample::select(&NAMES), prop::sample::select(&["One.", "Two."]), 0..5);
    prop::option::weighted(0.7, tools)
}

proptest! {
    #[test]
    fn after_any_sequence_of_refreshes_the_catalog_has_the_last_tools_of_every_source(
        steps in vec((0..3_usize, next()), 1..10),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let sources = ["one", "two", "three"].map(|name| Script::of(name, &[]));
            let catalog = of(&[&sources[0], &sources[1], &sources[2]]).build().unwrap();
            let mut last: [BTreeMap<&str, &str>; 3] = Default::default();
            for (place, now) in steps {
                match now {
                    Some(tools) => {
                        sources[place].gives(&tools.iter().map(|(name, text)| (*name, *text)).collect::<Vec<_>>());
                        last[place] = tools;
                    }
                    None => sources[place].now(Now::Fails("no")),
                }
                let before = catalog.snapshot();
                let change = catalog.refresh().await;
                let after = catalog.snapshot();
                let mut expected = BTreeMap::new();
                for (source, tools) in sources.iter().zip(&last).rev() {
                    let origin = format!("mcp:{}/", source.name());
                    expected.extend(tools.iter().map(|(name, text)| (*name, (*text, format!("{origin}{name}")))));
                }
                let found: Vec<_> =
                    after.iter().map(|spec| (spec.name().as_str(), (spec.description(), spec.origin().to_string()))).collect();
                let wanted: Vec<_> = expected.into_iter().collect();
                prop_assert_eq!(found, wanted);
                for name in NAMES {
                    let told = |names: &[haft_core::ToolName]| names.iter().any(|told| told.as_str() == name);
                    let (old, new) = (before.get(name), after.get(name));
                    prop_assert_eq!(told(&change.added), old.is_none() && new.is_some());
                    prop_assert_eq!(told(&change.removed), old.is_some() && new.is_none());
                    let changed = old.zip(new).is_some_and(|(old, new)| old.version() != new.version());
                    prop_assert_eq!(told(&change.changed), changed);
                }
            }
            Ok(())
        })?;
    }
}
