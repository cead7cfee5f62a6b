use haft::tools_core::{Mode, ModeError, Selector, nearest};

/// Is what a person enters: something for the model, or a command.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Entered {
    /// Nothing at all.
    Nothing,
    /// Something for the model.
    Message(String),
    Command(Command),
    /// A command that is not one, or whose argument does not fit: why, and what to enter.
    Wrong(String),
}

/// Is a command of a chat.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Command {
    Help,
    Mode(Option<Mode>),
    Tools(Option<Selector>),
    Approve(Option<String>),
    Deny { id: String, reason: String },
    Undo,
    Cost,
    New,
    Quit,
}

/// Says how a command is written and what it does, for people.
pub(super) const COMMANDS: [(&str, &str); 9] = [
    ("/help", "say what can be entered"),
    (
        "/mode [MODE]",
        "say how far calls go without asking, or change it: plan, deny_unknown, default, accept_edits, auto",
    ),
    ("/tools [SELECTOR]", "list the tools, or those that a selector chooses, as in `@github/*`"),
    ("/approve [ID]", "answer the calls that wait, or let one of them run"),
    ("/deny ID [WHY]", "do not let a call run that waits"),
    ("/undo", "take back what the last message has changed in files"),
    ("/cost", "say what the chat took, and what is left of its budget"),
    ("/new, /clear", "begin a new chat; this one is kept"),
    ("/quit, /exit", "end the chat, which is kept; so does Ctrl-D"),
];

/// The names of all commands.
const NAMES: [&str; 11] =
    ["help", "mode", "tools", "approve", "deny", "undo", "cost", "new", "clear", "quit", "exit"];

impl Entered {
    /// Reads what was entered. A second slash says that it is no command.
    pub(super) fn parse(text: &str) -> Self {
        let text = text.trim();
        if text.is_empty() {
            return Self::Nothing;
        }
        let Some(rest) = text.strip_prefix('/') else { return Self::Message(text.to_owned()) };
        if rest.starts_with('/') {
            return Self::Message(rest.to_owned());
        }
        let (name, argument) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        // `/usr/bin is full` is something to say.
        if name.contains(['/', '.']) {
            return Self::Message(text.to_owned());
        }
        command(name, argument.trim()).map_or_else(Self::Wrong, Self::Command)
    }
}

fn command(name: &str, argument: &str) -> Result<Command, String> {
    let written = (!argument.is_empty()).then_some(argument);
    Ok(match name {
        "mode" => {
            Command::Mode(written.map(str::parse).transpose().map_err(|error: ModeError| error.to_string())?)
        }
        "tools" => Command::Tools(
            written
                .map(str::parse)
                .transpose()
                .map_err(|error: haft::tools_core::SelectorError| error.to_string())?,
        ),
        "approve" => Command::Approve(written.map(ToOwned::to_owned)),
        "deny" => {
            let (id, reason) = argument.split_once(char::is_whitespace).unwrap_or((argument, ""));
            if id.is_empty() {
                return Err(
                    "say which call, as in `/deny 3f2a use the other file`; `/approve` lists those that wait"
                        .to_owned(),
                );
            }
            Command::Deny { id: id.to_owned(), reason: reason.trim().to_owned() }
        }
        "help" | "undo" | "cost" | "new" | "clear" | "quit" | "exit" if written.is_some() => {
            return Err(format!(
                "`/{name}` takes nothing behind it; to say it to the model, write `//{name}`"
            ));
        }
        "help" => Command::Help,
        "undo" => Command::Undo,
        "cost" => Command::Cost,
        "new" | "clear" => Command::New,
        "quit" | "exit" => Command::Quit,
        _ => {
            let name = name.chars().take(40).collect::<String>();
            let near = nearest(&name, NAMES);
            let near = near.first().map_or_else(String::new, |near| format!("did you mean `/{near}`? "));
            return Err(format!("there is no command `/{name}`; {near}`/help` lists those that there are"));
        }
    })
}

/// Tells whether a text is entered to its end: not where a line ends with a backslash, or a fence of code is open.
pub(super) fn is_whole(text: &str) -> bool {
    let fences = text.lines().filter(|line| line.trim_start().starts_with("```")).count();
    fences % 2 == 0 && !goes_on(text)
}

/// Joins the lines of which one goes on in the next.
pub(super) fn joined(text: &str) -> String {
    text.replace("\\\n", "\n")
}

/// Tells whether the last line ends with a backslash that stands for itself alone.
fn goes_on(text: &str) -> bool {
    let backslashes = text.len() - text.trim_end_matches('\\').len();
    backslashes % 2 == 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(text: &str, expected: &Entered) {
        assert_eq!(&Entered::parse(text), expected, "{text}");
    }

    #[expect(clippy::needless_pass_by_value, reason = "snapshots read better without a reference")]
    fn wrong(text: &str, expected: Expect) {
        match Entered::parse(text) {
            Entered::Wrong(why) => expected.assert_eq(&why),
            other => expected.assert_eq(&format!("{other:?}")),
        }
    }

    #[test]
    fn reads_messages_and_commands() {
        check(" \n", &Entered::Nothing);
        check(" Mend it. ", &Entered::Message("Mend it.".to_owned()));
        check("/usr/bin is full", &Entered::Message("/usr/bin is full".to_owned()));
        check("//undo is a command", &Entered::Message("/undo is a command".to_owned()));
        check("/mode", &Entered::Command(Command::Mode(None)));
        check("/mode  plan ", &Entered::Command(Command::Mode(Some(Mode::Plan))));
        check("/approve 3f2a", &Entered::Command(Command::Approve(Some("3f2a".to_owned()))));
        let deny = Command::Deny { id: "3f".to_owned(), reason: "use b.txt".to_owned() };
        check("/deny 3f use b.txt", &Entered::Command(deny));
        check("/clear", &Entered::Command(Command::New));
        check("/exit", &Entered::Command(Command::Quit));
    }

    #[test]
    fn says_what_is_wrong_and_what_to_enter() {
        wrong(
            "/aprove",
            expect![
                "there is no command `/aprove`; did you mean `/approve`? `/help` lists those that there are"
            ],
        );
        wrong(
            "/Cost",
            expect!["there is no command `/Cost`; did you mean `/cost`? `/help` lists those that there are"],
        );
        wrong("/xyzzy", expect!["there is no command `/xyzzy`; `/help` lists those that there are"]);
        wrong("/", expect!["there is no command `/`; `/help` lists those that there are"]);
        wrong(
            "/mode fast",
            expect![
                "`fast` is not a mode; write `plan`, `deny_unknown`, `default`, `accept_edits` or `auto`"
            ],
        );
        wrong(
            "/deny",
            expect![
                "say which call, as in `/deny 3f2a use the other file`; `/approve` lists those that wait"
            ],
        );
        wrong(
            "/undo a.txt",
            expect!["`/undo` takes nothing behind it; to say it to the model, write `//undo`"],
        );
    }

    #[test]
    fn knows_where_a_text_ends() {
        for (text, whole) in [
            ("one", true),
            ("", true),
            ("one \\", false),
            ("one \\\\", true),
            ("one \\\ntwo", true),
            ("```\ncode", false),
            ("```\ncode\n```", true),
            ("a ``` b", true),
        ] {
            assert_eq!(is_whole(text), whole, "{text:?}");
        }
        assert_eq!(joined("one \\\ntwo\\"), "one \ntwo\\");
    }
}
