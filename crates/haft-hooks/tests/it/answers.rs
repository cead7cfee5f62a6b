use expect_test::{Expect, expect};
use haft_core::{ErrorKind, ReplyStatus, ToolOutput};
use haft_hooks::CommandHook;
use haft_tools_core::{Before, LayerAnswer};
use serde_json::json;
use tokio::task::JoinSet;

use crate::harness::{Asking, Scene, after, bash, before, denial, sh};

async fn check_before(hooks: impl IntoIterator<Item = CommandHook>, expected: Before) {
    let asking = Asking::new(hooks);
    assert_eq!(asking.before(&bash()).await, expected);
    assert_eq!(asking.reports(), "");
    asking.is_deserted().await;
}

/// Compares how a call that was answered with `42` as text and as data is answered in the end.
async fn check_after(hooks: impl IntoIterator<Item = CommandHook>, expected: Expect) {
    let asking = Asking::new(hooks);
    let output = ToolOutput::json(json!(42))
        .with_details(json!("host"))
        .with_child_run("run-2".parse().expect("an id"));
    let LayerAnswer { status, output } = asking.after(&bash(), output).await;
    let (text, structured, details, child) =
        (output.to_text(), output.structured, output.details, output.child_run.is_some());
    expected.assert_eq(&format!("{status}\n{text}\n[{structured:?} {details} {child}]\n"));
    assert_eq!(asking.reports(), "");
    asking.is_deserted().await;
}

#[tokio::test]
async fn lets_a_call_go_on_that_nothing_is_said_about() {
    for script in
        ["exit 0", "echo", "echo '{}'", "echo '{\"input\": null, \"context\": \"\"}'", "echo seen >&2"]
    {
        check_before([before(script)], Before::proceed()).await;
    }
}

#[tokio::test]
async fn replaces_the_input_and_adds_context() {
    check_before(
        [before(r#"printf %s '{"input": {"command": "ls -a"}, "context": " hidden\u001b too\n"}'"#)],
        Before::replace_input(json!({ "command": "ls -a" })).with_context("hidden\\u{1b} too"),
    )
    .await;
    check_before([before(r#"echo '{"input": {"command": "ls"}}'"#)], Before::proceed()).await;
}

#[tokio::test]
async fn denies_a_call_with_the_reason_the_hook_gave() {
    let denied = "the call was blocked and did not run: ";
    check_before(
        [before("echo ' not on a Sunday ' >&2; exit 2")],
        denial(&format!("{denied}not on a Sunday")),
    )
    .await;
    check_before(
        [before(r"printf 'a\033[31mb\000\nc\377\342\200\256d' >&2; echo '{}'; exit 2")],
        denial(&format!("{denied}a\\u{{1b}}[31mb\\u{{0}}\nc\u{fffd}\\u{{202e}}d")),
    )
    .await;
    check_before(
        [before("head -c 100000 /dev/zero | tr '\\0' x >&2; exit 2")],
        denial(&format!("{denied}{} […]", "x".repeat(4096))),
    )
    .await;
    check_before(
        [before("exit 2")],
        denial(
            "the call was blocked and did not run, and no reason was given; do not repeat it, do something else, or ask \
             the user",
        ),
    )
    .await;
}

#[tokio::test]
async fn chains_inputs_and_joins_contexts() {
    check_before(
        [
            before(r#"grep -q '"n":[12]}' || echo '{"input": {"n": 1}, "context": "one"}'"#),
            before("exit 0"),
            before(r#"grep -q '"input":{"n":1}}' && echo '{"input": {"n": 2}, "context": "two"}'"#),
            before(r#"grep -q '"input":{"n":2}}' && echo '{"context": "three"}'"#),
        ],
        Before::replace_input(json!({ "n": 2 })).with_context("one\n\ntwo\n\nthree"),
    )
    .await;
}

#[tokio::test]
async fn asks_the_hooks_before_about_what_a_later_one_made_of_the_input() {
    let guard = r#"if grep -q '"n":1}'; then echo not one >&2; exit 2; fi; echo '{"context": "looked"}'"#;
    check_before(
        [before(guard), before(r#"echo '{"input": {"n": 1}}'"#)],
        denial("the call was blocked and did not run: not one"),
    )
    .await;
    // The hook that made an input is not asked about it, and what is said twice is told once.
    check_before(
        [before(guard), before(r#"sed 's/.*"input":\(.*\)}$/{"input":{"in":\1}}/; s/,"accesses".*/}}/'"#)],
        Before::replace_input(json!({ "in": { "command": "ls" } })).with_context("looked"),
    )
    .await;
}

#[tokio::test]
async fn denies_a_call_whose_input_comes_to_no_end() {
    let asking = Asking::new([
        before(r#"echo >> asked; echo '{"input": {"n": 1}}'"#),
        before(r#"echo >> asked; echo '{"input": {"n": 2}}'"#),
    ]);
    assert_eq!(
        asking.before(&bash()).await,
        denial(
            "the call did not run, because checks that have to pass first changed its arguments more than 8 times and \
             came to no end; that is no fault of the call; ask the user to look at the hooks"
        )
    );
    assert_eq!(std::fs::read_to_string(asking.path().join("asked")).unwrap().lines().count(), 9);
    // An input that comes out as it went in has not been replaced.
    let back = r#"grep -q '"n":1}' && echo '{"input": {"command": "ls"}}'"#;
    let once = r#"[ -e once ] || { : > once; echo '{"input": {"n": 1}}'; }"#;
    check_before([before(once), before(&format!("{back}; exit 0"))], Before::proceed()).await;
}

#[tokio::test]
async fn asks_nobody_after_the_first_that_blocks() {
    let hooks = [before(r#"echo '{"context": "lost"}'"#), before("echo no >&2; exit 2"), before(": > asked")];
    let asking = Asking::new(hooks);
    assert_eq!(asking.before(&bash()).await, denial("the call was blocked and did not run: no"));
    assert!(!asking.path().join("asked").exists());
}

#[tokio::test]
async fn changes_an_answer() {
    check_after(
        [after("exit 0")],
        expect![[r#"
        ok
        42
        [Some(Number(42)) "host" true]
    "#]],
    )
    .await;
    check_after(
        [after(r#"echo '{"context": "mind the gap"}'"#)],
        expect![[r#"
        ok
        42
        mind the gap
        [Some(Number(42)) "host" true]
    "#]],
    )
    .await;
    check_after(
        [
            after(r#"echo '{"output": "a secret was removed", "context": "one"}'"#),
            after(r#"grep -q '"text":"a secret was removed\\none"' && echo '{"context": "two"}'"#),
        ],
        expect![[r#"
            ok
            a secret was removed
            one
            two
            [None "host" true]
        "#]],
    )
    .await;
}

#[tokio::test]
async fn refuses_an_answer_and_says_that_the_call_did_run() {
    check_after(
        [after("echo it holds a key >&2; exit 2"), after("exit 1")],
        expect![[r#"
            error: failed
            the call did run and what it did stays done, but its result was refused: it holds a key
            [None "host" true]
        "#]],
    )
    .await;
    check_after([after("exit 2")], expect![[r#"
        error: failed
        the call did run and what it did stays done, but its result was refused, and no reason was given; do not repeat the call, ask the user
        [None "host" true]
    "#]]).await;
}

#[tokio::test]
async fn refuses_other_answers_too_and_keeps_how_they_ended() {
    let asking = Asking::new([after("echo no >&2; exit 2")]);
    let refused = async |status| asking.after(&bash(), LayerAnswer::new(status, "as it is")).await;
    for status in [ReplyStatus::TimedOut, ReplyStatus::Cancelled, ReplyStatus::Error(ErrorKind::NotFound)] {
        let text = "the call did run and what it did stays done, but its result was refused: no";
        assert_eq!(refused(status).await, LayerAnswer::new(status, text));
    }
    for status in [ReplyStatus::Denied, ReplyStatus::Skipped] {
        let text = "the result of the call was refused: no";
        assert_eq!(refused(status).await, LayerAnswer::new(status, text));
    }
}

#[tokio::test]
async fn asks_about_the_tools_it_is_for() {
    let for_tools = |selector: &str| {
        let hook = CommandHook::before(selector.parse().unwrap(), sh("exit 2"));
        async move {
            let asking = Asking::new([hook]);
            let mut blocked = Vec::new();
            for tool in ["bash", "read_file", "hidden"] {
                let mut call = Scene::of(tool, json!({}));
                if tool == "hidden" {
                    call.spec = call.spec.explicit_only();
                }
                if asking.before(&call).await != Before::proceed() {
                    blocked.push(tool);
                }
            }
            blocked
        }
    };
    assert_eq!(for_tools("read_*").await, ["read_file"]);
    assert_eq!(for_tools("!bash").await, ["read_file", "hidden"]);
    assert_eq!(
        for_tools("*").await,
        ["bash", "read_file", "hidden"],
        "an explicit-only tool is not passed by"
    );
    assert_eq!(for_tools("@mcp").await, [""; 0]);
}

#[tokio::test]
async fn asks_at_its_time_alone() {
    let call = bash();
    let (early, late) = (Asking::new([before("exit 2")]), Asking::new([after("exit 2")]));
    assert_eq!(
        early.after(&call, ToolOutput::text("done")).await,
        LayerAnswer::from(ToolOutput::text("done"))
    );
    assert_eq!(late.before(&call).await, Before::proceed());
}

#[tokio::test]
async fn answers_for_many_calls_at_once() {
    let asking = Asking::new([before(r#"sed 's/.*"n":\([0-9]*\).*/{"context":"\1"}/'"#)]);
    let mut calls = JoinSet::new();
    for number in 0..32 {
        let hooks = asking.hooks();
        calls.spawn(async move {
            let call = Scene::of("bash", json!({ "n": number }));
            let said = haft_tools_core::Layer::before(&hooks, &call.shown()).await;
            assert_eq!(said, Before::proceed().with_context(number.to_string()));
        });
    }
    assert_eq!(calls.join_all().await.len(), 32);
    asking.is_deserted().await;
}
