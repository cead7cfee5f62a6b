mod again;
mod endings;
mod times;

use crate::fixture::{Lines, Probe, anything, outline, outlines, registry, reply, resource, write};
use async_trait::async_trait;
use expect_test::{Expect, expect};
use haft_core::{ReplyStatus, ToolOutput};
use haft_tools_core::{
    AccessMode, Accesses, Approval, Approver, Before, Layer, LayerAnswer, LayerCall, LocalExecutor,
    PendingCall, Rule, Unmet, approver_fn,
};
use serde_json::{Value, json};
use std::sync::Arc;

type Says = dyn Fn(&Value) -> Before + Send + Sync;

/// Keeps what it sees, and says of a call what a test wants.
#[derive(Clone)]
struct Watch {
    name: &'static str,
    seen: Lines,
    says: Arc<Says>,
}

impl Watch {
    fn new(name: &'static str, seen: &Lines) -> Self {
        Self { name, seen: seen.clone(), says: Arc::new(|_| Before::proceed()) }
    }

    fn says(mut self, says: impl Fn(&Value) -> Before + Send + Sync + 'static) -> Self {
        self.says = Arc::new(says);
        self
    }

    fn replaces(self, input: Value) -> Self {
        self.says(move |_| Before::replace_input(input.clone()))
    }
}

#[async_trait]
impl Layer for Watch {
    fn name(&self) -> &str {
        self.name
    }

    async fn before(&self, call: &LayerCall<'_>) -> Before {
        self.seen.add(format!(
            "{} before {} {} {:?}",
            self.name,
            call.call.id,
            call.call.input,
            printed(call)
        ));
        (self.says)(&call.call.input)
    }

    async fn after(&self, call: &LayerCall<'_>, answer: LayerAnswer) -> LayerAnswer {
        self.seen.add(format!(
            "{} after {} {} {:?}: {} {}",
            self.name,
            call.call.id,
            call.call.input,
            printed(call),
            answer.status,
            answer.output.to_text()
        ));
        answer
    }
}

fn printed(call: &LayerCall<'_>) -> Vec<String> {
    call.accesses.iter().map(ToString::to_string).collect()
}

/// Is a tool that writes the file it is given.
fn write_file() -> Probe {
    Probe::new("write")
        .schema(json!({ "properties": { "path": { "type": "string" } }, "required": ["path"] }))
        .declare(|input| Ok(Accesses::from(write(&format!("file:{}", input["path"].as_str().unwrap())))))
}

fn guarded() -> haft_tools_core::Policy {
    anything()
        .deny(Rule::access(AccessMode::Write, resource("file:locked")))
        .ask(Rule::access(AccessMode::Write, resource("file:asked")))
}

/// Calls `write` for the file `a`, with two layers; prints the reply and what they saw.
async fn check(second: impl FnOnce(Watch) -> Watch, approver: impl Approver, expect: Expect) {
    let seen = Lines::default();
    let executor = LocalExecutor::builder(registry([write_file()]))
        .policy(guarded())
        .approver(approver)
        .layer(Watch::new("outer", &seen))
        .layer(second(Watch::new("middle", &seen)))
        .layer(Watch::new("inner", &seen))
        .build();
    let reply = reply(&executor, "write", json!({ "path": "a" })).await;
    expect.assert_eq(&format!("{}\n\n{}", outline(&reply), seen.take()));
}

fn nobody() -> impl Approver {
    approver_fn(|_: &PendingCall| panic!("nobody should be asked"))
}

/// What is seen where no layer changes anything.
fn as_an_onion() -> Expect {
    expect![[r#"
    ok
    {"path":"a"}

    outer before c1 {"path":"a"} ["write file:a"]
    middle before c1 {"path":"a"} ["write file:a"]
    inner before c1 {"path":"a"} ["write file:a"]
    inner after c1 {"path":"a"} ["write file:a"]: ok {"path":"a"}
    middle after c1 {"path":"a"} ["write file:a"]: ok {"path":"a"}
    outer after c1 {"path":"a"} ["write file:a"]: ok {"path":"a"}
"#]]
}

#[tokio::test]
async fn layers_wrap_each_other_like_an_onion() {
    check(|middle| middle, nobody(), as_an_onion()).await;
}

#[tokio::test]
async fn a_replaced_input_goes_through_every_stage_again() {
    check(|middle| middle.replaces(json!({ "path": "b" })), nobody(), expect![[r#"
        ok
        {"path":"b"}
        [the arguments were changed: the whole: changed by the host before the call ran ({"path":"a"} → {"path":"b"})]

        outer before c1 {"path":"a"} ["write file:a"]
        middle before c1 {"path":"a"} ["write file:a"]
        outer before c1 {"path":"b"} ["write file:b"]
        inner before c1 {"path":"b"} ["write file:b"]
        inner after c1 {"path":"b"} ["write file:b"]: ok {"path":"b"}
        middle after c1 {"path":"b"} ["write file:b"]: ok {"path":"b"}
        outer after c1 {"path":"b"} ["write file:b"]: ok {"path":"b"}
    "#]]).await;
    check(|middle| middle.replaces(json!({ "path": 5 })), nobody(), expect![[r#"
        error: invalid input
        the arguments do not fit `write`:
        - at `/path`: 5 is not a string
        correct them and call the tool again
        [the arguments were changed: the whole: changed by the host before the call ran ({"path":"a"} → {"path":5})]

        outer before c1 {"path":"a"} ["write file:a"]
        middle before c1 {"path":"a"} ["write file:a"]
        middle after c1 {"path":5} ["write file:a"]: error: invalid input the arguments do not fit `write`:
        - at `/path`: 5 is not a string
        correct them and call the tool again
        outer after c1 {"path":5} ["write file:a"]: error: invalid input the arguments do not fit `write`:
        - at `/path`: 5 is not a string
        correct them and call the tool again
    "#]]).await;
    check(
        |middle| middle.replaces(json!({})),
        nobody(),
        expect![[r#"
        error: invalid input
        the arguments do not fit `write`:
        - at the top: the property `path` is missing
        correct them and call the tool again
        [the arguments were changed: the whole: changed by the host before the call ran ({"path":"a"} → {})]

        outer before c1 {"path":"a"} ["write file:a"]
        middle before c1 {"path":"a"} ["write file:a"]
        middle after c1 {} ["write file:a"]: error: invalid input the arguments do not fit `write`:
        - at the top: the property `path` is missing
        correct them and call the tool again
        outer after c1 {} ["write file:a"]: error: invalid input the arguments do not fit `write`:
        - at the top: the property `path` is missing
        correct them and call the tool again
    "#]],
    )
    .await;
    check(|middle| middle.replaces(json!({ "path": "locked" })), nobody(), expect![[r#"
        denied
        `write` is not permitted to do this (write file:locked: deny by the rule write(file:locked)); do not try it again, find another way or say what you would need
        [the arguments were changed: the whole: changed by the host before the call ran ({"path":"a"} → {"path":"locked"})]

        outer before c1 {"path":"a"} ["write file:a"]
        middle before c1 {"path":"a"} ["write file:a"]
        middle after c1 {"path":"locked"} ["write file:locked"]: denied `write` is not permitted to do this (write file:locked: deny by the rule write(file:locked)); do not try it again, find another way or say what you would need
        outer after c1 {"path":"locked"} ["write file:locked"]: denied `write` is not permitted to do this (write file:locked: deny by the rule write(file:locked)); do not try it again, find another way or say what you would need
    "#]]).await;
    // What is the same is not replaced.
    check(|middle| middle.replaces(json!({ "path": "a" })), nobody(), as_an_onion()).await;
}

#[tokio::test]
async fn a_person_is_asked_about_the_input_that_would_run() {
    let asked = approver_fn(|pending: &PendingCall| {
        assert_eq!(pending.call.input, json!({ "path": "asked" }));
        assert_eq!((pending.layers.join(" "), pending.input_by), ("outer middle".to_owned(), Some(1)));
        assert_eq!(pending.unmet.iter().map(Unmet::printed).collect::<Vec<_>>(), ["write file:asked"]);
        assert_eq!(pending.repairs.len(), 1);
        Approval::Approve
    });
    check(|middle| middle.replaces(json!({ "path": "asked" })), asked, expect![[r#"
        ok
        {"path":"asked"}
        [the arguments were changed: the whole: changed by the host before the call ran ({"path":"a"} → {"path":"asked"})]

        outer before c1 {"path":"a"} ["write file:a"]
        middle before c1 {"path":"a"} ["write file:a"]
        outer before c1 {"path":"asked"} ["write file:asked"]
        inner before c1 {"path":"asked"} ["write file:asked"]
        inner after c1 {"path":"asked"} ["write file:asked"]: ok {"path":"asked"}
        middle after c1 {"path":"asked"} ["write file:asked"]: ok {"path":"asked"}
        outer after c1 {"path":"asked"} ["write file:asked"]: ok {"path":"asked"}
    "#]]).await;
    let denied = approver_fn(|_: &PendingCall| Approval::Deny { reason: "no".to_owned() });
    check(|middle| middle.replaces(json!({ "path": "asked" })), denied, expect![[r#"
        denied
        this call was not approved: no; do not repeat it, find another way or say what you would need
        [the arguments were changed: the whole: changed by the host before the call ran ({"path":"a"} → {"path":"asked"})]

        outer before c1 {"path":"a"} ["write file:a"]
        middle before c1 {"path":"a"} ["write file:a"]
        middle after c1 {"path":"asked"} ["write file:asked"]: denied this call was not approved: no; do not repeat it, find another way or say what you would need
        outer after c1 {"path":"asked"} ["write file:asked"]: denied this call was not approved: no; do not repeat it, find another way or say what you would need
    "#]]).await;
    let edited = approver_fn(|_: &PendingCall| Approval::Edit { input: json!({ "path": "locked" }) });
    check(|middle| middle.replaces(json!({ "path": "asked" })), edited, expect![[r#"
        denied
        `write` is not permitted to do this (write file:locked: deny by the rule write(file:locked)); do not try it again, find another way or say what you would need
        [the arguments were changed: the whole: edited by the user, who then approved the call ({"path":"asked"} → {"path":"locked"})]

        outer before c1 {"path":"a"} ["write file:a"]
        middle before c1 {"path":"a"} ["write file:a"]
        middle after c1 {"path":"locked"} ["write file:locked"]: denied `write` is not permitted to do this (write file:locked: deny by the rule write(file:locked)); do not try it again, find another way or say what you would need
        outer after c1 {"path":"locked"} ["write file:locked"]: denied `write` is not permitted to do this (write file:locked: deny by the rule write(file:locked)); do not try it again, find another way or say what you would need
    "#]]).await;
}

#[tokio::test]
async fn a_layer_can_answer_in_the_tools_place() {
    check(
        |middle| middle.says(|_| Before::skip(ToolOutput::text("from the cache"))),
        nobody(),
        expect![[r#"
        ok
        from the cache

        outer before c1 {"path":"a"} ["write file:a"]
        middle before c1 {"path":"a"} ["write file:a"]
        outer after c1 {"path":"a"} ["write file:a"]: ok from the cache
    "#]],
    )
    .await;
    let denied = |_: &Value| Before::skip(LayerAnswer::new(ReplyStatus::Denied, "not on a friday"));
    check(
        |middle| middle.says(denied),
        nobody(),
        expect![[r#"
        denied
        not on a friday

        outer before c1 {"path":"a"} ["write file:a"]
        middle before c1 {"path":"a"} ["write file:a"]
        outer after c1 {"path":"a"} ["write file:a"]: denied not on a friday
    "#]],
    )
    .await;
}

#[tokio::test]
async fn a_layer_can_tell_the_model_something_besides() {
    check(
        |middle| middle.says(|_| Before::proceed().with_context("the file is generated")),
        nobody(),
        expect![[r#"
        ok
        {"path":"a"}
        the file is generated

        outer before c1 {"path":"a"} ["write file:a"]
        middle before c1 {"path":"a"} ["write file:a"]
        inner before c1 {"path":"a"} ["write file:a"]
        inner after c1 {"path":"a"} ["write file:a"]: ok {"path":"a"}
        middle after c1 {"path":"a"} ["write file:a"]: ok {"path":"a"}
        outer after c1 {"path":"a"} ["write file:a"]: ok {"path":"a"}
    "#]],
    )
    .await;
    let both =
        |_: &Value| Before::replace_input(json!({ "path": "locked" })).with_context("took the other file");
    check(|middle| middle.says(both), nobody(), expect![[r#"
        denied
        `write` is not permitted to do this (write file:locked: deny by the rule write(file:locked)); do not try it again, find another way or say what you would need
        took the other file
        [the arguments were changed: the whole: changed by the host before the call ran ({"path":"a"} → {"path":"locked"})]

        outer before c1 {"path":"a"} ["write file:a"]
        middle before c1 {"path":"a"} ["write file:a"]
        middle after c1 {"path":"locked"} ["write file:locked"]: denied `write` is not permitted to do this (write file:locked: deny by the rule write(file:locked)); do not try it again, find another way or say what you would need
        outer after c1 {"path":"locked"} ["write file:locked"]: denied `write` is not permitted to do this (write file:locked: deny by the rule write(file:locked)); do not try it again, find another way or say what you would need
    "#]]).await;
    let skipped = |_: &Value| Before::skip(ToolOutput::text("cached")).with_context("lost");
    check(
        |middle| middle.says(skipped),
        nobody(),
        expect![[r#"
        ok
        cached

        outer before c1 {"path":"a"} ["write file:a"]
        middle before c1 {"path":"a"} ["write file:a"]
        outer after c1 {"path":"a"} ["write file:a"]: ok cached
    "#]],
    )
    .await;
}

#[tokio::test]
async fn a_layer_that_panics_before_has_the_call_refused() {
    check(|middle| middle.says(|_| panic!("the layer breaks")), nobody(), expect![[r#"
        error: panicked
        the host broke while it looked at this call, which was not run; this is a fault of the host, so say so

        outer before c1 {"path":"a"} ["write file:a"]
        middle before c1 {"path":"a"} ["write file:a"]
        outer after c1 {"path":"a"} ["write file:a"]: error: panicked the host broke while it looked at this call, which was not run; this is a fault of the host, so say so
    "#]]).await;
}

#[tokio::test]
async fn layers_do_not_see_what_may_not_run() {
    let seen = Lines::default();
    let executor = LocalExecutor::builder(registry([write_file()]))
        .policy(guarded())
        .layer(Watch::new("layer", &seen).replaces(json!({ "path": "a" })))
        .build();
    let mut ended = String::new();
    for input in [json!({ "path": "locked" }), json!({ "path": "asked" }), json!({}), json!([])] {
        ended.push_str(&outlines([&reply(&executor, "write", input).await]));
    }
    ended.push_str(&outlines([&reply(&executor, "writ", json!({})).await]));
    expect![[r#"
        c1 denied: `write` is not permitted to do this (write file:locked: deny by the rule write(file:locked)); do not try it again, find another way or say what you would need
        c1 denied: this call was not approved: nobody can be asked here; do not repeat it, find another way or say what you would need
        c1 error: invalid input: the arguments do not fit `write`:
        - at the top: the property `path` is missing
        correct them and call the tool again
        c1 error: invalid input: the arguments do not fit `write`:
        - at the top: [] is not an object
        correct them and call the tool again
        c1 error: unknown tool: there is no tool `writ`; did you mean `write`?
    "#]].assert_eq(&ended);
    assert_eq!(seen.take(), "");
}
