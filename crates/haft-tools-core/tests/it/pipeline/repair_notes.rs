use crate::fixture::{
    Log, Probe, anything, call, outline, permissive, read, registry, replies, reply, resume, scope,
};
use expect_test::expect;
use haft_core::{ReplyStatus, ToolError};
use haft_tools_core::{
    Accesses, Approval, Batch, LocalExecutor, PendingCall, Policy, Rule, ToolExecutor as _, approver_fn,
};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

#[tokio::test]
async fn the_note_stays_small_and_the_reply_tells_all() {
    let long = json!([{ "name": "é".repeat(500) }]).to_string();
    let names: Vec<String> = (0..20).map(|number| number.to_string()).collect();
    let numbers: serde_json::Map<_, _> =
        names.iter().map(|name| (name.clone(), json!({ "type": "integer" }))).collect();
    let input: serde_json::Map<_, _> = names.iter().map(|name| (name.clone(), json!(name))).collect();
    let lists =
        Probe::new("list").schema(json!({ "properties": { "marks": { "type": "array" } } })).says("done");
    let listed = reply(&permissive([lists]).build(), "list", json!({ "marks": long })).await;
    expect![[r#"
        ok
        done
        [the arguments were changed: /marks: decoded JSON that was sent as a string ("[{\"name\":\"ééééééééééééééééééééééééééééééééé… → "[{\"name\":\"ééééééééééééééééééééééééééééééééé…)]"#]].assert_eq(&outline(&listed));
    let executor =
        permissive([Probe::new("edit").schema(json!({ "properties": numbers })).says("done")]).build();
    let reply = reply(&executor, "edit", Value::Object(input)).await;
    expect![[r#"
        ok
        done
        [the arguments were changed: /0: took a string as the value it spells ("0" → 0); /1: took a string as the value it spells ("1" → 1); /10: took a string as the value it spells ("10" → 10); /11: took a string as the value it spells ("11" → 11); /12: took a string as the value it spells ("12" → 12); /13: took a string as the value it spells ("13" → 13); /14: took a string as the value it spells ("14" → 14); /15: took a string as the value it spells ("15" → 15); and 12 more]"#]].assert_eq(&outline(&reply));
    assert_eq!(reply.repairs.len(), 20);
}

#[tokio::test]
async fn the_tool_the_policy_and_the_person_see_the_repaired_arguments() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (declaring, running, asking) = (Arc::clone(&seen), Arc::clone(&seen), Arc::clone(&seen));
    let schema = json!({ "properties": { "path": { "type": "string" }, "line": { "type": "integer" } } });
    let probe = Probe::new("edit")
        .schema(schema)
        .declare(move |input| {
            declaring.lock().unwrap().push(("prepared", input.clone()));
            Ok(Accesses::from(read(&format!("file:{}:{}", input["path"].as_str().unwrap(), input["line"]))))
        })
        .run(move |input, _| {
            running.lock().unwrap().push(("ran", input));
            std::future::ready(Ok("done".into()))
        });
    let log = Log::default();
    let executor = LocalExecutor::builder(registry([probe]))
        .events(log.events())
        .approver(approver_fn(move |pending: &PendingCall| {
            asking.lock().unwrap().push(("asked", pending.call.input.clone()));
            Approval::Approve
        }))
        .build();
    let reply = reply(&executor, "edit", json!({ "path": "b", "line": "5" })).await;
    expect![[r#"
        ok
        done
        [the arguments were changed: /line: took a string as the value it spells ("5" → 5)]"#]]
    .assert_eq(&outline(&reply));
    let repaired = json!({ "path": "b", "line": 5 });
    assert_eq!(
        *seen.lock().unwrap(),
        [("prepared", repaired.clone()), ("asked", repaired.clone()), ("ran", repaired)]
    );
    expect![[r#"
        c1 started edit {"line":"5","path":"b"}
        c1 decided ask: read file:b:5: ask, no rule speaks of it
        c1 asked ["read file:b:5"] ""
        c1 decided allow: approved
        c1 finished ok: done
        [the arguments were changed: /line: took a string as the value it spells ("5" → 5)]
    "#]]
    .assert_eq(&log.outline());
}

#[tokio::test]
async fn a_repair_is_told_of_whatever_becomes_of_the_call() {
    let schema = json!({ "properties": { "n": { "type": "integer" } } });
    let probe = |name: &str| Probe::new(name).schema(schema.clone());
    let fails = probe("fails")
        .run(|_, _| std::future::ready(Err(ToolError::failed("the disk is full; free some space"))));
    let lost = probe("lost").declare(|_| Err(ToolError::not_found("there is no line 5; the last is 3")));
    let tools = registry([fails, lost, probe("forbidden")]);
    let policy = anything().deny(Rule::tools("forbidden".parse().unwrap()));
    let executor = LocalExecutor::builder(tools).policy(policy).build();
    let calls = ["fails", "lost", "forbidden"].map(|name| call(name, name, json!({ "n": "5" })));
    let replies = replies(&executor, calls.into()).await;
    let text: String = replies.iter().map(|reply| outline(reply) + "\n").collect();
    expect![[r#"
        error: failed
        the disk is full; free some space
        [the arguments were changed: /n: took a string as the value it spells ("5" → 5)]
        error: not found
        there is no line 5; the last is 3
        [the arguments were changed: /n: took a string as the value it spells ("5" → 5)]
        denied
        `forbidden` is not permitted to do this (deny by the rule forbidden); do not try it again, find another way or say what you would need
        [the arguments were changed: /n: took a string as the value it spells ("5" → 5)]
    "#]].assert_eq(&text);
    assert!(replies.iter().all(|reply| reply.repairs.len() == 1 && reply.status != ReplyStatus::Ok));
}

#[tokio::test]
async fn a_repair_is_told_of_when_a_call_that_waited_goes_on() {
    let schema = json!({ "properties": { "n": { "type": "integer" } } });
    let executor = LocalExecutor::builder(registry([Probe::new("t").schema(schema)]))
        .policy(Policy::new())
        .approver(approver_fn(|_: &PendingCall| Approval::Later))
        .build();
    let batch = Batch::new(scope(), vec![call("c1", "t", json!({ "n": "5" }))]);
    let waiting = executor.execute_batch(batch).await.into_replies().unwrap_err();
    let pending = waiting.iter().next().unwrap().clone();
    let resumed = resume(&executor, pending, Approval::Approve).await;
    expect![[r#"
        ok
        {"n":5}
        [the arguments were changed: /n: took a string as the value it spells ("5" → 5)]"#]]
    .assert_eq(&outline(&resumed));
}

/// Calls a tool with a null for each property that it could do without, as a provider's strict mode makes models do.
async fn check_nulls(schema: Value, input: Value, taken: Value, nulls: usize) {
    let reply = reply(&permissive([Probe::new("edit").schema(schema)]).build(), "edit", input).await;
    assert_eq!((reply.status, reply.output.to_text()), (ReplyStatus::Ok, taken.to_string()));
    assert_eq!(reply.repairs.len(), nulls);
    for repair in &reply.repairs {
        assert_eq!(
            (&repair.from, &repair.to, repair.note.as_str()),
            (&json!(null), &None, "took null as absent")
        );
    }
}

#[tokio::test]
async fn a_null_for_each_optional_property_is_taken_without_a_word_to_the_model() {
    let names: Vec<String> = (0..40).map(|number| format!("p{number}")).collect();
    let of = |value: Value| names.iter().map(|name| (name.clone(), value.clone())).collect::<Value>();
    let optionals = json!({ "properties": of(json!({ "type": "string" })), "additionalProperties": false });
    check_nulls(optionals, of(json!(null)), json!({}), 40).await;
    let row = json!({
        "type": "object",
        "properties": {
            "id": { "type": "integer" },
            "name": { "enum": ["a", "b"] },
            "next": { "$ref": "#/$defs/row" },
        },
        "required": ["id"],
        "additionalProperties": false,
    });
    for items in [
        json!({ "$ref": "#/$defs/row" }),
        json!({ "anyOf": [{ "$ref": "#/$defs/row" }, { "type": "null" }] }),
    ] {
        let rows = |count: usize, row: Value| json!({ "rows": vec![row; count] });
        let schema = json!({
            "properties": { "rows": { "type": "array", "items": items } },
            "required": ["rows"],
            "$defs": { "row": row.clone() },
        });
        let sent = json!({ "id": 1, "name": null, "next": null });
        check_nulls(schema.clone(), rows(20, sent.clone()), rows(20, json!({ "id": 1 })), 40).await;
        check_nulls(schema, rows(100, sent), rows(100, json!({ "id": 1 })), 200).await;
    }
}

#[tokio::test]
async fn a_null_is_not_told_of_beside_what_is() {
    let schema = json!({ "properties": { "a": { "type": "integer" }, "b": { "type": "integer" } } });
    let reply = reply(
        &permissive([Probe::new("edit").schema(schema)]).build(),
        "edit",
        json!({ "a": null, "b": "5" }),
    )
    .await;
    expect![[r#"
        ok
        {"b":5}
        [the arguments were changed: /b: took a string as the value it spells ("5" → 5)]"#]]
    .assert_eq(&outline(&reply));
    assert_eq!(reply.repairs.len(), 2);
}
