use crate::Session;
use haft_core::{AssistantPart, CallId, Message, ReplyStatus, ToolReply};
use std::error::Error;
use std::fmt;

/// How many lines of a reply or a turn are shown.
const SHOWN_LINES: usize = 8;

/// How many characters of a line are shown.
const SHOWN_CHARACTERS: usize = 120;

/// Reports that a run went another way than the session it plays.
///
/// Its `Display` is made for a person: several lines that say where, what was expected, what came and what to do next,
/// without a line break at the end.
///
/// ```text
/// the run diverged from fix.jsonl at turn 3 (line 3)
///   expected: call `c2` (edit_file) ends as error: not found
///   found:    ok
///   its reply:
///     | edited src/lib.rs
///   next: make the tool end as it did when the session was recorded, or record the session again
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct DivergenceError {
    session: Box<str>,
    turn: usize,
    line: usize,
    kind: DivergenceKind,
}

/// Says in what a run differs from the session it plays.
///
/// ```
/// use haft_model::{DivergenceKind, ScriptedModel, Session};
///
/// let model = ScriptedModel::new(Session::parse(r#"{"text": "Hello."}"#, "hello.jsonl")?);
/// let left = model.finished().unwrap_err();
/// assert_eq!(left.kind(), &DivergenceKind::TurnsLeft { count: 1 });
/// # Ok::<(), haft_model::SessionError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum DivergenceKind {
    /// Another turn was asked for after the last one.
    SessionEnded,
    /// The run ended before the last turn was played.
    TurnsLeft {
        /// How many turns were not played.
        count: usize,
    },
    /// The transcript lacks this turn, though it was played.
    MissingTurn,
    /// The transcript has an assistant message that was not played.
    UnplayedTurn {
        /// The message, shortened, one part a line.
        found: Vec<String>,
    },
    /// The transcript has this turn, but not as it was played.
    ChangedTurn {
        /// The message that was played, shortened, one part a line.
        expected: Vec<String>,
        /// The message that came, likewise.
        found: Vec<String>,
    },
    /// A call of this turn has no reply directly after it.
    Unanswered {
        /// The call.
        call: CallId,
        /// Its tool.
        name: String,
    },
    /// A call of this turn has more than one reply.
    AnsweredTwice {
        /// The call.
        call: CallId,
        /// Its tool.
        name: String,
    },
    /// A reply answers no call of this turn.
    Orphan {
        /// The call it claims to answer.
        call: CallId,
        /// Its tool.
        name: String,
    },
    /// The replies to this turn are not in the order of its calls.
    OutOfOrder {
        /// The order of the calls.
        expected: Vec<CallId>,
        /// The order of the replies.
        found: Vec<CallId>,
    },
    /// A call ended otherwise than it had when the model wrote this turn.
    Status {
        /// The call.
        call: CallId,
        /// Its tool.
        name: String,
        /// How it ended then.
        expected: ReplyStatus,
        /// How it ended now.
        found: ReplyStatus,
        /// The first lines of what it replied now.
        reply: Vec<String>,
    },
    /// A reply does not hold the text that the session says it must.
    Text {
        /// The call.
        call: CallId,
        /// Its tool.
        name: String,
        /// The text.
        expected: String,
        /// The last lines of what it replied now.
        reply: Vec<String>,
    },
}

impl DivergenceError {
    /// Reports something about a turn, counted from 1.
    pub(crate) fn new(session: &Session, turn: usize, kind: DivergenceKind) -> Self {
        let line = session.line_of(turn).unwrap_or_default();
        Self { session: session.name().into(), turn, line, kind }
    }

    /// The turn of the session it is about, counted from 1; 0 for what comes before the first turn.
    pub fn turn(&self) -> usize {
        self.turn
    }

    /// The line that turn is on, counted from 1; 0 where the session has no such turn.
    pub fn line(&self) -> usize {
        self.line
    }

    /// In what the run differs.
    pub fn kind(&self) -> &DivergenceKind {
        &self.kind
    }
}

impl DivergenceKind {
    pub(crate) fn unplayed(found: &Message) -> Self {
        Self::UnplayedTurn { found: outline(found) }
    }

    pub(crate) fn changed(expected: &Message, found: &Message) -> Self {
        Self::ChangedTurn { expected: outline(expected), found: outline(found) }
    }

    pub(crate) fn status(reply: &ToolReply, expected: ReplyStatus) -> Self {
        Self::Status {
            call: reply.call_id.clone(),
            name: reply.name.clone(),
            expected,
            found: reply.status,
            reply: first_lines(&reply.output.to_text()),
        }
    }

    pub(crate) fn text(reply: &ToolReply, expected: &str) -> Self {
        Self::Text {
            call: reply.call_id.clone(),
            name: reply.name.clone(),
            expected: expected.to_owned(),
            reply: last_lines(&reply.output.to_text()),
        }
    }
}

impl Error for DivergenceError {}

impl fmt::Display for DivergenceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { session, turn, line, kind } = self;
        match kind {
            DivergenceKind::SessionEnded => write!(
                f,
                "{session} ends here, after turn {turn} (line {line}), but the run asked for another turn"
            ),
            _ if *turn == 0 => write!(f, "the run diverged from {session} before its first turn"),
            _ if *line == 0 => {
                write!(f, "the run diverged from {session} at turn {turn}, which it does not have")
            }
            _ => write!(f, "the run diverged from {session} at turn {turn} (line {line})"),
        }?;
        match kind {
            DivergenceKind::SessionEnded => {
                next(f, "end the run after that turn, or add a turn to the session")
            }
            DivergenceKind::TurnsLeft { count } => {
                expected_found(
                    f,
                    &format!("a request for this turn; turns not played: {count}"),
                    "the run ended",
                )?;
                next(f, "let the run go on, or cut the session after the turn before")
            }
            DivergenceKind::MissingTurn => {
                expected_found(
                    f,
                    "the transcript holds this turn, which was played",
                    "it ends before this turn",
                )?;
                next(f, "send the whole transcript with each request, every earlier turn included")
            }
            DivergenceKind::UnplayedTurn { found } => {
                f.write_str("\n  expected: the transcript ends with the turn before this one")?;
                block(f, "found an assistant message that was not played", found)?;
                next(f, "start the run without earlier turns of a model")
            }
            DivergenceKind::ChangedTurn { expected, found } => {
                block(f, "expected the turn as it was played", expected)?;
                block(f, "found", found)?;
                next(f, "keep what the model said in the transcript as it is")
            }
            DivergenceKind::Unanswered { call, name } => {
                expected_found(f, &one_reply(call, name), "no reply to it there")?;
                next(f, "answer every call in the message after it, also one that was not run")
            }
            DivergenceKind::AnsweredTwice { call, name } => {
                expected_found(f, &one_reply(call, name), "more than one reply to it")?;
                next(f, "answer every call once")
            }
            DivergenceKind::Orphan { call, name } => {
                let found = format!("a reply to {}, which is not one of them", mention(call, name));
                expected_found(f, "replies only to the calls of the turn right before them", &found)?;
                next(f, "send replies only in the message after the calls they answer")
            }
            DivergenceKind::OutOfOrder { expected, found } => {
                expected_found(f, &format!("replies in the order {}", list(expected)), &list(found))?;
                next(f, "put the replies in the order of their calls")
            }
            DivergenceKind::Status { call, name, expected, found, reply } => {
                let expected = format!("{} ends as {expected}", mention(call, name));
                expected_found(f, &expected, &found.to_string())?;
                block(f, "its reply", reply)?;
                next(
                    f,
                    "make the tool end as it did when the session was recorded, or record the session again",
                )
            }
            DivergenceKind::Text { call, name, expected, reply } => {
                let mention = mention(call, name);
                write!(f, "\n  expected: the reply to {mention} holds {:?}", shortened(expected))?;
                block(f, "it ends with", reply)?;
                next(
                    f,
                    "look for what changed in the project or the tool, or change what the session expects",
                )
            }
        }
    }
}

fn expected_found(f: &mut fmt::Formatter<'_>, expected: &str, found: &str) -> fmt::Result {
    write!(f, "\n  expected: {expected}\n  found:    {found}")
}

fn next(f: &mut fmt::Formatter<'_>, step: &str) -> fmt::Result {
    write!(f, "\n  next: {step}")
}

fn block(f: &mut fmt::Formatter<'_>, title: &str, lines: &[String]) -> fmt::Result {
    if lines.is_empty() {
        return write!(f, "\n  {title}: nothing");
    }
    write!(f, "\n  {title}:")?;
    lines.iter().try_for_each(|line| write!(f, "\n    | {line}"))
}

fn one_reply(call: &CallId, name: &str) -> String {
    format!("one reply to {}, directly after it", mention(call, name))
}

fn mention(call: &CallId, name: &str) -> String {
    format!("call `{call}` ({})", shortened(name))
}

fn list(ids: &[CallId]) -> String {
    let ids: Vec<_> = ids.iter().map(|id| format!("`{id}`")).collect();
    ids.join(", ")
}

/// Shows the parts of an assistant message, one a line.
fn outline(message: &Message) -> Vec<String> {
    let Message::Assistant { parts } = message else {
        return Vec::new();
    };
    let lines = parts.iter().map(|part| match part {
        AssistantPart::Text { text } => shortened(&format!("text {text:?}")),
        AssistantPart::Reasoning { text, provider_data } if provider_data.is_null() => {
            shortened(&format!("reasoning {text:?}"))
        }
        AssistantPart::Reasoning { text, provider_data } => {
            shortened(&format!("reasoning {text:?} with {provider_data}"))
        }
        AssistantPart::ToolCall { call } => {
            shortened(&format!("call `{}` {} {}", call.id, call.name, call.input))
        }
        _ => "a part of another kind".to_owned(),
    });
    bounded(lines)
}

fn first_lines(text: &str) -> Vec<String> {
    bounded(text.lines().map(shortened))
}

/// What matters in a long reply is mostly said at its end.
fn last_lines(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let start = lines.len().saturating_sub(SHOWN_LINES);
    lines[start..].iter().map(|line| shortened(line)).collect()
}

/// Keeps the first lines and says how many are left out.
fn bounded(mut lines: impl Iterator<Item = String>) -> Vec<String> {
    let mut kept: Vec<_> = lines.by_ref().take(SHOWN_LINES).collect();
    match lines.count() {
        0 => {}
        more => kept.push(format!("… ({more} more)")),
    }
    kept
}

/// Cuts a line to what can be shown, and takes from it what would move a terminal's cursor or turn its text around.
fn shortened(line: &str) -> String {
    let mut characters = line.chars().map(|character| match character {
        '\t' => ' ',
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => char::REPLACEMENT_CHARACTER,
        control if control.is_control() => char::REPLACEMENT_CHARACTER,
        visible => visible,
    });
    let mut kept: String = characters.by_ref().take(SHOWN_CHARACTERS).collect();
    if characters.next().is_some() {
        kept.push('…');
    }
    kept
}
