//! What the model reads of jobs.

use std::fmt::Write as _;

use haft_core::{ToolOutput, Visible};
use serde_json::json;

use super::{Job, Met, Readiness, Shown, State};
use crate::report::with_whole_lines;
use crate::screen::Snapshot;

/// Says that a script goes on, because it took longer than it was waited for.
pub(crate) fn yielded(text: String, job: &Job) -> ToolOutput {
    let text = with_whole_lines(text);
    output(
        job,
        format!(
            "{text}[still running as the job `{name}`; `job_wait` waits for it, `job_poll` gives what is printed from here \
             on, `job_signal` ends it]",
            name = job.name()
        ),
    )
}

/// Says that a job was started.
pub(super) fn begun(job: &Job) -> ToolOutput {
    let name = job.name();
    output(
        job,
        format!("[started as the job `{name}`: `job_poll` gives what it prints; you are told when it ends]"),
    )
}

/// Says whether a job that was started is ready.
pub(super) fn awaited(job: &Job, readiness: &Readiness, met: Met, shown: Shown) -> ToolOutput {
    let (name, seconds) = (job.name(), readiness.most.as_secs());
    let how = match met {
        Met::Ready => format!("[the job `{name}` is ready"),
        Met::Over => format!("[the job `{name}` has ended before it was ready"),
        Met::NotInTime => {
            format!("[the job `{name}` is not ready after {seconds} s and goes on; `job_signal` ends it")
        }
    };
    let note = standing(job, &shown);
    output(job, format!("{}{how}]\n{note}", with_whole_lines(shown.text)))
}

/// Shows what a job printed, and how far it has got.
pub(super) fn polled(job: &Job, shown: Shown) -> ToolOutput {
    let note = standing(job, &shown);
    let text =
        if shown.text.is_empty() { "(nothing new)\n".to_owned() } else { with_whole_lines(shown.text) };
    output(job, text + &note)
}

/// Shows what stands on a job's terminal, and how far the job has got.
pub(super) fn looked_at(job: &Job, (snapshot, state, printed): (Snapshot, State, u64)) -> ToolOutput {
    let Snapshot { text, size, cursor } = snapshot;
    let text = if text.is_empty() { "(an empty screen)".to_owned() } else { text };
    let at = match cursor {
        Some((row, column)) => format!("the cursor in row {row}, column {column}"),
        None => "no cursor".to_owned(),
    };
    let note = format!(
        "[screen of {} rows and {} columns, {at}]\n{}[job `{}`: {state}; cursor {printed}]",
        size.rows,
        size.columns,
        state.remarks,
        job.name()
    );
    output(job, with_whole_lines(text) + &note)
}

/// Says how far a job has got, and where what was shown ends.
fn standing(job: &Job, shown: &Shown) -> String {
    let (cursor, more) = (shown.cursor, shown.printed - shown.cursor);
    let mut note = String::new();
    if more > 0 {
        let _ = writeln!(note, "[{more} bytes more have been printed: go on with cursor {cursor}]");
    } else if shown.lost > 0 {
        let _ = writeln!(note, "[{} bytes printed after this could not be kept]", shown.lost);
    }
    note.push_str(&shown.state.remarks);
    let _ = write!(note, "[job `{}`: {}; cursor {cursor}]", job.name(), shown.state);
    note
}

/// Says in one line what a job is and how far it has got.
pub(super) fn line(job: &Job) -> String {
    let title = job.title();
    let title = Visible::line(&title);
    format!("{}: {}: {title}", job.name(), job.state())
}

/// Says what is told of a job that has ended when nobody waited for it.
pub(super) fn news(job: &Job, state: &State, newest: &str) -> String {
    let name = job.name();
    let title = job.title();
    let title = Visible::line(&title);
    let printed = if newest.is_empty() {
        "It printed nothing.".to_owned()
    } else {
        format!("The end of what it printed; `job_poll` gives all of it:\n{}", newest.trim_end_matches('\n'))
    };
    format!("The job `{name}` (`{title}`) has {state}.\n{}{printed}", state.remarks)
}

fn output(job: &Job, text: String) -> ToolOutput {
    let state = job.state();
    let details = json!({
        "job": job.name(),
        "output": job.output(),
        "over": state.is_over,
        "ending": state.ending.map(|ending| ending.to_string()),
    });
    ToolOutput::text(text).with_details(details)
}

impl std::fmt::Display for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.ending, self.is_over) {
            (Some(ending), true) => write!(f, "ended, {ending}"),
            (Some(ending), false) => write!(f, "ended, {ending}, and what it has started is still running"),
            (None, _) => f.write_str("running"),
        }
    }
}
