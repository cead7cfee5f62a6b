//! The tools of a server: how they are read, and what is made of them.

mod definition;
mod reading;
mod schema;

pub(crate) use definition::{Definition, TaskSupport};
pub(crate) use reading::{Reading, read_tools};

use crate::client::server::{NoticeKind, ServerNotice};
use crate::client::trust::{ListedTool, Verdict};
use crate::shown::line;
use crate::{ServerConfig, ServerName};
use definition::{Decoded, Skipped};
use haft_core::{Digest, ToolName};
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

/// The most notices that are kept of one listing.
const MOST_NOTICES: usize = 200;

/// The most bytes of a name that are shown.
pub(crate) const MOST_NAME_BYTES: usize = 100;

/// Holds the tools that a server listed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Listing {
    pub(crate) tools: Arc<[Arc<Definition>]>,
    /// What a person should know of it.
    pub(crate) notices: Arc<[ServerNotice]>,
    /// How long it counts from when it was read; for ever if `None`.
    pub(crate) ttl: Option<Duration>,
}

/// Is a listing of which it is not yet judged what may be called.
pub(crate) struct Unjudged {
    tools: Vec<Decoded>,
    notices: Vec<ServerNotice>,
    ttl: Option<Duration>,
    pub(crate) listed: Vec<ListedTool>,
}

impl Unjudged {
    /// Takes in what a server listed: what cannot be used is left out and reported, and a tool that stayed as it was is
    /// not made anew.
    ///
    /// Compiles schemas, so it belongs on a thread that may block.
    pub(crate) fn of(server: &ServerName, reading: Reading, before: &Listing) -> Self {
        let Reading { items, mut notices, ttl } = reading;
        let known: HashMap<Digest, &Arc<Definition>> =
            before.tools.iter().map(|tool| (tool.digest, tool)).collect();
        let mut names: HashMap<ToolName, String> = HashMap::new();
        let (mut tools, mut listed) = (Vec::new(), Vec::new());
        for (position, item) in items.into_iter().enumerate() {
            // Nothing of an attempt that panicked is used again.
            let decoded = catch_unwind(AssertUnwindSafe(|| {
                Decoded::of(server, item, |digest| known.get(digest).copied())
            }));
            match decoded.unwrap_or_else(|_| Err(Skipped::panicked())) {
                Ok(tool) => {
                    let (name, foreign) = (tool.name(), &tool.listed.name);
                    if let Some(first) = names.get(name) {
                        notices.push(same_name(foreign, first));
                        continue;
                    }
                    names.insert(name.clone(), foreign.clone());
                    listed.push(tool.listed.clone());
                    tools.push(tool);
                }
                Err(skipped) => notices.push(skipped.notice(position)),
            }
        }
        Self { tools, notices, ttl, listed }
    }

    /// Completes the listing with the verdicts on its tools.
    pub(crate) fn judged(self, verdicts: Vec<Verdict>) -> Listing {
        let Self { tools, mut notices, ttl, .. } = self;
        let missing = || Verdict::Quarantined { why: "nobody has said whether it may be used".to_owned() };
        let verdicts = verdicts.into_iter().map(Some).chain(std::iter::repeat(None));
        let tools: Vec<_> = tools
            .into_iter()
            .zip(verdicts)
            .map(|(tool, verdict)| tool.judged(verdict.unwrap_or_else(missing)))
            .collect();
        notices.extend(tools.iter().flat_map(|tool| tool.notices()));
        if notices.len() > MOST_NOTICES {
            let more = notices.len() - MOST_NOTICES;
            notices.truncate(MOST_NOTICES);
            let text = format!("there are {more} notices more");
            notices.push(ServerNotice { kind: NoticeKind::LeftOut, tool: None, text });
        }
        Listing { tools: tools.into(), notices: notices.into(), ttl }
    }
}

impl Listing {
    /// Tells whether its tools are those of the other, and called alike.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        let same = |(one, other): (&Arc<Definition>, &Arc<Definition>)| {
            Arc::ptr_eq(one, other)
                || one.digest == other.digest && one.verdict == other.verdict && one.tasks == other.tasks
        };
        self.tools.len() == other.tools.len() && self.tools.iter().zip(&*other.tools).all(same)
    }

    /// Tells whether something that the server offers cannot be used.
    pub(crate) fn is_partial(&self) -> bool {
        self.notices.iter().any(|notice| notice.kind == NoticeKind::LeftOut)
    }
}

fn same_name(foreign: &str, first: &str) -> ServerNotice {
    let name = line(foreign, MOST_NAME_BYTES);
    let text = if foreign == first {
        "another tool of that name was listed before it; it was left out".to_owned()
    } else {
        format!("the tool `{}` has the same name here; it was left out", line(first, MOST_NAME_BYTES))
    };
    ServerNotice { kind: NoticeKind::LeftOut, tool: Some(name), text }
}

/// Says how the tools of a server are named and what they touch.
pub(crate) fn tool_name(server: &ServerName, foreign: &str) -> ToolName {
    ToolName::project(&format!("{server}__{foreign}"))
}

/// Says whether a call of a tool that its server did not survive may be made again.
pub(crate) fn may_repeat(config: &ServerConfig, tool: &Definition) -> bool {
    let hints = tool.spec.hints();
    hints.read_only || hints.idempotent || config.repeatable.contains(&tool.foreign)
}

#[cfg(test)]
mod tests;
