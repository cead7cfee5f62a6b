//! Watches everything that happens, and stops the test where an invariant does not hold.

use async_trait::async_trait;
use haft_core::{Decision, Event, EventKind, ToolReply};
use haft_tools_core::{
    AccessMode, Accesses, Approval, Approver, CallContext, JournalEntry, JournalRecord, JournalSink,
    Observer, PendingCall, Widths,
};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Names a call: its run and its id.
pub(crate) type Key = (String, String);

pub(crate) fn key(cx: &CallContext) -> Key {
    (cx.scope().run().to_string(), cx.call_id().to_string())
}

/// Tells whether a tool makes the call.
fn is_nested(key: &Key) -> bool {
    key.1.contains('.')
}

/// What the tools, the observer, the journal and the approver have in common.
#[derive(Default)]
pub(crate) struct World {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    calls: HashMap<Key, Call>,
    running: HashMap<u64, Running>,
    next_running: u64,
    next_sequence: u64,
    violations: Vec<String>,
    totals: Totals,
}

/// What is known of a call, or of the calls of one batch that have one id.
#[derive(Default)]
struct Call {
    /// How many calls have this id.
    made: usize,
    started: usize,
    finished: usize,
    /// How often its tool began to work.
    runs: usize,
    begun: usize,
    ended: usize,
    ended_that_ran: usize,
    /// Whether it waits for a person.
    waits: bool,
    decision: Option<Decision>,
    approved: Vec<Value>,
}

/// A tool at work.
struct Running {
    key: Key,
    tool: String,
    accesses: Accesses,
    /// Whether its strategy orders it by what it touches.
    ordered: bool,
    callers: Vec<u64>,
    /// How many calls of its own it waits for.
    away: usize,
}

/// What a soak has seen, for people.
#[derive(Debug, Default, Clone)]
pub(crate) struct Totals {
    pub(crate) events: u64,
    /// Of these, those that no reader may lose.
    pub(crate) kept_events: u64,
    pub(crate) runs: u64,
    pub(crate) most_at_once: usize,
    pub(crate) asked: u64,
    pub(crate) abandoned: u64,
    pub(crate) unrecorded: u64,
    pub(crate) statuses: std::collections::BTreeMap<String, u64>,
}

pub(crate) fn widths() -> Widths {
    Widths {
        read: 6,
        connect: 3,
        write: 4,
        execute: 2,
        opaque: 1,
        tools: vec![("capped_*".parse().unwrap(), 1)],
    }
}

fn class(accesses: &Accesses) -> (&'static str, usize) {
    let widths = widths();
    let strongest = accesses.iter().map(|access| match access.mode() {
        Some(AccessMode::Read) => 0,
        Some(AccessMode::Connect | AccessMode::Call) => 1,
        Some(AccessMode::Write) => 2,
        Some(AccessMode::Execute) => 3,
        None => 4,
    });
    match strongest.max().unwrap_or(0) {
        0 => ("read", widths.read),
        1 => ("connect", widths.connect),
        2 => ("write", widths.write),
        3 => ("execute", widths.execute),
        _ => ("opaque", widths.opaque),
    }
}

impl World {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that a call is about to be made.
    pub(crate) fn makes(&self, key: Key) {
        self.state().calls.entry(key).or_default().made += 1;
    }

    /// Notes that a call is left to wait; one that a tool makes is not.
    pub(crate) fn puts_off(&self, key: &Key) {
        if let Some(call) = self.state().calls.get_mut(key).filter(|_| !is_nested(key)) {
            call.waits = true;
        }
    }

    /// Notes that a call that waited goes on.
    pub(crate) fn takes_up(&self, key: &Key) {
        if let Some(call) = self.state().calls.get_mut(key) {
            call.waits = false;
        }
    }

    /// Notes that a tool begins to run, and checks that it may.
    pub(crate) fn runs(
        self: &Arc<Self>,
        cx: &CallContext,
        accesses: Accesses,
        ordered: bool,
        caller: Option<u64>,
        input: &Value,
    ) -> AtWork {
        let mut state = self.state();
        let number = state.next_running;
        state.next_running += 1;
        let mut callers = caller
            .and_then(|caller| state.running.get(&caller))
            .map_or_else(Vec::new, |running| running.callers.clone());
        callers.extend(caller);
        let running =
            Running { key: key(cx), tool: cx.tool_name().to_owned(), accesses, ordered, callers, away: 0 };
        state.check_permitted(&running, input);
        state.calls.entry(running.key.clone()).or_default().runs += 1;
        state.running.insert(number, running);
        state.check_beside(number);
        state.check_widths(number);
        let at_once = state.running.len();
        state.totals.most_at_once = state.totals.most_at_once.max(at_once);
        state.totals.runs += 1;
        AtWork { world: Arc::clone(self), number }
    }

    /// Checks that all there was has come to its end, and forgets it.
    pub(crate) fn settles(&self, is_completed: impl Fn(&str) -> bool) {
        let state = &mut *self.state();
        for (_, running) in state.running.drain() {
            state.violations.push(format!("{:?} still runs", running.key));
        }
        for (key, call) in state.calls.drain() {
            let open = usize::from(call.waits);
            // A tool may leave before it has made all its calls.
            let is_whole = is_completed(&key.0) && !is_nested(&key);
            let taken_up = if is_whole { call.made } else { call.started };
            let expected = (taken_up, taken_up - open, taken_up - open);
            if (call.started, call.finished, call.ended) != expected {
                state.violations.push(format!(
                    "{key:?} was made {} times, started {}, finished {}, recorded as ended {}",
                    call.made, call.started, call.finished, call.ended
                ));
            }
            if call.begun != call.ended_that_ran {
                state.violations.push(format!(
                    "{key:?} was recorded as begun {} times and as ended after that {} times",
                    call.begun, call.ended_that_ran
                ));
            }
        }
    }

    /// Notes that something does not hold.
    pub(crate) fn violated(&self, what: impl fmt::Display) {
        self.state().violations.push(what.to_string());
    }

    pub(crate) fn take_violations(&self) -> Vec<String> {
        std::mem::take(&mut self.state().violations)
    }

    pub(crate) fn totals(&self) -> Totals {
        self.state().totals.clone()
    }

    /// The number of the next event.
    pub(crate) fn next_sequence(&self) -> u64 {
        self.state().next_sequence
    }
}

impl State {
    /// A call runs with a decision that allows it, with the very input that a person approved, and on record.
    fn check_permitted(&mut self, running: &Running, input: &Value) {
        let (key, tool) = (&running.key, &running.tool);
        let call = self.calls.get(key);
        let decision = call.and_then(|call| call.decision);
        if decision != Some(Decision::Allow) || tool.starts_with("barred_") {
            self.violations.push(format!("{key:?} of `{tool}` runs with the decision {decision:?}"));
        }
        if tool.starts_with("asked_") && !call.is_some_and(|call| call.approved.contains(input)) {
            self.violations.push(format!("{key:?} of `{tool}` runs with {input}, which nobody approved"));
        }
        if call.is_none_or(|call| call.begun == 0) {
            self.violations.push(format!("{key:?} of `{tool}` runs and is not on record"));
        }
    }

    /// Ordered calls that conflict are not at work at once, unless one makes the other.
    fn check_beside(&mut self, number: u64) {
        let mine = &self.running[&number];
        for (other_number, other) in &self.running {
            let related = *other_number == number
                || mine.callers.contains(other_number)
                || other.callers.contains(&number);
            if !related
                && mine.ordered
                && other.ordered
                && !self.is_answered(other)
                && mine.accesses.conflict_with(&other.accesses)
            {
                self.violations.push(format!(
                    "{:?} ({:?}) runs beside {:?} ({:?})",
                    mine.key, mine.accesses, other.key, other.accesses
                ));
            }
        }
    }

    /// No more calls of a class, or of a capped tool, are at work than its width says.
    fn check_widths(&mut self, number: u64) {
        let mine = &self.running[&number];
        let at_work: Vec<&Running> =
            self.running.values().filter(|other| other.away == 0 && !self.is_answered(other)).collect();
        let (name, width) = class(&mine.accesses);
        let count = at_work.iter().filter(|other| class(&other.accesses).0 == name).count();
        let capped = at_work.iter().filter(|other| other.tool == mine.tool).count();
        let is_capped = mine.tool.starts_with("capped_");
        let (key, tool) = (mine.key.clone(), mine.tool.clone());
        if count > width {
            self.violations.push(format!("{key:?} is one of {count} calls at once of the class {name}"));
        }
        if is_capped && capped > 1 {
            self.violations.push(format!("{key:?} is one of {capped} calls at once of `{tool}`"));
        }
    }

    /// A call that was answered may still be on its way out, and with it those that it made. Of calls with one id it
    /// cannot be told which was.
    fn is_answered(&self, running: &Running) -> bool {
        let is_over = |key: &Key| self.calls.get(key).is_none_or(|call| call.finished > 0 || call.made > 1);
        let mut callers = running.callers.iter().map(|caller| self.running.get(caller));
        is_over(&running.key) || callers.any(|caller| caller.is_none_or(|caller| is_over(&caller.key)))
    }
}

/// Is a tool at work, for as long as it lives.
pub(crate) struct AtWork {
    world: Arc<World>,
    pub(crate) number: u64,
}

impl AtWork {
    /// Notes that the tool now waits for a call of its own, for as long as the guard lives.
    pub(crate) fn away(&self) -> Away<'_> {
        self.change(|running| running.away += 1);
        Away(self)
    }

    fn change(&self, change: impl FnOnce(&mut Running)) {
        if let Some(running) = self.world.state().running.get_mut(&self.number) {
            change(running);
        }
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        self.world.state().running.remove(&self.number);
    }
}

pub(crate) struct Away<'a>(&'a AtWork);

impl Drop for Away<'_> {
    fn drop(&mut self) {
        self.0.change(|running| running.away -= 1);
    }
}

/// Tells whether a slow reader must not lose such an event.
pub(crate) fn is_kept(kind: &EventKind) -> bool {
    !matches!(kind, EventKind::Updated { .. } | EventKind::Progressed { .. })
}

fn says_it_did_not_run(reply: &ToolReply) -> bool {
    let text = reply.output.to_text();
    text.starts_with("not run: ") || text.contains("nothing was done")
}

/// Takes part in a world in the place of a trait's type.
pub(crate) struct In(pub(crate) Arc<World>);

impl Observer for In {
    fn observe(&self, event: &Event) {
        let state = &mut *self.0.state();
        state.totals.events += 1;
        state.totals.kept_events += u64::from(is_kept(&event.kind));
        if event.sequence != state.next_sequence {
            state.violations.push(format!("event {} follows {}", event.sequence, state.next_sequence));
        }
        state.next_sequence = event.sequence + 1;
        let Some(id) = &event.call else { return };
        let key = (event.run.to_string(), id.to_string());
        let Some(call) = state.calls.get_mut(&key) else {
            state.violations.push(format!("an event of {key:?}, which nobody made: {:?}", event.kind));
            return;
        };
        if call.finished >= call.made && !matches!(event.kind, EventKind::AbandonedEnded { .. }) {
            state.violations.push(format!("an event of {key:?} behind its end: {:?}", event.kind));
        }
        match &event.kind {
            EventKind::Started { .. } => call.started += 1,
            EventKind::Finished { reply } => {
                call.finished += 1;
                if call.runs > 0 && call.made == 1 && says_it_did_not_run(reply) {
                    state
                        .violations
                        .push(format!("{key:?} of `{}` ran, and was answered with {reply:?}", reply.name));
                }
                *state.totals.statuses.entry(reply.status.to_string()).or_default() += 1;
            }
            EventKind::Decided { decision, .. } => call.decision = Some(*decision),
            EventKind::ApprovalRequested { .. } => state.totals.asked += 1,
            EventKind::AbandonedEnded { .. } => state.totals.abandoned += 1,
            _ => {}
        }
    }
}

impl JournalSink for In {
    fn write(&self, record: &JournalRecord) -> io::Result<()> {
        let state = &mut *self.0.state();
        let key = (record.run.to_string(), record.call.to_string());
        let call = state.calls.entry(key).or_default();
        match &record.entry {
            // A disk that is full now and then.
            JournalEntry::Begun if record.sequence.is_multiple_of(211) => {
                state.totals.unrecorded += 1;
                return Err(io::Error::other("there is no room"));
            }
            JournalEntry::Begun if record.sequence.is_multiple_of(307) => {
                state.totals.unrecorded += 1;
                std::panic::resume_unwind(Box::new("the sink broke"));
            }
            JournalEntry::Begun => call.begun += 1,
            JournalEntry::Ended { ran, .. } => {
                call.ended += 1;
                call.ended_that_ran += usize::from(*ran);
            }
            _ => {}
        }
        Ok(())
    }
}

#[async_trait]
impl Approver for In {
    async fn approve(&self, pending: &PendingCall) -> Approval {
        let key = (pending.run.to_string(), pending.call.id.to_string());
        let input = &pending.call.input;
        match input["answer"].as_str() {
            Some("slow") => tokio::time::sleep(Duration::from_mins(10)).await,
            Some("deny") => return Approval::Deny { reason: "not now".to_owned() },
            Some("later") => {
                self.0.puts_off(&key);
                return Approval::Later;
            }
            Some("break") => std::panic::resume_unwind(Box::new("the approver broke")),
            Some("edit") => {
                let mut input = input.clone();
                input["act"] = json!("ok");
                self.0.approves(&key, &input);
                return Approval::Edit { input };
            }
            _ => {}
        }
        self.0.approves(&key, input);
        Approval::Approve
    }
}

impl World {
    /// Notes that a person lets a call run with this input.
    pub(crate) fn approves(&self, key: &Key, input: &Value) {
        if let Some(call) = self.state().calls.get_mut(key) {
            call.approved.push(input.clone());
        }
    }
}
