use crate::outcome::access_line;
use crate::paint::{ASKS, NAME, QUIET};
use crate::timeline::{DiffPart, print_diff, visible};
use async_trait::async_trait;
use haft::{Approval, Approver, PendingCall, Preview};
use std::io::{IsTerminal as _, Write as _};
use tokio::sync::Mutex;

/// Answers approvals for the command line: by flag, by asking on the terminal, or later.
pub(crate) struct CommandLine {
    answer: Answer,
    /// Held while a question is on the screen, so that two calls never ask at once.
    screen: Mutex<()>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    Yes,
    Ask,
    Later,
}

impl CommandLine {
    /// Approves everything.
    pub(crate) fn yes() -> Self {
        Self::new(Answer::Yes)
    }

    /// Asks where there is a terminal; where there is none, the answer comes later.
    pub(crate) fn ask() -> Self {
        let person = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        Self::new(if person { Answer::Ask } else { Answer::Later })
    }

    fn new(answer: Answer) -> Self {
        Self { answer, screen: Mutex::new(()) }
    }
}

#[async_trait]
impl Approver for CommandLine {
    async fn approve(&self, call: &PendingCall) -> Approval {
        match self.answer {
            Answer::Yes => Approval::Approve,
            Answer::Later => Approval::Later,
            Answer::Ask => {
                let _screen = self.screen.lock().await;
                show(call);
                // Reading a line cannot be interrupted, so it gets a thread of its own and the question may outlive
                // the call; the answer then goes nowhere.
                tokio::task::spawn_blocking(read_answer).await.unwrap_or(Approval::Later)
            }
        }
    }
}

/// Shows what the call would do, whole and as it will run.
fn show(pending: &PendingCall) {
    anstream::eprintln!("\n{ASKS}?{ASKS:#} {NAME}{}{NAME:#} wants to:", visible(&pending.call.name));
    for access in &pending.unmet {
        anstream::eprintln!("    {}", access_line(access));
    }
    for repair in &pending.repairs {
        let place = if repair.pointer.is_empty() { "the arguments" } else { &repair.pointer };
        anstream::eprintln!("  {QUIET}changed {}: {}{QUIET:#}", visible(place), visible(&repair.note));
    }
    match &pending.preview {
        Preview::Arguments => {
            anstream::eprintln!("  {QUIET}{}{QUIET:#}", visible(&pending.call.input.to_string()));
        }
        Preview::Diff(diff) => print_diff(&mut anstream::stderr(), diff, DiffPart::Whole),
        Preview::Command(command) => {
            for line in command.lines() {
                anstream::eprintln!("  {QUIET}${QUIET:#} {}", visible(line));
            }
        }
        preview => {
            for line in preview.as_text().lines() {
                anstream::eprintln!("  {}", visible(line));
            }
        }
    }
}

fn read_answer() -> Approval {
    loop {
        anstream::eprint!("  Run it? {NAME}y{NAME:#}es / {NAME}n{NAME:#}o, or the reason why not: ");
        let _ = std::io::stderr().flush();
        let mut line = String::new();
        match std::io::stdin().read_line(&mut line) {
            Ok(0) | Err(_) => return Approval::Later,
            Ok(_) => {}
        }
        match line.trim() {
            "" => {}
            "y" | "Y" | "yes" => return Approval::Approve,
            "n" | "N" | "no" => return Approval::Deny { reason: String::new() },
            reason => return Approval::Deny { reason: reason.to_owned() },
        }
    }
}
