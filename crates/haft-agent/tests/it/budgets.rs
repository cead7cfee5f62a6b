use crate::fixture::{check_from, executed, last_replies, prompted, told_by_user, turn};
use expect_test::expect;
use haft_agent::{Account, Budget, Price, Prices, Purse, RunEnd, RunEvent, RunState, Spent};
use haft_core::{BudgetKind, StopReason, Usage};
use std::collections::BTreeMap;
use std::time::Duration;

fn with(budget: Budget) -> RunState {
    RunState::new().budget(budget)
}

fn wants(calls: &[&str]) -> RunEvent {
    turn("", calls, StopReason::ToolCalls)
}

fn says(text: &str) -> RunEvent {
    turn(text, &[], StopReason::EndTurn)
}

fn metered(wall_ms: u64, cost_nanos: u64) -> RunEvent {
    let mut spent = Spent::default();
    (spent.wall_ms, spent.cost_nanos) = (wall_ms, cost_nanos);
    RunEvent::Metered { spent, reserved: Spent::default(), counted: BTreeMap::new() }
}

#[test]
fn when_the_turns_are_spent_the_model_gets_one_more_to_close() {
    let state = check_from(
        with(Budget::default().turns(2)),
        vec![
            prompted(),
            wants(&["c1"]),
            executed(&["c1"]),
            wants(&["c2"]),
            executed(&["c2"]),
            says("I looked twice."),
        ],
        &expect![[r"
            persist, Emit(TurnStarted, call the model -> thinking
            Emit(TurnFinished, persist, execute 1 -> acting
            persist, Emit(TurnStarted, call the model -> thinking
            Emit(TurnFinished, persist, execute 1 -> acting
            persist, Emit(BudgetSpent, Emit(TurnStarted, call the model -> thinking
            Emit(TurnFinished, persist, done -> ended BudgetSpent { which: Turns }
        "]],
    );
    assert_eq!(
        told_by_user(&state)[1..],
        [
            "The budget of this run, 2 model turns, is spent. This is your last turn, and no tool can be called. Say what is \
         done, what is not, and how to go on from here."
        ]
    );
    assert!(!state.offers_tools());
    assert_eq!(state.spent().turns, 3);
}

#[test]
fn a_model_that_calls_in_its_closing_turn_gets_no_other() {
    let state = check_from(
        with(Budget::default().turns(0)),
        vec![prompted(), wants(&["c1", "c2"])],
        &expect![[r"
            persist, Emit(BudgetSpent, Emit(TurnStarted, call the model -> thinking
            Emit(TurnFinished, persist, done -> ended BudgetSpent { which: Turns }
        "]],
    );
    assert_eq!(last_replies(&state), ["c1 skipped", "c2 skipped"]);
}

#[test]
fn calls_over_the_budget_are_skipped_and_those_within_it_are_made() {
    let state = check_from(
        with(Budget::default().calls(3)),
        vec![
            prompted(),
            wants(&["c1", "c2"]),
            executed(&["c1", "c2"]),
            wants(&["c3", "c4", "c5"]),
            executed(&["c3"]),
            says("Enough."),
        ],
        &expect![[r"
            persist, Emit(TurnStarted, call the model -> thinking
            Emit(TurnFinished, persist, execute 2 -> acting
            persist, Emit(TurnStarted, call the model -> thinking
            Emit(TurnFinished, persist, execute 1 -> acting
            persist, Emit(BudgetSpent, Emit(TurnStarted, call the model -> thinking
            Emit(TurnFinished, persist, done -> ended BudgetSpent { which: Calls }
        "]],
    );
    assert_eq!(last_replies(&state), ["c3 ok", "c4 skipped", "c5 skipped"]);
    assert_eq!(state.spent().calls, 3);
}

#[test]
fn tokens_money_and_time_end_a_run_in_the_same_way() {
    let closes = |budget, event: RunEvent| {
        let mut state = with(budget);
        for event in [prompted(), event, wants(&["c1"]), executed(&["c1"]), says("So far.")] {
            if state.end().is_none() && state.step(event.clone()).is_err() {
                // The call was skipped, because the time was over before it could be made.
                assert!(matches!(event, RunEvent::BatchExecuted { .. }));
            }
        }
        format!("{:?}: {}", state.end().unwrap(), told_by_user(&state)[1].split(". ").next().unwrap())
    };
    let told = [
        closes(Budget::default().tokens(12), metered(0, 0)),
        closes(Budget::default().cost(0.5), metered(0, 600_000_000)),
        closes(Budget::default().wall_time(Duration::from_mins(3)), metered(180_000, 0)),
    ];
    expect![[r"
        BudgetSpent { which: Tokens }: The budget of this run, 12 tokens, is spent
        BudgetSpent { which: Cost }: The money for this run is spent
        BudgetSpent { which: WallTime }: The time for this run, 3 min, is over"]]
    .assert_eq(&told.join("\n"));
}

#[test]
fn a_model_that_is_cut_off_by_the_time_is_asked_to_close_and_not_waited_for_twice() {
    check_from(
        with(Budget::default().wall_time(Duration::from_secs(1))),
        vec![prompted(), metered(1_000, 0), RunEvent::TimedOut, RunEvent::TimedOut],
        &expect![[r"
            persist, Emit(TurnStarted, call the model -> thinking
             -> thinking
            Emit(TurnDiscarded, persist, Emit(BudgetSpent, Emit(TurnStarted, call the model -> thinking
            Emit(TurnDiscarded, persist, done -> ended BudgetSpent { which: WallTime }
        "]],
    );
}

#[test]
fn a_run_that_was_closed_goes_on_only_with_more_to_spend() {
    let closed = check_from(
        with(Budget::default().turns(1)),
        vec![prompted(), wants(&["c1"]), executed(&["c1"]), says("Closed."), prompted()],
        &expect![[r"
            persist, Emit(TurnStarted, call the model -> thinking
            Emit(TurnFinished, persist, execute 1 -> acting
            persist, Emit(BudgetSpent, Emit(TurnStarted, call the model -> thinking
            Emit(TurnFinished, persist, done -> ended BudgetSpent { which: Turns }
            persist, done -> ended BudgetSpent { which: Turns }
        "]],
    );
    check_from(
        closed.budget(Budget::default().turns(9)),
        vec![prompted(), says("Done.")],
        &expect![[r"
            persist, Emit(TurnStarted, call the model -> thinking
            Emit(TurnFinished, persist, done -> ended Completed
        "]],
    );
}

#[test]
fn a_model_that_ends_with_the_last_of_its_budget_has_completed() {
    let mut state = with(Budget::default().turns(1));
    state.step(prompted()).unwrap();
    state.step(says("Done.")).unwrap();
    assert_eq!(state.end(), Some(&RunEnd::Completed));
}

#[test]
fn what_is_set_aside_for_another_run_is_not_there_to_be_spent() {
    let mut state = with(Budget::default().tokens(100));
    let mut reserved = Spent::default();
    reserved.tokens = 100;
    state.step(RunEvent::Metered { spent: Spent::default(), reserved, counted: BTreeMap::new() }).unwrap();
    state.step(prompted()).unwrap();
    assert!(!state.offers_tools());
}

#[test]
fn a_part_is_never_more_than_what_is_left_and_comes_back_when_it_is_not_spent() {
    let budget = Budget::default().turns(10).tokens(1_000);
    let purse = Purse::new(Account::new(budget));
    let mut one = purse.reserve(&Budget::default().turns(4).tokens(5_000).calls(7)).unwrap();
    assert_eq!(*one.budget(), Budget::default().turns(4).tokens(1_000).calls(7));
    assert_eq!(purse.reserve(&Budget::default()).unwrap_err(), BudgetKind::Tokens);
    let mut spent = Spent::default();
    (spent.turns, spent.tokens, spent.calls) = (2, 300, 7);
    one.record(spent);
    drop(one);
    assert_eq!(purse.rest(), Budget::default().turns(8).tokens(700));
    assert_eq!(purse.reserve(&Budget::default().turns(0)).unwrap_err(), BudgetKind::Turns);
    let all = purse.reserve(&Budget::default()).unwrap();
    assert_eq!(*all.budget(), Budget::default().turns(8).tokens(700));
    assert_eq!(budget.divided(4), Budget::default().turns(2).tokens(250));
}

#[test]
fn what_a_model_costs_is_counted_for_each_kind_of_token() {
    let price = Price::new(2.0, 10.0).cache_read(0.2).cache_write(2.5);
    let usage = Usage { input: 1_000_000, output: 100_000, cache_read: 500_000, cache_write: 100_000 };
    // 0.8 + 1.0 + 0.1 + 0.25
    assert_eq!(price.of(&usage), 2_150_000_000);
    let prices: Prices = serde_json::from_str(r#"{"small":{"input":0.04,"output":0.1}}"#).unwrap();
    let one = Usage { input: 1, ..Usage::default() };
    assert_eq!(prices.get("small").unwrap().of(&one), 40);
    assert_eq!(Price::new(f64::NAN, -1.0).of(&usage), 0);
    assert_eq!(Budget::default().cost(-1.0).cost_nanos, Some(0));
}
