use crate::changes::Undoing;
use crate::outcome::{access_line, short};
use crate::paint::{ASKS, NAME, QUIET};
use crate::printed::print_json_line;
use crate::schema::PendingShape;
use crate::timeline::visible;
use anyhow::Result;
use haft::tools_core::PendingCall;
use schemars::JsonSchema;
use serde::Serialize;

use super::costs::Costs;
use super::entered::COMMANDS;

/// What a chat says beside the events of its runs: one of them is a line of `haft agent --chat --json`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(crate) enum ChatEvent {
    /// A chat begins, or goes on.
    ChatStarted {
        /// Its run.
        run: String,
        /// The model that is talked to.
        model: String,
        /// Whether something was said in it before.
        goes_on: bool,
        /// How far calls go without asking.
        mode: String,
    },
    /// What can be entered.
    Help {
        /// Each command, as it is written, with what it does.
        commands: Vec<Help>,
    },
    /// How far calls go without asking, from now on.
    Mode {
        /// The mode.
        mode: String,
    },
    /// The tools of the chat.
    Tools {
        /// Each tool.
        tools: Vec<ToolLine>,
    },
    /// The calls that wait for an approval.
    Waiting {
        /// Each call.
        #[schemars(with = "Vec<PendingShape>")]
        calls: Vec<PendingCall>,
    },
    /// Something was said while calls wait: the model is told when they are answered.
    Queued {
        /// How many calls wait.
        waiting: usize,
    },
    /// What was changed in files was taken back.
    Undone {
        /// What became of it.
        #[serde(flatten)]
        undoing: Undoing,
    },
    /// What the chat took.
    Cost(Costs),
    /// Something was entered that cannot be done.
    Refused {
        /// Why, and what to do.
        message: String,
    },
    /// The chat is over.
    ChatEnded {
        /// Its run.
        run: String,
        /// Whether it is kept, so that it can be gone on with.
        kept: bool,
    },
}

/// A command of a chat.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Help {
    /// How it is written.
    command: &'static str,
    /// What it does.
    does: &'static str,
}

/// A tool of a chat.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ToolLine {
    /// Its name.
    pub(super) name: String,
    /// What it does, in its first sentence.
    pub(super) does: String,
    /// Whether the policy denies it altogether.
    pub(super) denied: bool,
}

/// Says what a chat has to say, to people or to programs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Voice {
    pub(super) json: bool,
}

impl Voice {
    pub(super) fn say(self, event: &ChatEvent) -> Result<()> {
        if self.json {
            return print_json_line(event);
        }
        event.print();
        Ok(())
    }

    pub(super) fn refuse(self, message: String) -> Result<()> {
        self.say(&ChatEvent::Refused { message })
    }
}

impl ChatEvent {
    pub(super) fn help() -> Self {
        let help = |(command, does)| Help { command, does };
        Self::Help { commands: COMMANDS.into_iter().map(help).collect() }
    }

    fn print(&self) {
        match self {
            Self::ChatStarted { goes_on, mode, model, .. } => {
                let how = if *goes_on { "The chat goes on" } else { "A chat begins" };
                outln!(
                    "{NAME}{}{NAME:#} {QUIET}{how}, in the mode {mode}. /help says what can be entered.{QUIET:#}",
                    visible(model)
                );
            }
            Self::Help { commands } => {
                let width = commands.iter().map(|help| help.command.len()).max().unwrap_or_default();
                for Help { command, does } in commands {
                    outln!("  {NAME}{command:width$}{NAME:#}  {does}");
                }
                outln!(
                    "{QUIET}A message ends with Enter; a line that ends with `\\`, and an open ``` fence, go on in the next. \
                     Ctrl-C stops what is done; at the prompt it ends the chat.{QUIET:#}"
                );
            }
            Self::Mode { mode } => outln!("mode {NAME}{mode}{NAME:#}"),
            Self::Tools { tools } => {
                let width = tools.iter().map(|tool| tool.name.len()).max().unwrap_or_default();
                for ToolLine { name, does, denied } in tools {
                    let denied = if *denied { " (denied)" } else { "" };
                    outln!("  {NAME}{name:width$}{NAME:#}  {}{ASKS}{denied}{ASKS:#}", visible(does));
                }
            }
            Self::Waiting { calls } if calls.is_empty() => outln!("No call waits."),
            Self::Waiting { calls } => {
                for pending in calls {
                    let (id, name) = (short(pending.id.as_str()), visible(&pending.call.name));
                    outln!("  {NAME}{id}{NAME:#}  {name}");
                    for access in &pending.unmet {
                        outln!("    {}", access_line(access));
                    }
                }
            }
            Self::Queued { waiting } => {
                let calls = if *waiting == 1 { "a call waits" } else { &format!("{waiting} calls wait") };
                outln!(
                    "{ASKS}{calls}{ASKS:#}; the model is told this when that is answered. `/approve` answers it."
                );
            }
            Self::Undone { undoing } => undoing.print(),
            Self::Cost(costs) => costs.print(),
            Self::Refused { message } => {
                let mut lines = message.lines().map(visible);
                errln!("{ASKS}?{ASKS:#} {}", lines.next().unwrap_or_default());
                lines.for_each(|line| errln!("  {line}"));
            }
            Self::ChatEnded { run, kept: true } => {
                errln!("{QUIET}go on with `haft agent --resume {run}`{QUIET:#}");
            }
            Self::ChatEnded { .. } => {}
        }
    }
}
