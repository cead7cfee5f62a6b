use super::super::fixture::{Dropped, Paper, Probe, Stage, Told, accept, message};
use super::super::{ParkedLimits, RoundEnd};
use crate::server::ask::{Ask, AskKind, ClientAskError};
use crate::server::caller::{Ability, Principal};
use crate::server::line::Line;
use crate::server::round::Binding;
use crate::server::toolbox::CallingClient;
use haft_core::{ToolError, ToolOutput};
use haft_tools_core::{MemoryPending, Question};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const FIRST: (Option<&str>, Value) = (None, Value::Null);

/// Greets whom it is told to.
fn greet() -> Probe {
    Probe::new("greet", |_, cx| async move {
        match cx.ask(Question::text("Who are you?").keyed("user_name")).await {
            Ok(name) => Ok(ToolOutput::text(format!("Hello, {}!", name.as_str().unwrap()))),
            Err(none) => Err(ToolError::failed(none.to_string())),
        }
    })
}

/// Asks for so many things, one after the other.
fn steps(most: usize) -> Probe {
    Probe::new("steps", move |_, cx| async move {
        let mut said = Vec::new();
        for step in 1..=most {
            cx.progress(format!("step {step}"));
            match cx.ask(Question::text(format!("Step {step}?"))).await {
                Ok(answer) => said.push(answer.to_string()),
                Err(none) => said.push(none.to_string()),
            }
        }
        Ok(ToolOutput::text(said.join(" ")))
    })
}

fn answer(key: &str, text: &str) -> Value {
    json!({ key: accept(json!({ "answer": text })) })
}

#[tokio::test]
async fn a_running_call_waits_for_the_next_request() {
    let server = Stage::new([greet()]);
    let Told::Asks(asks, state) = server.round("greet", json!({}), FIRST).await else { panic!("it asks") };
    assert_eq!((asks[0].key.as_str(), message(&asks[0])), ("user_name", "Who are you?"));
    assert_eq!(server.calls.parked.len(), 1);
    let told = server.round("greet", json!({}), (Some(&state), answer("user_name", "Alice"))).await;
    assert_eq!(told.reply(), "ok: Hello, Alice!");
    assert_eq!(server.calls.parked.len(), 0);
    let again = server.round("greet", json!({}), (Some(&state), answer("user_name", "Bob"))).await;
    assert!(again.reply().contains("used before"));
}

#[tokio::test]
async fn a_keyed_question_is_answered_beforehand() {
    let server = Stage::new([greet()]);
    let told = server.round("greet", json!({}), (None, answer("user_name", "Alice"))).await;
    assert_eq!(told.reply(), "ok: Hello, Alice!");
    for none in [
        answer("other", "Alice"),
        json!({ "user_name": 12345 }),
        json!({ "user_name": null }),
        json!({ "user_name": accept(json!({ "answer": 5 })) }),
    ] {
        let (keys, _) = server.round("greet", json!({}), (None, none)).await.asks();
        assert_eq!(keys, ["user_name"]);
    }
}

#[tokio::test]
async fn what_is_no_answer_stays_asked_with_another_state() {
    let server = Stage::new([greet()]);
    let (_, first) = server.round("greet", json!({}), FIRST).await.asks();
    let (keys, second) =
        server.round("greet", json!({}), (Some(&first), json!({ "user_name": 1 }))).await.asks();
    assert_eq!(keys, ["user_name"]);
    assert_ne!(first, second);
    let declined = json!({ "user_name": { "action": "decline" } });
    let told = server.round("greet", json!({}), (Some(&second), declined)).await;
    assert_eq!(told.reply(), "error: failed: the user does not want to answer; go on without the answer");
}

#[tokio::test]
async fn each_step_is_a_round_and_progress_goes_to_the_request_at_hand() {
    let server = Stage::new([steps(2)]);
    let lines = [(); 3].map(|()| Arc::new(Paper::modern("ada")));
    let round = async |number: usize, state: Option<&str>, answers: Value| {
        let line: Arc<Paper> = Arc::clone(&lines[number]);
        Told::from(server.call(line, "steps", json!({}), (state, answers)).await)
    };
    let (keys, first) = round(0, None, json!({})).await.asks();
    assert_eq!(keys, ["q1"]);
    let (keys, second) = round(1, Some(&first), answer("q1", "a")).await.asks();
    assert_eq!(keys, ["q2"]);
    let told = round(2, Some(&second), answer("q2", "b")).await;
    assert_eq!(told.reply(), "ok: \"a\" \"b\"");
    assert_eq!(lines.map(|line| line.told()), [vec!["step 1".to_owned()], vec!["step 2".to_owned()], vec![]]);
}

#[tokio::test]
async fn what_a_call_shows_before_it_is_done_is_progress_by_its_last_line() {
    let prints = Probe::new("prints", |_, cx| async move {
        cx.update(|| ToolOutput::text("one\ntwo\n\n"));
        Ok(ToolOutput::text("done"))
    });
    let silent = Probe::new("silent", |_, cx| async move {
        cx.update(|| ToolOutput::text(" \n"));
        Ok(ToolOutput::text("done"))
    });
    let server = Stage::new([prints, silent]);
    for (tool, expected) in [("prints", vec!["two".to_owned()]), ("silent", vec![])] {
        let line = Arc::new(Paper::modern("ada"));
        let told = Told::from(server.call(Arc::<Paper>::clone(&line), tool, json!({}), FIRST).await);
        assert_eq!((told.reply(), line.told()), ("ok: done", expected));
    }
}

#[tokio::test]
async fn several_questions_go_out_together() {
    let together = Probe::new("together", |_, cx| async move {
        let client = cx.scope().extension::<CallingClient>().unwrap();
        let form = AskKind::Form {
            message: "Who?".to_owned(),
            schema: json!({ "type": "object", "properties": { "name": { "type": "string" } } }),
        };
        let asks = vec![
            Ask { key: "user_name".to_owned(), kind: form },
            Ask { key: "greeting".to_owned(), kind: AskKind::Sample(json!({ "maxTokens": 50 })) },
            Ask { key: "client_roots".to_owned(), kind: AskKind::Roots },
        ];
        let answers = client.ask(asks).await;
        Ok(ToolOutput::text(format!("{:?}", answers.into_keys().collect::<Vec<_>>())))
    });
    let server = Stage::new([together]);
    let (keys, state) = server.round("together", json!({}), FIRST).await.asks();
    assert_eq!(keys, ["user_name", "greeting", "client_roots"]);
    // One that is not answered is asked again, by itself.
    let some = json!({
        "user_name": accept(json!({ "name": "Ada" })), "client_roots": { "roots": [] }
    });
    let (keys, state) = server.round("together", json!({}), (Some(&state), some)).await.asks();
    assert_eq!(keys, ["greeting"]);
    let rest = json!({ "greeting": { "role": "assistant", "content": { "type": "text", "text": "hi" } } });
    let told = server.round("together", json!({}), (Some(&state), rest)).await;
    assert_eq!(told.reply(), r#"ok: ["client_roots", "greeting", "user_name"]"#);
}

#[tokio::test]
async fn a_tool_cannot_pose_as_the_approver() {
    let poses = Probe::new("poses", |_, cx| async move {
        let answer = cx.ask(Question::text("?").keyed("approval")).await;
        Ok(ToolOutput::text(format!("{answer:?}")))
    });
    let server = Stage::new([poses]);
    let (keys, _) = server.round("poses", json!({}), FIRST).await.asks();
    assert_eq!(keys, ["q-approval"]);
}

#[tokio::test]
async fn a_call_puts_eight_questions_at_most() {
    let line = Arc::new(Paper::legacy(|_: &Ask| Some(Ok(json!({ "answer": "x" })))));
    let server = Stage::new([steps(9)]);
    let told = Told::from(server.call(Arc::clone(&line), "steps", json!({}), FIRST).await);
    let eight = ["\"x\""; 8].join(" ");
    assert_eq!(told.reply(), format!("ok: {eight} nobody can be asked here; go on without the answer"));
    assert_eq!(line.asked.lock().unwrap().len(), 8);
}

#[tokio::test]
async fn what_the_client_lacks_is_told_by_name() {
    let needs = Probe::new("needs", |_, cx| async move {
        let client = cx.scope().extension::<CallingClient>().unwrap();
        client.needs(Ability::Sampling);
        Err(ToolError::failed("it cannot be done"))
    });
    let server = Stage::new([needs]);
    assert_eq!(server.round("needs", json!({}), FIRST).await, Told::Needs(Ability::Sampling));
    let line = Arc::new(Paper::legacy(|_: &Ask| None));
    let told = Told::from(server.call(line, "needs", json!({}), FIRST).await);
    assert_eq!(told, Told::Needs(Ability::Sampling));
}

#[tokio::test]
async fn nobody_is_asked_who_cannot_answer() {
    let server = Stage::new([greet()]);
    for line in [Paper::modern("ada").mute(), Paper::legacy(|_: &Ask| None).mute()] {
        let told = Told::from(server.call(Arc::new(line), "greet", json!({}), FIRST).await);
        assert_eq!(told.reply(), "error: failed: nobody can be asked here; go on without the answer");
    }
    let line = Paper::legacy(|_: &Ask| Some(Err(ClientAskError::Cancelled)));
    let told = Told::from(server.call(Arc::new(line), "greet", json!({}), FIRST).await);
    assert_eq!(told.reply(), "error: failed: the user does not want to answer; go on without the answer");
}

/// Asks, and says when it is dropped.
fn holds(dropped: &Arc<AtomicUsize>) -> Probe {
    let dropped = Arc::clone(dropped);
    Probe::new("holds", move |_, cx| {
        let dropped = Dropped(Arc::clone(&dropped));
        async move {
            let answer = cx.ask(Question::text("Well?").keyed("well")).await;
            drop(dropped);
            Ok(ToolOutput::text(format!("{answer:?}")))
        }
    })
}

#[tokio::test(start_paused = true)]
async fn a_call_that_nobody_answers_is_cancelled_after_ten_minutes() {
    let dropped = Arc::default();
    let server = Stage::new([holds(&dropped)]);
    let (_, state) = server.round("holds", json!({}), FIRST).await.asks();
    tokio::time::sleep(Duration::from_secs(599)).await;
    assert_eq!((server.calls.parked.len(), dropped.load(Ordering::SeqCst)), (1, 0));
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!((server.calls.parked.len(), dropped.load(Ordering::SeqCst)), (0, 1));
    let told = server.round("holds", json!({}), (Some(&state), answer("well", "yes"))).await;
    assert_eq!(
        told.reply(),
        "error: failed: the call was interrupted while it waited for an answer; look at what it has done before you repeat it"
    );
}

#[tokio::test]
async fn the_calls_that_wait_are_bounded() {
    let dropped = Arc::default();
    let limits = ParkedLimits { all: 3, of_principal: 2, ..ParkedLimits::default() };
    let server = Stage::within([holds(&dropped)], limits);
    let first = async |principal| server.round_of(principal, "holds", json!({}), FIRST).await;
    first("ada").await.asks();
    first("ada").await.asks();
    assert!(first("ada").await.reply().contains("too many calls wait"));
    first("bob").await.asks();
    assert!(first("eve").await.reply().contains("too many calls wait"));
    tokio::task::yield_now().await;
    while dropped.load(Ordering::SeqCst) < 2 {
        tokio::task::yield_now().await;
    }
    drop(server);
    while dropped.load(Ordering::SeqCst) < 5 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn another_instance_begins_anew_only_what_may_be_repeated() {
    let store = || Arc::new(MemoryPending::new());
    let [one, two] = [(); 2].map(|()| Stage::instance([greet()], ParkedLimits::default(), store()));
    let (_, state) = one.round("greet", json!({}), FIRST).await.asks();
    let told = two.round("greet", json!({}), (Some(&state), answer("user_name", "Alice"))).await;
    assert!(
        told.reply().contains("it was interrupted") || told.reply().contains("was interrupted"),
        "{told:?}"
    );
    let idempotent = || Stage::instance([greet().idempotent()], ParkedLimits::default(), store());
    let [one, two] = [idempotent(), idempotent()];
    let (_, state) = one.round("greet", json!({}), FIRST).await.asks();
    let told = two.round("greet", json!({}), (Some(&state), answer("user_name", "Alice"))).await;
    assert_eq!(told.reply(), "ok: Hello, Alice!");
}

#[tokio::test]
async fn what_is_begun_anew_in_each_round_gets_all_answers() {
    let server = Stage::new([]);
    let (principal, run) = (Principal::new("ada"), "mcp-1".parse().unwrap());
    let arguments = json!({ "name": "x" });
    let binding =
        Binding { principal: &principal, run: &run, method: "prompts/get", tool: "p", input: &arguments };
    let get = async |state: Option<&str>, answers: Value| {
        let line: Arc<dyn Line> = Arc::new(Paper::modern("ada"));
        let answers = serde_json::from_value(answers).unwrap();
        let work = |line: Arc<dyn Line>| async move {
            let client = CallingClient(line);
            let mut said = String::new();
            for key in ["a", "b"] {
                let schema = json!({ "type": "object", "properties": { "answer": { "type": "string" } } });
                let kind = AskKind::Form { message: key.to_owned(), schema };
                let answers = client.ask(vec![Ask { key: key.to_owned(), kind }]).await;
                write!(said, "{:?} ", answers[key]).unwrap();
            }
            said
        };
        server.calls.rounds().replayed((state, answers), &binding, line, work).await
    };
    let Ok(RoundEnd::Asks { state, .. }) = get(None, json!({})).await else { panic!("it asks") };
    let Ok(RoundEnd::Asks { asks, state }) = get(Some(&state), answer("a", "1")).await else {
        panic!("it asks")
    };
    assert_eq!(asks[0].key, "b");
    let Ok(RoundEnd::Done(said)) = get(Some(&state), answer("b", "2")).await else { panic!("it is done") };
    assert_eq!(said, r#"Ok(Object {"answer": String("1")}) Ok(Object {"answer": String("2")}) "#);
    assert!(get(Some(&state), answer("b", "3")).await.is_err_and(|fault| fault.code == -32602));
    assert!(get(Some("rs1.x.y"), json!({})).await.is_err_and(|fault| fault.code == -32602));
}

#[tokio::test]
async fn what_is_too_long_to_be_kept_is_refused() {
    let server = Stage::new([steps(2).idempotent()]);
    let (_, state) = server.round("steps", json!({}), FIRST).await.asks();
    let told = server.round("steps", json!({}), (Some(&state), answer("q1", &"x".repeat(64 * 1024)))).await;
    assert_eq!(
        told.reply(),
        "error: failed: what was answered is too long to be kept until the next round; the call was cancelled, so look at \
         what it has done before you repeat it"
    );
}
