//! Knows how runs were told of those they have started, and finds what they turn out not to have.

use super::house::House;
use crate::{ChildRecord, ToldBy};
use haft_core::{Message, ReplyStatus, RunId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Remembers of which runs those above them were told in this process, and have what they were told or will have it.
#[derive(Debug, Default)]
pub(super) struct Given(Mutex<HashMap<RunId, Gift>>);

#[derive(Debug)]
struct Gift {
    parent: RunId,
    /// How many turns the run above had taken at most when it was told while it was at work: what it is told then is in its
    /// transcript before its next turn.
    turns: Option<usize>,
}

/// Says whether a run has what it was told.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Heard {
    Yes,
    /// It cannot be seen yet.
    Perhaps,
    No,
}

impl Given {
    /// Remembers that a run was handed something that its transcript is not seen to take up.
    pub(super) fn hand(&self, record: &ChildRecord) {
        let gift = Gift { parent: record.parent.clone(), turns: None };
        self.lock().insert(record.run.clone(), gift);
    }

    /// Remembers that a run at work was told something, no later than after so many turns.
    pub(super) fn say(&self, record: &ChildRecord, turns: usize) {
        let gift = Gift { parent: record.parent.clone(), turns: Some(turns) };
        self.lock().insert(record.run.clone(), gift);
    }

    /// Forgets that something was told of a run.
    pub(super) fn forget(&self, run: &RunId) {
        self.lock().remove(run);
    }

    /// Forgets what was said to a run while it was at work: it is driven anew, and has what was kept of it.
    pub(super) fn forget_said_to(&self, parent: &RunId) {
        self.lock().retain(|_, gift| gift.turns.is_none() || gift.parent != *parent);
    }

    fn was_handed(&self, run: &RunId) -> bool {
        self.lock().get(run).is_some_and(|gift| gift.turns.is_none())
    }

    fn is_said(&self, run: &RunId, turns: usize) -> bool {
        self.lock().get(run).and_then(|gift| gift.turns).is_some_and(|said| said >= turns)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RunId, Gift>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl House {
    /// Finds those of the runs in the background that have ended and of which the run that started them has not heard: it was
    /// not told, or does not have what it was told. Its transcript is that right before a turn, where it is known.
    pub(super) async fn unheard(
        &self,
        children: &[ChildRecord],
        transcript: Option<&[Arc<Message>]>,
    ) -> Vec<ChildRecord> {
        let mut unheard = Vec::new();
        for record in children.iter().filter(|record| record.background && record.has_ended()) {
            let heard = match (&record.told_by, transcript) {
                _ if !record.told => Heard::No,
                (None, _) => continue,
                (Some(by), Some(transcript)) => self.heard(record, by, transcript),
                (Some(by), None) => self.heard_unseen(record, by),
            };
            match heard {
                Heard::Yes => self.has_heard(record).await,
                Heard::Perhaps => {}
                Heard::No => unheard.push(record.clone()),
            }
        }
        unheard
    }

    /// Takes over to tell how a run has ended, in this way; gives whether nobody else did since the record was read.
    pub(super) async fn take_news(&self, seen: &ChildRecord, by: ToldBy) -> bool {
        let mut is_news = false;
        let marked = self.update(&seen.run, |record| {
            is_news = record.has_ended() && (record.told, &record.told_by) == (seen.told, &seen.told_by);
            if is_news {
                (record.told, record.told_by) = (true, Some(by));
            }
        });
        let is_marked = marked.await.is_ok();
        if is_marked && is_news {
            self.given.forget(&seen.run);
        }
        is_marked && is_news
    }

    /// Takes what a run is to be told before its next turn; what is not given in the end is taken the next time.
    pub(super) async fn news_of(
        &self,
        children: &[ChildRecord],
        transcript: Option<&[Arc<Message>]>,
    ) -> Vec<String> {
        let after_messages = transcript.map(|transcript| transcript.len() as u64);
        let mut taken = Vec::new();
        for record in self.unheard(children, transcript).await {
            if self.take_news(&record, ToldBy::Message { after_messages }).await {
                taken.push(record);
            }
        }
        // Nothing is waited for from here on, so all of it is given.
        for record in taken.iter().filter(|_| transcript.is_none()) {
            self.given.hand(record);
        }
        taken.iter().map(crate::tools::news).collect()
    }

    /// Looks whether a run has what it was told, in its transcript.
    fn heard(&self, record: &ChildRecord, by: &ToldBy, transcript: &[Arc<Message>]) -> Heard {
        let is_there = match by {
            ToldBy::Call { call, after_messages } => {
                let mut later = behind(transcript, *after_messages).iter();
                let replies = later.find_map(|message| match &**message {
                    Message::Tool { replies }
                        if after_messages.is_some() || replies.iter().any(|reply| reply.call_id == *call) =>
                    {
                        Some(replies)
                    }
                    _ => None,
                });
                replies.is_some_and(|replies| {
                    // A call that another call made has no reply of its own.
                    let has_own = replies.iter().any(|reply| reply.call_id == *call);
                    replies
                        .iter()
                        .filter(|reply| !has_own || reply.call_id == *call)
                        .all(|reply| reply.status == ReplyStatus::Ok)
                })
            }
            ToldBy::Message { after_messages } => {
                let news = crate::tools::news(record);
                behind(transcript, *after_messages).iter().any(|message| says(message, &news))
            }
        };
        match by {
            _ if is_there => Heard::Yes,
            ToldBy::Message { after_messages: None } if self.given.was_handed(&record.run) => Heard::Perhaps,
            ToldBy::Message { .. } if self.given.is_said(&record.run, turns(transcript)) => Heard::Perhaps,
            _ => Heard::No,
        }
    }

    /// As [`House::heard`], of a run whose transcript is not known: when it asks for more, it has what it was handed before.
    fn heard_unseen(&self, record: &ChildRecord, by: &ToldBy) -> Heard {
        match by {
            // A call that is made again tells it again.
            ToldBy::Call { .. } | ToldBy::Message { after_messages: Some(_) } => Heard::Perhaps,
            ToldBy::Message { after_messages: None } if self.given.was_handed(&record.run) => Heard::Yes,
            ToldBy::Message { after_messages: None } => Heard::No,
        }
    }

    /// Notes that a run has what it was told.
    async fn has_heard(&self, seen: &ChildRecord) {
        // If that cannot be kept it is looked at again.
        let _ = self
            .update(&seen.run, |record| {
                if record.told && record.told_by == seen.told_by {
                    record.told_by = None;
                }
            })
            .await;
        self.given.forget(&seen.run);
    }
}

/// How many turns the model has taken.
pub(super) fn turns(transcript: &[Arc<Message>]) -> usize {
    transcript.iter().filter(|message| matches!(***message, Message::Assistant { .. })).count()
}

/// The messages behind the first so many; all, where that is not known.
fn behind(transcript: &[Arc<Message>], after_messages: Option<u64>) -> &[Arc<Message>] {
    let first = usize::try_from(after_messages.unwrap_or_default()).unwrap_or(usize::MAX);
    transcript.get(first..).unwrap_or_default()
}

fn says(message: &Message, text: &str) -> bool {
    match message {
        Message::User { content } => {
            content.iter().any(|part| part.as_text().is_some_and(|said| said.contains(text)))
        }
        _ => false,
    }
}
