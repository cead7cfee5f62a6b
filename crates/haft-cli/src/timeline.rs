mod call_line;
mod json;
mod lane;
mod live;

pub(crate) use call_line::{DiffPart, arguments, print_diff, spoken, visible};
pub(crate) use json::{JsonLines, Summary};

use call_line::CallLine;
use lane::{Lane, agent_of};
use live::Live;

use crate::glyphs;
use crate::paint::{ASKS, BAD, GOOD, NAME, PLACE, QUIET};
use crate::printed::note_failure;
use anstyle::Style;
use haft::ToolReply;
use haft::agent::{Phase, RunEnd, RunState};
use haft::core::{CallId, Event, EventKind, Message, RunId, Usage};
use haft::tools_core::{CallOutcome, Observer};
use std::io::{IsTerminal as _, Write as _};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The most characters of a tool's name while a call of it is being written.
const MOST_NAME: usize = 48;

/// How many events are shown later that happen while a person writes; what else runs below a chat does is in its report.
const MOST_HELD: usize = 1000;

/// Prints a run for people, as it happens: what the model says, and each call with its decision and result.
///
/// Calls that overlap are printed in the order in which the model made them. What agents do stands in lines that say so, as in
/// `reader 2 │`, and what they write comes when their turn is over.
pub(crate) struct Timeline(Mutex<Screen>);

#[derive(Default)]
struct Screen {
    /// The run that people talk to.
    top: Lane,
    /// Those of agents, in the order in which they began.
    below: Vec<(RunId, Lane)>,
    /// What the model is writing, if that stands on a line which is not ended.
    writes: Option<Writes>,
    /// What runs now, where it is shown while it does.
    live: Option<Live>,
    /// What happens while a person writes, until they have written.
    held: Option<Vec<Event>>,
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
        Self(Mutex::new(Screen { live: Live::new(), ..Screen::default() }))
    }

    /// Prints what is about to be played.
    pub(crate) fn title(name: &str, place: &str, prompt: &str) {
        outln!("{NAME}{}{NAME:#} {QUIET}{}{QUIET:#}\n", visible(name), visible(place));
        for line in prompt.lines() {
            outln!("{PLACE}>{PLACE:#} {}", visible(line));
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
            screen.top.start(line);
        }
    }

    /// Prints what is said to a run, where that is not on the screen already.
    pub(crate) fn said(text: &str) {
        outln!();
        for line in text.lines() {
            outln!("{PLACE}>{PLACE:#} {}", visible(line));
        }
    }

    /// Shows nothing more for now: a person writes.
    pub(crate) fn hold(&self) {
        let mut screen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        screen.held.get_or_insert_default();
    }

    /// Shows what has happened meanwhile, and what happens from now on.
    pub(crate) fn release(&self) {
        let mut screen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for event in screen.held.take().into_iter().flatten() {
            screen.show(&event);
        }
    }

    /// Prints how the answer to a message ended, and what it took.
    pub(crate) fn answered(&self, state: &RunState, turns: u32, calls: usize, elapsed: Duration) {
        let mut screen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        screen.settle();
        // What is not answered stands in the list of what waits.
        if state.end().is_some() {
            let rest = screen.top.take_rest();
            screen.top.print(&rest);
        }
        let (turns, calls) = (counted(turns.into(), "turn"), counted(calls as u64, "call"));
        let elapsed = spoken(elapsed);
        let took = format!("{turns}, {calls}, {elapsed}");
        if state.end() == Some(&RunEnd::Completed) {
            outln!("\n{QUIET}{took}{QUIET:#}");
        } else {
            let (paint, end) = ended(state);
            outln!("\n{paint}{end}{paint:#} {QUIET}after {took}{QUIET:#}");
        }
    }

    /// Prints how the run ended and what it took.
    pub(crate) fn summary(&self, state: &RunState, elapsed: Duration) {
        let (paint, end) = ended(state);
        let mut screen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        screen.settle();
        for pending in state.pending().filter(|pending| pending.waits_below()) {
            screen.top.change(Some(&pending.call.id), CallLine::waits_below);
        }
        let Screen { top, below, .. } = &mut *screen;
        for lane in below.iter_mut().map(|(_, lane)| lane).chain([top]) {
            let rest = lane.take_rest();
            lane.print(&rest);
        }
        let calls: Vec<&ToolReply> = replies(state).collect();
        let bad = calls.iter().filter(|reply| !reply.status.is_ok()).count();
        let bad = if bad == 0 { String::new() } else { format!(" ({bad} failed)") };
        let (turns, calls) = (counted(state.turns().into(), "turn"), counted(calls.len() as u64, "call"));
        let elapsed = spoken(elapsed);
        outln!("\n{paint}{end}{paint:#} after {turns} and {calls}{bad}, {elapsed}");
    }

    /// Prints what the run took of a provider's, as far as it said so.
    pub(crate) fn costs(state: &RunState) {
        let Usage { input, output, cache_read, .. } = state.usage();
        if input == 0 && output == 0 {
            return;
        }
        let cached = if cache_read == 0 { String::new() } else { format!(" ({cache_read} from the cache)") };
        let cost = money(state).map(|cost| format!(", cost {cost:.4}")).unwrap_or_default();
        // What the run has spent counts what its agents have.
        let below = state.spent().tokens.saturating_sub(state.usage().total());
        let all = match below {
            0 => String::new(),
            below => format!("; its agents took {below} more"),
        };
        outln!("{QUIET}{input} tokens read{cached}, {output} written{all}{cost}{QUIET:#}");
    }
}

/// Says how a run ended, and in which colour.
fn ended(state: &RunState) -> (Style, &'static str) {
    match state.end() {
        Some(RunEnd::Completed) => (GOOD, "done"),
        Some(RunEnd::CutOff) => (BAD, "cut off by the model's limit of tokens"),
        Some(RunEnd::Refused) => (BAD, "refused by the model"),
        Some(RunEnd::Cancelled) => (BAD, "cancelled"),
        Some(RunEnd::BudgetSpent { .. }) => (BAD, "stopped, its budget is spent,"),
        Some(RunEnd::Looping) => (BAD, "stopped in a loop"),
        Some(_) => (BAD, "failed"),
        None => (ASKS, "waiting for an approval"),
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
        if let Some(held) = &mut self.held {
            if held.len() < MOST_HELD {
                held.push(event.clone());
            }
            return;
        }
        let lines = self.live.as_ref().map(Live::lines);
        match lines {
            Some(lines) => lines.suspend(|| self.print(event)),
            None => self.print(event),
        }
        if let Some(live) = &mut self.live
            && event.parent_run.is_none()
        {
            live.follow(event, || match &event.kind {
                EventKind::Started { input, .. } => arguments(input),
                _ => String::new(),
            });
        }
    }

    fn print(&mut self, event: &Event) {
        if event.parent_run.is_some() {
            self.show_below(event);
            return;
        }
        match &event.kind {
            EventKind::TurnStarted { turn } => {
                self.end_text();
                outln!("\n{QUIET}turn {turn}{QUIET:#}");
            }
            EventKind::TextDelta { text } => self.write(text, Writes::Text, Style::new()),
            EventKind::ReasoningDelta { text } => self.write(text, Writes::Reasoning, QUIET),
            EventKind::CallDelta { id, name, arguments } => self.count(id, name, arguments.len()),
            EventKind::TurnFinished { .. } | EventKind::TurnDiscarded { again: false, .. } => self.end_text(),
            kind => {
                if let Some(note) = note(kind) {
                    self.end_text();
                    outln!("{QUIET}{}{QUIET:#}", visible(&note));
                }
                follow(&mut self.top, event);
                let answered = self.top.take_answered();
                if !answered.is_empty() {
                    self.end_text();
                    self.top.print(&answered);
                }
            }
        }
    }

    /// Shows what happens in the run of an agent: in whole lines, each of which says whose it is.
    fn show_below(&mut self, event: &Event) {
        let lane = self.lane(event);
        let lines = match &event.kind {
            EventKind::RunStarted { background, .. } => {
                let how = if *background { " in the background" } else { "" };
                format!("{QUIET}begins{how}{QUIET:#}")
            }
            EventKind::RunEnded { end, detail, .. } => {
                let paint = if end == "done" { QUIET } else { BAD };
                let detail = detail.as_deref().map(|detail| format!(": {}", detail.trim()));
                let end = format!("{end}{}", detail.unwrap_or_default());
                let painted = end.lines().map(|line| format!("{paint}{}{paint:#}\n", visible(line)));
                lane.take_rest() + &painted.collect::<String>()
            }
            EventKind::TextDelta { text } => {
                lane.say(text);
                return;
            }
            EventKind::ReasoningDelta { text } => {
                lane.think(text);
                return;
            }
            EventKind::TurnFinished { .. } => lane.take_text(),
            kind => {
                follow(lane, event);
                let note = note(kind).map(|note| format!("{QUIET}{}{QUIET:#}\n", visible(&note)));
                note.unwrap_or_default() + &lane.take_answered()
            }
        };
        if lines.is_empty() {
            return;
        }
        self.end_text();
        self.lane(event).print(&lines);
    }

    /// Finds the lane of an agent's run, or opens it.
    fn lane(&mut self, event: &Event) -> &mut Lane {
        let found = self.below.iter().position(|(run, _)| *run == event.run);
        let place = found.unwrap_or_else(|| {
            let agent = match &event.kind {
                EventKind::RunStarted { agent, .. } | EventKind::RunEnded { agent, .. } => agent,
                _ => agent_of(&event.run),
            };
            let is_of_agent = |lane: &Lane| {
                lane.label().and_then(|label| label.rsplit_once(' ')).is_some_and(|(name, _)| name == agent)
            };
            let before = self.below.iter().filter(|(_, lane)| is_of_agent(lane)).count();
            self.below.push((event.run.clone(), Lane::of_agent(agent, before)));
            self.below.len() - 1
        });
        &mut self.below[place].1
    }

    /// Shows what the model writes as it comes; reasoning stands apart from text.
    fn write(&mut self, text: &str, what: Writes, paint: Style) {
        if self.writes.is_some_and(|before| before != what) || self.written.is_some() {
            self.end_text();
        }
        for line in text.split_inclusive('\n') {
            let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
            out!("{paint}{}{paint:#}{end}", visible(line));
        }
        note_failure(std::io::stdout().flush());
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
        out!("\r\u{1b}[K  {QUIET}{} {name} ({bytes} bytes){QUIET:#}", glyphs::of("…", "..."));
        note_failure(std::io::stdout().flush());
        self.written = Some((call.clone(), bytes));
    }

    /// Has nothing move any more that what is printed next would be mixed with.
    fn settle(&mut self) {
        if let Some(live) = &mut self.live {
            live.clear();
        }
        self.end_text();
    }

    fn end_text(&mut self) {
        if self.written.take().is_some() {
            out!("\r\u{1b}[K");
        }
        if self.writes.take().is_some() {
            outln!();
        }
    }
}

/// Takes up what becomes of the calls of a run.
fn follow(lane: &mut Lane, event: &Event) {
    let call = event.call.as_ref();
    match &event.kind {
        EventKind::Started { name, input } => {
            if let Some(id) = call {
                lane.start(CallLine::new(id.clone(), name.clone(), input));
            }
        }
        EventKind::Decided { decision, .. } => lane.change(call, |call| call.decided(*decision)),
        EventKind::ApprovalRequested { .. } => lane.change(call, CallLine::asked),
        EventKind::Finished { reply } => lane.change(call, |call| call.answered(reply.clone())),
        _ => {}
    }
}

/// What there is to say about a run between its turns.
fn note(kind: &EventKind) -> Option<String> {
    Some(match kind {
        EventKind::TurnDiscarded { reason, again: true, .. } => {
            format!("this turn counts for nothing, and the model is asked again: {reason}")
        }
        EventKind::ModelRetried { reason, pause_ms } => {
            format!("the model is asked again in {}: {reason}", spoken(Duration::from_millis(*pause_ms)))
        }
        EventKind::BudgetSpent { which } => format!("the budget of {which} is spent"),
        EventKind::Looping { name, times } => {
            format!("`{name}` was called {times} times with the same result")
        }
        EventKind::Compacted { messages, .. } => {
            format!("the model is told less of {} from now on", counted(*messages, "message"))
        }
        EventKind::CompactionFailed { reason } => {
            format!("what the model is told could not be made less: {reason}")
        }
        _ => return None,
    })
}
