use super::editor::Editor;
use super::entered::{is_whole, joined};
use crate::exit::UsageError;
use crate::interrupt::Interrupts;
use anyhow::{Context as _, Result};
use std::io::{BufRead as _, Read as _, stdin};
use tokio_util::future::FutureExt as _;

/// The most bytes of one message.
const MOST_MESSAGE: u64 = 1 << 20;

/// Is where a person, or a program, enters what is said.
pub(super) enum Input {
    /// A person at a terminal.
    Editor(Box<Editor>),
    /// Lines of standard input.
    Lines,
}

/// Is what came of waiting for something to be entered.
#[derive(Debug, PartialEq)]
pub(super) enum Came {
    Text(String),
    /// A line was given up before it was entered.
    GivenUp,
    /// Nothing more comes.
    End,
}

impl Input {
    /// Waits for the next message or command.
    pub(super) async fn next(&mut self, prompt: &str, interrupts: &Interrupts) -> Result<Came> {
        match self {
            Self::Editor(editor) => editor.next(prompt).await,
            // Reading cannot be interrupted; where it outlives the chat, it ends with the process.
            Self::Lines => {
                let read = tokio::task::spawn_blocking(read_message);
                match read.with_cancellation_token(interrupts.idle()).await {
                    Some(read) => read?,
                    None => Ok(Came::End),
                }
            }
        }
    }

    pub(super) fn is_editor(&self) -> bool {
        matches!(self, Self::Editor(_))
    }
}

/// Reads lines until they are a whole message.
fn read_message() -> Result<Came> {
    let mut text = String::new();
    let mut stdin = stdin().lock().take(MOST_MESSAGE + 1);
    loop {
        let unreadable =
            || UsageError("cannot read what is said from standard input; write UTF-8".to_owned());
        let read = stdin.read_line(&mut text).with_context(unreadable)?;
        if text.len() as u64 > MOST_MESSAGE {
            let message = format!(
                "a message has more than {MOST_MESSAGE} bytes; put what it is about into a file, and say where"
            );
            return Err(UsageError(message).into());
        }
        if read == 0 && text.is_empty() {
            return Ok(Came::End);
        }
        let said = text.strip_suffix('\n').unwrap_or(&text);
        if read == 0 || is_whole(said) {
            return Ok(Came::Text(joined(said)));
        }
    }
}
