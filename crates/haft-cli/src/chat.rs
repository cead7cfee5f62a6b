//! Chats: runs of an agent that a person talks to, message by message.

mod conversation;
mod costs;
mod editor;
mod entered;
mod event;
mod input;
mod opening;

pub(crate) use event::ChatEvent;
pub(crate) use opening::{Opening, Stands};

use crate::exit::{self, Exit, UsageError};
use crate::interrupt::Interrupts;
use crate::person::at_terminal;
use anyhow::Result;
use conversation::Conversation;
use editor::Editor;
use entered::{Command, Entered};
use event::Voice;
use input::{Came, Input};
use std::io::{IsTerminal as _, stdout};

/// Talks until there is nothing more to say, beginning with a message where one was given.
pub(crate) async fn chat(mut opening: Opening, first: Option<String>) -> Result<Exit> {
    let voice = Voice { json: opening.task().json };
    let has_editor = at_terminal() && stdout().is_terminal() && !voice.json;
    let mut input = if has_editor { Input::Editor(Box::new(Editor::new()?)) } else { Input::Lines };
    let interrupts = Interrupts::watch();
    let mut conversation = opening.begin().await?;
    conversation.greet()?;
    if let Err(error) = conversation.go_on(&interrupts).await {
        refuse(voice, &error)?;
    }
    let mut next = first.map(Came::Text);
    let mut is_talked_to = opening.goes_on();
    loop {
        let came = match next.take() {
            Some(came) => came,
            None => input.next(&prompt(&conversation), &interrupts).await?,
        };
        let text = match came {
            Came::Text(text) => text,
            Came::GivenUp => continue,
            Came::End => break,
        };
        let entered = Entered::parse(&text);
        is_talked_to |= entered != Entered::Nothing;
        let done = match entered {
            Entered::Nothing => Ok(()),
            Entered::Wrong(message) => voice.refuse(message),
            Entered::Message(text) => {
                if !input.is_editor() && !voice.json {
                    crate::timeline::Timeline::said(&text);
                }
                conversation.say(text, &interrupts).await
            }
            Entered::Command(Command::Quit) => break,
            Entered::Command(Command::New) => {
                opening.as_in(&conversation.task);
                conversation.close(&interrupts).await?;
                conversation = opening.begin().await?;
                conversation.greet()
            }
            Entered::Command(command) => obey(command, &mut conversation, voice, &interrupts).await,
        };
        if let Err(error) = done {
            refuse(voice, &error)?;
        }
    }
    let exit = conversation.close(&interrupts).await?;
    if !is_talked_to && !has_editor {
        let message = "nothing was said; give a prompt, as in `haft agent 'Fix the failing test.'`, or write messages on \
                       standard input, one a line";
        return Err(UsageError(message.to_owned()).into());
    }
    // A person at the prompt has seen how each message ended.
    Ok(if has_editor && exit == Exit::Failed { Exit::Done } else { exit })
}

async fn obey(
    command: Command,
    conversation: &mut Conversation,
    voice: Voice,
    interrupts: &Interrupts,
) -> Result<()> {
    match command {
        Command::Help => voice.say(&ChatEvent::help()),
        Command::Mode(mode) => conversation.set_mode(mode).await,
        Command::Tools(selector) => conversation.tools(selector.as_ref()),
        Command::Approve(id) => conversation.approve(id, interrupts).await,
        Command::Deny { id, reason } => conversation.deny(&id, reason, interrupts).await,
        Command::Undo => conversation.undo(),
        Command::Cost => conversation.costs(),
        Command::New | Command::Quit => Ok(()),
    }
}

/// Says what went wrong, after which the chat goes on.
fn refuse(voice: Voice, error: &anyhow::Error) -> Result<()> {
    if voice.json {
        return voice.refuse(format!("{error:#}"));
    }
    exit::report(error);
    Ok(())
}

/// What stands ahead of what is written: what a person has to know while they write.
fn prompt(conversation: &Conversation) -> String {
    let mode = conversation.mode();
    let mode = if mode == haft::tools_core::Mode::Default { String::new() } else { format!("{mode} ") };
    match conversation.waiting() {
        0 => format!("{mode}> "),
        1 => format!("{mode}(1 call waits) > "),
        calls => format!("{mode}({calls} calls wait) > "),
    }
}
