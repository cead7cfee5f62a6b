use crate::catalog_sources::Indescribable;
use crate::fixture::{Probe, anything, outline, registry, reply};
use expect_test::{Expect, expect};
use haft_tools_core::{LocalExecutor, RegistryError, Tool, ToolRegistry};
use serde_json::{Value, json};
use std::sync::Arc;

#[test]
fn a_schema_that_cannot_be_used_is_refused_with_its_reason() {
    let check = |schema: Value, expect: Expect| {
        let refused = ToolRegistry::new().with(Probe::new("t").schema(schema)).unwrap_err();
        expect.assert_eq(&refused.to_string());
    };
    let property = |schema: Value| json!({ "properties": { "a": schema } });
    check(
        property(json!({ "type": "float" })),
        expect![[
            r#"the input schema of the tool `t` cannot be used: at `/properties/a/type`: "float" is not valid under any of the schemas listed in the 'anyOf' keyword"#
        ]],
    );
    check(
        property(json!({ "type": 5 })),
        expect![
            "the input schema of the tool `t` cannot be used: at `/properties/a/type`: 5 is not valid under any of the schemas listed in the 'anyOf' keyword"
        ],
    );
    check(
        json!({ "required": "a" }),
        expect![[
            r#"the input schema of the tool `t` cannot be used: at `/required`: "a" is not of type "array""#
        ]],
    );
    check(
        property(json!({ "pattern": "([" })),
        expect![[
            r#"the input schema of the tool `t` cannot be used: at `/properties/a/pattern`: "([" is not a "regex""#
        ]],
    );
    check(
        property(json!({ "pattern": "((a{1000}){1000}){1000}" })),
        expect![[
            r#"the input schema of the tool `t` cannot be used: at `/properties/a/pattern`: "((a{1000}){1000}){1000}" is not a "regex""#
        ]],
    );
    check(
        property(json!({ "$ref": "#/$defs/b" })),
        expect!["the input schema of the tool `t` cannot be used: Pointer '/$defs/b' does not exist"],
    );
    // Nothing is fetched: not from a server, and not from the disk.
    check(
        property(json!({ "$ref": "http://127.0.0.1:9/a.json" })),
        expect![
            "the input schema of the tool `t` cannot be used: Resource 'http://127.0.0.1:9/a.json' is not present in a registry and retrieving it failed: Retrieval is disabled, cannot fetch http://127.0.0.1:9/a.json"
        ],
    );
    check(
        property(json!({ "$ref": "file:///etc/passwd" })),
        expect![
            "the input schema of the tool `t` cannot be used: Resource 'file:///etc/passwd' is not present in a registry and retrieving it failed: Retrieval is disabled, cannot fetch file:///etc/passwd"
        ],
    );
    check(
        json!({ "$schema": "https://example.org/dialect" }),
        expect![
            "the input schema of the tool `t` cannot be used: Unknown meta-schema: 'https://example.org/dialect'. Custom meta-schemas must be registered in the registry before use"
        ],
    );
    let nested = (0..100).fold(json!({}), |inner, _| json!({ "properties": { "a": inner } }));
    check(
        nested,
        expect!["the input schema of the tool `t` cannot be used: it is nested more than 128 levels deep"],
    );
}

#[tokio::test]
async fn a_schema_that_refers_to_itself_is_followed_as_far_as_the_arguments_go() {
    let check = async |schema: Value, input: Value, expect: Expect| {
        let executor =
            LocalExecutor::builder(registry([Probe::new("t").schema(schema)])).policy(anything()).build();
        expect.assert_eq(&outline(&reply(&executor, "t", input).await));
    };
    let tree = json!({ "properties": { "left": { "$ref": "#" }, "value": { "type": "integer" } } });
    check(
        tree,
        json!({ "left": { "left": { "value": "x" } } }),
        expect![[r#"
        error: invalid input
        the arguments do not fit `t`:
        - at `/left/left/value`: "x" is not an integer
        correct them and call the tool again"#]],
    )
    .await;
    // These say nothing but that they are themselves.
    check(
        json!({ "$ref": "#" }),
        json!({}),
        expect![[r#"
        ok
        {}"#]],
    )
    .await;
    check(
        json!({ "allOf": [{ "$ref": "#" }] }),
        json!({}),
        expect![[r#"
        ok
        {}"#]],
    )
    .await;
    check(
        json!({ "not": { "$ref": "#" } }),
        json!({}),
        expect![[r#"
        error: invalid input
        the arguments do not fit `t`:
        - at the top: {} is of a form that is ruled out
        correct them and call the tool again"#]],
    )
    .await;
    let mutual = json!({
        "$ref": "#/$defs/a",
        "$defs": { "a": { "$ref": "#/$defs/b" }, "b": { "$ref": "#/$defs/a" } },
    });
    check(
        mutual,
        json!({ "a": 1 }),
        expect![[r#"
        ok
        {"a":1}"#]],
    )
    .await;
}

#[test]
fn a_tool_that_panics_when_it_describes_itself_is_refused() {
    let expected = RegistryError::Panicked { message: "I am nothing".to_owned() };
    assert_eq!(ToolRegistry::new().with(Indescribable).unwrap_err(), expected);
    assert_eq!(ToolRegistry::of([Arc::new(Indescribable) as Arc<dyn Tool>]).unwrap_err(), expected);
    let (registry, refused) = ToolRegistry::admit([
        Arc::new(Indescribable) as Arc<dyn Tool>,
        Arc::new(Probe::new("a")),
        Arc::new(Probe::new("a").says("other")),
    ]);
    assert_eq!(registry.names().collect::<Vec<_>>(), ["a"]);
    assert_eq!(refused[0].error, expected);
    assert_eq!((refused.len(), refused[1].position), (2, 2));
}

#[test]
fn a_reason_does_not_grow_with_the_schema_it_quotes() {
    let schema = json!({ "required": "x".repeat(100_000) });
    let error = ToolRegistry::new().with(Probe::new("t").schema(schema)).unwrap_err();
    assert!(error.to_string().len() < 1_100, "{}", error.to_string().len());
}
