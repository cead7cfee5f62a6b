use super::call_line::{CallLine, visible};
use crate::glyphs;
use crate::paint::QUIET;
use haft::core::{CallId, RunId};
use std::collections::VecDeque;
use std::fmt::Write as _;

/// The most bytes of what an agent writes that wait for the end of its turn.
const MOST_TEXT: usize = 256 * 1024;

/// Collects what happens in one run until it is printed; runs do not mix, whatever their calls are called.
#[derive(Default)]
pub(super) struct Lane {
    /// Says whose lines these are, as in `reader 2`; nothing of the run that people talk to.
    label: Option<String>,
    /// Calls that were started and not printed yet, in the order of their start.
    calls: VecDeque<CallLine>,
    /// What the model has written of its turn, where that is printed when the turn is over.
    text: String,
    /// What of that it has thought.
    reasoning: String,
}

impl Lane {
    /// The run of an agent, which so many of the same name have begun before.
    pub(super) fn of_agent(agent: &str, before: usize) -> Self {
        Self { label: Some(format!("{} {}", visible(agent), before + 1)), ..Self::default() }
    }

    pub(super) fn label(&self) -> Option<&str> {
        self.label.as_deref()
    }

    pub(super) fn start(&mut self, call: CallLine) {
        self.calls.push_back(call);
    }

    /// Changes a call that was started last under this name.
    pub(super) fn change(&mut self, id: Option<&CallId>, change: impl FnOnce(&mut CallLine)) {
        if let Some(call) = self.calls.iter_mut().rev().find(|call| Some(call.id()) == id) {
            change(call);
        }
    }

    pub(super) fn say(&mut self, text: &str) {
        push(&mut self.text, text);
    }

    pub(super) fn think(&mut self, text: &str) {
        push(&mut self.reasoning, text);
    }

    /// Takes what the model has written of its turn.
    pub(super) fn take_text(&mut self) -> String {
        let mut lines = String::new();
        // Writing to a string cannot fail.
        for line in std::mem::take(&mut self.reasoning).lines() {
            let _ = writeln!(lines, "{QUIET}{}{QUIET:#}", visible(line));
        }
        for line in std::mem::take(&mut self.text).lines() {
            let _ = writeln!(lines, "{}", visible(line));
        }
        lines
    }

    /// Takes every answered call that no earlier one of the run holds back.
    pub(super) fn take_answered(&mut self) -> String {
        let mut lines = Vec::new();
        while self.calls.front().is_some_and(CallLine::is_answered) {
            if let Some(call) = self.calls.pop_front() {
                call.write(&mut lines);
            }
        }
        String::from_utf8_lossy(&lines).into_owned()
    }

    /// Takes all that is left.
    pub(super) fn take_rest(&mut self) -> String {
        let mut lines = self.take_text().into_bytes();
        self.calls.drain(..).for_each(|call| call.write(&mut lines));
        String::from_utf8_lossy(&lines).into_owned()
    }

    /// Prints lines, with a word ahead of each that says whose they are.
    pub(super) fn print(&self, lines: &str) {
        for line in lines.lines() {
            match &self.label {
                Some(label) => {
                    outln!("  {QUIET}{label} {}{QUIET:#} {line}", glyphs::of("│", "|"));
                }
                None => outln!("{line}"),
            }
        }
    }
}

/// The name of the agent that a run is of, where its beginning was not seen: runs of agents are called by it.
pub(super) fn agent_of(run: &RunId) -> &str {
    run.as_str().rsplit_once('-').map_or(run.as_str(), |(agent, _)| agent)
}

fn push(into: &mut String, text: &str) {
    let room = MOST_TEXT.saturating_sub(into.len());
    into.push_str(&text[..text.floor_char_boundary(room)]);
}
