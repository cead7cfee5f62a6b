use super::call_line::visible;
use crate::{glyphs, progress};
use haft::core::{CallId, Decision, Event, EventKind, Progress};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget};
use std::io::{IsTerminal as _, stdout};

/// The most calls that are shown while they run.
const MOST_SHOWN: usize = 8;

/// Shows on a terminal the calls that run, each with its time and how far it has got, below what is printed.
pub(super) struct Live {
    lines: MultiProgress,
    calls: Vec<Running>,
    /// The calls that ask a person something: nothing moves while that is on the screen.
    asking: Vec<CallId>,
}

struct Running {
    id: CallId,
    /// The tool and its arguments.
    what: String,
    /// Is there while the call is shown: not while a person decides about it.
    line: Option<ProgressBar>,
}

impl Live {
    /// Shows nothing where nobody looks on.
    pub(super) fn new() -> Option<Self> {
        let is_shown = stdout().is_terminal() && !glyphs::is_dumb();
        is_shown.then(|| Self {
            lines: MultiProgress::with_draw_target(ProgressDrawTarget::stdout()),
            calls: Vec::new(),
            asking: Vec::new(),
        })
    }

    /// Takes note of what becomes of a call.
    pub(super) fn follow(&mut self, event: &Event, arguments: impl FnOnce() -> String) {
        let Some(id) = &event.call else { return };
        match &event.kind {
            EventKind::Started { name, .. } if self.asking.is_empty() && self.calls.len() < MOST_SHOWN => {
                let what = format!("{} {}", visible(name), arguments());
                let line = Some(self.line(&what));
                self.calls.push(Running { id: id.clone(), what, line });
            }
            EventKind::Progressed { progress } => {
                if let Some(running) = self.calls.iter().find(|running| running.id == *id)
                    && let Some(line) = &running.line
                {
                    line.set_message(format!("{}{}", running.what, said(progress)));
                }
            }
            EventKind::ApprovalRequested { .. } => {
                self.calls.iter_mut().filter(|running| running.id == *id).for_each(Running::hide);
            }
            EventKind::Decided { decision: Decision::Allow, .. } => {
                let hidden = |running: &Running| running.id == *id && running.line.is_none();
                if let Some(place) = self.calls.iter().position(hidden) {
                    self.calls[place].line = Some(self.line(&self.calls[place].what));
                }
            }
            EventKind::QuestionAsked { .. } => {
                self.clear();
                self.asking.push(id.clone());
            }
            EventKind::Finished { .. } | EventKind::WaitsBelow { .. } => {
                self.asking.retain(|asking| asking != id);
                self.calls.retain_mut(|running| {
                    let goes_on = running.id != *id;
                    if !goes_on {
                        running.hide();
                    }
                    goes_on
                });
            }
            _ => {}
        }
    }

    fn line(&self, what: &str) -> ProgressBar {
        let line = self.lines.add(ProgressBar::no_length());
        line.set_style(progress::style("  {spinner} {wide_msg} {elapsed}"));
        line.set_message(what.to_owned());
        line.enable_steady_tick(progress::TICK);
        line
    }

    /// Shows nothing more of what runs now.
    pub(super) fn clear(&mut self) {
        self.calls.drain(..).for_each(|mut running| running.hide());
    }

    /// What has to be told of whatever is printed between the lines.
    pub(super) fn lines(&self) -> MultiProgress {
        self.lines.clone()
    }
}

impl Running {
    fn hide(&mut self) {
        if let Some(line) = self.line.take() {
            line.finish_and_clear();
        }
    }
}

fn said(progress: &Progress) -> String {
    let share = progress.fraction.map(|fraction| format!(" {:.0} %", fraction * 100.0)).unwrap_or_default();
    let message =
        progress.message.as_deref().map(|message| format!(": {}", visible(message))).unwrap_or_default();
    format!("{share}{message}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_far_a_call_has_got_is_said_as_far_as_it_is_known() {
        let both = Progress { message: Some("linking\u{1b}[2J".to_owned()), fraction: Some(0.256) };
        assert_eq!(said(&both), " 26 %: linking\\u{1b}[2J".replace("\\u{1b}", &visible("\u{1b}")));
        assert_eq!(said(&Progress::from("compiling")), ": compiling");
        assert_eq!(said(&Progress::default()), "");
    }
}
