use super::{ConfigFile, Layer, TABLES};
use crate::shared_store::StoreUrl;
use haft::policy::Note;
use schemars::JsonSchema;
use serde::Serialize;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A setting.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Setting")]
pub(super) struct Entry {
    /// Its key, with dots between its parts.
    pub(super) key: String,
    /// Its value, as a person may see it: secrets are left out, and long lists are counted.
    pub(super) value: String,
    /// The file, as it is known; none for what is built in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) file: Option<String>,
    /// The line in it, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) line: Option<usize>,
    /// What becomes of it.
    pub(super) state: State,
    /// Why it has no effect, or where it comes from if no file says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
}

/// What becomes of a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum State {
    /// It counts.
    InForce,
    /// Another file says it, too, and counts.
    Overridden,
    /// It has no effect, whatever else is said.
    Ignored,
}

/// Says what becomes of a key that several files have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// All of them count.
    Adds,
    /// The first counts, which is the user's.
    First,
    /// The last counts, which is the most particular.
    Last,
}

/// Lists what the files say, in their order, and what of it counts.
///
/// `notes` are those of the policy: what of a file that is not trusted is ignored there.
pub(super) fn entries<'a>(files: impl Iterator<Item = &'a ConfigFile>, notes: &[Note]) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for file in files {
        let (document, _) = DeTable::parse_recoverable(&file.text);
        let mut found = Vec::new();
        flatten("", document.get_ref(), &mut found);
        found.sort_by_key(|(_, _, at)| *at);
        for (key, value, at) in found {
            let line = file.line_of(at);
            let (state, reason) = match ignored(&key, file, line, notes) {
                Some(reason) => (State::Ignored, Some(reason)),
                None => (State::InForce, None),
            };
            let mut entry =
                Entry { key, value, file: Some(file.name.clone()), line: Some(line), state, reason };
            if state == State::InForce {
                override_one(&mut entries, &mut entry);
            }
            entries.push(entry);
        }
    }
    entries
}

/// What a file that names another model does not take from the files before it.
const OF_MODEL: [&str; 7] = [
    "agent.base_url",
    "agent.context_window",
    "agent.effort",
    "agent.header",
    "agent.price",
    "agent.wire",
    "agent.without",
];

/// Lists what a file says beside its policy, as a person may see it: keys with their values.
pub(crate) fn beside_policy(text: &str) -> Vec<(String, String)> {
    let (document, _) = DeTable::parse_recoverable(text);
    let mut found = Vec::new();
    flatten("", document.get_ref(), &mut found);
    found.sort_by_key(|(_, _, at)| *at);
    found.retain(|(key, _, _)| TABLES.iter().any(|table| key.split('.').next() == Some(table)));
    found.into_iter().map(|(key, value, _)| (key, value)).collect()
}

/// Of what was said of the same before and this, leaves one in force.
fn override_one(entries: &mut [Entry], entry: &mut Entry) {
    // Where a model is asked and how belongs to it, and what is sent to the place it is sent to.
    let with: &[&str] = match &*entry.key {
        "agent.model" => &OF_MODEL,
        "agent.base_url" => &["agent.header"],
        _ => &[],
    };
    let others = entries.iter_mut().filter(|other| other.file != entry.file && with.contains(&&*other.key));
    others.for_each(|other| other.state = State::Overridden);
    // Where spans go, and where calls do, is said with all that belongs to it.
    let whole = ["executor.", "telemetry."].into_iter().find(|start| entry.key.starts_with(start));
    let is_taken = |start: &str| {
        let is_same = |other: &Entry| other.key.starts_with(start) && other.state == State::InForce;
        entries.iter().any(|other| is_same(other) && other.file != entry.file)
    };
    if entry.state == State::InForce && whole.is_some_and(is_taken) {
        entry.state = State::Overridden;
        return;
    }
    let same = |other: &&mut Entry| other.key == entry.key && other.state == State::InForce;
    let Some(other) = entries.iter_mut().find(same) else { return };
    let loser = match kind(&entry.key) {
        Kind::Adds => return,
        Kind::First => &mut *entry,
        Kind::Last => &mut *other,
    };
    loser.state = State::Overridden;
}

fn kind(key: &str) -> Kind {
    let adds = ["agents.", "include", "limits.tools.", "test", "tools.select", "workdir.roots"];
    if is_rules(key) || adds.iter().any(|start| key.starts_with(start)) {
        Kind::Adds
    } else if ["mcp.", "openapi.", "providers.", "shell."].iter().any(|start| key.starts_with(start)) {
        Kind::First
    } else {
        Kind::Last
    }
}

fn is_rules(key: &str) -> bool {
    ["allow", "ask", "deny"].iter().any(|list| is_list(key, list))
}

fn is_list(key: &str, list: &str) -> bool {
    key.rsplit_once('.').is_some_and(|(_, name)| name == list)
}

/// Says why a setting has no effect, if it has none whatever the other files say.
fn ignored(key: &str, file: &ConfigFile, line: usize, notes: &[Note]) -> Option<String> {
    if key.starts_with("store.") && file.layer != Layer::User {
        return Some("only your own `haft.toml` says it".to_owned());
    }
    if file.layer != Layer::Untrusted {
        return None;
    }
    let of_trusted =
        ["agent.", "executor.", "mcp.", "openapi.", "providers.", "shell.", "telemetry.", "workdir."];
    let is_for_trusted = of_trusted.iter().any(|start| key.starts_with(start)) || is_list(key, "allow");
    if is_for_trusted {
        return Some("the file is not trusted".to_owned());
    }
    let is_there = |note: &&Note| note.place().file() == file.path && note.place().line() as usize == line;
    let text = notes.iter().find(is_there)?.text();
    Some(text.split_once("because ").map_or(text, |(_, reason)| reason).to_owned())
}

/// Lists the values of a table and those of the tables in it, as a person may see them.
fn flatten(prefix: &str, table: &DeTable<'_>, found: &mut Vec<(String, String, usize)>) {
    for (key, value) in table {
        let name = format!("{prefix}{}", written(key.get_ref()));
        let at = key.span().start;
        match value.get_ref() {
            DeValue::Table(table) if prefix == "mcp.servers." => {
                found.push((name, reached(table, &["command", "url", "unix"]), at));
            }
            DeValue::Table(_) if prefix == "shell.commands." => {
                found.push((name, "what it does".to_owned(), at));
            }
            DeValue::Table(table) if prefix == "openapi." => {
                found.push((name, reached(table, &["document"]), at));
            }
            DeValue::Table(table) if prefix == "providers." => {
                found.push((name, reached(table, &["base_url", "key", "model"]), at));
            }
            DeValue::Table(table) => flatten(&format!("{name}."), table, found),
            DeValue::Array(items) if matches!(&*name, "agent.header" | "telemetry.header") => {
                found.push((
                    name,
                    listed(items, |text| text.split_once(':').map_or("a header", |(name, _)| name)),
                    at,
                ));
            }
            DeValue::Array(items) => found.push((name, listed(items, |text| text), at)),
            DeValue::String(text) => {
                let is_address = matches!(&*name, "agent.base_url" | "telemetry.endpoint");
                let text = match &*name {
                    "store.postgres" => {
                        let read = text.parse::<StoreUrl>();
                        read.map_or_else(|_| "an address".to_owned(), |url| url.to_string())
                    }
                    _ if is_address => without_query(text).to_owned(),
                    _ => text.to_string(),
                };
                found.push((name, text, at));
            }
            DeValue::Integer(number) => found.push((name, number.to_string(), at)),
            DeValue::Float(number) => found.push((name, number.to_string(), at)),
            DeValue::Boolean(switch) => found.push((name, switch.to_string(), at)),
            DeValue::Datetime(time) => found.push((name, time.to_string(), at)),
        }
    }
}

/// Writes a key as TOML does.
fn written(key: &str) -> String {
    let is_bare = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if is_bare { key.to_owned() } else { format!("{key:?}") }
}

/// Says how a server or a document is reached, without what may be a secret.
fn reached(table: &DeTable<'_>, keys: &[&str]) -> String {
    let text = |wanted: &str| {
        table.iter().find(|(key, _)| *key.get_ref() == wanted).and_then(|(_, value)| value.get_ref().as_str())
    };
    keys.iter().find_map(|key| text(key)).map(without_query).unwrap_or_default().to_owned()
}

/// What stands behind a `?`, or before an `@`, of an address may be a secret.
fn without_query(text: &str) -> &str {
    let text = text.split(['?', '#']).next().unwrap_or_default();
    match text.split_once("://") {
        Some((_, rest)) if rest.split('/').next().is_some_and(|host| host.contains('@')) => {
            "an address with a user"
        }
        _ => text,
    }
}

/// Writes a short list out, and counts the items of a long one.
fn listed(items: &[Spanned<DeValue<'_>>], shown: impl Fn(&str) -> &str) -> String {
    let texts: Option<Vec<&str>> = items.iter().map(|item| item.get_ref().as_str().map(&shown)).collect();
    match texts {
        Some(texts) if texts.iter().map(|text| text.len() + 2).sum::<usize>() <= 60 => texts.join(", "),
        _ if items.len() == 1 => "1 entry".to_owned(),
        _ => format!("{} entries", items.len()),
    }
}
