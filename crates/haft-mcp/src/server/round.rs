use super::caller::Principal;
use haft_core::{Digest, RunId};
use haft_tools_core::PendingId;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// Is what is in `requestState`: readable by the client, writable only by us.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Round {
    /// From 1; 10 at most.
    pub(crate) number: u32,
    /// Counts once.
    pub(crate) nonce: [u8; 16],
    /// The approval that was asked for: of exactly this, under this name.
    pub(crate) approval: Option<(PendingId, Digest)>,
    /// The keys that were asked for; any other that is answered is passed over.
    pub(crate) asked: Vec<String>,
    /// What was answered in the rounds before, by key.
    pub(crate) answers: BTreeMap<String, Value>,
    /// The call that waits in an instance, if it runs already.
    pub(crate) parked: Option<String>,
}

/// What a state is bound to, besides what is in it; it is not in it, so whoever opens it has to have the same.
pub(crate) struct Binding<'a> {
    pub(crate) principal: &'a Principal,
    pub(crate) run: &'a RunId,
    pub(crate) method: &'static str,
    /// The served name.
    pub(crate) tool: &'a str,
    pub(crate) input: &'a Value,
}

pub(crate) trait Seal: Send + Sync + 'static {
    fn seal(&self, round: &Round, binding: &Binding<'_>) -> String;
    /// `None` if it was not made by us for this, or its time is over: answered with −32602, whichever it is.
    fn open(&self, state: &str, binding: &Binding<'_>) -> Option<Round>;
}

/// Remembers nonces until they expire; false for one that was there. Bounded: the oldest half goes when it is full.
pub(crate) trait Spent: Send + Sync + 'static {
    fn spend(&self, nonce: [u8; 16]) -> bool;
}
