use haft_core::{Message, ReplyStatus, ToolCall, ToolReply};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::Arc;

/// How often a call gives the same before the model is told; at the next time the run ends.
pub(crate) const TOLD_AT: u32 = 3;

/// How many different calls are remembered: a circle of more is not noticed.
const REMEMBERED: usize = 32;

/// Counts calls that are made again with the same arguments and the same result.
///
/// Where a call gives something that is not remembered, the run gets on, and all counts begin anew: a build that fails the
/// same way after each of several edits is no loop.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Repeats(Vec<Seen>);

/// Names a call by where its reply is in the transcript, where both can be compared.
///
/// Written as three numbers, since it is written with every turn.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(from = "(usize, usize, u32)", into = "(usize, usize, u32)")]
struct Seen {
    message: usize,
    place: usize,
    count: u32,
}

impl From<(usize, usize, u32)> for Seen {
    fn from((message, place, count): (usize, usize, u32)) -> Self {
        Self { message, place, count }
    }
}

impl From<Seen> for (usize, usize, u32) {
    fn from(Seen { message, place, count }: Seen) -> Self {
        (message, place, count)
    }
}

/// Says that calls repeat.
#[derive(Debug, PartialEq)]
pub(crate) struct Repeated {
    pub(crate) name: String,
    pub(crate) times: u32,
}

impl Repeats {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes note of the replies that stand last in the transcript; gives the call that was repeated most often, if one was
    /// often enough to be told.
    ///
    /// Calls of the tools named in `may_repeat` are not counted.
    pub(crate) fn note(
        &mut self,
        messages: &[Arc<Message>],
        may_repeat: &BTreeSet<String>,
    ) -> Option<Repeated> {
        let message = messages.len().checked_sub(1)?;
        let replies = replies(messages, message);
        // Each once: calls that are made beside each other say nothing of whether the run gets on.
        let (mut again, mut news): (Vec<usize>, Vec<Seen>) = (Vec::new(), Vec::new());
        for (place, reply) in replies.iter().enumerate().filter(|(_, reply)| counts(reply, may_repeat)) {
            let call = call(messages, message, place)?;
            let is_same = |seen: &Seen| {
                let before = replies_at(messages, seen);
                before.is_some_and(|before| is_same_result(before, reply))
                    && self::call(messages, seen.message, seen.place)
                        .is_some_and(|before| before.name == call.name && before.input == call.input)
            };
            match self.0.iter().position(is_same) {
                Some(known) if again.contains(&known) => {}
                Some(known) => again.push(known),
                None if news.iter().any(is_same) => {}
                None => news.push(Seen { message, place, count: 1 }),
            }
        }
        if !news.is_empty() {
            self.0.iter_mut().for_each(|seen| seen.count = 0);
        }
        let mut most: Option<(usize, u32)> = None;
        for known in again {
            let seen = &mut self.0[known];
            seen.count += 1;
            if seen.count >= TOLD_AT && most.is_none_or(|(_, count)| seen.count > count) {
                most = Some((known, seen.count));
            }
        }
        let repeated = most.and_then(|(known, times)| {
            let seen = &self.0[known];
            let name = call(messages, seen.message, seen.place)?.name.clone();
            Some(Repeated { name, times })
        });
        self.0.extend(news);
        let over = self.0.len().saturating_sub(REMEMBERED);
        self.0.drain(..over);
        repeated
    }
}

/// Tells whether a reply says what the call gives; one that was not made says nothing.
fn counts(reply: &ToolReply, may_repeat: &BTreeSet<String>) -> bool {
    !matches!(reply.status, ReplyStatus::Cancelled | ReplyStatus::Skipped)
        && !may_repeat.contains(&reply.name)
}

fn is_same_result(one: &ToolReply, other: &ToolReply) -> bool {
    one.status == other.status && one.output.content == other.output.content
}

fn replies(messages: &[Arc<Message>], message: usize) -> &[ToolReply] {
    match messages.get(message).map(|message| &**message) {
        Some(Message::Tool { replies }) => replies,
        _ => &[],
    }
}

fn replies_at<'a>(messages: &'a [Arc<Message>], seen: &Seen) -> Option<&'a ToolReply> {
    replies(messages, seen.message).get(seen.place)
}

/// The call that a reply answers: replies stand directly after the message that made their calls, in its order.
fn call(messages: &[Arc<Message>], message: usize, place: usize) -> Option<&ToolCall> {
    messages.get(message.checked_sub(1)?)?.tool_calls().nth(place)
}
