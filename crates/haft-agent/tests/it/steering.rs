use crate::fixture::{check, executed, held, last_replies, pending, prompted, reply, told_by_user, turn};
use expect_test::expect;
use haft_agent::{RunEvent, RunState, SteerWhen};
use haft_core::StopReason;

fn wants(calls: &[&str]) -> RunEvent {
    turn("", calls, StopReason::ToolCalls)
}

fn says(text: &str) -> RunEvent {
    turn(text, &[], StopReason::EndTurn)
}

fn steered(text: &str, when: SteerWhen) -> RunEvent {
    RunEvent::Steered { text: text.to_owned(), when }
}

#[test]
fn what_is_said_now_skips_the_calls_that_were_not_made() {
    let state = check(
        vec![prompted(), steered("Stop looking.", SteerWhen::Now), wants(&["c1", "c2"]), says("I stopped.")],
        &expect![[r"
            persist, Emit(TurnStarted, call the model -> thinking
            persist, Emit(Steered -> thinking
            Emit(TurnFinished, persist, Emit(TurnStarted, call the model -> thinking
            Emit(TurnFinished, persist, done -> ended Completed
        "]],
    );
    assert_eq!(last_replies(&state), ["c1 skipped", "c2 skipped"]);
    assert_eq!(told_by_user(&state), ["go", "Stop looking."]);
    assert!(state.queue().is_empty());
}

#[test]
fn what_is_said_for_after_the_turn_waits_for_the_calls() {
    let state = check(
        vec![
            prompted(),
            steered("And the lid?", SteerWhen::AfterTurn),
            wants(&["c1"]),
            steered("And the cup?", SteerWhen::AfterTurn),
            executed(&["c1"]),
            says("Both there."),
        ],
        &expect![[r"
            persist, Emit(TurnStarted, call the model -> thinking
            persist, Emit(Steered -> thinking
            Emit(TurnFinished, persist, execute 1 -> acting
            persist, Emit(Steered -> acting
            persist, Emit(TurnStarted, call the model -> thinking
            Emit(TurnFinished, persist, done -> ended Completed
        "]],
    );
    assert_eq!(last_replies(&state), ["c1 ok"]);
    assert_eq!(told_by_user(&state), ["go", "And the lid?", "And the cup?"]);
}

#[test]
fn a_run_that_would_end_goes_on_with_what_was_said_meanwhile() {
    let state = check(
        vec![prompted(), steered("And then?", SteerWhen::AfterTurn), says("Done."), says("That was all.")],
        &expect![[r"
            persist, Emit(TurnStarted, call the model -> thinking
            persist, Emit(Steered -> thinking
            Emit(TurnFinished, persist, Emit(TurnStarted, call the model -> thinking
            Emit(TurnFinished, persist, done -> ended Completed
        "]],
    );
    assert_eq!(state.last_text(), "That was all.");
}

#[test]
fn what_is_said_while_calls_wait_for_a_person_is_kept_until_they_are_answered() {
    let state = check(
        vec![
            prompted(),
            wants(&["c1", "c2"]),
            RunEvent::BatchExecuted { outcomes: vec![pending("c1"), reply("c2")] },
            steered("Hurry.", SteerWhen::Now),
            RunEvent::CallAnswered { outcome: reply("c1") },
        ],
        &expect![[r"
            persist, Emit(TurnStarted, call the model -> thinking
            Emit(TurnFinished, persist, execute 2 -> acting
            persist, await approval -> waiting
            persist, Emit(Steered -> waiting
            persist, Emit(TurnStarted, call the model -> thinking
        "]],
    );
    assert_eq!(told_by_user(&state), ["go", "Hurry."]);
}

#[test]
fn what_was_said_is_stored_and_what_is_said_to_a_run_that_has_ended_is_told_with_the_next_prompt() {
    let mut state = RunState::new();
    for event in [prompted(), says("Done."), steered("Late.", SteerWhen::Now)] {
        state.step(event).unwrap();
    }
    let mut stored: RunState = serde_json::from_value(serde_json::to_value(&state).unwrap()).unwrap();
    assert_eq!(stored, state);
    stored.step(prompted()).unwrap();
    assert_eq!(told_by_user(&stored), ["go", "Late.", "go"]);
}

#[test]
fn a_pause_lets_the_model_finish_and_holds_its_calls_back() {
    let state = check(
        vec![
            prompted(),
            RunEvent::Paused,
            RunEvent::Paused,
            wants(&["c1"]),
            RunEvent::Interrupted,
            executed(&["c1"]),
            RunEvent::Unpaused,
            executed(&["c1"]),
            RunEvent::Unpaused,
        ],
        &expect![[r"
            persist, Emit(TurnStarted, call the model -> thinking
            persist, Emit(Paused) -> thinking
            refused: a run that is thinking cannot take the event `paused`
            Emit(TurnFinished, persist -> acting
             -> acting
            refused: a run that is acting cannot take the event `batch executed`
            persist, Emit(Unpaused), execute 1 -> acting
            persist, Emit(TurnStarted, call the model -> thinking
            refused: a run that is thinking cannot take the event `unpaused`
        "]],
    );
    assert_eq!(last_replies(&state), ["c1 ok"]);
}

#[test]
fn a_pause_lets_calls_finish_and_holds_the_next_turn_back() {
    check(
        vec![
            prompted(),
            wants(&["c1"]),
            RunEvent::Paused,
            executed(&["c1"]),
            says("too early"),
            RunEvent::Unpaused,
            says("Done."),
        ],
        &expect![[r"
            persist, Emit(TurnStarted, call the model -> thinking
            Emit(TurnFinished, persist, execute 1 -> acting
            persist, Emit(Paused) -> acting
            persist -> thinking
            refused: a run that is thinking cannot take the event `model answered`
            persist, Emit(Unpaused), Emit(TurnStarted, call the model -> thinking
            Emit(TurnFinished, persist, done -> ended Completed
        "]],
    );
}

#[test]
fn a_pause_that_is_over_before_anything_was_held_back_changes_nothing() {
    check(
        vec![prompted(), wants(&["c1"]), RunEvent::Paused, RunEvent::Unpaused, executed(&["c1"])],
        &expect![[r"
            persist, Emit(TurnStarted, call the model -> thinking
            Emit(TurnFinished, persist, execute 1 -> acting
            persist, Emit(Paused) -> acting
            persist, Emit(Unpaused) -> acting
            persist, Emit(TurnStarted, call the model -> thinking
        "]],
    );
}

#[test]
fn calls_that_are_held_back_by_others_wait_for_the_end_of_a_pause() {
    check(
        vec![
            prompted(),
            wants(&["c1", "c2", "c3"]),
            RunEvent::BatchExecuted { outcomes: vec![pending("c1"), held("c2", &["c1"]), pending("c3")] },
            RunEvent::Paused,
            RunEvent::CallAnswered { outcome: reply("c1") },
            RunEvent::CallAnswered { outcome: reply("c3") },
            RunEvent::Unpaused,
            executed(&["c2"]),
        ],
        &expect![[r"
            persist, Emit(TurnStarted, call the model -> thinking
            Emit(TurnFinished, persist, execute 3 -> acting
            persist, await approval -> waiting
            persist, Emit(Paused) -> waiting
            persist -> waiting
            persist -> waiting
            persist, Emit(Unpaused), persist, execute held c2 -> waiting
            persist, Emit(TurnStarted, call the model -> thinking
        "]],
    );
}

#[test]
fn calls_that_were_running_when_a_pausing_process_ended_are_lost() {
    let state = check(
        vec![prompted(), wants(&["c1"]), RunEvent::Paused, RunEvent::Interrupted, RunEvent::Unpaused],
        &expect![[r"
            persist, Emit(TurnStarted, call the model -> thinking
            Emit(TurnFinished, persist, execute 1 -> acting
            persist, Emit(Paused) -> acting
            persist -> thinking
            persist, Emit(Unpaused), Emit(TurnStarted, call the model -> thinking
        "]],
    );
    assert_eq!(last_replies(&state), ["c1 error: failed"]);
}
