//! What a turn costs in allocations and bytes, which is the same on every machine.

#![expect(clippy::unwrap_used, reason = "a fixture that cannot be built fails the test")]

#[path = "../benches/agent/busy.rs"]
mod busy;

use async_trait::async_trait;
use busy::{Answers, Busy, scope};
use haft_agent::{Agent, RunState, StateKeeper};
use haft_testkit::counting::{Counting, Spent};
use haft_tools_core::CallScope;
use std::error::Error;
use std::sync::{Arc, Mutex};
use tokio::runtime::Builder;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const TURNS: u32 = 1_000;

/// Reads the counters when a turn's calls are about to be executed, and counts the bytes that it is given to keep.
struct Reads {
    turns: Mutex<Vec<(Spent, usize)>>,
    entries: Mutex<usize>,
}

#[async_trait]
impl StateKeeper for Reads {
    async fn keep(&self, _: &CallScope, state: &RunState) -> Result<(), Box<dyn Error + Send + Sync>> {
        let mut entries = self.entries.lock().unwrap();
        let (mut bytes, before) = (serde_json::to_vec(state.head())?.len(), *entries);
        for entry in state.log_from(before) {
            bytes += serde_json::to_vec(&entry)?.len();
            *entries += 1;
        }
        self.turns.lock().unwrap().push((Spent::so_far(), bytes));
        Ok(())
    }
}

#[test]
fn a_turn_costs_the_same_after_a_thousand_others() {
    let room = Vec::with_capacity(2 * TURNS as usize + 3);
    let reads = Arc::new(Reads { turns: Mutex::new(room), entries: Mutex::new(0) });
    let agent = Agent::from_executor(Busy::new(TURNS), Arc::new(Answers), Arc::new([]))
        .kept_by(Arc::clone(&reads) as Arc<dyn StateKeeper>);
    let runtime = Builder::new_current_thread().build().unwrap();
    let state = runtime.block_on(agent.run(scope().unwrap(), "go"));
    assert_eq!(state.turns(), TURNS);

    // Two readings a turn: before its calls, and after them.
    let turns = reads.turns.lock().unwrap();
    let cost = |turn: usize| turns[2 * turn + 2].0 - turns[2 * turn].0;
    // Once in a while a list grows; the least of a few turns is without that.
    let least = |from: usize| (from..from + 8).map(|turn| cost(turn).allocations).min().unwrap();
    assert!(least(50) <= 75, "{}", least(50));
    assert_eq!(least(980), least(50));
    // What a request holds is one pointer a message, and nothing else grows.
    let bytes = |from: usize| (from..from + 8).map(|turn| cost(turn).bytes).min().unwrap();
    assert!(bytes(980) - bytes(50) < 2 * 8 * 1_000, "{} {}", bytes(980), bytes(50));

    // What is kept of a turn is as long at the end as at the beginning, but for longer numbers.
    let kept = |turn: usize| turns[2 * turn].1 + turns[2 * turn + 1].1;
    assert!(kept(990).abs_diff(kept(50)) < 200, "{} {}", kept(990), kept(50));

    // What stays of a turn is its part of the transcript.
    let live = |turn: usize| turns[2 * turn].0.live;
    let (first, second) = (live(500) - live(100), live(900) - live(500));
    assert!(second < first + first / 4, "{first} {second}");
    println!("{} allocations, {} bytes, {} bytes stay", least(50), bytes(50), second / 400);
}
