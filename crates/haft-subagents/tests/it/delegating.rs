//! What comes back of what is delegated.

use crate::fixture::{Setup, helper, transcript};
use expect_test::{Expect, expect};
use haft_core::Schema;
use serde_json::json;

/// Plays a session to its end and compares what the run at the top has seen.
async fn check(setup: &Setup, expected: Expect) {
    let process = setup.process();
    let state = process.run().await;
    expected.assert_eq(&transcript(&state));
}

#[tokio::test]
async fn one_task_gives_what_the_agent_says_last() {
    let session = r#"
{"calls":[{"id":"c1","name":"delegate","input":{"tasks":[{"agent":"helper","task":"Find the cup."}]}}]}
{"run":"c1/0","calls":[{"id":"h1","name":"look","input":{"name":"cup"}}]}
{"run":"c1/0","text":"It is a cup.","after":{"h1":"ok"}}
{"text":"Found.","after":{"c1":"ok"}}
"#;
    check(
        &Setup::new(session),
        expect![[r#"
        person: go
        model: 
        c1 ok: It is a cup.
        model: Found.
        Some(Completed)"#]],
    )
    .await;
}

#[tokio::test]
async fn several_tasks_give_one_part_each_in_their_order() {
    let session = r#"
{"calls":[{"id":"c1","name":"delegate","input":{"tasks":[{"agent":"helper","task":"Find the cup."},{"agent":"reader","task":"Read."}]}}]}
{"run":"c1/0","text":"It is a cup."}
{"run":"c1/1","text":"It says so.\nTwice."}
{"text":"Found.","after":{"c1":"ok"}}
"#;
    let setup = Setup { agents: vec![helper("helper"), helper("reader")], ..Setup::new(session) };
    check(
        &setup,
        expect![[r#"
        person: go
        model: 
        c1 ok: [1 of 2] `helper-#` done:
        It is a cup.
        [2 of 2] `reader-#` done:
        It says so.
        Twice.
        model: Found.
        Some(Completed)"#]],
    )
    .await;
}

#[tokio::test]
async fn forged_and_useless_input_is_refused_with_what_to_do() {
    let session = r#"
{"calls":[
{"id":"c1","name":"delegate","input":{"tasks":[]}},
{"id":"c2","name":"delegate","input":{"tasks":[{"agent":"helpr","task":"Go."}]}},
{"id":"c3","name":"delegate","input":{"tasks":[{"agent":"helper","task":"Go.","run":"run-1"}]}},
{"id":"c4","name":"delegate","input":{"tasks":[{"agent":"helper","task":"Go."}],"depth":0}},
{"id":"c5","name":"delegate","input":{"tasks":[{"agent":"helper","task":"  "}]}},
{"id":"c6","name":"wait_agents","input":{"agents":["run-1"]}},
{"id":"c7","name":"send_agent","input":{"agent":"run-1","message":"Hi."}},
{"id":"c8","name":"cancel_agent","input":{"agent":"run-1"}}]}
{"text":"So be it."}
"#
    .replace(",\n{\"id\"", ",{\"id\"")
    .replace("[\n", "[");
    check(
        &Setup::new(&session),
        expect![[r#"
        person: go
        model: 
        c1 error: invalid input: the arguments do not fit `delegate`:
        - at `/tasks`: [] has less than 1 item
        correct them and call the tool again
        c2 error: not found: there is no agent `helpr`; did you mean `helper`?
        c3 error: invalid input: the arguments do not fit `delegate`:
        - at `/tasks/0`: unknown property `run`; it takes `agent` and `task`
        correct them and call the tool again
        c4 error: invalid input: the arguments do not fit `delegate`:
        - at the top: unknown property `depth`; it takes `background` and `tasks`
        correct them and call the tool again
        c5 error: invalid input: a task is empty; write what is to be done
        c6 error: not found: you have delegated to no agent `run-1`; you have delegated to none yet
        c7 error: not found: you have delegated to no agent `run-1`; you have delegated to none yet
        c8 error: not found: you have delegated to no agent `run-1`; you have delegated to none yet
        model: So be it.
        Some(Completed)"#]],
    )
    .await;
}

#[tokio::test]
async fn a_result_that_does_not_fit_its_schema_is_asked_for_once_more() {
    let session = r#"
{"calls":[{"id":"d","name":"delegate","input":{"tasks":[{"agent":"counter","task":"Count."},{"agent":"counter","task":"Report."},{"agent":"counter","task":"Fail."}]}}]}
{"run":"d/0","text":"Five."}
{"run":"d/0","text":"{\"count\": 5}"}
{"run":"d/1","calls":[{"id":"r","name":"report","input":{"count":6}}]}
{"run":"d/2","text":"Many."}
{"run":"d/2","text":"Very many."}
{"text":"Done.","after":{"d":"ok"}}
"#;
    let schema = json!({ "required": ["count"], "properties": { "count": { "type": "integer" } } });
    let counter = helper("counter").output(Schema::new(schema).unwrap());
    check(&Setup { agents: vec![counter], ..Setup::new(session) }, expect![[r#"
        person: go
        model: 
        d ok: [1 of 3] `counter-#` done:
        {"count": 5}
        [2 of 3] `counter-#` done:
        {"count":6}
        [3 of 3] `counter-#` stopped: its result does not fit the schema that it has, though it was asked twice: there is no JSON object in it; use what it said last, or delegate the task anew
        What it said last:
        Very many.
        model: Done.
        Some(Completed)"#]]).await;
}
