use super::arguments::ConfigOptions;
use super::entries::{Entry, State, entries};
use super::file::named;
use super::{ConfigFile, Layer};
use crate::exit::Exit;
use crate::opened_workdir::OpenedWorkdir;
use crate::own_tools;
use crate::paint::{ASKS, NAME, QUIET};
use crate::policy_setup::{Files, PolicyOptions, PolicySetup};
use crate::printed::print_json;
use crate::timeline::visible;
use anyhow::Result;
use schemars::JsonSchema;
use serde::Serialize;

/// Shows what the files in force say, and what of it counts.
pub(super) fn show(options: &ConfigOptions) -> Result<Exit> {
    // What is wrong is an error here as it is wherever the files are used.
    let OpenedWorkdir { workdir, configuration, .. } =
        OpenedWorkdir::of(options.workdir.as_deref(), Vec::new())?;
    let catalog = configuration.catalog()?;
    let tools = own_tools::registry_of_runs(&workdir, &catalog)?;
    let setup = PolicySetup::new(&configuration, &workdir, Some(named(&workdir)));
    let loaded = setup.load(&PolicyOptions::default(), Files::InForce, &tools, &catalog)?.loaded;
    let mut all = entries(configuration.files(), &loaded.notes);
    let profile = loaded.profile.map_or("none".to_owned(), |profile| profile.to_string());
    for (key, value) in [
        ("sandbox.mode", loaded.sandbox.to_string()),
        ("permissions.mode", loaded.mode.to_string()),
        ("profile", profile),
    ] {
        if !all.iter().any(|entry| entry.key == key && entry.state == State::InForce && entry.value == value)
        {
            all.insert(0, unwritten(key, value, &all));
        }
    }
    if options.json {
        let files = configuration.files().map(ShownFile::of).collect();
        print_json(&ShownConfig { files, settings: all })?;
        return Ok(Exit::Done);
    }
    for file in configuration.files() {
        let advice = match file.layer {
            Layer::User => "yours".to_owned(),
            Layer::Workspace => "the workspace's, trusted".to_owned(),
            Layer::Untrusted => {
                format!(
                    "the workspace's, {ASKS}not trusted{ASKS:#}: it only takes away; see `haft policy trust`"
                )
            }
        };
        outln!("{NAME}{}{NAME:#}  {advice}", visible(&file.name));
    }
    if configuration.files().next().is_none() {
        outln!("There is no `haft.toml`, neither yours nor one here; `haft init` writes one.");
    }
    outln!();
    let width =
        |of: fn(&Entry) -> &str| all.iter().map(|entry| of(entry).chars().count()).max().unwrap_or_default();
    let (keys, values) = (width(|entry| &entry.key).min(40), width(|entry| &entry.value).min(60));
    for entry in &all {
        print(entry, keys, values);
    }
    Ok(Exit::Done)
}

/// What the files `haft.toml` say that are in force, and what of it counts.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ShownConfig {
    /// The files: the user's, then the workspace's.
    files: Vec<ShownFile>,
    /// Each setting: what is built in first, then what the files say, in their order.
    settings: Vec<Entry>,
}

/// A file of configuration.
#[derive(Serialize, JsonSchema)]
struct ShownFile {
    /// A short name.
    name: String,
    /// Where it is.
    path: String,
    /// Whose it is: `user` or `workspace`.
    layer: &'static str,
    /// Whether it counts as a whole; one that is not trusted only takes away.
    trusted: bool,
}

impl ShownFile {
    fn of(file: &ConfigFile) -> Self {
        Self {
            name: file.name.clone(),
            path: file.path.clone(),
            layer: if file.layer == Layer::User { "user" } else { "workspace" },
            trusted: file.layer != Layer::Untrusted,
        }
    }
}

/// Is what holds though no file in force says it itself.
fn unwritten(key: &str, value: String, all: &[Entry]) -> Entry {
    let includes = all.iter().any(|entry| entry.key == "include");
    let reason = if includes { "built in, or of a file that is included" } else { "built in" };
    Entry {
        key: key.to_owned(),
        value,
        file: None,
        line: None,
        state: State::InForce,
        reason: Some(reason.to_owned()),
    }
}

fn print(entry: &Entry, keys: usize, values: usize) {
    let Entry { key, value, file, line, state, reason } = entry;
    let place = match (file, line) {
        (Some(file), Some(line)) => format!("{file}:{line}"),
        _ => reason.clone().unwrap_or_default(),
    };
    let after = match state {
        State::InForce => String::new(),
        State::Overridden => format!("  {ASKS}overridden{ASKS:#}"),
        State::Ignored => {
            format!("  {ASKS}ignored{ASKS:#}: {}", visible(reason.as_deref().unwrap_or_default()))
        }
    };
    outln!(
        "{NAME}{:keys$}{NAME:#}  {:values$}  {QUIET}{}{QUIET:#}{after}",
        visible(key),
        visible(value),
        visible(&place)
    );
}
