use haft_core::{CallId, ToolName, with_causes};
use std::error::Error;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::command_hook::{CommandHook, HookPoint, Obligation};

/// Tells the host that a hook failed to give an answer, and what that meant.
///
/// A hook that blocks a call on purpose has not failed, and is not reported.
///
/// ```
/// use haft_core::{Schema, ToolCall, ToolSpec};
/// use haft_hooks::{CommandHook, CommandHooks, HookProblem, Obligation};
/// use haft_tools_core::{Accesses, Before, CallScope, Layer as _, LayerCall, Selector};
/// use std::sync::mpsc;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let hook = CommandHook::before(Selector::all(), ["/bin/sh", "-c", "echo no disk >&2; exit 1"]);
/// let (sender, reports) = mpsc::channel();
/// let hooks = CommandHooks::new([hook.obligation(Obligation::Advisory)], "/", std::env::vars_os())?
///     .reporting_to(move |report| drop(sender.send(report)));
///
/// let call = ToolCall::new("c1".parse()?, "now", serde_json::json!({}));
/// let spec = ToolSpec::new("now".parse()?, "Tells the time.", Schema::empty());
/// let (scope, accesses) = (CallScope::new("run-1".parse()?), Accesses::none());
/// assert_eq!(hooks.before(&LayerCall::new(&call, &spec, &scope, &accesses)).await, Before::proceed());
///
/// let report = reports.try_recv()?;
/// assert!(matches!(report.problem, HookProblem::Exited { code: 1 }));
/// assert_eq!(report.stderr, "no disk\n");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct HookReport {
    /// The hook; its obligation says whether the call was blocked.
    pub hook: CommandHook,
    /// The call it was asked about.
    pub call: CallId,
    /// The tool that is called.
    pub tool: ToolName,
    /// What went wrong.
    pub problem: HookProblem,
    /// What the program wrote to stderr: at most 16 KiB, as it is, with bytes that are not UTF-8 replaced.
    pub stderr: String,
}

/// Says why a hook gave no answer.
///
/// ```
/// use haft_hooks::{HookProblem, HookReport};
///
/// // Whether somebody has to look after the hook's configuration.
/// fn is_misconfigured(report: &HookReport) -> bool {
///     matches!(report.problem, HookProblem::Start { .. } | HookProblem::NotAnAnswer { .. })
/// }
/// # let _ = is_misconfigured;
/// let slow = HookProblem::TimedOut { timeout: std::time::Duration::from_secs(5) };
/// assert_eq!(slow.to_string(), "it took longer than 5 s");
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HookProblem {
    /// The program could not be started.
    #[error("cannot start `{}` in `{}`", program.display(), directory.display())]
    Start {
        /// The program, as far as it was found.
        program: PathBuf,
        /// The directory it was to run in.
        directory: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The program ended with a code that is neither 0 nor 2.
    #[error("it ended with the exit code {code}")]
    Exited {
        /// The exit code.
        code: i32,
    },
    /// The program was ended by a signal that did not come from here.
    #[error("it was killed by signal {signal}")]
    Killed {
        /// The signal's number.
        signal: i32,
    },
    /// The program took longer than it may, and was ended with everything it had started.
    #[error("it took longer than {} s", timeout.as_secs_f64())]
    TimedOut {
        /// How long it may take.
        timeout: Duration,
    },
    /// Something else in the host's process took the program's exit status.
    #[error("how it ended was not learned, since something else waited for it")]
    Lost,
    /// The program printed more to stdout than an answer may have.
    #[error("it printed more than {most_bytes} bytes")]
    TooLong {
        /// The most bytes an answer may have.
        most_bytes: usize,
    },
    /// What the program printed to stdout is neither empty nor an answer.
    #[error("what it printed is neither empty nor an answer")]
    NotAnAnswer {
        /// What is wrong with it.
        source: Box<dyn Error + Send + Sync>,
    },
}

/// Prints one line: the hook, the call, what went wrong with its causes, and what that meant.
impl fmt::Display for HookReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let program = self.hook.command.first().map_or("", String::as_str).escape_debug();
        write!(
            f,
            "the hook `{program}` failed {} the call {:?} of `{}`: {}",
            self.hook.when,
            self.call.as_str(),
            self.tool,
            with_causes(&self.problem)
        )?;
        f.write_str(match (self.hook.obligation, self.hook.when) {
            (Obligation::Required, HookPoint::Before) => "; the call did not run",
            (Obligation::Required, HookPoint::After) => "; its result is withheld",
            (Obligation::Advisory, _) => "; passed over",
        })
    }
}
