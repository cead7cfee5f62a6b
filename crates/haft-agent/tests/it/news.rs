//! What a run is told before the model takes its turn.

use crate::driver::{model, scope};
use crate::fixture::{check, executed, prompted, told_by_user, turn};
use async_trait::async_trait;
use expect_test::expect;
use haft_agent::{Agent, Budget, News, RunEnd, RunEvent, RunState, StateKeeper};
use haft_core::{Event, EventKind, StopReason, ToolError};
use haft_tools_core::{
    Accesses, AllowAll, CallContext, CallScope, Events, LocalExecutor, Observer, ToolRegistry, tool_fn,
};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::VecDeque;
use std::error::Error;
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

#[test]
fn news_is_told_with_the_turn_that_comes_next_and_at_no_other_time() {
    let news = || RunEvent::News { texts: vec!["One ended.".to_owned(), "Two ended.".to_owned()] };
    let state = check(
        vec![
            news(),
            prompted(),
            news(),
            turn("", &["c1"], StopReason::ToolCalls),
            news(),
            executed(&["c1"]),
            RunEvent::Paused,
            turn("Done.", &[], StopReason::EndTurn),
            news(),
        ],
        &expect![[r"
            refused: a run that is new cannot take the event `news`
            persist, Emit(TurnStarted, call the model -> thinking
            persist, Emit(Steered, Emit(Steered -> thinking
            Emit(TurnFinished, persist, execute 1 -> acting
            refused: a run that is acting cannot take the event `news`
            persist, Emit(TurnStarted, call the model -> thinking
            persist, Emit(Paused) -> thinking
            Emit(TurnFinished, persist, done -> ended Completed
            refused: a run that is ended cannot take the event `news`
        "]],
    );
    assert_eq!(told_by_user(&state), ["go", "One ended.", "Two ended."]);
}

/// Gives one list of texts for each time it is asked, and hangs after that if it is to.
#[derive(Default)]
struct Board {
    texts: Mutex<VecDeque<Vec<&'static str>>>,
    asked: Mutex<Vec<String>>,
    hangs: Option<Arc<Notify>>,
}

impl Board {
    fn new(texts: &[&[&'static str]]) -> Self {
        Self { texts: Mutex::new(texts.iter().map(|texts| texts.to_vec()).collect()), ..Self::default() }
    }
}

#[async_trait]
impl News for Board {
    async fn news(&self, scope: &CallScope) -> Vec<String> {
        self.asked.lock().unwrap().push(scope.run().to_string());
        let texts = self.texts.lock().unwrap().pop_front();
        if let (None, Some(hangs)) = (&texts, &self.hangs) {
            hangs.notify_one();
            std::future::pending::<()>().await;
        }
        texts.unwrap_or_default().into_iter().map(str::to_owned).collect()
    }
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

fn executor() -> LocalExecutor {
    let look = tool_fn("look", "Looks.", Accesses::none(), |_: Nothing, _: CallContext| async {
        Ok::<_, ToolError>("seen")
    });
    LocalExecutor::builder(ToolRegistry::new().with(look.unwrap()).unwrap()).approver(AllowAll).build()
}

const SESSION: &str = r#"
{"calls":[{"id":"c1","name":"look","input":{}}]}
{"text":"Done."}
{"text":"Done again."}
"#;

/// Keeps how many messages there were each time that something was kept.
#[derive(Default)]
struct Counts(Mutex<Vec<usize>>);

#[async_trait]
impl StateKeeper for Counts {
    async fn keep(&self, _: &CallScope, state: &RunState) -> Result<(), Box<dyn Error + Send + Sync>> {
        self.0.lock().unwrap().push(state.messages().len());
        Ok(())
    }
}

#[tokio::test]
async fn a_run_is_told_before_each_turn_and_it_is_kept_before_the_model_is_asked() {
    let board = Arc::new(Board::new(&[&["Before."], &["Between.", " ", "And more."], &["Later."]]));
    let (counts, told) = (Arc::new(Counts::default()), Arc::<Mutex<Vec<String>>>::default());
    let sink = Arc::clone(&told);
    let observer: Arc<dyn Observer> = Arc::new(move |event: &Event| {
        if let EventKind::Steered { text, now } = &event.kind {
            sink.lock().unwrap().push(format!("{text} {now}"));
        }
    });
    let agent = Agent::new(model(SESSION), executor())
        .news(Arc::new(Board::default()))
        .news(Arc::clone(&board) as Arc<dyn News>)
        .events(Events::new([observer]))
        .kept_by(Arc::clone(&counts) as Arc<dyn StateKeeper>);
    let state = agent.run(scope(), "go").await;
    assert_eq!(told_by_user(&state), ["go", "Before.", "Between.", "And more."]);
    let state = agent.prompt(scope(), state, "again").await.unwrap();
    assert_eq!(told_by_user(&state)[4..], ["again", "Later."]);
    assert_eq!(*told.lock().unwrap(), ["Before. false", "Between. false", "And more. false", "Later. false"]);
    assert_eq!(*board.asked.lock().unwrap(), ["run-1"; 3]);
    assert!(counts.0.lock().unwrap().starts_with(&[1, 2]));
}

#[tokio::test]
async fn a_run_that_goes_on_and_one_that_is_closed_are_told_as_well() {
    let mut thinking = RunState::new();
    thinking.step(prompted()).unwrap();
    let agent =
        Agent::new(model(r#"{"text":"Done."}"#), executor()).news(Arc::new(Board::new(&[&["Late."]])));
    let state = agent.go_on(scope(), thinking).await;
    assert_eq!(told_by_user(&state), ["go", "Late."]);

    let agent = Agent::new(model(SESSION), executor())
        .budget(Budget::default().turns(1))
        .news(Arc::new(Board::new(&[&[], &["Late."]])));
    let state = agent.run(scope(), "go").await;
    assert_eq!(told_by_user(&state).last().unwrap(), "Late.");
    assert!(matches!(state.end(), Some(RunEnd::BudgetSpent { .. })));
}

#[tokio::test]
async fn cancelling_a_run_that_waits_for_news_ends_it() {
    let (token, hangs) = (CancellationToken::new(), Arc::new(Notify::new()));
    let board = Board { hangs: Some(Arc::clone(&hangs)), ..Board::default() };
    let agent = Agent::new(model(SESSION), executor()).news(Arc::new(board)).cancelled_by(token.clone());
    let cancels = async {
        hangs.notified().await;
        token.cancel();
    };
    let (state, ()) = tokio::join!(agent.run(scope(), "go"), cancels);
    assert_eq!(state.end(), Some(&RunEnd::Cancelled));
}
