//! Gives runs what was said to them while nobody drove them, and all of it once, also when a process ends meanwhile.

use super::house::House;
use crate::{ChildRecord, Handed};
use haft_agent::{LogEntry, RunState};
use haft_core::{Message, RunId};
use haft_tools_core::StoreError;

impl Handed {
    /// Says where a run stands that is about to be given something.
    fn to(state: Option<&RunState>) -> Self {
        Self {
            texts: 0,
            begins: state.is_none(),
            entries: state.map_or(0, |state| state.head().entries()),
            queue: state
                .map(|state| state.queue().iter().map(|queued| queued.text.clone()).collect())
                .unwrap_or_default(),
        }
    }

    /// How many of the texts that were given to a run it has, as it stands now.
    fn had(&self, state: &RunState, inbox: &[String]) -> usize {
        let texts = &inbox[..self.texts.min(inbox.len())];
        // A run that was begun with them was kept with them, or not at all.
        if self.begins {
            return texts.len();
        }
        let at_once = texts.join("\n\n");
        // What it had in its queue before comes first.
        let mut due = self.queue.iter().chain(texts).peekable();
        let mut found = 0;
        for said in said_since(state, self.entries) {
            if found == self.queue.len() && said == at_once {
                return texts.len();
            }
            if due.next_if(|due| **due == said).is_some() {
                found += 1;
            }
        }
        found.saturating_sub(self.queue.len())
    }
}

impl House {
    /// Looks what a run has of what was said to it: gives how many texts it has from a process that ended, and where it stands
    /// when it is given the others, if its state is of a form that tells.
    pub(super) async fn heard_of_inbox(&self, run: &RunId) -> Result<(usize, Option<Handed>), StoreError> {
        let record = self.known(run).await?;
        if record.inbox.is_empty() {
            return Ok((0, None));
        }
        let Some((head, log)) = self.store.state(run).await? else {
            return Ok((0, Some(Handed::to(None))));
        };
        let Ok(state) = RunState::restore(head, log) else { return Ok((0, None)) };
        let known = record.handed.as_ref().map_or(0, |handed| handed.had(&state, &record.inbox));
        Ok((known, Some(Handed::to(Some(&state)))))
    }
}

impl ChildRecord {
    /// Notes that a run is given what is in its inbox behind the texts that it has.
    pub(super) fn hand_inbox(&mut self, had: usize, handed: Option<Handed>) {
        self.inbox.drain(..had.min(self.inbox.len()));
        let texts = self.inbox.len();
        self.handed = handed.filter(|_| texts > 0).map(|handed| Handed { texts, ..handed });
    }
}

/// What was said to a run since its log had so many entries: what is in its transcript, and behind that what waits.
fn said_since(state: &RunState, entries: usize) -> impl Iterator<Item = String> {
    let told = state.log_from(entries).filter_map(|entry| match entry {
        LogEntry::Message(message) => match &*message {
            Message::User { content } => content.first()?.as_text().map(str::to_owned),
            _ => None,
        },
        _ => None,
    });
    told.chain(state.queue().iter().map(|queued| queued.text.clone()))
}
