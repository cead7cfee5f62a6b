use crate::{outline, strategies, wait};
use expect_test::{Expect, expect};
use haft_core::{AssistantPart, CallId, Message, StopReason, ToolCall, Usage};
use haft_model::{Assembler, Delta, DeltaStream, ModelError, ModelTurn, ProtocolError, assemble};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::VecDeque;

#[expect(clippy::needless_pass_by_value, reason = "snapshots read better without a reference")]
fn check(deltas: impl IntoIterator<Item = Delta>, expected: Expect) {
    let stream = DeltaStream::from_deltas(deltas.into_iter().collect::<Vec<_>>());
    expected.assert_eq(&outline(wait(assemble(stream, |_| {}))));
}

fn text(text: &str) -> Delta {
    Delta::Text(text.to_owned())
}

fn reasoning(text: &str, provider_data: Value) -> Delta {
    Delta::Reasoning { text: text.to_owned(), provider_data }
}

fn start(index: u32, id: &str) -> Delta {
    Delta::ToolCallStart { index, id: id.parse().unwrap(), name: "grep".to_owned() }
}

fn arguments(index: u32, fragment: &str) -> Delta {
    Delta::ToolCallArguments { index, fragment: fragment.to_owned() }
}

const END: Delta = Delta::Stop(StopReason::EndTurn);
const CALLS: Delta = Delta::Stop(StopReason::ToolCalls);

#[test]
fn joins_adjacent_text() {
    check(
        [text("Good "), text(""), text("morning."), END],
        expect![[r#"
            {"type":"text","text":"Good morning."}
            EndTurn, 0 tokens in, 0 out
        "#]],
    );
}

#[test]
fn takes_calls_apart_by_index() {
    check(
        [
            start(7, "b"),
            arguments(7, "{\"pattern\""),
            start(0, "a"),
            text("Both at once."),
            arguments(0, "{\"path\":\"src\"}"),
            arguments(7, ":\"fn\"}"),
            CALLS,
        ],
        expect![[r#"
            {"type":"tool_call","call":{"id":"b","name":"grep","input":{"pattern":"fn"}}}
            {"type":"tool_call","call":{"id":"a","name":"grep","input":{"path":"src"}}}
            {"type":"text","text":"Both at once."}
            ToolCalls, 0 tokens in, 0 out
        "#]],
    );
}

#[test]
fn takes_no_arguments_for_an_empty_object() {
    check(
        [start(0, "a"), start(1, "b"), arguments(1, " \n"), CALLS],
        expect![[r#"
            {"type":"tool_call","call":{"id":"a","name":"grep","input":{}}}
            {"type":"tool_call","call":{"id":"b","name":"grep","input":{}}}
            ToolCalls, 0 tokens in, 0 out
        "#]],
    );
}

#[test]
fn keeps_arguments_that_are_not_json() {
    check(
        [
            start(0, "a"),
            arguments(0, "{\"path\": \"src"),
            start(1, "b"),
            arguments(1, "{} {}"),
            start(2, "c"),
            arguments(2, "1e999"),
            Delta::Stop(StopReason::MaxTokens),
        ],
        expect![[r#"
            {"type":"tool_call","call":{"id":"a","name":"grep","input":"{\"path\": \"src"}}
            {"type":"tool_call","call":{"id":"b","name":"grep","input":"{} {}"}}
            {"type":"tool_call","call":{"id":"c","name":"grep","input":"1e999"}}
            MaxTokens, 0 tokens in, 0 out
        "#]],
    );
}

#[test]
fn keeps_arguments_that_are_nested_too_deep_as_text() {
    let input = |levels: usize| {
        let nested = "[".repeat(levels) + &"]".repeat(levels);
        let deltas = [start(0, "a"), arguments(0, &nested), CALLS];
        let turn = wait(assemble(DeltaStream::from_deltas(deltas), |_| {})).unwrap();
        turn.message.tool_calls().next().unwrap().input.clone()
    };
    assert!(input(100).is_array());
    assert!(input(101).is_string());
    assert!(input(100_000).is_string());
}

#[test]
fn refuses_what_a_provider_wants_back_that_is_nested_too_deep_to_be_kept() {
    let nested = |levels: usize| (0..levels).fold(json!("x"), |inner, _| json!([inner]));
    let turn = |levels: usize| {
        let deltas = [reasoning("Hm", nested(levels)), END];
        wait(assemble(DeltaStream::from_deltas(deltas), |_| {}))
    };
    assert!(turn(100).is_ok());
    let error = turn(101).unwrap_err();
    assert!(matches!(error, ModelError::Protocol(ProtocolError::TooDeep { limit: 100 })), "{error:?}");
    expect!["the model's answer is malformed: it is nested in more than 100 levels"]
        .assert_eq(&error.to_string());
}

#[test]
fn ends_a_block_of_reasoning_with_its_provider_data() {
    check(
        [
            reasoning("First ", Value::Null),
            reasoning("this.", Value::Null),
            reasoning("", json!({ "signature": "s1" })),
            reasoning("", Value::Null),
            reasoning("Then that.", Value::Null),
            text("So."),
            END,
        ],
        expect![[r#"
            {"type":"reasoning","text":"First this.","provider_data":{"signature":"s1"}}
            {"type":"reasoning","text":"Then that."}
            {"type":"text","text":"So."}
            EndTurn, 0 tokens in, 0 out
        "#]],
    );
}

#[test]
fn takes_the_last_usage() {
    let usage = |input, output| Delta::Usage(Usage { input, output, ..Usage::default() });
    check(
        [usage(25, 1), text("Hi."), usage(25, 3), END],
        expect![[r#"
            {"type":"text","text":"Hi."}
            EndTurn, 25 tokens in, 3 out
        "#]],
    );
}

#[test]
fn takes_a_turn_that_says_nothing() {
    check(
        [Delta::Stop(StopReason::Refused)],
        expect![[r#"
            Refused, 0 tokens in, 0 out
        "#]],
    );
}

#[test]
fn refuses_an_end_without_a_stop() {
    check(
        [],
        expect![[r#"
            the model's answer broke off before it was finished; ask again
        "#]],
    );
    check(
        [text("I will n")],
        expect![[r#"
            the model's answer broke off before it was finished; ask again
        "#]],
    );
}

#[test]
fn refuses_arguments_of_a_call_that_was_not_started() {
    check(
        [start(0, "a"), arguments(1, "{}"), CALLS],
        expect![[r#"
            the model's answer is malformed: arguments for call number 1, which was not started
        "#]],
    );
}

#[test]
fn refuses_a_second_start() {
    check(
        [start(3, "a"), start(3, "b"), CALLS],
        expect![[r#"
            the model's answer is malformed: call number 3 was started twice
        "#]],
    );
}

#[test]
fn refuses_a_second_call_of_one_id() {
    check(
        [start(0, "a"), start(1, "a"), CALLS],
        expect![[r#"
            the model's answer is malformed: two calls have the id `a`
        "#]],
    );
}

#[test]
fn refuses_anything_after_the_stop() {
    for late in [text(""), END, Delta::Usage(Usage::default()), start(0, "a")] {
        let turn = wait(assemble(DeltaStream::from_deltas([END, late]), |_| {}));
        assert_eq!(outline(turn), "the model's answer is malformed: it went on after its end\n");
    }
}

#[test]
fn refuses_a_stop_that_does_not_fit() {
    check(
        [text("Let me see."), CALLS],
        expect![[r#"
            the model's answer is malformed: it waits for replies, but made no call
        "#]],
    );
    check(
        [start(0, "a"), start(1, "b"), END],
        expect![[r#"
            the model's answer is malformed: it made calls (2), but does not wait for the replies
        "#]],
    );
}

#[test]
fn refuses_a_turn_without_bounds() {
    let fill = |delta: &dyn Fn(u32) -> Delta| {
        let mut assembler = Assembler::new();
        (0..u32::MAX).find_map(|number| assembler.push(delta(number)).err()).unwrap().to_string()
    };
    let expected = "the model's answer is malformed: it is larger than 16777216 bytes";
    let mebibyte = "x".repeat(1 << 20);
    assert_eq!(fill(&|_| text(&mebibyte)), expected);
    assert_eq!(fill(&|_| reasoning("", json!([[mebibyte]]))), expected);
    assert_eq!(fill(&|number| start(number, &number.to_string())), expected);
    let in_turns =
        |number: u32| if number.is_multiple_of(2) { text("a") } else { reasoning("b", Value::Null) };
    assert_eq!(fill(&in_turns), expected);
}

#[test]
fn takes_empty_deltas_without_end() {
    let mut assembler = Assembler::new();
    for _ in 0..200_000 {
        assembler.push(text("")).unwrap();
        assembler.push(reasoning("", Value::Null)).unwrap();
    }
    assembler.push(END).unwrap();
    assert_eq!(
        assembler.finish().unwrap(),
        ModelTurn::new(Vec::new(), Usage::default(), StopReason::EndTurn)
    );
}

#[test]
fn goes_on_after_a_refused_delta() {
    let mut assembler = Assembler::new();
    assembler.push(text("Hi.")).unwrap();
    let refused = assembler.push(arguments(0, "{}"));
    assert!(matches!(refused, Err(ModelError::Protocol(ProtocolError::UnknownCall { index: 0 }))));
    assembler.push(END).unwrap();
    assert_eq!(assembler.finish().unwrap().message.assistant_text(), "Hi.");
}

#[test]
fn shows_each_good_delta_to_the_observer() {
    let mut seen = Vec::new();
    let stream = DeltaStream::from_deltas([text("a"), text("b"), arguments(0, "{}"), END]);
    let result = wait(assemble(stream, |delta| seen.push(delta.clone())));
    assert!(result.is_err());
    assert_eq!(seen, [text("a"), text("b")]);
}

#[test]
fn passes_the_error_of_the_stream_on_and_ends_there() {
    let items = [Ok(text("a")), Err(ModelError::Cancelled), Ok(END)];
    let mut stream = DeltaStream::new(futures_util::stream::iter(items));
    wait(async {
        assert!(matches!(stream.next().await, Some(Ok(Delta::Text(_)))));
        assert!(matches!(stream.next().await, Some(Err(ModelError::Cancelled))));
        assert!(stream.next().await.is_none());
    });
}

#[test]
fn can_be_assembled_on_another_thread() {
    fn assert_send<T: Send>(value: T) -> T {
        value
    }
    let stream = DeltaStream::from_deltas([END]);
    assert!(wait(assert_send(assemble(stream, |_| {}))).is_ok());
}

/// Cuts a turn into deltas: texts anywhere, arguments anywhere and as late as can be, calls mixed.
fn split(turn: &ModelTurn, choices: &[u8]) -> Vec<Delta> {
    let mut choices = choices.iter().copied().cycle();
    let mut choose = move |count: usize| usize::from(choices.next().unwrap_or(0)) % count;
    let Message::Assistant { parts } = &turn.message else { panic!("a turn is an assistant message") };
    let mut deltas = Vec::new();
    let mut late: Vec<VecDeque<Delta>> = Vec::new();
    for part in parts {
        match part {
            AssistantPart::Text { text } => {
                deltas.extend(pieces(text, &mut choose).into_iter().map(Delta::Text));
            }
            AssistantPart::Reasoning { text, provider_data } => {
                let mut pieces = pieces(text, &mut choose);
                let last = pieces.pop().unwrap_or_default();
                deltas.extend(pieces.iter().map(|piece| reasoning(piece, Value::Null)));
                deltas.push(reasoning(&last, provider_data.clone()));
            }
            AssistantPart::ToolCall { call } => {
                // Indices need not start at 0, nor grow.
                let index = u32::MAX - u32::try_from(deltas.len()).unwrap();
                deltas.push(Delta::ToolCallStart { index, id: call.id.clone(), name: call.name.clone() });
                let fragments = pieces(&call.input.to_string(), &mut choose);
                late.push(fragments.iter().map(|fragment| arguments(index, fragment)).collect());
            }
            other => panic!("{other:?} is not generated"),
        }
        for _ in 0..choose(4) {
            if !late.is_empty() {
                let call = choose(late.len());
                deltas.extend(late[call].pop_front());
            }
        }
    }
    loop {
        late.retain(|fragments| !fragments.is_empty());
        if late.is_empty() {
            break;
        }
        let call = choose(late.len());
        deltas.extend(late[call].pop_front());
    }
    deltas.push(Delta::Usage(turn.usage));
    deltas.push(Delta::Stop(turn.stop));
    deltas
}

fn pieces(text: &str, choose: &mut impl FnMut(usize) -> usize) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut characters = text.chars().peekable();
    while characters.peek().is_some() {
        let count = choose(7);
        pieces.push(characters.by_ref().take(count).collect());
    }
    pieces
}

proptest! {
    /// However a turn is cut into deltas, the same turn comes out.
    #[test]
    fn assembles_what_was_split(
        turn in strategies::turn(),
        mut choices in proptest::collection::vec(any::<u8>(), 1..40),
    ) {
        // Some choice must be another than "nothing".
        choices.push(5);
        let assembled = wait(assemble(DeltaStream::from_deltas(split(&turn, &choices)), |_| {}));
        prop_assert_eq!(assembled.unwrap(), turn);
    }

    /// No sequence of deltas makes the assembler panic, and no call is lost or made up.
    #[test]
    fn takes_any_deltas(deltas in proptest::collection::vec(any_delta(), 0..30)) {
        let mut assembler = Assembler::new();
        let mut ids: Vec<CallId> = Vec::new();
        for delta in deltas {
            if assembler.push(delta.clone()).is_ok() && let Delta::ToolCallStart { id, .. } = delta {
                ids.push(id);
            }
        }
        if let Ok(turn) = assembler.finish() {
            let calls: Vec<_> = turn.message.tool_calls().map(|call: &ToolCall| call.id.clone()).collect();
            prop_assert_eq!(calls, ids);
        }
    }
}

fn any_delta() -> impl Strategy<Value = Delta> {
    prop_oneof![
        strategies::text().prop_map(Delta::Text),
        (strategies::text(), strategies::json_value())
            .prop_map(|(text, provider_data)| Delta::Reasoning { text, provider_data }),
        (0u32..4, 0u32..6).prop_map(|(index, id)| start(index, &id.to_string())),
        (0u32..4, strategies::text())
            .prop_map(|(index, fragment)| Delta::ToolCallArguments { index, fragment }),
        Just(END),
        Just(CALLS),
    ]
}
