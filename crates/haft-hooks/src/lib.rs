//! Programs from configuration that look at calls before and after they run.
//!
//! A [`CommandHook`] says which program is asked about the calls of which tools, and when. [`CommandHooks`] asks them: it
//! is a [`Layer`](haft_tools_core::Layer), so what a hook changes is validated, prepared and decided like anything a
//! model wrote, and no hook makes a call run that the policy does not let run.
//!
//! ```
//! use haft_hooks::{CommandHook, CommandHooks, HookPoint};
//!
//! let hook: CommandHook = serde_json::from_str(
//!     r#"{ "when": "before", "tools": "bash", "command": ["/usr/local/bin/check", "--strict"], "timeout": 5 }"#,
//! )?;
//! assert_eq!((hook.when, hook.timeout.as_secs()), (HookPoint::Before, 5));
//! let hooks = CommandHooks::new([hook], "/srv/project", std::env::vars_os())?;
//! # let _ = hooks;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What a hook is told
//!
//! One JSON object on its standard input, with a line feed behind it:
//!
//! | member | holds |
//! |---|---|
//! | `version` | 1; another number means that a member changed its meaning |
//! | `when` | `"before"` or `"after"` |
//! | `call_id`, `run` | the call and the run it belongs to |
//! | `parent_run`, `agent` | the run above, and the name of the agent; left out where there is none |
//! | `tool` | its `name`, its `title` for people, and its `origin` (`{"kind": "builtin"}`) |
//! | `input` | the arguments; before a call, as the hook before this one made them |
//! | `accesses` | what the call will touch, printed (`"write file:src/lib.rs"`); left out where an earlier hook replaced the input, since they are not known then |
//! | `status` | only after: `"ok"`, `"denied"`, `"timed_out"`, … or `{"error": "not_found"}` |
//! | `output` | only after: its `text` (at most 1 MiB of it, then `omitted_text_bytes` says how much is missing) and what it has as data, `structured` (left out above 1 MiB) |
//!
//! # What it answers
//!
//! | it | before a call | after a call |
//! |---|---|---|
//! | exits with 0 | the call goes on | the answer stands |
//! | exits with 2 | the call is denied, with what the hook wrote to stderr as the reason | the answer is replaced by an error with that reason, which says whether the call did run |
//! | does anything else | required: the call is denied. Advisory: reported, and the call goes on | required: the answer is withheld. Advisory: reported, and the answer stands |
//!
//! An advisory hook blocks too when it exits with 2: its obligation says only what *anything else* means. Its timeout
//! counts from when its program is started, however long that waited, and an executor waits for the hooks as long as
//! these may take. A call that was cancelled does not wait for hooks before it; those after it then have the grace
//! of [`Limits`](haft_tools_core::Limits) alone, and an answer that they were not done with is withheld, also from
//! advisory ones and without a report.
//!
//! Several programs exit with 2 when they are used wrongly (shells, `grep`, Python's `argparse`), which then blocks, and
//! the model reads why.
//!
//! With exit code 0 it may print a JSON object, of at most 1 MiB. `context` is a text that the model is told beside the
//! output. `input` (before) replaces the arguments. `output` (after) is a text that replaces what the model reads: the
//! status stays, and what the output held as data goes, since the hook may have taken something out of the text. A
//! member that is null counts as left out.
//!
//! *Anything else* is another exit code, a signal, a timeout, a program that cannot be started, and with exit code 0 an
//! output that is neither empty nor such an object, unknown members included. What a hook prints for people belongs
//! on stderr, which is not looked at then.
//!
//! # Several hooks
//!
//! They are asked in the order in which they are given. Each sees the input, or the answer, that the one before made;
//! their contexts are joined; the first that blocks is the last that is asked.
//!
//! When one before a call replaces the input, all are asked again, from the first on, save the one that made that input:
//! nothing runs that a hook has not seen or made, and the order does not matter for hooks that guard. So a hook may be
//! asked more than once about a call, and should let an input be that already is as it wants it: after 8 replacements
//! the call is denied. What a hook says twice as context is told once.
//!
//! Over all calls, 8 programs run at once, or what [`CommandHooks::width`] says; the others wait.
//!
//! # Two readers
//!
//! The model learns the reason a hook gave, cut to 4 KiB and with its control characters made visible. Of a hook that
//! failed it learns only that one did. The host gets the rest as a [`HookReport`], and as a warning through `tracing`.
//!
//! # Its surroundings and its end
//!
//! A hook is an argument vector and never a shell's text, so that nothing in a call can become part of it. It runs in a
//! directory of the host's, with the variables of an [`Environment`](haft_process::Environment) and those that it lists,
//! without a terminal. It is over when the process that was started is; what it left in the background is told to end,
//! and killed 200 ms later. With its timeout, or when the call is cancelled, all of its processes end: see
//! [`ProcessTree`](haft_process::ProcessTree) for how they are found and which are not.
//!
//! # What it does not do
//!
//! - It does not confine a hook, which can do what the host's user can.
//! - It does not keep a model from changing a hook's program: keep it where tools cannot write.
//!
//! The crate needs Unix and is empty elsewhere. Running needs a tokio runtime with its timer and IO enabled.

#![cfg(unix)]

mod command_hook;
mod command_hooks;
mod exchange;
mod head;
mod model_text;
mod report;
mod request;
mod response;

pub use command_hook::{CommandHook, HookPoint, Obligation};
pub use command_hooks::{CommandHooks, HookError};
pub use report::{HookProblem, HookReport};
