use crate::{DivergenceError, DivergenceKind, Session};
use haft_core::{CallId, Message, ToolCall, ToolReply};
use std::collections::HashSet;
use std::sync::Arc;

/// Checks a transcript against the turns that were played, and against what the turn to come was written in answer to.
pub(super) fn check(
    session: &Session,
    played: &[Message],
    transcript: &[Arc<Message>],
) -> Result<(), DivergenceError> {
    let mut reader = Reader { session, played, turns: 0, unanswered: Vec::new(), replies: &[] };
    for message in transcript {
        reader.read(message)?;
    }
    reader.end()
}

struct Reader<'a> {
    session: &'a Session,
    played: &'a [Message],
    /// How many assistant messages were read.
    turns: usize,
    /// The calls that the next message must answer.
    unanswered: Vec<&'a ToolCall>,
    /// The replies to the last assistant message.
    replies: &'a [ToolReply],
}

impl<'a> Reader<'a> {
    fn read(&mut self, message: &'a Message) -> Result<(), DivergenceError> {
        match message {
            Message::Tool { replies } => {
                let calls = std::mem::take(&mut self.unanswered);
                match_replies(&calls, self.replies, replies)
                    .map_err(|kind| self.diverged(self.turns, kind))?;
                if !calls.is_empty() {
                    self.replies = replies;
                }
                Ok(())
            }
            Message::Assistant { .. } => {
                self.nothing_unanswered()?;
                let number = self.turns + 1;
                let Some(expected) = self.played.get(self.turns) else {
                    return Err(self.diverged(number, DivergenceKind::unplayed(message)));
                };
                if expected != message {
                    return Err(self.diverged(number, DivergenceKind::changed(expected, message)));
                }
                self.replies_before(number)?;
                self.turns = number;
                self.replies = &[];
                self.unanswered = message.tool_calls().collect();
                Ok(())
            }
            _ => self.nothing_unanswered(),
        }
    }

    fn end(&self) -> Result<(), DivergenceError> {
        self.nothing_unanswered()?;
        if self.turns < self.played.len() {
            return Err(self.diverged(self.turns + 1, DivergenceKind::MissingTurn));
        }
        self.replies_before(self.turns + 1)
    }

    fn nothing_unanswered(&self) -> Result<(), DivergenceError> {
        match self.unanswered.first() {
            Some(call) => Err(self.diverged(self.turns, unanswered(call))),
            None => Ok(()),
        }
    }

    /// Compares how the replies ended, and what they hold, with what a turn, counted from 1, was written in answer to.
    fn replies_before(&self, turn: usize) -> Result<(), DivergenceError> {
        let Some(recorded) = self.session.turns().get(turn - 1) else {
            return Ok(());
        };
        for reply in self.replies {
            match recorded.after.get(&reply.call_id) {
                Some(expected) if *expected != reply.status => {
                    return Err(self.diverged(turn, DivergenceKind::status(reply, *expected)));
                }
                _ => {}
            }
            match recorded.contains.get(&reply.call_id) {
                Some(expected) if !reply.output.to_text().contains(expected.as_str()) => {
                    return Err(self.diverged(turn, DivergenceKind::text(reply, expected)));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn diverged(&self, turn: usize, kind: DivergenceKind) -> DivergenceError {
        DivergenceError::new(self.session, turn, kind)
    }
}

/// Checks that the replies answer these calls, each once and in order; `earlier` replies were there already.
fn match_replies(
    calls: &[&ToolCall],
    earlier: &[ToolReply],
    replies: &[ToolReply],
) -> Result<(), DivergenceKind> {
    if calls.iter().map(|call| &call.id).eq(replies.iter().map(|reply| &reply.call_id)) {
        return Ok(());
    }
    let called: HashSet<&CallId> = calls.iter().map(|call| &call.id).collect();
    let mut answered: HashSet<&CallId> = earlier.iter().map(|reply| &reply.call_id).collect();
    for reply in replies {
        let (call, name) = (reply.call_id.clone(), reply.name.clone());
        if !answered.insert(&reply.call_id) {
            return Err(DivergenceKind::AnsweredTwice { call, name });
        }
        if !called.contains(&reply.call_id) {
            return Err(DivergenceKind::Orphan { call, name });
        }
    }
    match calls.iter().find(|call| !answered.contains(&call.id)) {
        Some(call) => Err(unanswered(call)),
        None => Err(DivergenceKind::OutOfOrder {
            expected: calls.iter().map(|call| call.id.clone()).collect(),
            found: replies.iter().map(|reply| reply.call_id.clone()).collect(),
        }),
    }
}

fn unanswered(call: &ToolCall) -> DivergenceKind {
    DivergenceKind::Unanswered { call: call.id.clone(), name: call.name.clone() }
}
