use super::{PinError, PinStore, ServerIdentity, ServerPins, WaitingTool};
use crate::ServerConfig;
use async_trait::async_trait;
use haft_core::{Digest, is_hidden};
use haft_tools_core::{listed, now_ms};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The most bytes of a name that is kept.
const MOST_NAME_BYTES: usize = 1024;

/// The members of a definition, with what they are called to people.
const MEMBERS: [(&str, &str); 6] = [
    ("name", "name"),
    ("title", "title"),
    ("description", "description"),
    ("inputSchema", "input schema"),
    ("outputSchema", "output schema"),
    ("annotations", "hints"),
];

/// What the host itself does in the name of a server, beside its tools: no tool is called that.
pub(crate) const HOST_NAMES: [&str; 3] = ["resources/list", "resources/read", "sampling/createMessage"];

/// Judges whether the tools of a server are those that were accepted.
#[async_trait]
pub(crate) trait Judge: Send + Sync + 'static {
    /// Gives a verdict on each of the tools, in their order; a tool without one counts as quarantined.
    async fn judge(&self, server: &ServerConfig, listed: &[ListedTool]) -> Vec<Verdict>;

    /// Tells whether a tool that was judged to be trusted is so still.
    async fn still_trusts(&self, server: &ServerConfig, tool: &str, digest: Digest) -> bool;
}

/// Is a tool as a server listed it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ListedTool {
    /// The name the server gives it.
    pub(crate) name: String,
    /// Identifies `definition`.
    pub(crate) digest: Digest,
    /// What a model or a person is told of it: the members `name`, `title`, `description`, `inputSchema`,
    /// `outputSchema` and `annotations`, as far as they are there, as they were sent.
    pub(crate) definition: Value,
}

/// Says whether a tool may be called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is what was accepted.
    Trusted,
    /// It is not, or not yet.
    Quarantined {
        /// Why, for people and models, without a full stop: `its description changed since it was accepted`.
        why: String,
    },
}

/// Accepts what a server lists first, and then what is still the same.
pub(crate) struct PinJudge(Arc<dyn PinStore>);

impl PinJudge {
    pub(crate) fn new(store: Arc<dyn PinStore>) -> Self {
        Self(store)
    }
}

#[async_trait]
impl Judge for PinJudge {
    async fn judge(&self, server: &ServerConfig, listed: &[ListedTool]) -> Vec<Verdict> {
        let (store, identity, called) =
            (Arc::clone(&self.0), ServerIdentity::of(server), server.name.clone());
        let tools = listed.to_vec();
        let judged =
            tokio::task::spawn_blocking(move || judge(&*store, &identity, called.as_str(), &tools)).await;
        let reason = match judged {
            Ok(Ok(verdicts)) => return verdicts,
            Ok(Err(error)) => {
                tracing::warn!(
                    server = server.name.as_str(),
                    error = &error as &dyn std::error::Error,
                    "tools cannot be accepted"
                );
                "what was accepted of its server cannot be read or kept"
            }
            Err(_) => "judging the tools of its server broke",
        };
        vec![Verdict::Quarantined { why: reason.to_owned() }; listed.len()]
    }

    async fn still_trusts(&self, server: &ServerConfig, tool: &str, digest: Digest) -> bool {
        let (store, identity, tool) = (Arc::clone(&self.0), ServerIdentity::of(server), tool.to_owned());
        let accepts = move || store.accepts(&identity, &tool, digest);
        match tokio::task::spawn_blocking(accepts).await {
            Ok(Ok(accepts)) => accepts,
            Ok(Err(error)) => {
                tracing::warn!(
                    server = server.name.as_str(),
                    error = &error as &dyn std::error::Error,
                    "it cannot be told whether a tool is still accepted"
                );
                false
            }
            Err(_) => false,
        }
    }
}

/// Judges what a server lists by what was accepted of it; keeps what waits to be.
pub(crate) fn judge(
    store: &dyn PinStore,
    server: &ServerIdentity,
    called: &str,
    listed: &[ListedTool],
) -> Result<Vec<Verdict>, PinError> {
    // Most listings are as the one before, and change nothing that is kept.
    if let Some(mut pins) = store.read(server)? {
        let before = pins.clone();
        let verdicts = judge_by(&mut pins, called, listed);
        if pins == before {
            return Ok(verdicts);
        }
    }
    let mut verdicts = Vec::new();
    store.change(server, &mut |pins| verdicts = judge_by(pins, called, listed))?;
    Ok(verdicts)
}

fn judge_by(pins: &mut ServerPins, called: &str, listed: &[ListedTool]) -> Vec<Verdict> {
    pins.call(called);
    let shadows = Shadows::of(listed);
    // A listing of nothing was no use: whoever logs in later sees the tools for the first time.
    let is_first_use = !listed.is_empty() && pins.is_first_use();
    let mut waiting = Vec::new();
    let mut verdicts = Vec::with_capacity(listed.len());
    for (place, tool) in listed.iter().enumerate() {
        let why = match shadows.of_tool(place, tool) {
            // These cannot be accepted, so they do not wait for it.
            Some(why) => Some(why),
            None if is_first_use => {
                pins.insert(&tool.name, tool.digest, Some(tool.definition.clone()));
                None
            }
            None => change_of(pins, tool).inspect(|why| {
                let (definition, why) = (Some(tool.definition.clone()), why.clone());
                let waits = WaitingTool { digest: tool.digest, definition, why, since_ms: now_ms() };
                waiting.push((tool.name.clone(), waits));
            }),
        };
        verdicts.push(why.map_or(Verdict::Trusted, |why| Verdict::Quarantined { why }));
    }
    pins.wait(waiting);
    verdicts
}

/// Says in what a tool is not the one that was accepted.
fn change_of(pins: &ServerPins, tool: &ListedTool) -> Option<String> {
    let Some(accepted) = pins.accepted().get(&tool.name) else {
        let why = if pins.accepted().is_empty() {
            "none of its server's tools is accepted"
        } else {
            "it was added, renamed or rejected since the server's tools were accepted"
        };
        return Some(why.to_owned());
    };
    if accepted.digest == tool.digest {
        return None;
    }
    let Some(before) = &accepted.definition else {
        return Some("it changed since it was accepted".to_owned());
    };
    let changed: Vec<&str> = MEMBERS
        .iter()
        .filter(|(member, _)| before.get(member) != tool.definition.get(member))
        .map(|(_, said)| *said)
        .collect();
    let changed = match changed.as_slice() {
        [] => "definition".to_owned(),
        changed => listed_plainly(changed),
    };
    Some(format!("its {changed} changed since it was accepted"))
}

fn listed_plainly(words: &[&str]) -> String {
    listed(words.iter().copied(), "and").replace('`', "")
}

/// Knows which tools of a listing stand in the way of others.
struct Shadows<'a> {
    /// The first tool that looks like this.
    first: BTreeMap<String, (usize, &'a str)>,
}

impl<'a> Shadows<'a> {
    fn of(listed: &'a [ListedTool]) -> Self {
        let mut first = BTreeMap::new();
        // Of two that look alike the one that is what it looks like is the one that is meant.
        let (plain, hiding): (Vec<_>, Vec<_>) =
            listed.iter().enumerate().partition(|(_, tool)| look(&tool.name) == tool.name);
        for (place, tool) in plain.into_iter().chain(hiding) {
            first.entry(look(&tool.name)).or_insert((place, tool.name.as_str()));
        }
        Self { first }
    }

    /// Says why a tool can never be called, if it cannot.
    fn of_tool(&self, place: usize, tool: &ListedTool) -> Option<String> {
        let look = look(&tool.name);
        if tool.name.len() > MOST_NAME_BYTES {
            return Some(format!("its name has more than {MOST_NAME_BYTES} bytes"));
        }
        if HOST_NAMES.contains(&look.as_str()) || look.starts_with("resource:") {
            return Some("it has the name of something that is not a tool of the server".to_owned());
        }
        match self.first.get(&look) {
            Some((first, _)) if *first == place => None,
            Some((_, name)) if *name == tool.name => {
                Some("another tool of the server has the same name".to_owned())
            }
            _ => Some("its name looks like that of another tool of the server".to_owned()),
        }
    }
}

/// What is seen of a name.
fn look(name: &str) -> String {
    name.chars().filter(|character| !is_hidden(*character)).collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests;
