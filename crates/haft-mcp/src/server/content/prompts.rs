use crate::server::caller::Caller;
use crate::server::catalog::Pages;
use crate::server::offers::{Prompts, ServedPrompt};
use std::collections::HashSet;

/// Lists the prompts that a caller is offered, in the host's order; of two that have one name the first.
pub(crate) fn prompts(host: Option<&dyn Prompts>, caller: &Caller) -> Pages<ServedPrompt> {
    let mut listed = host.map(|host| host.list(caller)).unwrap_or_default();
    let mut names = HashSet::new();
    listed.retain(|prompt| names.insert(prompt.name.clone()));
    // Texts can always be written.
    Pages::of(listed, |prompt| serde_json::to_string(prompt).unwrap_or_default())
}
