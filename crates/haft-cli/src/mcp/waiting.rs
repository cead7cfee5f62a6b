use crate::exit::UsageError;
use crate::paint::{ASKS, NAME, QUIET};
use crate::timeline::visible;
use anyhow::Result;
use haft::core::Digest;
use haft::mcp::{AcceptedTool, QuarantinedTool, ServerPins};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// The most bytes of a definition that is printed for people.
const MOST_SHOWN: usize = 32 * 1024;

/// How many digits of a digest are shown, and have to be given at least.
///
/// A server chooses both what is shown and what takes its place, so fewer digits would not do: it could try definitions until
/// two have them in common.
const DIGITS: usize = 32;

/// Is a tool that waits to be accepted, with what its server says of it now and what was accepted before.
pub(super) struct Waiting {
    pub(super) name: String,
    pub(super) digest: Digest,
    why: String,
    /// `None` where another listing than the one that waits was read.
    definition: Option<Value>,
    before: Option<AcceptedTool>,
}

/// A tool of a server that waits to be accepted.
#[derive(Serialize, JsonSchema)]
pub(crate) struct WaitingTool {
    /// The tool, as the server calls it.
    tool: String,
    /// What it is accepted by.
    #[schemars(with = "String")]
    digest: Digest,
    /// Why it waits.
    why: String,
    /// Whether it was accepted just now.
    accepted: bool,
    /// What the server says of it; `null` where another haft has read it.
    definition: Option<Value>,
}

impl WaitingTool {
    pub(super) fn of(tool: &Waiting, accepted: bool) -> Self {
        Self {
            tool: tool.name.clone(),
            digest: tool.digest,
            why: tool.why.clone(),
            accepted,
            definition: tool.definition.clone(),
        }
    }
}

/// Is a line of a definition that was, or is now.
pub(super) struct Change {
    pub(super) member: String,
    /// `-` for what was, `+` for what is now.
    pub(super) sign: char,
    pub(super) line: String,
}

/// Is a tool that was named on the command line, and by which digest, if by one.
pub(super) struct Named<'a> {
    pub(super) tool: &'a Waiting,
    /// Whether it was named with the digest of what it is now.
    pub(super) is_exact: bool,
}

impl Waiting {
    /// Puts together what waits of a server and what the server says of it now.
    pub(super) fn of(pins: &ServerPins, listed: &[QuarantinedTool]) -> Vec<Self> {
        let waiting = |(name, waiting): (&String, &haft::mcp::WaitingTool)| {
            let listed = listed.iter().find(|tool| tool.name == *name && tool.digest == waiting.digest);
            // What was too much to be kept is known as long as the server runs.
            let definition =
                listed.map(|tool| (*tool.definition).clone()).or_else(|| waiting.definition.clone());
            let before = pins.accepted().get(name).cloned();
            Self { name: name.clone(), digest: waiting.digest, why: waiting.why.clone(), definition, before }
        };
        pins.waiting().iter().map(waiting).collect()
    }

    /// Says by what it is accepted as it is now.
    pub(super) fn handle(&self) -> String {
        format!("{}@{}", visible(&self.name), &self.digest.to_string()[..DIGITS])
    }

    /// Tells whether a person sees all of it where it is printed.
    pub(super) fn can_be_shown(&self) -> bool {
        self.definition.as_ref().is_some_and(|definition| definition.to_string().len() <= MOST_SHOWN)
    }

    /// Prints what the tool was and what it is, whatever characters are in it.
    pub(super) fn print(&self, server: &str) {
        outln!("{ASKS}waits{ASKS:#} {NAME}{}{NAME:#}: {}", self.handle(), visible(&self.why));
        let Some(new) = &self.definition else {
            outln!(
                "  {QUIET}another haft has read it; run `haft mcp accept {server}` again to see it{QUIET:#}"
            );
            return;
        };
        if !self.can_be_shown() {
            let (bytes, tool) = (new.to_string().len(), shell_word(&visible(&self.name)));
            outln!(
                "  {QUIET}its definition has {bytes} bytes, too many to be shown here: see it with \
                 `haft mcp accept {server} {tool} --json`, then accept it by its digest{QUIET:#}"
            );
            return;
        }
        for Change { member, sign, line } in self.changes() {
            outln!("  {QUIET}{member}{QUIET:#} {sign} {}", visible(&line));
        }
    }

    /// Says why it waits.
    pub(super) fn why(&self) -> &str {
        &self.why
    }

    /// Lists the lines in which what the server says of it now differs from what was accepted.
    pub(super) fn changes(&self) -> Vec<Change> {
        let Some(new) = &self.definition else { return Vec::new() };
        let old = self.before.as_ref().and_then(|tool| tool.definition.as_ref());
        let both = old.into_iter().chain([new]).filter_map(Value::as_object);
        let members: BTreeSet<&str> = both.flat_map(Map::keys).map(String::as_str).collect();
        let mut changes = Vec::new();
        for member in members.into_iter().filter(|member| *member != "name") {
            let (old, new) = (old.and_then(|old| old.get(member)), new.get(member));
            if old == new {
                continue;
            }
            for (sign, value) in [('-', old), ('+', new)] {
                let Some(value) = value else { continue };
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                let line = |line: &str| Change { member: member.to_owned(), sign, line: line.to_owned() };
                changes.extend(text.lines().map(line));
            }
        }
        changes
    }
}

impl<'a> Named<'a> {
    /// Finds a tool that was written as `TOOL` or `TOOL@DIGEST`.
    pub(super) fn find(written: &str, waiting: &'a [Waiting]) -> Result<Self> {
        let called = |name: &str| {
            let exact = waiting.iter().find(|tool| tool.name == name);
            exact.or_else(|| waiting.iter().find(|tool| visible(&tool.name) == name))
        };
        if let Some(tool) = called(written) {
            return Ok(Self { tool, is_exact: false });
        }
        let Some((tool, digest)) =
            written.rsplit_once('@').and_then(|(name, digest)| Some((called(name)?, digest)))
        else {
            let name = written.rsplit_once('@').map_or(written, |(name, _)| name);
            let near = haft::tools_core::listed(
                haft::tools_core::nearest(name, waiting.iter().map(|tool| tool.name.as_str())),
                "or",
            );
            let instead = if near.is_empty() {
                "`haft mcp accept SERVER` shows what does".to_owned()
            } else {
                format!("did you mean {near}?")
            };
            return Err(UsageError(format!("no tool `{name}` waits to be accepted; {instead}")).into());
        };
        if digest.len() < DIGITS {
            let message = format!(
                "a digest has at least {DIGITS} digits; write it as it was shown, as in `{}`",
                tool.handle()
            );
            return Err(UsageError(message).into());
        }
        if !tool.digest.to_string().starts_with(&digest.to_lowercase()) {
            anyhow::bail!(
                "`{}` is not what was shown; it is `{}` now: look at it before you accept it",
                tool.name,
                tool.handle()
            );
        }
        Ok(Self { tool, is_exact: true })
    }
}

/// Writes a word as a shell takes it.
pub(super) fn shell_word(word: &str) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "-_./:@".contains(character);
    if word.chars().all(is_plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}
