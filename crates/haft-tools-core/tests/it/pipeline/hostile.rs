use super::{check, edit};
use crate::fixture::{Probe, outline, permissive, reply};
use expect_test::expect;
use haft_tools_core::ToolRegistry;
use serde_json::{Map, Value, json};

#[tokio::test]
async fn the_text_stays_small_whatever_the_arguments_and_the_schema() {
    let long = "é".repeat(50_000);
    check(edit(), json!({ "path": [long], "line": long.as_str(), long.as_str(): 1 }), expect![[r#"
        error: invalid input
        the arguments do not fit `edit`:
        - at `/line`: "éééééééééééééééééééééééééééééééééééééééé…" is not an integer
        - at `/path`: ["ééééééééééééééééééééééééééééééééééééééé… is not a string
        - at the top: unknown property `éééééééééééééééééééééééééééééééééééééééé…`; it takes `line`, `marks`, `mode` and `path`
        correct them and call the tool again"#]]).await;
    let many: Vec<_> = (0..10_000).map(|_| json!("x")).collect();
    let numbers = json!({ "properties": { "n": { "type": "array", "items": { "type": "integer" } } } });
    check(
        numbers,
        json!({ "n": many }),
        expect![[r#"
        error: invalid input
        the arguments do not fit `edit`:
        - at `/n/0`: "x" is not an integer
        - at `/n/1`: "x" is not an integer
        - at `/n/2`: "x" is not an integer
        - at `/n/3`: "x" is not an integer
        - at `/n/4`: "x" is not an integer
        - at `/n/5`: "x" is not an integer
        - at `/n/6`: "x" is not an integer
        - at `/n/7`: "x" is not an integer
        - at `/n/8`: "x" is not an integer
        - at `/n/9`: "x" is not an integer
        - at `/n/10`: "x" is not an integer
        - at `/n/11`: "x" is not an integer
        - and 9988 more
        correct them and call the tool again"#]],
    )
    .await;
    let repeated: Vec<_> = (0..30).map(|_| json!({ "required": ["b"] })).collect();
    check(
        json!({ "allOf": repeated }),
        json!({}),
        expect![[r#"
        error: invalid input
        the arguments do not fit `edit`:
        - at the top: the property `b` is missing
        correct them and call the tool again"#]],
    )
    .await;
    let pattern = json!({ "properties": { "a": { "pattern": "x".repeat(10_000) } } });
    let executor = permissive([Probe::new("edit").schema(pattern)]).build();
    assert!(outline(&reply(&executor, "edit", json!({ "a": "" })).await).len() < 700);
}

#[tokio::test]
async fn arguments_that_are_nested_too_deeply_are_refused() {
    let nested = |levels: usize| (0..levels).fold(json!(1), |inner, _| json!({ "a": inner }));
    let open = json!({});
    check(
        open.clone(),
        nested(129),
        expect![[r#"
        error: invalid input
        the arguments of `edit` are nested too deeply to be checked; call it again with flatter ones"#]],
    )
    .await;
    let executor = permissive([Probe::new("edit").schema(open)]).build();
    assert!(reply(&executor, "edit", nested(128)).await.status.is_ok());
}

/// Makes a schema whose property `a` hands its value on from one definition to the next, and the last one's own.
fn chained(definitions: usize, link: impl Fn(Value) -> Value, last: Value) -> Value {
    let mut all: Map<String, Value> = (0..definitions)
        .map(|place| (format!("d{place}"), link(json!({ "$ref": format!("#/$defs/d{}", place + 1) }))))
        .collect();
    all.insert(format!("d{definitions}"), last);
    json!({ "properties": { "a": { "$ref": "#/$defs/d0" } }, "$defs": all })
}

fn nested(levels: usize) -> Value {
    (1..levels).fold(json!({ "b": 1 }), |inner, _| json!({ "a": inner }))
}

#[tokio::test]
async fn the_longest_chains_that_are_taken_fit_the_stack() {
    let integer = || json!({ "type": "integer" });
    check(
        chained(99, |next| next, integer()),
        json!({ "a": "x" }),
        expect![[r#"
        error: invalid input
        the arguments do not fit `edit`:
        - at `/a`: "x" is not an integer
        correct them and call the tool again"#]],
    )
    .await;
    check(
        chained(49, |next| json!({ "allOf": [next] }), integer()),
        json!({ "a": "x" }),
        expect![[r#"
        error: invalid input
        the arguments do not fit `edit`:
        - at `/a`: "x" is not an integer
        correct them and call the tool again"#]],
    )
    .await;
    let again = || json!({ "properties": { "a": { "$ref": "#/$defs/d0" } }, "additionalProperties": false });
    check(chained(0, |next| next, again()), nested(128), expect![[r#"
        error: invalid input
        the arguments do not fit `edit`:
        - at `/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a…`: unknown property `b`; it takes `a`
        correct them and call the tool again"#]]).await;
    check(
        chained(49, |next| json!({ "anyOf": [next] }), again()),
        nested(6),
        expect![[r#"
        error: invalid input
        the arguments do not fit `edit`:
        - at `/a/a/a/a/a`: unknown property `b`; it takes `a`
        correct them and call the tool again"#]],
    )
    .await;
    check(
        chained(12, |next| json!({ "anyOf": [next] }), again()),
        nested(23),
        expect![[r#"
        error: invalid input
        the arguments do not fit `edit`:
        - at `/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a`: unknown property `b`; it takes `a`
        correct them and call the tool again"#]],
    )
    .await;
    check(
        chained(12, |next| json!({ "anyOf": [next] }), again()),
        nested(24),
        expect![[r#"
        error: invalid input
        the arguments of `edit` are nested too deeply to be checked; call it again with flatter ones"#]],
    )
    .await;
}

#[test]
fn longer_chains_are_refused_when_the_tool_is_registered() {
    let check = |schema: Value, expect: expect_test::Expect| {
        let registry = ToolRegistry::new().with(Probe::new("t").schema(schema));
        expect.assert_eq(&registry.map_or_else(|error| error.to_string(), |_| "taken".to_owned()));
    };
    check(chained(99, |next| next, json!({})), expect!["taken"]);
    check(
        chained(100, |next| next, json!({})),
        expect![
            "the input schema of the tool `t` cannot be used: more than 100 of its schemas refer to each other, one after the other"
        ],
    );
    check(
        chained(50_000, |next| next, json!({})),
        expect![
            "the input schema of the tool `t` cannot be used: more than 100 of its schemas refer to each other, one after the other"
        ],
    );
    check(
        chained(50, |next| json!({ "allOf": [{}, next] }), json!({})),
        expect![
            "the input schema of the tool `t` cannot be used: more than 100 of its schemas refer to each other, one after the other"
        ],
    );
    check(
        chained(100, |next| json!({ "if": next }), json!({})),
        expect![
            "the input schema of the tool `t` cannot be used: more than 100 of its schemas refer to each other, one after the other"
        ],
    );
    // Many short ones are fine, as large documents have them.
    let many: Map<_, _> =
        (0..1_000).map(|place| (format!("p{place}"), json!({ "$ref": "#/$defs/d" }))).collect();
    check(json!({ "properties": many, "$defs": { "d": { "anyOf": [{}, {}] } } }), expect!["taken"]);
    // What cannot be followed is taken for one chain.
    let named = |count: usize| {
        let all: Map<_, _> =
            (0..count).map(|place| (format!("p{place}"), json!({ "$ref": "#name" }))).collect();
        json!({ "properties": all, "$defs": { "d": { "$anchor": "name" } } })
    };
    check(named(100), expect!["taken"]);
    check(
        named(101),
        expect![
            "the input schema of the tool `t` cannot be used: it combines or refers to other schemas 101 times, and not all of its references can be followed; 100 are the most then"
        ],
    );
}
