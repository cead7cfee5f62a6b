use crate::fixture::{check, executed, held, last_replies, name, pending, prompted, reply, turn};
use expect_test::expect;
use haft_agent::{RunEnd, RunEvent, RunState, StepError};
use haft_core::StopReason;
use serde_json::json;

#[test]
fn a_run_goes_from_turn_to_turn_until_the_model_ends_it() {
    let state = check(
        vec![
            prompted(),
            turn("looking", &["c1", "c2"], StopReason::ToolCalls),
            executed(&["c1", "c2"]),
            turn("there", &[], StopReason::EndTurn),
        ],
        &expect![[r"
            persist, Emit(TurnStarted, call the model -> thinking
            Emit(TurnFinished, persist, execute 2 -> acting
            persist, Emit(TurnStarted, call the model -> thinking
            Emit(TurnFinished, persist, done -> ended Completed
        "]],
    );
    assert_eq!(state.turns(), 2);
    assert_eq!(state.usage().total(), 24);
    assert_eq!(state.last_text(), "there");
    assert_eq!(state.messages().len(), 4);
}

#[test]
fn a_completed_run_can_be_prompted_again() {
    check(
        vec![prompted(), turn("done", &[], StopReason::EndTurn), prompted()],
        &expect![[r"
            persist, Emit(TurnStarted, call the model -> thinking
            Emit(TurnFinished, persist, done -> ended Completed
            persist, Emit(TurnStarted, call the model -> thinking
        "]],
    );
}

#[test]
fn calls_that_wait_hold_the_next_turn_back_until_the_last_is_answered() {
    let outcomes = vec![pending("c1"), reply("c2"), pending("c3")];
    check(
        vec![
            prompted(),
            turn("", &["c1", "c2", "c3"], StopReason::ToolCalls),
            RunEvent::BatchExecuted { outcomes },
            RunEvent::CallAnswered { outcome: reply("c3") },
            RunEvent::CallAnswered { outcome: pending("c1") },
            RunEvent::CallAnswered { outcome: reply("c2") },
            RunEvent::CallAnswered { outcome: reply("c1") },
        ],
        &expect![[r"
            persist, Emit(TurnStarted, call the model -> thinking
            Emit(TurnFinished, persist, execute 3 -> acting
            persist, await approval -> waiting
            persist, await approval -> waiting
            persist, await approval -> waiting
            refused: the outcomes do not answer the calls of the turn one by one: no call `c2` waits
            persist, Emit(TurnStarted, call the model -> thinking
        "]],
    );
}

#[test]
fn calls_that_were_held_back_go_on_when_those_before_them_are_answered() {
    check(
        vec![
            prompted(),
            turn("", &["c1", "c2", "c3", "c4"], StopReason::ToolCalls),
            RunEvent::BatchExecuted {
                outcomes: vec![pending("c1"), held("c2", &["c1"]), held("c3", &["c1", "c2"]), pending("c4")],
            },
            RunEvent::CallAnswered { outcome: reply("c1") },
            executed(&["c3"]),
            executed(&["c2"]),
            executed(&["c3"]),
            RunEvent::CallAnswered { outcome: reply("c4") },
        ],
        &expect![[r"
            persist, Emit(TurnStarted, call the model -> thinking
            Emit(TurnFinished, persist, execute 4 -> acting
            persist, await approval -> waiting
            persist, execute held c2 -> waiting
            refused: the outcomes do not answer the calls of the turn one by one: `c3` is not being executed
            persist, execute held c3 -> waiting
            persist, await approval -> waiting
            persist, Emit(TurnStarted, call the model -> thinking
        "]],
    );
}

#[test]
fn a_stored_run_goes_on_with_calls_that_were_held_back() {
    let state = check(
        vec![
            prompted(),
            turn("", &["c1", "c2"], StopReason::ToolCalls),
            RunEvent::BatchExecuted { outcomes: vec![pending("c1"), held("c2", &["c1"])] },
            RunEvent::CallAnswered { outcome: reply("c1") },
        ],
        &expect![[r"
            persist, Emit(TurnStarted, call the model -> thinking
            Emit(TurnFinished, persist, execute 2 -> acting
            persist, await approval -> waiting
            persist, execute held c2 -> waiting
        "]],
    );
    let stored: RunState = serde_json::from_value(serde_json::to_value(&state).unwrap()).unwrap();
    let effects: Vec<String> = stored.outstanding().iter().map(name).collect();
    assert_eq!(effects, ["execute held c2"]);
}

#[test]
fn cancelling_answers_every_call() {
    let state = check(
        vec![prompted(), turn("", &["c1", "c2"], StopReason::ToolCalls), RunEvent::Cancelled],
        &expect![[r"
            persist, Emit(TurnStarted, call the model -> thinking
            Emit(TurnFinished, persist, execute 2 -> acting
            persist, done -> ended Cancelled
        "]],
    );
    assert_eq!(last_replies(&state), ["c1 cancelled", "c2 cancelled"]);
    let state = check(
        vec![
            prompted(),
            turn("", &["c1", "c2"], StopReason::ToolCalls),
            RunEvent::BatchExecuted { outcomes: vec![reply("c1"), pending("c2")] },
            RunEvent::Cancelled,
        ],
        &expect![[r"
            persist, Emit(TurnStarted, call the model -> thinking
            Emit(TurnFinished, persist, execute 2 -> acting
            persist, await approval -> waiting
            persist, done -> ended Cancelled
        "]],
    );
    assert_eq!(last_replies(&state), ["c1 ok", "c2 cancelled"]);
}

#[test]
fn what_was_being_executed_when_a_driver_ended_is_lost_and_not_done_again() {
    let state = check(
        vec![prompted(), turn("", &["c1", "c2"], StopReason::ToolCalls), RunEvent::Interrupted],
        &expect![[r"
            persist, Emit(TurnStarted, call the model -> thinking
            Emit(TurnFinished, persist, execute 2 -> acting
            persist, Emit(TurnStarted, call the model -> thinking
        "]],
    );
    assert_eq!(last_replies(&state), ["c1 error: failed", "c2 error: failed"]);
    let outcomes = vec![pending("c1"), held("c2", &["c1"]), reply("c3"), pending("c4")];
    let state = check(
        vec![
            prompted(),
            turn("", &["c1", "c2", "c3", "c4"], StopReason::ToolCalls),
            RunEvent::BatchExecuted { outcomes },
            RunEvent::Interrupted,
            RunEvent::CallAnswered { outcome: reply("c1") },
            RunEvent::Interrupted,
            executed(&["c2"]),
            RunEvent::CallAnswered { outcome: reply("c4") },
            RunEvent::Interrupted,
        ],
        &expect![[r"
            persist, Emit(TurnStarted, call the model -> thinking
            Emit(TurnFinished, persist, execute 4 -> acting
            persist, await approval -> waiting
            persist, await approval -> waiting
            persist, execute held c2 -> waiting
            persist, await approval -> waiting
            refused: the outcomes do not answer the calls of the turn one by one: `c2` is not being executed
            persist, Emit(TurnStarted, call the model -> thinking
            call the model -> thinking
        "]],
    );
    assert_eq!(last_replies(&state), ["c1 ok", "c2 error: failed", "c3 ok", "c4 ok"]);
}

#[test]
fn a_call_that_goes_on_is_not_handed_out_again_meanwhile() {
    let outcomes = vec![pending("c1"), held("c2", &["c1"]), pending("c3"), held("c4", &["c3"])];
    check(
        vec![
            prompted(),
            turn("", &["c1", "c2", "c3", "c4"], StopReason::ToolCalls),
            RunEvent::BatchExecuted { outcomes },
            RunEvent::CallAnswered { outcome: reply("c1") },
            RunEvent::CallAnswered { outcome: reply("c3") },
            executed(&["c4"]),
            executed(&["c4"]),
            executed(&["c2"]),
        ],
        &expect![[r"
            persist, Emit(TurnStarted, call the model -> thinking
            Emit(TurnFinished, persist, execute 4 -> acting
            persist, await approval -> waiting
            persist, execute held c2 -> waiting
            persist, execute held c4 -> waiting
            persist -> waiting
            refused: the outcomes do not answer the calls of the turn one by one: `c4` is not being executed
            persist, Emit(TurnStarted, call the model -> thinking
        "]],
    );
}

#[test]
fn a_call_that_repeats_an_id_lets_nothing_go_on_that_waits_for_the_first() {
    let outcomes = vec![pending("c1"), reply("c1"), held("c2", &["c1"])];
    check(
        vec![
            prompted(),
            turn("", &["c1", "c1", "c2"], StopReason::ToolCalls),
            RunEvent::BatchExecuted { outcomes },
            RunEvent::CallAnswered { outcome: reply("c1") },
        ],
        &expect![[r"
            persist, Emit(TurnStarted, call the model -> thinking
            Emit(TurnFinished, persist, execute 3 -> acting
            persist, await approval -> waiting
            persist, execute held c2 -> waiting
        "]],
    );
}

#[test]
fn a_turn_that_was_cut_off_does_not_run_its_calls() {
    let state = check(
        vec![prompted(), turn("so I", &["c1"], StopReason::MaxTokens)],
        &expect![[r"
            persist, Emit(TurnStarted, call the model -> thinking
            Emit(TurnFinished, persist, done -> ended CutOff
        "]],
    );
    let last = serde_json::to_value(&*state.messages()[2]).unwrap();
    assert_eq!(last["replies"][0]["status"], "skipped");
}

#[test]
fn a_model_that_fails_or_refuses_ends_the_run() {
    check(
        vec![prompted(), RunEvent::ModelFailed { reason: "no route".to_owned() }],
        &expect![[r#"
            persist, Emit(TurnStarted, call the model -> thinking
            Emit(TurnDiscarded, persist, done -> ended Failed { reason: "no route" }
        "#]],
    );
    check(
        vec![prompted(), turn("no", &[], StopReason::Refused)],
        &expect![[r"
            persist, Emit(TurnStarted, call the model -> thinking
            Emit(TurnFinished, persist, done -> ended Refused
        "]],
    );
}

#[test]
fn events_out_of_place_change_nothing() {
    let events = || {
        vec![
            prompted(),
            turn("", &["c1"], StopReason::ToolCalls),
            executed(&["c1"]),
            RunEvent::CallAnswered { outcome: reply("c1") },
            RunEvent::ModelFailed { reason: "late".to_owned() },
            RunEvent::Cancelled,
        ]
    };
    let fitting = |phase: &str, event: &RunEvent| match event {
        RunEvent::Prompted { .. } => matches!(phase, "new" | "ended"),
        RunEvent::ModelAnswered { .. } | RunEvent::ModelFailed { .. } => phase == "thinking",
        RunEvent::BatchExecuted { .. } => phase == "acting",
        RunEvent::CallAnswered { .. } => phase == "waiting",
        _ => phase != "ended",
    };
    let ways: [(&str, Vec<RunEvent>); 5] = [
        ("new", vec![]),
        ("thinking", vec![prompted()]),
        ("acting", vec![prompted(), turn("", &["c1"], StopReason::ToolCalls)]),
        (
            "waiting",
            vec![
                prompted(),
                turn("", &["c1"], StopReason::ToolCalls),
                RunEvent::BatchExecuted { outcomes: vec![pending("c1")] },
            ],
        ),
        ("ended", vec![prompted(), turn("", &[], StopReason::EndTurn)]),
    ];
    for (phase, way) in ways {
        for event in events() {
            let mut state = RunState::new();
            for step in way.clone() {
                state.step(step).unwrap();
            }
            let before = state.clone();
            let fits = fitting(phase, &event);
            let result = state.step(event.clone());
            assert_eq!(result.is_ok(), fits, "{phase} took {event:?}: {result:?}");
            if !fits {
                assert_eq!(state, before, "{phase} was changed by {event:?}");
            }
        }
    }
}

#[test]
fn outcomes_must_be_those_of_the_calls_in_their_order() {
    let mismatch = |ids: &[&str]| {
        let mut state = RunState::new();
        state.step(prompted()).unwrap();
        state.step(turn("", &["c1", "c2"], StopReason::ToolCalls)).unwrap();
        match state.step(executed(ids)) {
            Err(StepError::Mismatch { detail }) => detail,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(mismatch(&["c1"]), "2 calls, 1 outcomes");
    assert_eq!(mismatch(&["c2", "c1"]), "`c2` where `c1` was due");
    assert_eq!(mismatch(&["c1", "c2", "c3"]), "2 calls, 3 outcomes");
}

#[test]
fn a_stored_run_knows_what_is_outstanding() {
    let mut state = RunState::new();
    let events = [prompted(), turn("", &["c1"], StopReason::ToolCalls), executed(&["c1"])];
    for event in events {
        state.step(event).unwrap();
        let stored = serde_json::to_string(&state).unwrap();
        let restored: RunState = serde_json::from_str(&stored).unwrap();
        assert_eq!(restored, state);
        assert_eq!(restored.outstanding().len(), 1);
    }
}

#[test]
fn a_state_of_another_version_is_refused_by_name() {
    let mut stored = serde_json::to_value(RunState::new()).unwrap();
    stored["version"] = json!(7);
    let error = serde_json::from_value::<RunState>(stored).unwrap_err();
    expect!["this run was stored in version 7 of the run state; this program reads versions 1 to 3; use a newer one"]
        .assert_eq(&error.to_string());
}

#[test]
fn run_ends_have_stable_names() {
    let ends = [
        RunEnd::Completed,
        RunEnd::CutOff,
        RunEnd::Refused,
        RunEnd::Failed { reason: "x".to_owned() },
        RunEnd::Cancelled,
    ];
    expect![[r#"[{"end":"completed"},{"end":"cut_off"},{"end":"refused"},{"end":"failed","reason":"x"},{"end":"cancelled"}]"#]]
        .assert_eq(&serde_json::to_string(&ends).unwrap());
}
