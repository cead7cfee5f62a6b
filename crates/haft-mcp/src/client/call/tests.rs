mod tasks;

use crate::client::fake::{
    Asked, FakeServer, Fixed, Progresses, builder, call, config, executor, one, replies, text_result, tool,
};
use crate::client::host::Requester as _;
use crate::client::session::{Ask, News};
use crate::{Era, McpServers, MemoryPins, PinStore as _, ServerIdentity};
use async_trait::async_trait;
use expect_test::expect;
use haft_core::ReplyStatus;
use haft_tools_core::{
    Access, AccessMode, Approval, Approver, AskedQuestion, Batch, CallScope, Cancel, LocalExecutor,
    PendingCall, Policy, Question, QuestionOutcome, Resource, Rule, Scheme, ToolExecutor as _,
    ToolSource as _,
};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep};

fn milliseconds(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

fn hinted(name: &str, hint: &str) -> Value {
    let mut tool = tool(name);
    tool["annotations"] = json!({ hint: true });
    tool
}

/// Answers every call after 10 ms.
fn slow() -> FakeServer {
    FakeServer::new(
        Era::Modern,
        json!([
            tool("write"),
            tool("change"),
            hinted("read", "readOnlyHint"),
            hinted("look", "readOnlyHint")
        ]),
        |_| async {
            sleep(milliseconds(10)).await;
            Ok(text_result("done"))
        },
    )
}

async fn time(executor: &LocalExecutor, tools: &[&str]) -> u128 {
    let began = Instant::now();
    let replies = replies(executor, tools.iter().map(|tool| (*tool, json!({}))).collect()).await;
    assert!(replies.iter().all(|reply| reply.status.is_ok()), "{replies:?}");
    began.elapsed().as_millis()
}

#[tokio::test(start_paused = true)]
async fn reads_of_one_server_overlap_and_writes_keep_their_order() {
    let (one, other) = (slow(), slow());
    let servers = builder([(config("s"), &one), (config("t"), &other)]).build().unwrap();
    let executor = executor(&servers).await.build();
    assert_eq!(time(&executor, &["s__read", "s__look", "s__read"]).await, 10);
    assert_eq!(time(&executor, &["s__write", "s__change"]).await, 20);
    assert_eq!(time(&executor, &["s__read", "s__write", "s__look"]).await, 30);
    assert_eq!(time(&executor, &["s__write", "t__write"]).await, 10);
    assert_eq!(time(&executor, &["s__read"; 64]).await, 10);
    let mut orders_itself = config("s");
    orders_itself.orders_itself = true;
    let servers = builder([(orders_itself, &one)]).build().unwrap();
    let executor = crate::client::fake::executor(&servers).await.build();
    assert_eq!(time(&executor, &["s__write", "s__change", "s__write"]).await, 10);
}

/// Is a person who says no, and keeps what was asked.
struct SaysNo(Arc<std::sync::Mutex<Vec<String>>>);

#[async_trait]
impl Approver for SaysNo {
    async fn approve(&self, call: &PendingCall) -> Approval {
        let accesses = call.accesses.iter().map(Access::to_string);
        self.0.lock().unwrap().extend(accesses);
        Approval::Deny { reason: String::new() }
    }
}

#[tokio::test]
async fn a_hint_permits_nothing() {
    let fake = slow();
    let servers = one(&fake);
    let asked = Arc::default();
    let registry = crate::client::fake::catalog(&servers).await.snapshot();
    let build = |policy: Policy| {
        LocalExecutor::builder(registry.clone()).policy(policy).approver(SaysNo(Arc::clone(&asked))).build()
    };
    let reading =
        Policy::new().allow(Rule::access(AccessMode::Read, Resource::subtree(Scheme::new("mcp"), "")));
    for name in ["s__read", "s__write"] {
        assert!(call(&build(reading.clone()), name, json!({})).await.starts_with("denied"));
    }
    assert_eq!(*asked.lock().unwrap(), ["call mcp:s/read", "call mcp:s/write"]);
    assert_eq!(fake.count("tools/call"), 0);
}

#[tokio::test]
async fn what_is_sent_is_the_foreign_name_and_the_arguments() {
    let fake = FakeServer::saying(json!([tool("a b")]), "done");
    let servers = one(&fake);
    let registry = crate::client::fake::catalog(&servers).await.snapshot();
    let name = registry.names().next().unwrap().to_owned();
    let executor = executor(&servers).await.build();
    assert_eq!(call(&executor, &name, json!({ "x": [1] })).await, "ok\ndone");
    assert_eq!(fake.params("tools/call"), [json!({ "name": "a b", "arguments": { "x": [1] } })]);
}

/// Never answers.
fn silent() -> FakeServer {
    FakeServer::new(Era::Modern, json!([tool("a"), tool("b")]), |_| std::future::pending())
}

#[tokio::test(start_paused = true)]
async fn cancelling_reaches_the_server_at_once() {
    let fake = silent();
    let executor = executor(&one(&fake)).await.build();
    let cancel = async {
        sleep(milliseconds(100)).await;
        executor.cancel(&Cancel::Tree);
        sleep(milliseconds(1)).await;
        assert_eq!(fake.count("cancelled tools/call"), 1);
    };
    let (ended, ()) = tokio::join!(call(&executor, "s__a", json!({})), cancel);
    expect![[r"
        cancelled
        the call of `s__a` was cancelled, and may have been done in part; see what has been done before you repeat it"]].assert_eq(&ended);
}

#[tokio::test(start_paused = true)]
async fn dropping_a_batch_reaches_the_server_at_once() {
    let fake = silent();
    let executor = executor(&one(&fake)).await.build();
    let called = tokio::time::timeout(milliseconds(100), call(&executor, "s__a", json!({}))).await;
    assert!(called.is_err());
    sleep(milliseconds(1)).await;
    assert_eq!(fake.count("cancelled tools/call"), 1);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_answers_only_after_it_was_cancelled_changes_nothing() {
    let fake = FakeServer::new(Era::Modern, json!([tool("a")]), |asked| async move {
        let cx = asked.watch.as_ref().unwrap().call().unwrap().clone();
        cx.cancellation().cancelled().await;
        Ok(text_result("late"))
    });
    let executor = executor(&one(&fake)).await.build();
    let cancel = async {
        sleep(milliseconds(100)).await;
        executor.cancel(&Cancel::Tree);
    };
    let (ended, ()) = tokio::join!(call(&executor, "s__a", json!({})), cancel);
    assert!(ended.starts_with("cancelled"), "{ended}");
}

#[tokio::test(start_paused = true)]
async fn progress_is_told_and_keeps_a_call_alive_up_to_its_hard_maximum() {
    let fake = FakeServer::new(Era::Modern, json!([tool("a")]), |asked| async move {
        let watch = asked.watch.unwrap();
        let steps = asked.params["arguments"]["steps"].as_u64().unwrap();
        for step in 0..steps {
            sleep(Duration::from_secs(50)).await;
            let (done, total) = (f64::from(u32::try_from(step + 1).unwrap()), Some(4.0));
            watch.progress(done, total.filter(|_| step < 3), (step == 1).then_some("half\u{1b}"));
        }
        if steps == 0 {
            std::future::pending::<()>().await;
        }
        Ok(text_result("done"))
    });
    let told = Progresses::default();
    let executor = executor(&one(&fake)).await.events(told.events()).build();
    assert_eq!(call(&executor, "s__a", json!({ "steps": 4 })).await, "ok\ndone");
    expect![[r"
        0.25
        0.5 half\u{1b}
        0.75
    "]]
    .assert_eq(&told.all());
    let began = Instant::now();
    expect![[r"
        timed out
        `s__a` was stopped after 60 s without any progress and may have done a part of its work; see what it has done, and ask for less at once"]].assert_eq(&call(&executor, "s__a", json!({ "steps": 0 })).await);
    assert_eq!(began.elapsed().as_secs(), 60);
    let began = Instant::now();
    expect![[r"
        timed out
        `s__a` was stopped after 600 s and may have done a part of its work; ask for less at once, or for more time if the tool takes a time limit"]].assert_eq(&call(&executor, "s__a", json!({ "steps": 1_000 })).await);
    assert_eq!((began.elapsed().as_secs(), fake.count("cancelled tools/call")), (600, 2));
}

#[tokio::test(start_paused = true)]
async fn the_log_is_told_to_the_only_call_there_is() {
    let fake = FakeServer::new(Era::Modern, json!([hinted("a", "readOnlyHint")]), |asked| async move {
        sleep(Duration::from_secs(asked.params["arguments"]["s"].as_u64().unwrap())).await;
        Ok(text_result("done"))
    });
    let told = Progresses::default();
    let executor = executor(&one(&fake)).await.events(told.events()).build();
    let log = |text: &str| fake.tell(News::Log { level: "info".to_owned(), text: text.to_owned() });
    let telling = async {
        sleep(milliseconds(500)).await;
        log("of whom?");
        sleep(milliseconds(1_000)).await;
        log("of the second");
        sleep(milliseconds(1_000)).await;
        log("of nobody");
    };
    let calls = vec![("s__a", json!({ "s": 1 })), ("s__a", json!({ "s": 2 }))];
    tokio::join!(replies(&executor, calls), telling);
    assert_eq!(told.all(), "info: of the second");
}

/// Wants something more of a call as long as its state says so.
fn wanting(asked: &Asked, wants: impl Fn(u64) -> Option<Value>) -> Value {
    let params = &asked.params;
    let state =
        params["requestState"].as_str().map(|state| state.trim_start_matches("state ").parse().unwrap());
    let round: u64 = state.unwrap_or(0);
    wants(round).unwrap_or_else(|| text_result(&params["inputResponses"].to_string()))
}

fn input_required(requests: &Value, round: u64) -> Value {
    json!({ "resultType": "input_required", "inputRequests": requests, "requestState": format!("state {}", round + 1) })
}

fn elicitation(message: &str) -> Value {
    json!({ "method": "elicitation/create", "params": { "mode": "form", "message": message } })
}

fn answering(fake: &FakeServer) -> McpServers {
    let accept = |ask: &Ask| Ok(json!({ "action": "accept", "content": { "to": ask.params["message"] } }));
    builder([(config("s"), fake)]).answers(Fixed(accept)).build().unwrap()
}

#[tokio::test(start_paused = true)]
async fn what_a_server_wants_before_it_answers_is_given_to_it() {
    let fake = FakeServer::new(Era::Modern, json!([tool("a")]), |asked| async move {
        Ok(wanting(&asked, |round| match round {
            0 => Some(input_required(&json!({ "one": elicitation("1"), "two": elicitation("2") }), 0)),
            1 => Some(input_required(&json!({ "three": elicitation("3") }), 1)),
            _ => None,
        }))
    });
    let executor = executor(&answering(&fake)).await.build();
    expect![[r#"
        ok
        {"three":{"action":"accept","content":{"to":"3"}}}"#]]
    .assert_eq(&call(&executor, "s__a", json!({ "x": 1 })).await);
    expect![[r#"
        {"arguments":{"x":1},"name":"a"}
        {"arguments":{"x":1},"inputResponses":{"one":{"action":"accept","content":{"to":"1"}},"two":{"action":"accept","content":{"to":"2"}}},"name":"a","requestState":"state 1"}
        {"arguments":{"x":1},"inputResponses":{"three":{"action":"accept","content":{"to":"3"}}},"name":"a","requestState":"state 2"}
    "#]]
        .assert_eq(&fake.params("tools/call").iter().map(|params| params.to_string() + "\n").collect::<String>());
}

#[tokio::test(start_paused = true)]
async fn a_state_goes_back_as_it_came_and_only_if_there_is_one() {
    let state = "{\"b\":1, \"a\":\"\\u0000é\u{202e}\"}  ";
    let fake = FakeServer::new(Era::Modern, json!([tool("a")]), move |asked| async move {
        let more = json!({ "resultType": "input_required", "inputRequests": { "k": elicitation("") } });
        Ok(match (asked.params.get("requestState"), asked.params.get("inputResponses")) {
            (None, None) => more,
            (None, Some(_)) => json!({ "resultType": "input_required", "requestState": state }),
            (Some(given), None) if given == state => text_result("the same"),
            _ => text_result("not the same"),
        })
    });
    let executor = executor(&answering(&fake)).await.build();
    assert_eq!(call(&executor, "s__a", json!({})).await, "ok\nthe same");
}

#[tokio::test(start_paused = true)]
async fn a_result_without_a_kind_is_complete() {
    let fake = FakeServer::new(Era::Modern, json!([tool("a")]), |_| async {
        let mut result = text_result("done");
        result["inputRequests"] = json!({ "k": elicitation("") });
        Ok(result)
    });
    let executor = executor(&answering(&fake)).await.build();
    assert_eq!(call(&executor, "s__a", json!({})).await, "ok\ndone");
}

#[tokio::test(start_paused = true)]
async fn rounds_and_questions_without_end_are_an_error() {
    let fake = FakeServer::new(Era::Modern, json!([tool("a")]), |asked| async move {
        Ok(wanting(&asked, |round| Some(input_required(&Value::Null, round))))
    });
    let began = Instant::now();
    let executor_of = async |fake: &FakeServer| executor(&answering(fake)).await.build();
    expect![[r"
        error: failed
        the server asked for more and more before it would answer; go on without this call"]]
    .assert_eq(&call(&executor_of(&fake).await, "s__a", json!({})).await);
    assert_eq!(fake.count("tools/call"), 11);
    let waited = began.elapsed();
    assert!(waited >= milliseconds(1_900) && waited <= milliseconds(2_500), "{waited:?}");
    let fake = FakeServer::new(Era::Modern, json!([tool("a")]), |asked| async move {
        Ok(wanting(&asked, |round| Some(input_required(&json!({ "k": elicitation("again") }), round))))
    });
    expect![[r"
        error: failed
        the server asked for more and more before it would answer; go on without this call"]]
    .assert_eq(&call(&executor_of(&fake).await, "s__a", json!({})).await);
    assert_eq!(fake.count("tools/call"), 9);
    let fake = FakeServer::new(Era::Modern, json!([tool("a")]), |asked| async move {
        let many: serde_json::Map<_, _> = (0..32).map(|n| (n.to_string(), elicitation("many"))).collect();
        Ok(wanting(&asked, |round| Some(input_required(&many.clone().into(), round))))
    });
    expect![[r"
        error: failed
        the server asked for more and more before it would answer; go on without this call"]]
    .assert_eq(&call(&executor_of(&fake).await, "s__a", json!({})).await);
    assert_eq!(fake.count("tools/call"), 1);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_wants_too_much_at_once_gets_none_of_it() {
    // Nobody is asked for the roots, so that they do not count as questions.
    let fake = FakeServer::new(Era::Modern, json!([tool("a")]), |asked| async move {
        let count = asked.params["arguments"]["count"].as_u64().unwrap();
        let many: serde_json::Map<_, _> =
            (0..count).map(|n| (n.to_string(), json!({ "method": "roots/list" }))).collect();
        Ok(wanting(&asked, |round| (round == 0).then(|| input_required(&many.clone().into(), 0))))
    });
    let executor = executor(&answering(&fake)).await.build();
    assert!(call(&executor, "s__a", json!({ "count": 32 })).await.starts_with("ok"));
    expect![[r"
        error: failed
        the server asks for 33 things at once; 32 are answered at most; go on without this call"]]
    .assert_eq(&call(&executor, "s__a", json!({ "count": 33 })).await);
    assert_eq!(fake.count("tools/call"), 3);
}

#[tokio::test(start_paused = true)]
async fn what_a_server_wants_and_does_not_get_ends_the_call() {
    let wants = |wanted: Value| {
        FakeServer::new(Era::Modern, json!([tool("a")]), move |_| std::future::ready(Ok(wanted.clone())))
    };
    let check = async |wanted: Value, expect: expect_test::Expect| {
        let executor = executor(&one(&wants(wanted))).await.build();
        expect.assert_eq(&call(&executor, "s__a", json!({})).await);
    };
    check(input_required(&json!({ "k": { "method": "files/read\u{1b}" } }), 0), expect![[r"
        error: failed
        the server asks for `files/read\u{1b}` before it goes on, and does not get it: there is no `files/read\u{1b}` here; go on without this call"]]).await;
    check(
        input_required(&json!({ "k": 7 }), 0),
        expect![[r"
        error: failed
        the server asks for something without saying what it is; go on without this call"]],
    )
    .await;
    check(
        json!({ "resultType": "input_required" }),
        expect![[r"
        error: failed
        the server wants something more, and does not say what; go on without this call"]],
    )
    .await;
    check(
        json!({ "resultType": "riddle" }),
        expect![[r"
        error: failed
        the server answered with `riddle`, which is not known here; go on without this call"]],
    )
    .await;
    check(json!({ "resultType": 7 }), expect![[r"
        error: failed
        the server answered with `a kind of result that is not text`, which is not known here; go on without this call"]]).await;
}

#[tokio::test(start_paused = true)]
async fn a_server_of_the_older_era_that_asks_for_ever_gets_no_answer_and_the_call_ends() {
    let fake = FakeServer::new(Era::Legacy, json!([tool("a")]), |asked| async move {
        let counterpart = asked.session.counterpart();
        loop {
            let ask = Ask { method: "elicitation/create".to_owned(), params: json!({}) };
            let _ = counterpart.answer(ask, asked.watch.clone()).await;
            sleep(milliseconds(10)).await;
        }
    });
    let servers = answering(&fake);
    let executor = executor(&servers).await.build();
    let began = Instant::now();
    expect![[r"
        error: failed
        the server asked for more and more before it would answer; go on without this call"]]
    .assert_eq(&call(&executor, "s__a", json!({})).await);
    assert_eq!((began.elapsed().as_millis(), fake.count("cancelled tools/call")), (80, 1));
}

/// Answers by asking the person of the call.
struct AsksPerson;

#[async_trait]
impl crate::client::answers::Answers for AsksPerson {
    fn capabilities(&self, _: &crate::ServerName) -> Value {
        json!({})
    }

    async fn answer(
        &self,
        _: &crate::ServerName,
        _: Ask,
        of: Option<Arc<dyn crate::client::session::Watch>>,
    ) -> Result<Value, crate::client::session::AskRefused> {
        let cx = of.as_ref().and_then(|watch| watch.call()).unwrap();
        Ok(cx.ask(Question::text("Who?")).await.unwrap())
    }
}

struct Slow;

#[async_trait]
impl Approver for Slow {
    async fn approve(&self, _: &PendingCall) -> Approval {
        Approval::Approve
    }

    async fn answer(&self, _: &AskedQuestion) -> QuestionOutcome {
        sleep(Duration::from_hours(1)).await;
        QuestionOutcome::Answered { answer: json!("me") }
    }
}

#[tokio::test(start_paused = true)]
async fn a_calls_time_stands_still_while_a_person_is_asked() {
    let fake = FakeServer::new(Era::Modern, json!([tool("a")]), |asked| async move {
        Ok(wanting(&asked, |round| (round == 0).then(|| input_required(&json!({ "k": elicitation("") }), 0))))
    });
    let servers = builder([(config("s"), &fake)]).answers(AsksPerson).build().unwrap();
    let executor = executor(&servers).await.approver(Slow).build();
    assert_eq!(call(&executor, "s__a", json!({})).await, "ok\n{\"k\":\"me\"}");
}

/// Takes an hour to answer.
struct SlowHost;

#[async_trait]
impl crate::client::answers::Answers for SlowHost {
    fn capabilities(&self, _: &crate::ServerName) -> Value {
        json!({})
    }

    async fn answer(
        &self,
        _: &crate::ServerName,
        _: Ask,
        _: Option<Arc<dyn crate::client::session::Watch>>,
    ) -> Result<Value, crate::client::session::AskRefused> {
        sleep(Duration::from_hours(1)).await;
        Ok(json!("a turn"))
    }
}

#[tokio::test(start_paused = true)]
async fn a_calls_time_stands_still_while_the_host_takes_a_turn_for_the_server() {
    let sampling = || Ask { method: "sampling/createMessage".to_owned(), params: json!({}) };
    for era in [Era::Modern, Era::Legacy] {
        let fake = FakeServer::new(era, json!([tool("a")]), move |asked| async move {
            let wanted = json!({ "k": { "method": sampling().method } });
            if era == Era::Modern {
                return Ok(wanting(&asked, |round| (round == 0).then(|| input_required(&wanted, 0))));
            }
            let answer = asked.session.counterpart().answer(sampling(), asked.watch.clone()).await;
            Ok(text_result(&json!({ "k": answer.unwrap() }).to_string()))
        });
        let servers = builder([(config("s"), &fake)]).answers(SlowHost).build().unwrap();
        let executor = executor(&servers).await.build();
        assert_eq!(call(&executor, "s__a", json!({})).await, "ok\n{\"k\":\"a turn\"}");
    }
}

#[tokio::test(start_paused = true)]
async fn calls_do_not_wait_for_each_other_where_they_need_not() {
    let fake = slow();
    let servers = one(&fake);
    let executor = executor(&servers).await.build();
    let began = Instant::now();
    let calls = (0..64).map(|number| {
        let call = haft_core::ToolCall::new(format!("c{number}").parse().unwrap(), "s__read", json!({}));
        let batch = Batch::new(CallScope::new(format!("run-{number}").parse().unwrap()), vec![call]);
        executor.execute_batch(batch)
    });
    for outcome in futures_util::future::join_all(calls).await {
        assert_eq!(outcome.into_replies().unwrap()[0].status, ReplyStatus::Ok);
    }
    assert_eq!(began.elapsed().as_millis(), 10);
}

#[tokio::test(start_paused = true)]
async fn what_is_no_call_of_a_tool_is_answered_in_rounds_too() {
    let fake = FakeServer::new(Era::Modern, json!([]), |asked| async move {
        Ok(wanting(&asked, |round| {
            (round == 0).then(|| input_required(&json!({ "k": elicitation("who") }), 0))
        }))
    });
    let servers = answering(&fake);
    let server = servers.get("s").unwrap();
    let result = server.request("resources/read", json!({ "uri": "file:///a" }), None).await.unwrap();
    assert_eq!(result["content"][0]["text"], r#"{"k":{"action":"accept","content":{"to":"who"}}}"#);
    assert_eq!(fake.params("resources/read")[1]["uri"], "file:///a");
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_changed_while_the_server_was_away_is_not_called() {
    let fake = FakeServer::saying(json!([tool("a")]), "done");
    let servers = one(&fake);
    let executor = executor(&servers).await.build();
    expect![[r"
        ok
        done"]]
    .assert_eq(&call(&executor, "s__a", json!({})).await);
    // The executor goes on with the tools it has, in which the tool is still what was accepted.
    let mut changed = tool("a");
    changed["description"] = json!("Does something else.");
    fake.list(json!([changed]));
    fake.die();
    expect![[r"
        denied
        `s__a` is no longer what was accepted of the server `s`; nothing was done, go on without it until the user has looked at it and accepted it with `haft mcp accept s`"]].assert_eq(&call(&executor, "s__a", json!({})).await);
    assert_eq!(fake.count("tools/call"), 1, "what changed was not called");
}

#[tokio::test(start_paused = true)]
async fn what_is_held_is_over_when_the_server_ends() {
    let fake = FakeServer::new(Era::Modern, json!([]), |asked| async move {
        asked.session.die();
        std::future::pending().await
    });
    let servers = one(&fake);
    let held = servers.get("s").unwrap().hold("subscriptions/listen", json!({})).await;
    expect!["the server cannot be reached: the connection ended: it exited with code 3; it last wrote: loading / out of\\u{1b}[31m luck"]
        .assert_eq(&held.unwrap_err().to_string());
    assert_eq!(fake.count("subscriptions/listen"), 1);
}

#[tokio::test]
async fn a_tool_that_is_rejected_is_called_no_more() {
    let fake = FakeServer::saying(json!([tool("a"), tool("b")]), "done");
    let pins = Arc::new(MemoryPins::default());
    let servers = builder([(config("s"), &fake)]).pins(Arc::clone(&pins)).build().unwrap();
    let executor = executor(&servers).await.build();
    assert_eq!(call(&executor, "s__a", json!({})).await, "ok\ndone");
    let server = servers.get("s").unwrap();
    let mut changes = server.source().changes().unwrap();
    pins.change(&ServerIdentity::of(server.config()), &mut |pins| assert!(pins.reject("a"))).unwrap();
    expect![[r"
        denied
        `s__a` is no longer what was accepted of the server `s`; nothing was done, go on without it until the user has looked at it and accepted it with `haft mcp accept s`"]]
    .assert_eq(&call(&executor, "s__a", json!({})).await);
    assert_eq!(call(&executor, "s__b", json!({})).await, "ok\ndone");
    assert_eq!(fake.count("tools/call"), 2);
    assert!(changes.changed().await);
    assert_eq!(server.quarantined()[0].name, "a");
}
