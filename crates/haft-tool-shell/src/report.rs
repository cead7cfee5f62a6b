use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::time::Duration;

use haft_core::{OutputId, ToolError, ToolOutput};
use serde_json::json;

use crate::bash::MOST_SECONDS;

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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Background {
    /// There were none.
    None,
    /// They were ended.
    Ended,
    /// At least one goes on, because it could not be found.
    GoesOn,
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
}

impl From<Option<ExitStatus>> for Ending {
    fn from(status: Option<ExitStatus>) -> Self {
        let code = status.and_then(|status| status.code()).map(Self::Exited);
        let signal = || status.and_then(|status| status.signal()).map(Self::Killed);
        code.or_else(signal).unwrap_or(Self::Unknown)
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
        text.push_str(match self.background {
            Background::None => "",
            Background::Ended => {
                "[what was still running in the background was ended: nothing runs on after a call, so do what needs it \
                 in the same command]\n"
            }
            Background::GoesOn => {
                "[something the command started is still running in the background and could not be ended: look for it \
                 with `ps` and stop it]\n"
            }
        });
        text.push_str(&self.remarks);
        let ending = match self.ending {
            Ending::Exited(code) => format!("[exit code {code}]"),
            Ending::Killed(signal) => format!("[killed by signal {signal}]"),
            Ending::Unknown => "[exit code unknown]".to_owned(),
        };
        let mut details = json!({
            "exit_code": code,
            "signal": signal,
            "timed_out": false,
            "duration_ms": u64::try_from(self.duration.as_millis()).unwrap_or(u64::MAX),
            "bytes": self.received_bytes,
            "background_ended": self.background == Background::Ended,
        });
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

/// Says where there was no output, and ends the last line where there was.
fn with_whole_lines(mut text: String) -> String {
    if text.is_empty() {
        text.push_str("(no output)");
    }
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}
