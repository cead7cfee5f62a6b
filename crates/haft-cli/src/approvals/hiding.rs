use super::kept_call::KeptCall;
use crate::task::Task;
use crate::{known_secrets, opened_workdir};
use haft::Workdir;
use haft::tools_core::{Approval, PendingCall, Redactor};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeSet;

/// Leaves secrets out of what is printed of calls that wait.
///
/// What is kept of such a call is what will run, and so it holds them. Whoever approves it approves what is kept, and whoever
/// edits it is given what is kept.
pub(super) struct Hiding(Redactor);

impl Hiding {
    /// Knows the secrets that are configured for the directories that the calls work in, and for the current one.
    pub(super) fn of<'a>(entries: impl IntoIterator<Item = &'a KeptCall>) -> Self {
        let redactor = Redactor::new();
        let directories: BTreeSet<_> =
            entries.into_iter().filter_map(|entry| Some(Task::kept(&entry.host).ok()?.workdir)).collect();
        // One that is gone has nothing configured for it any more; what the user has is known by the current one.
        let opened = directories.iter().filter_map(|directory| Workdir::open(directory).ok());
        for workdir in opened_workdir::workdir(None).into_iter().chain(opened) {
            known_secrets::register_of(&workdir, &redactor);
        }
        Self(redactor)
    }

    /// Gives a call as it may be shown, or why it cannot be.
    pub(super) fn call(&self, entry: &KeptCall) -> Result<PendingCall, String> {
        let pending = entry.call.as_ref().map_err(|fault| self.0.redact(fault).into_owned())?;
        self.hidden(pending).ok_or_else(|| "a secret is in what names it or what it touches".to_owned())
    }

    /// Gives the answer that was kept to it, as it may be shown.
    pub(super) fn answer(&self, entry: &KeptCall) -> Option<Approval> {
        self.hidden(entry.answer.as_ref().ok()?.as_ref()?)
    }

    fn hidden<T: Serialize + DeserializeOwned>(&self, kept: &T) -> Option<T> {
        let mut value = serde_json::to_value(kept).ok()?;
        self.0.redact_value(&mut value);
        serde_json::from_value(value).ok()
    }
}
