use crate::{ask, outline, strategies, wait};
use async_trait::async_trait;
use expect_test::{Expect, expect};
use haft_core::{Message, ReplyStatus, StopReason, ToolCall, ToolOutput, ToolReply, Usage};
use haft_model::{
    Delta, DeltaStream, Model, ModelCapabilities, ModelError, ModelRequest, ProtocolError, RecordingModel,
    ScriptedModel, Session, assemble,
};
use proptest::prelude::*;
use serde_json::json;
use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use tokio_util::sync::CancellationToken;

/// Keeps what is written, one entry a write, and each flush as an empty entry; can be made to fail.
#[derive(Clone, Default)]
struct Sink(Arc<Mutex<SinkState>>);

#[derive(Default)]
struct SinkState {
    writes: Vec<String>,
    fails: bool,
}

impl Sink {
    fn text(&self) -> String {
        self.0.lock().unwrap().writes.concat()
    }

    fn fail(&self, fails: bool) {
        self.0.lock().unwrap().fails = fails;
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.0.lock().unwrap();
        if state.fails {
            return Err(io::Error::new(io::ErrorKind::StorageFull, "the disk is full"));
        }
        state.writes.push(String::from_utf8(bytes.to_vec()).unwrap());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.lock().unwrap().writes.push(String::new());
        Ok(())
    }
}

/// Streams these items, one list a request, whatever is asked.
struct Fixed {
    capabilities: ModelCapabilities,
    turns: Mutex<VecDeque<Vec<Item>>>,
}

impl Fixed {
    fn new(turns: impl IntoIterator<Item = Vec<Item>>) -> Self {
        Self {
            capabilities: ModelCapabilities::new("fixed").images(),
            turns: Mutex::new(turns.into_iter().collect()),
        }
    }
}

#[async_trait]
impl Model for Fixed {
    fn capabilities(&self) -> &ModelCapabilities {
        &self.capabilities
    }

    async fn stream(&self, _: ModelRequest, _: CancellationToken) -> Result<DeltaStream, ModelError> {
        let items =
            self.turns.lock().unwrap().pop_front().ok_or(ModelError::RateLimited { retry_after: None })?;
        Ok(DeltaStream::new(futures_util::stream::iter(items)))
    }
}

type Item = Result<Delta, ModelError>;

fn good(deltas: impl IntoIterator<Item = Delta>) -> Vec<Item> {
    deltas.into_iter().map(Ok).collect()
}

fn failing(deltas: impl IntoIterator<Item = Delta>, error: ModelError) -> Vec<Item> {
    deltas.into_iter().map(Ok).chain([Err(error)]).collect()
}

fn text(text: &str) -> Delta {
    Delta::Text(text.to_owned())
}

fn call(index: u32, id: &str) -> Delta {
    Delta::ToolCallStart { index, id: id.parse().unwrap(), name: "glob".into() }
}

const END: Delta = Delta::Stop(StopReason::EndTurn);
const CALLS: Delta = Delta::Stop(StopReason::ToolCalls);

/// Asks for each of these turns once, after the transcript, and shows the turns and what was recorded.
#[expect(clippy::needless_pass_by_value, reason = "snapshots read better without a reference")]
fn check(transcript: &[Message], turns: impl IntoIterator<Item = Vec<Item>>, expected: Expect) {
    let turns: Vec<_> = turns.into_iter().collect();
    let count = turns.len();
    let sink = Sink::default();
    let model = RecordingModel::new(Fixed::new(turns), sink.clone());
    let mut shown = String::new();
    for _ in 0..count {
        shown += &outline(wait(ask(&model, transcript)));
    }
    shown += "--- recorded\n";
    shown += &sink.text();
    expected.assert_eq(&shown);
}

#[test]
fn writes_one_flushed_line_a_turn() {
    let sink = Sink::default();
    let model =
        RecordingModel::new(Fixed::new([good([text("a"), END]), good([text("b"), END])]), sink.clone());
    wait(ask(&model, &[])).unwrap();
    wait(ask(&model, &[])).unwrap();
    let writes = sink.0.lock().unwrap().writes.clone();
    assert_eq!(writes, ["{\"text\":\"a\"}\n", "", "{\"text\":\"b\"}\n", ""]);
}

#[test]
fn joins_what_a_session_cannot_keep_apart() {
    let reasoning = |text: &str, data| Delta::Reasoning { text: text.into(), provider_data: data };
    let turn = good([
        reasoning("Think. ", json!({ "signature": "s" })),
        reasoning("More.", json!(null)),
        text("I look. "),
        call(0, "c1"),
        text("And wait."),
        Delta::ToolCallArguments { index: 0, fragment: "{\"pattern\":\"*\"}".into() },
        Delta::Usage(Usage { input: 9, output: 4, cache_read: 5, cache_write: 0 }),
        CALLS,
    ]);
    check(
        &[],
        [turn],
        expect![[r#"
            {"type":"reasoning","text":"Think. ","provider_data":{"signature":"s"}}
            {"type":"reasoning","text":"More."}
            {"type":"text","text":"I look. "}
            {"type":"tool_call","call":{"id":"c1","name":"glob","input":{"pattern":"*"}}}
            {"type":"text","text":"And wait."}
            ToolCalls, 9 tokens in, 4 out
            --- recorded
            {"text":"I look. And wait.","reasoning":"Think. More.","calls":[{"id":"c1","name":"glob","input":{"pattern":"*"}}],"usage":{"input":9,"output":4,"cache_read":5}}
        "#]],
    );
}

#[test]
fn records_what_the_turn_was_written_in_answer_to() {
    let statuses = [("c1", ReplyStatus::Denied), ("from-before", ReplyStatus::Ok)];
    let replies = statuses
        .map(|(id, status)| ToolReply::new(id.parse().unwrap(), "glob", status, ToolOutput::text("no")));
    let transcript =
        [Message::user("Look."), Message::Tool { replies: replies.to_vec() }, Message::user("Do hurry.")];
    check(
        &transcript,
        [good([call(0, "c1"), CALLS]), good([text("Ah."), END]), good([text("Well."), END])],
        expect![[r#"
            {"type":"tool_call","call":{"id":"c1","name":"glob","input":{}}}
            ToolCalls, 0 tokens in, 0 out
            {"type":"text","text":"Ah."}
            EndTurn, 0 tokens in, 0 out
            {"type":"text","text":"Well."}
            EndTurn, 0 tokens in, 0 out
            --- recorded
            {"calls":[{"id":"c1","name":"glob","input":{}}]}
            {"text":"Ah.","after":{"c1":"denied"}}
            {"text":"Well."}
        "#]],
    );
}

#[test]
fn leaves_out_turns_that_failed() {
    check(
        &[],
        [
            good([text("broken o")]),
            failing([text("cancelled")], ModelError::Cancelled),
            good([text("too much"), END, text("!")]),
            failing([text("late"), END], ModelError::unavailable("connection reset")),
            good([call(0, "c1"), END]),
            good([text("good"), END]),
        ],
        expect![[r#"
            the model's answer broke off before it was finished; ask again
            the model request was cancelled
            the model's answer is malformed: it went on after its end
            the model is not available
            because: connection reset
            the model's answer is malformed: it made calls (1), but does not wait for the replies
            {"type":"text","text":"good"}
            EndTurn, 0 tokens in, 0 out
            --- recorded
            {"text":"good"}
        "#]],
    );
}

#[test]
fn leaves_out_a_turn_that_was_given_up() {
    let sink = Sink::default();
    let model = RecordingModel::new(Fixed::new([good([text("a"), END])]), sink.clone());
    wait(async {
        let mut stream =
            model.stream(ModelRequest::new([Message::user("Go.")]), CancellationToken::new()).await.unwrap();
        assert!(stream.next().await.is_some());
    });
    assert_eq!(sink.text(), "");
}

#[test]
fn has_written_the_turn_when_the_stop_is_seen() {
    let sink = Sink::default();
    let model = RecordingModel::new(Fixed::new([good([text("a"), END])]), sink.clone());
    wait(async {
        let mut stream =
            model.stream(ModelRequest::new([Message::user("Go.")]), CancellationToken::new()).await.unwrap();
        assert!(matches!(stream.next().await, Some(Ok(Delta::Text(_)))));
        assert_eq!(sink.text(), "");
        assert!(matches!(stream.next().await, Some(Ok(Delta::Stop(_)))));
        assert_eq!(sink.text(), "{\"text\":\"a\"}\n");
        assert!(stream.next().await.is_none());
    });
}

#[test]
fn passes_a_broken_stream_on_as_it_is() {
    let model = RecordingModel::new(Fixed::new([good([END, text("a"), END])]), io::sink());
    wait(async {
        let mut stream =
            model.stream(ModelRequest::new([Message::user("Go.")]), CancellationToken::new()).await.unwrap();
        let mut seen = Vec::new();
        while let Some(delta) = stream.next().await {
            seen.push(delta.unwrap());
        }
        assert_eq!(seen, [END, text("a"), END]);
    });
}

#[test]
fn fails_for_good_once_the_sink_has_failed() {
    let sink = Sink::default();
    let turns = ["a", "b", "c"].map(|name| good([text(name), END]));
    let model = RecordingModel::new(Fixed::new(turns), sink.clone());
    let mut shown = outline(wait(ask(&model, &[])));
    sink.fail(true);
    shown += &outline(wait(ask(&model, &[])));
    sink.fail(false);
    shown += &outline(wait(ask(&model, &[])));
    shown += &sink.text();
    expect![[r#"
        {"type":"text","text":"a"}
        EndTurn, 0 tokens in, 0 out
        cannot record turn 2 of the session
        because: the disk is full
        cannot record turn 3 of the session
        because: an earlier turn could not be recorded; record to a new file
        {"text":"a"}
    "#]]
    .assert_eq(&shown);
}

#[test]
fn gives_a_call_that_repeats_an_id_another_one_in_the_record() {
    let reply = ToolReply::new("c1".parse().unwrap(), "glob", ReplyStatus::Denied, ToolOutput::text("no"));
    let transcript = [Message::user("Look."), Message::Tool { replies: vec![reply] }];
    let again = || good([call(0, "c1"), call(1, "c1-2-1"), CALLS]);
    check(
        &transcript,
        [good([call(0, "c1"), CALLS]), again(), good([text("Well."), END])],
        expect![[r#"
        {"type":"tool_call","call":{"id":"c1","name":"glob","input":{}}}
        ToolCalls, 0 tokens in, 0 out
        {"type":"tool_call","call":{"id":"c1","name":"glob","input":{}}}
        {"type":"tool_call","call":{"id":"c1-2-1","name":"glob","input":{}}}
        ToolCalls, 0 tokens in, 0 out
        {"type":"text","text":"Well."}
        EndTurn, 0 tokens in, 0 out
        --- recorded
        {"calls":[{"id":"c1","name":"glob","input":{}}]}
        {"calls":[{"id":"call-2-1","name":"glob","input":{}},{"id":"c1-2-1","name":"glob","input":{}}],"after":{"c1":"denied"}}
        {"text":"Well.","after":{"call-2-1":"denied"}}
    "#]],
    );
    let sink = Sink::default();
    let model =
        RecordingModel::new(Fixed::new([good([call(0, "c1"), CALLS]), again(), again()]), sink.clone());
    for _ in 0..3 {
        wait(ask(&model, &transcript)).unwrap();
    }
    assert_eq!(Session::parse(&sink.text(), "again.jsonl").unwrap().turns().len(), 3);
}

#[test]
fn passes_the_error_of_the_model_on() {
    let model = RecordingModel::new(Fixed::new([]), io::sink());
    let error = wait(ask(&model, &[])).unwrap_err();
    assert!(matches!(error, ModelError::RateLimited { retry_after: None }));
}

#[test]
fn wraps_a_model_behind_a_pointer() {
    let inner: Arc<dyn Model> = Arc::new(Fixed::new([]));
    let model: Box<dyn Model> = Box::new(RecordingModel::new(inner, io::sink()));
    assert_eq!(model.capabilities(), &ModelCapabilities::new("fixed").images());
}

#[test]
fn tells_what_a_retry_can_help() {
    let source = || io::Error::other("x").into();
    let errors = [
        ModelError::unavailable("down"),
        ModelError::RateLimited { retry_after: None },
        ModelError::Truncated,
        ProtocolError::AfterStop.into(),
        ModelError::Cancelled,
        ModelError::Refused { reason: "too long".into() },
        ModelError::Recording { turn: 1, source: source() },
        ModelError::Other { source: source() },
    ];
    let lines = errors.iter().map(|error| format!("{:5} {error}", error.can_retry()));
    let shown = lines.collect::<Vec<_>>().join("\n") + "\n";
    expect![[r#"
        true  the model is not available
        true  the model's provider limits the rate of requests; wait, then ask again
        true  the model's answer broke off before it was finished; ask again
        false the model's answer is malformed: it went on after its end
        false the model request was cancelled
        false the model's provider refused the request: too long
        false cannot record turn 1 of the session
        false the model request failed
    "#]]
    .assert_eq(&shown);
}

fn answer(call: &ToolCall, next: Option<&haft_model::SessionTurn>) -> ToolReply {
    let status = next.and_then(|turn| turn.after.get(&call.id)).copied().unwrap_or(ReplyStatus::Ok);
    ToolReply::new(call.id.clone(), call.name.as_str(), status, ToolOutput::default())
}

/// Runs a session to its end, with replies that end as it says, and gives what was recorded of it.
async fn record(session: &Session) -> String {
    let sink = Sink::default();
    let model = RecordingModel::new(ScriptedModel::new(session.clone()), sink.clone());
    play(&model, session).await;
    sink.text()
}

async fn play(model: &RecordingModel<ScriptedModel>, session: &Session) {
    let mut transcript = vec![Arc::new(Message::user("Go."))];
    for number in 1..=session.turns().len() {
        let request = ModelRequest::new(transcript.iter().cloned());
        let stream = model.stream(request, CancellationToken::new()).await.unwrap();
        let turn = assemble(stream, |_| {}).await.unwrap();
        let next = session.turns().get(number);
        let replies: Vec<_> = turn.message.tool_calls().map(|call| answer(call, next)).collect();
        transcript.push(Arc::new(turn.message));
        if !replies.is_empty() {
            transcript.push(Arc::new(Message::Tool { replies }));
        }
    }
    assert_eq!(model.inner().finished(), Ok(()));
}

/// Records two runs of the same session, one below the other, and gives the session that was recorded.
async fn record_with_a_run_below(session: &Session) -> Session {
    let sink = Sink::default();
    let model = RecordingModel::new(ScriptedModel::new(session.clone()), sink.clone());
    let below = model.beside(ScriptedModel::new(session.clone()), "c1/0");
    tokio::join!(play(&below, session), play(&model, session));
    Session::parse(&sink.text(), "recorded").unwrap()
}

proptest! {
    /// Recording what is played gives the session that is played.
    #[test]
    fn records_the_session_it_plays(session in strategies::session()) {
        prop_assert_eq!(wait(record(&session)), session.to_jsonl());
    }

    /// Runs that are recorded to one sink are told apart in it.
    #[test]
    fn records_runs_beside_each_other(session in strategies::session()) {
        let recorded = wait(record_with_a_run_below(&session));
        let below = recorded.of_run("c1/0").unwrap();
        let told = below.turns().iter().map(|turn| turn.clone().run("")).collect::<Vec<_>>();
        prop_assert_eq!(recorded.turns(), session.turns());
        prop_assert_eq!(told, session.turns());
    }
}
