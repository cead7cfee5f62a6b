//! The identifiers of calls.

use crate::complaint::Fault;
use haft_core::CallId;

/// Reads the id of a call, or makes one where the service gives none.
///
/// One that is made is different from those of all other turns, since each turn begins after another number of messages.
pub(crate) fn identified(id: Option<&str>, messages: usize, call: u32) -> Result<CallId, Fault> {
    let id = id.map_or_else(String::new, str::to_owned);
    let id = if id.is_empty() { format!("call_{messages}_{call}") } else { id };
    id.parse().map_err(|_| Fault::unreadable("the id of a call is too long, or has control characters"))
}
