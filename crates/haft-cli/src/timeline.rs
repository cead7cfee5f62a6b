mod call_line;
mod json;

pub(crate) use call_line::{DiffPart, print_diff, visible};
pub(crate) use json::JsonLines;

use call_line::CallLine;

use crate::paint::{ASKS, BAD, GOOD, NAME, PLACE, QUIET};
use anstyle::Style;
use haft::agent::{Phase, RunEnd, RunState};
use haft::{CallId, CallOutcome, Event, EventKind, Message, Observer, ToolReply, Usage};
use std::collections::VecDeque;
use std::io::{IsTerminal as _, Write as _};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The most characters of a tool's name while a call of it is being written.
const MOST_NAME: usize = 48;

/// Prints a run for people, as it happens: what the model says, and each call with its decision and result.
///
/// Calls that overlap are printed in the order in which the model made them.
pub(crate) struct Timeline(Mutex<Screen>);

#[derive(Default)]
struct Screen {
    /// Calls that were started and not printed yet, in the order of their start.
    calls: VecDeque<CallLine>,
    /// What the model is writing, if that stands on a line which is not ended.
    writes: Option<Writes>,
    /// How much of a call's arguments the model has written, in bytes, while that is shown.
    written: Option<(CallId, usize)>,
}

/// Tells what a model writes apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Writes {
    Text,
    Reasoning,
}

impl Timeline {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Screen::default()))
    }

    /// Prints what is about to be played.
    pub(crate) fn title(name: &str, place: &str, prompt: &str) {
        anstream::println!("{NAME}{}{NAME:#} {QUIET}{}{QUIET:#}\n", visible(name), visible(place));
        for line in prompt.lines() {
            anstream::println!("{PLACE}>{PLACE:#} {}", visible(line));
        }
    }

    /// Takes up the calls of a run that was kept and are not answered yet.
    pub(crate) fn go_on(&self, state: &RunState) {
        let Phase::Waiting { outcomes, .. } = state.phase() else { return };
        let mut screen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for outcome in outcomes {
            let (call, asked) = match outcome {
                CallOutcome::Pending(pending) => (&pending.call, true),
                CallOutcome::Held(held) => (&held.call, false),
                CallOutcome::Replied(_) => continue,
            };
            let mut line = CallLine::new(call.id.clone(), call.name.clone(), &call.input);
            if asked {
                line.asked();
            }
            screen.calls.push_back(line);
        }
    }

    /// Prints how the run ended and what it took.
    pub(crate) fn summary(&self, state: &RunState, elapsed: Duration) {
        let (paint, end) = match state.end() {
            Some(RunEnd::Completed) => (GOOD, "done"),
            Some(RunEnd::CutOff) => (BAD, "cut off by the model's limit of tokens"),
            Some(RunEnd::Refused) => (BAD, "refused by the model"),
            Some(RunEnd::Cancelled) => (BAD, "cancelled"),
            Some(RunEnd::BudgetSpent { .. }) => (BAD, "stopped, its budget is spent,"),
            Some(RunEnd::Looping) => (BAD, "stopped in a loop"),
            Some(_) => (BAD, "failed"),
            None => (ASKS, "waiting for an approval"),
        };
        let mut screen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        screen.calls.drain(..).for_each(|call| call.print());
        let calls: Vec<&ToolReply> = replies(state).collect();
        let bad = calls.iter().filter(|reply| !reply.status.is_ok()).count();
        let bad = if bad == 0 { String::new() } else { format!(" ({bad} failed)") };
        let (turns, calls) = (counted(state.turns().into(), "turn"), counted(calls.len() as u64, "call"));
        let elapsed = call_line::spoken(elapsed);
        anstream::println!("\n{paint}{end}{paint:#} after {turns} and {calls}{bad}, {elapsed}");
    }

    /// Prints what the run took of a provider's, as far as it said so.
    pub(crate) fn costs(state: &RunState) {
        let Usage { input, output, cache_read, .. } = state.usage();
        if input == 0 && output == 0 {
            return;
        }
        let cached = if cache_read == 0 { String::new() } else { format!(" ({cache_read} from the cache)") };
        let cost = money(state).map(|cost| format!(", cost {cost:.4}")).unwrap_or_default();
        anstream::println!("{QUIET}{input} tokens read{cached}, {output} written{cost}{QUIET:#}");
    }
}

/// What a run cost, if there is a price for it.
pub(super) fn money(state: &RunState) -> Option<f64> {
    let nanos = state.spent().cost_nanos;
    #[expect(clippy::cast_precision_loss, reason = "nobody spends 2⁵³ billionths")]
    let cost = nanos as f64 / 1e9;
    (nanos > 0).then_some(cost)
}

fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

fn replies(state: &RunState) -> impl Iterator<Item = &ToolReply> {
    state.messages().iter().flat_map(|message| match &**message {
        Message::Tool { replies } => replies.as_slice(),
        _ => &[],
    })
}

impl Observer for Timeline {
    fn observe(&self, event: &Event) {
        // A poisoned screen is still a screen: at worst a line is missing.
        let mut screen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        screen.show(event);
    }
}

impl Screen {
    fn show(&mut self, event: &Event) {
        match &event.kind {
            EventKind::TurnStarted { turn } => {
                self.end_text();
                anstream::println!("\n{QUIET}turn {turn}{QUIET:#}");
            }
            EventKind::TextDelta { text } => self.write(text, Writes::Text, Style::new()),
            EventKind::ReasoningDelta { text } => self.write(text, Writes::Reasoning, QUIET),
            EventKind::CallDelta { id, name, arguments } => self.count(id, name, arguments.len()),
            EventKind::TurnFinished { .. } => self.end_text(),
            EventKind::BudgetSpent { which } => self.note(&format!("the budget of {which} is spent")),
            EventKind::Looping { name, times } => {
                self.note(&format!("`{name}` was called {times} times with the same result"));
            }
            EventKind::Compacted { messages, .. } => {
                self.note(&format!(
                    "the model is told less of {} from now on",
                    counted(*messages, "message")
                ));
            }
            EventKind::CompactionFailed { reason } => {
                self.note(&format!("what the model is told could not be made less: {reason}"));
            }
            EventKind::Started { name, input } => {
                if let Some(id) = &event.call {
                    self.calls.push_back(CallLine::new(id.clone(), name.clone(), input));
                }
            }
            EventKind::Decided { decision, .. } => self.change(event, |call| call.decided(*decision)),
            EventKind::ApprovalRequested { .. } => self.change(event, CallLine::asked),
            EventKind::Finished { reply } => {
                self.change(event, |call| call.answered(reply.clone()));
                self.print_answered();
            }
            _ => {}
        }
    }

    /// Says something about the run between its turns.
    fn note(&mut self, text: &str) {
        self.end_text();
        anstream::println!("{QUIET}{}{QUIET:#}", visible(text));
    }

    /// Shows what the model writes as it comes; reasoning stands apart from text.
    fn write(&mut self, text: &str, what: Writes, paint: Style) {
        if self.writes.is_some_and(|before| before != what) || self.written.is_some() {
            self.end_text();
        }
        for line in text.split_inclusive('\n') {
            let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
            anstream::print!("{paint}{}{paint:#}{end}", visible(line));
        }
        let _ = std::io::stdout().flush();
        self.writes = Some(what);
    }

    /// Shows on a terminal that a call is being written, which can take long; it is gone when the call is taken up.
    fn count(&mut self, call: &CallId, name: &str, bytes: usize) {
        if self.writes.is_some() {
            self.end_text();
        }
        if !std::io::stdout().is_terminal() {
            return;
        }
        let before = self.written.take().filter(|(counted, _)| counted == call).map_or(0, |(_, bytes)| bytes);
        let bytes = before + bytes;
        let name: String = visible(name).chars().take(MOST_NAME).collect();
        anstream::print!("\r\u{1b}[K  {QUIET}… {name} ({bytes} bytes){QUIET:#}");
        let _ = std::io::stdout().flush();
        self.written = Some((call.clone(), bytes));
    }

    fn end_text(&mut self) {
        if self.written.take().is_some() {
            anstream::print!("\r\u{1b}[K");
        }
        if self.writes.take().is_some() {
            anstream::println!();
        }
    }

    fn change(&mut self, event: &Event, change: impl FnOnce(&mut CallLine)) {
        let call = self.calls.iter_mut().rev().find(|call| Some(call.id()) == event.call.as_ref());
        if let Some(call) = call {
            change(call);
        }
    }

    /// Prints every answered call that no earlier call holds back.
    fn print_answered(&mut self) {
        while self.calls.front().is_some_and(CallLine::is_answered) {
            if let Some(call) = self.calls.pop_front() {
                call.print();
            }
        }
    }
}
