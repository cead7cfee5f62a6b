use super::{Watch, guarded, nobody, write_file};
use crate::fixture::{Lines, call, outline, permissive, registry, reply, resume, scope, work};
use expect_test::{Expect, expect};
use haft_core::ToolOutput;
use haft_tools_core::{
    Approval, Approver, Batch, Before, Layer, LocalExecutor, LocalExecutorBuilder, PendingCall,
    ToolExecutor as _, approver_fn,
};
use serde_json::{Value, json};
use std::sync::Arc;

fn executor(approver: impl Approver, layers: impl IntoIterator<Item = Watch>) -> LocalExecutor {
    let builder = LocalExecutor::builder(registry([write_file()])).policy(guarded()).approver(approver);
    layers.into_iter().fold(builder, LocalExecutorBuilder::layer).build()
}

/// Calls `write` for the file `a`; prints the reply and what the layers saw.
async fn check(layers: impl FnOnce(&Lines) -> Vec<Watch>, expect: Expect) {
    let seen = Lines::default();
    let reply = reply(&executor(nobody(), layers(&seen)), "write", json!({ "path": "a" })).await;
    expect.assert_eq(&format!("{}\n\n{}", outline(&reply), seen.take()));
}

fn guard(seen: &Lines, name: &'static str, path: &'static str) -> Watch {
    Watch::new(name, seen).says(move |input| {
        if input["path"] == path { Before::skip(ToolOutput::text("kept from it")) } else { Before::proceed() }
    })
}

/// Puts something before every path, whatever it is.
fn prefix(seen: &Lines, name: &'static str) -> Watch {
    Watch::new(name, seen).says(move |input| {
        let path = input["path"].as_str().unwrap();
        Before::replace_input(json!({ "path": format!("{name}/{path}") }))
    })
}

#[tokio::test]
async fn a_guard_sees_what_a_layer_further_in_made_of_the_input() {
    check(
        |seen| vec![guard(seen, "guard", "b"), Watch::new("inner", seen).replaces(json!({ "path": "b" }))],
        expect![[r#"
            ok
            kept from it
            [the arguments were changed: the whole: changed by the host before the call ran ({"path":"a"} → {"path":"b"})]

            guard before c1 {"path":"a"} ["write file:a"]
            inner before c1 {"path":"a"} ["write file:a"]
            guard before c1 {"path":"b"} ["write file:b"]
            inner after c1 {"path":"b"} ["write file:b"]: ok kept from it
            guard after c1 {"path":"b"} ["write file:b"]: ok kept from it
        "#]],
    )
    .await;
}

#[tokio::test]
async fn a_layer_is_not_asked_about_what_it_made_until_another_changes_it() {
    check(|seen| vec![Watch::new("outer", seen), prefix(seen, "x")], expect![[r#"
        ok
        {"path":"x/a"}
        [the arguments were changed: the whole: changed by the host before the call ran ({"path":"a"} → {"path":"x/a"})]

        outer before c1 {"path":"a"} ["write file:a"]
        x before c1 {"path":"a"} ["write file:a"]
        outer before c1 {"path":"x/a"} ["write file:x/a"]
        x after c1 {"path":"x/a"} ["write file:x/a"]: ok {"path":"x/a"}
        outer after c1 {"path":"x/a"} ["write file:x/a"]: ok {"path":"x/a"}
    "#]]).await;
    let once = |input: &Value| {
        if input["path"] == "x/a" {
            Before::replace_input(json!({ "path": "c" })).with_context("took c")
        } else {
            Before::proceed().with_context("looked")
        }
    };
    let inner = |input: &Value| {
        if input["path"] == "c" { Before::proceed() } else { Before::replace_input(json!({ "path": "x/a" })) }
    };
    check(
        |seen| vec![Watch::new("outer", seen).says(once), Watch::new("inner", seen).says(inner)],
        expect![[r#"
            ok
            {"path":"c"}
            looked
            took c
            [the arguments were changed: the whole: changed by the host before the call ran ({"path":"a"} → {"path":"x/a"}); the whole: changed by the host before the call ran ({"path":"x/a"} → {"path":"c"})]

            outer before c1 {"path":"a"} ["write file:a"]
            inner before c1 {"path":"a"} ["write file:a"]
            outer before c1 {"path":"x/a"} ["write file:x/a"]
            inner before c1 {"path":"c"} ["write file:c"]
            inner after c1 {"path":"c"} ["write file:c"]: ok {"path":"c"}
            outer after c1 {"path":"c"} ["write file:c"]: ok {"path":"c"}
        "#]],
    )
    .await;
}

#[tokio::test]
async fn layers_that_disagree_come_to_an_end() {
    let seen = Lines::default();
    let reply =
        reply(&executor(nobody(), [prefix(&seen, "x"), prefix(&seen, "y")]), "write", json!({ "path": "a" }))
            .await;
    let seen = seen.take();
    let count = |what: &str| seen.lines().filter(|line| line.contains(what)).count();
    assert_eq!([count("x before"), count("y before"), count("x after"), count("y after")], [5, 4, 1, 1]);
    expect![[r#"
        error: failed
        the host changed the arguments of this call more than 8 times and came to no end, so it was not run; this is a fault of the host, so say so"#]].assert_eq(outline(&reply).split("\n[").next().unwrap());
}

/// Leaves a call to wait with these layers, and goes on with it with those.
async fn check_resumed(
    first: impl FnOnce(&Lines) -> Vec<Watch>,
    then: impl FnOnce(&Lines) -> Vec<Watch>,
    approval: Approval,
    expect: Expect,
) {
    let seen = Lines::default();
    let later = approver_fn(|_: &PendingCall| Approval::Later);
    let batch = Batch::new(scope(), vec![call("c1", "write", json!({ "path": "a" }))]);
    let waiting = executor(later, first(&seen)).execute_batch(batch).await.into_replies().unwrap_err();
    let pending = serde_json::to_string(waiting.iter().next().unwrap()).unwrap();
    seen.add("goes on");
    let pending: PendingCall = serde_json::from_str(&pending).unwrap();
    let reply = resume(&executor(nobody(), then(&seen)), pending, approval).await;
    expect.assert_eq(&format!("{}\n\n{}", outline(&reply), seen.take()));
}

fn asks(seen: &Lines) -> Watch {
    Watch::new("asks", seen)
        .says(|_| Before::replace_input(json!({ "path": "asked" })).with_context("took another file"))
}

#[tokio::test]
async fn a_call_that_goes_on_is_shown_to_layers_that_are_new() {
    let first = |seen: &Lines| vec![Watch::new("outer", seen), asks(seen)];
    check_resumed(first, first, Approval::Approve, expect![[r#"
        ok
        {"path":"asked"}
        took another file
        [the arguments were changed: the whole: changed by the host before the call ran ({"path":"a"} → {"path":"asked"})]

        outer before c1 {"path":"a"} ["write file:a"]
        asks before c1 {"path":"a"} ["write file:a"]
        goes on
        outer before c1 {"path":"asked"} ["write file:asked"]
        asks after c1 {"path":"asked"} ["write file:asked"]: ok {"path":"asked"}
        outer after c1 {"path":"asked"} ["write file:asked"]: ok {"path":"asked"}
    "#]]).await;
    let longer = |seen: &Lines| vec![Watch::new("outer", seen), asks(seen), Watch::new("new", seen)];
    check_resumed(first, longer, Approval::Approve, expect![[r#"
        ok
        {"path":"asked"}
        took another file
        [the arguments were changed: the whole: changed by the host before the call ran ({"path":"a"} → {"path":"asked"})]

        outer before c1 {"path":"a"} ["write file:a"]
        asks before c1 {"path":"a"} ["write file:a"]
        goes on
        outer before c1 {"path":"asked"} ["write file:asked"]
        new before c1 {"path":"asked"} ["write file:asked"]
        new after c1 {"path":"asked"} ["write file:asked"]: ok {"path":"asked"}
        asks after c1 {"path":"asked"} ["write file:asked"]: ok {"path":"asked"}
        outer after c1 {"path":"asked"} ["write file:asked"]: ok {"path":"asked"}
    "#]]).await;
    let other = |seen: &Lines| vec![guard(seen, "new", "asked"), Watch::new("outer", seen), asks(seen)];
    check_resumed(first, other, Approval::Approve, expect![[r#"
        ok
        kept from it
        [the arguments were changed: the whole: changed by the host before the call ran ({"path":"a"} → {"path":"asked"})]

        outer before c1 {"path":"a"} ["write file:a"]
        asks before c1 {"path":"a"} ["write file:a"]
        goes on
        new before c1 {"path":"asked"} ["write file:asked"]
    "#]]).await;
    let fewer = |seen: &Lines| vec![Watch::new("outer", seen)];
    check_resumed(first, fewer, Approval::Approve, expect![[r#"
        ok
        {"path":"asked"}
        [the arguments were changed: the whole: changed by the host before the call ran ({"path":"a"} → {"path":"asked"})]

        outer before c1 {"path":"a"} ["write file:a"]
        asks before c1 {"path":"a"} ["write file:a"]
        goes on
        outer before c1 {"path":"asked"} ["write file:asked"]
        outer after c1 {"path":"asked"} ["write file:asked"]: ok {"path":"asked"}
    "#]]).await;
}

#[tokio::test]
async fn a_layer_sees_what_a_person_made_of_its_input() {
    let careful = |seen: &Lines| {
        vec![Watch::new("asks", seen).says(|input| {
            if input["path"] == "a" {
                Before::replace_input(json!({ "path": "asked" }))
            } else {
                Before::proceed()
            }
        })]
    };
    let edit = Approval::Edit { input: json!({ "path": "b" }) };
    check_resumed(careful, careful, edit, expect![[r#"
        ok
        {"path":"b"}
        [the arguments were changed: the whole: edited by the user, who then approved the call ({"path":"asked"} → {"path":"b"})]

        asks before c1 {"path":"a"} ["write file:a"]
        goes on
        asks before c1 {"path":"b"} ["write file:b"]
        asks after c1 {"path":"b"} ["write file:b"]: ok {"path":"b"}
    "#]]).await;
}

#[tokio::test]
async fn a_shared_layer_is_the_layer_it_shares() {
    let seen = Lines::default();
    let shared: Arc<dyn Layer> = Arc::new(Watch::new("shared", &seen));
    assert_eq!(shared.name(), "shared");
    let executor = permissive([work()]).layer(Arc::clone(&shared)).build();
    reply(&executor, "work", json!({})).await;
    expect![[r#"
        shared before c1 {} []
        shared after c1 {} []: ok done
    "#]]
    .assert_eq(&seen.take());
}

#[test]
fn a_layer_is_named_after_its_type() {
    struct Plain;
    struct Generic<T>(std::marker::PhantomData<T>);
    impl Layer for Plain {}
    impl<T: Send + Sync + 'static> Layer for Generic<T> {}
    let generic = Generic::<Vec<Arc<str>>>(std::marker::PhantomData);
    assert_eq!([Plain.name(), generic.name(), Arc::new(Plain).name()], ["Plain", "Generic", "Plain"]);
}
