//! What the model is told of the transcript.

use super::{RunState, StepError};
use crate::compaction::{Instead, estimate, mismatch, told};
use crate::{Compacted, Effect, LogEntry, Told, TurnRecord};
use haft_core::{EventKind, Message};
use haft_tools_core::CallScope;
use std::sync::Arc;

/// Holds what compactions have changed in what the model is told; nothing as long as there was none.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Telling {
    /// What the log has beside messages, each with its place in the log.
    beside: Arc<Vec<(usize, LogEntry)>>,
    pub(super) instead: Instead,
    /// The transcript as it is told, if it is told otherwise than it is.
    view: Option<Vec<Arc<Message>>>,
}

impl Telling {
    pub(super) fn view(&self) -> Option<&[Arc<Message>]> {
        self.view.as_deref()
    }

    pub(super) fn push(&mut self, message: &Arc<Message>) {
        if let Some(view) = &mut self.view {
            view.push(Arc::clone(message));
        }
    }

    pub(super) fn log_from<'a>(
        &'a self,
        messages: &'a [Arc<Message>],
        entry: usize,
    ) -> impl Iterator<Item = LogEntry> + 'a {
        let before = self.beside.partition_point(|(place, _)| *place < entry);
        let mut beside = self.beside[before..].iter();
        let mut messages = messages[messages.len().min(entry - before)..].iter();
        let mut next = beside.next();
        (entry..).map_while(move |place| match next {
            Some((at, entry)) if *at == place => {
                next = beside.next();
                Some(entry.clone())
            }
            _ => messages.next().map(|message| LogEntry::Message(Arc::clone(message))),
        })
    }

    /// Adds what is no message to the log.
    pub(super) fn beside(&mut self, messages: &[Arc<Message>], entry: LogEntry) {
        let place = messages.len() + self.beside.len();
        Arc::make_mut(&mut self.beside).push((place, entry));
    }

    pub(super) fn turn_records(&self) -> impl Iterator<Item = &TurnRecord> {
        self.beside.iter().filter_map(|(_, entry)| match entry {
            LogEntry::Turn(record) => Some(&**record),
            _ => None,
        })
    }

    /// Adds a compaction to what is told, if that can be told then.
    pub(super) fn compact(
        &mut self,
        messages: &[Arc<Message>],
        compacted: Arc<Compacted>,
    ) -> Result<(), StepError> {
        let untellable = |detail| Err(StepError::Untellable { detail });
        let mut instead = self.instead.clone();
        for Told { message, instead: with } in &compacted.told {
            if *message >= messages.len() {
                return untellable(format!("there is no message {message}"));
            }
            instead.insert(*message, with.clone());
        }
        let view: Vec<Arc<Message>> =
            told(messages, &instead).map(|(_, message)| Arc::clone(message)).collect();
        if view.is_empty() {
            return untellable("nothing would be left of it".to_owned());
        }
        if let Some(detail) = mismatch(&view) {
            return untellable(detail);
        }
        self.instead = instead;
        self.view = Some(view);
        self.beside(messages, LogEntry::Compacted(compacted));
        Ok(())
    }
}

impl RunState {
    /// What a compaction is asked about.
    pub(crate) fn context<'a>(
        &'a self,
        scope: &'a CallScope,
        tokens: u64,
        target: u64,
    ) -> crate::CompactionContext<'a> {
        crate::CompactionContext::new(scope, (tokens, target), &self.messages, &self.telling.instead)
    }

    pub(super) fn compacted(&mut self, told: Vec<Told>) -> Result<Vec<Effect>, StepError> {
        let size = |instead: &Instead, place: &usize| match (instead.get(place), self.messages.get(*place)) {
            (Some(instead), _) => instead.as_deref().map_or(0, estimate),
            (None, message) => message.map_or(0, |message| estimate(message)),
        };
        let mut places: Vec<usize> = told.iter().map(|told| told.message).collect();
        places.sort_unstable();
        places.dedup();
        let before: u64 = places.iter().map(|place| size(&self.telling.instead, place)).sum();
        let messages = places.len() as u64;
        self.telling.compact(&self.messages, Arc::new(Compacted { told }))?;
        self.head.entries += 1;
        let after: u64 =
            places.iter().filter_map(|place| self.telling.instead.get(place)?.as_deref().map(estimate)).sum();
        self.head.context = self.head.context.saturating_sub(before).saturating_add(after);
        let tokens = self.head.context;
        Ok(vec![Effect::Persist, Effect::Emit(EventKind::Compacted { messages, tokens })])
    }
}
