use std::fmt::{self, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use haft_core::{OutputId, ToolError, ToolOutput};
use haft_process::LiveProcess;
use serde_json::{Value, json};

use crate::bash::MOST_SECONDS;
use crate::jobs::Job;
use crate::last_directory::NextStart;

/// How the process that was started ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// By itself, with this code.
    Exited(i32),
    /// By this signal.
    Killed(i32),
    /// In a way that somebody else took note of.
    Unknown,
}

/// What became of the processes that a script left in the background.
#[derive(Debug)]
pub(crate) enum Background {
    /// There were none.
    None,
    /// They were ended.
    Ended,
    /// At least one goes on, because it could not be found.
    GoesOn,
    /// They go on as a job; these were alive.
    Job { job: Arc<Job>, alive: Vec<LiveProcess> },
}

/// Everything there is to say about a script that came to its end.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) text: String,
    /// The name of all that was printed, where the text is not all.
    pub(crate) whole: Option<OutputId>,
    /// What there is to say of the sandbox, in whole lines.
    pub(crate) remarks: String,
    /// What is weaker than it should be; nothing where there is no sandbox.
    pub(crate) weaker: Option<Vec<String>>,
    pub(crate) ending: Ending,
    pub(crate) background: Background,
    pub(crate) received_bytes: u64,
    pub(crate) duration: Duration,
    /// Where it ran, relative to the working directory.
    pub(crate) directory: String,
    /// Where the next one starts.
    pub(crate) next: NextStart,
}

impl From<Option<ExitStatus>> for Ending {
    fn from(status: Option<ExitStatus>) -> Self {
        let code = status.and_then(|status| status.code()).map(Self::Exited);
        let signal = || status.and_then(|status| status.signal()).map(Self::Killed);
        code.or_else(signal).unwrap_or(Self::Unknown)
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(code) => write!(f, "exit code {code}"),
            Self::Killed(signal) => write!(f, "killed by signal {signal}"),
            Self::Unknown => f.write_str("exit code unknown"),
        }
    }
}

impl Report {
    /// What the model reads, which is the same for the same output, and what the host sees besides.
    pub(crate) fn into_output(self) -> ToolOutput {
        let (code, signal) = match self.ending {
            Ending::Exited(code) => (Some(code), None),
            Ending::Killed(signal) => (None, Some(signal)),
            Ending::Unknown => (None, None),
        };
        let mut text = with_whole_lines(self.text);
        match &self.background {
            Background::None => {}
            Background::Ended => text.push_str(
                "[what was still running in the background was ended: nothing runs on after a call, so do what needs it \
                 in the same command]\n",
            ),
            Background::GoesOn => text.push_str(
                "[something the command started is still running in the background and could not be ended: look for it \
                 with `ps` and stop it]\n",
            ),
            Background::Job { job, alive } => {
                let _ = writeln!(text,
                "[still running as the job `{}`{}; `job_poll` gives what is printed from here on, `job_signal` ends it]",
                job.name(),
                named(alive));
            }
        }
        text.push_str(&self.remarks);
        let ending = format!("[{}{}]", self.ending, self.next);
        let mut details = json!({
            "exit_code": code,
            "signal": signal,
            "timed_out": false,
            "duration_ms": u64::try_from(self.duration.as_millis()).unwrap_or(u64::MAX),
            "bytes": self.received_bytes,
            "directory": self.directory,
            "background_ended": matches!(self.background, Background::Ended),
        });
        if let Background::Job { job, alive } = &self.background {
            let alive: Vec<Value> =
                alive.iter().map(|process| json!({ "id": process.id, "name": process.name })).collect();
            details["background"] = json!({ "job": job.name(), "output": job.output(), "processes": alive });
        }
        if let Some(next) = self.next.directory() {
            details["next_directory"] = json!(next);
        }
        if let Some(whole) = self.whole {
            details["output"] = json!(whole);
        }
        if let Some(weaker) = self.weaker {
            details["sandbox"] = json!({ "weaker": weaker });
        }
        ToolOutput::text(text + &ending).with_details(details)
    }
}

/// What the model reads when a script was stopped because its time was over.
pub(crate) fn timed_out(text: String, timeout: Duration) -> ToolError {
    let (text, seconds) = (with_whole_lines(text), timeout.as_secs());
    let next = if seconds < u64::from(MOST_SECONDS) {
        format!("give it a longer `timeout` ({MOST_SECONDS} at most), or do less in one command")
    } else {
        "do less in one command".to_owned()
    };
    ToolError::timed_out(format!("{text}[stopped after {seconds} s, with everything it had started; {next}]"))
}

/// What the model reads when a call was cancelled.
pub(crate) fn cancelled(text: String) -> ToolError {
    let text = with_whole_lines(text);
    ToolError::cancelled(format!(
        "{text}[cancelled, with everything it had started; what it had done by then stays done, so look at that before \
         you run it again]"
    ))
}

/// Names processes, a few of them: `: sleep (4711), node (4712)`.
fn named(alive: &[LiveProcess]) -> String {
    const MOST: usize = 8;
    let mut names: Vec<String> = alive
        .iter()
        .take(MOST)
        .map(|process| format!("{} ({})", process.name.escape_debug(), process.id))
        .collect();
    if alive.len() > MOST {
        names.push(format!("{} more", alive.len() - MOST));
    }
    if names.is_empty() { String::new() } else { format!(": {}", names.join(", ")) }
}

/// Says where there was no output, and ends the last line where there was.
pub(crate) fn with_whole_lines(mut text: String) -> String {
    if text.is_empty() {
        text.push_str("(no output)");
    }
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}
