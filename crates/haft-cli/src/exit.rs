use crate::paint::{ASKS, ERROR};
use crate::timeline::visible;
use haft::policy::{PolicyFileError, PolicyProblem};
use std::error::Error;
use std::fmt;
use std::iter;
use std::process::ExitCode;

/// Says how the command ended; the numbers are part of its interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// What was asked for was done.
    Done,
    /// It failed, was denied or was cancelled.
    Failed,
    /// The command was used wrongly: its arguments, a file or a directory it names.
    Usage,
    /// It waits for an approval.
    Waiting,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::Waiting => 3,
        })
    }
}

/// Marks an error as the user's to mend, and says how.
#[derive(Debug)]
pub(crate) struct UsageError(pub(crate) String);

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for UsageError {}

/// Prints an error with its causes, and tells how to exit.
pub(crate) fn report(error: &anyhow::Error) -> Exit {
    if let Some(refused) = error.downcast_ref::<PolicyFileError>() {
        print_problems(refused);
        errln!("\nCorrect the policy, then try it with `haft policy check FILE`.");
        return Exit::Usage;
    }
    say_error(error);
    if error.is::<UsageError>() { Exit::Usage } else { Exit::Failed }
}

/// Prints an error with its causes.
pub(crate) fn say_error(error: &anyhow::Error) {
    let text = error.to_string();
    let mut lines = text.lines().map(visible);
    errln!("{ERROR}error{ERROR:#}: {}", lines.next().unwrap_or_default());
    lines.for_each(|line| errln!("{line}"));
    error.chain().skip(1).for_each(print_cause);
}

/// Prints an error that does not end the command, with its causes.
pub(crate) fn note(error: &(dyn Error + 'static)) {
    say_note(&error.to_string());
    iter::successors(error.source(), |cause| Error::source(*cause)).for_each(print_cause);
}

/// Prints on standard error what people should know of.
pub(crate) fn say_note(text: &str) {
    errln!("{ASKS}note{ASKS:#}: {}", visible(text));
}

fn print_cause(cause: &(dyn Error + 'static)) {
    errln!("  because: {}", visible(&cause.to_string()));
}

/// Prints on standard error everything that is wrong with policy files.
pub(crate) fn print_problems(error: &PolicyFileError) {
    print_rendered(&error.to_string());
}

/// Prints on standard error one thing that is wrong with a policy file.
pub(crate) fn print_problem(problem: &PolicyProblem) {
    print_rendered(&problem.to_string());
}

fn print_rendered(text: &str) {
    for line in text.lines() {
        match line.strip_prefix("error:") {
            Some(rest) => errln!("{ERROR}error{ERROR:#}:{}", visible(rest)),
            None => errln!("{}", visible(line)),
        }
    }
}
