use super::carried::{Carried, List};
use super::claude_rules::rule;
use super::servers::servers;
use super::sources::Source;
use serde_json::{Map, Value};
use toml_edit::Value as TomlValue;

/// Settings that only say how the program itself looks and works: nobody misses them here.
const OF_THE_PROGRAM: [&str; 16] = [
    "$schema",
    "alwaysThinkingEnabled",
    "autoUpdatesChannel",
    "attribution",
    "cleanupPeriodDays",
    "companyAnnouncements",
    "enabledPlugins",
    "feedbackSurveyState",
    "includeCoAuthoredBy",
    "language",
    "outputStyle",
    "plansDirectory",
    "spinnerTipsEnabled",
    "statusLine",
    "terminalProgressBarEnabled",
    "theme",
];

/// Carries the servers of a `.mcp.json` over.
pub(super) fn mcp_json(text: &str, carried: &mut Carried) {
    let Some(document) = parsed(text, carried) else { return };
    let keys = ["mcpServers", "servers"];
    let found = keys.iter().filter_map(|key| Some((key, document.get(*key)?)));
    for (key, members) in found {
        match members.as_object() {
            Some(members) => servers(members, key, &[], carried),
            None => carried.leave(*key, "it is not a table of servers"),
        }
    }
}

/// Carries the settings of Claude Code over, or of its own state the part of a project, or of the user.
pub(super) fn settings(source: &Source, text: &str, carried: &mut Carried) {
    let Some(document) = parsed(text, carried) else { return };
    if !source.is_state() {
        return own_settings(&document, carried);
    }
    // The state holds much besides, which is nobody's settings.
    let (place, at) = match &source.project {
        Some(project) => {
            let key = project.to_string_lossy();
            match document.get("projects").and_then(|projects| projects.get(&*key)) {
                Some(place) => (place, format!("projects.{key}.")),
                None => return,
            }
        }
        None => (&Value::Object(document.clone()), String::new()),
    };
    let texts = |key: &str| texts(place.get(key));
    if let Some(Value::Object(members)) = place.get("mcpServers") {
        servers(members, &format!("{at}mcpServers"), &texts("disabledMcpServers"), carried);
    }
    for (place, text) in texts("allowedTools").iter().enumerate() {
        rule(List::Allow, text, &format!("{at}allowedTools[{place}]"), carried);
    }
    for (key, name) in [("disabledMcpjsonServers", "disabled"), ("enabledMcpjsonServers", "enabled")] {
        if !texts(key).is_empty() {
            carried.leave(format!("{at}{key}"), chosen(name));
        }
    }
}

fn own_settings(document: &Map<String, Value>, carried: &mut Carried) {
    for (key, value) in document {
        match (key.as_str(), value) {
            ("permissions", Value::Object(permissions)) => of_permissions(permissions, carried),
            ("env", Value::Object(variables)) => {
                for name in variables.keys() {
                    let why = format!(
                        "variables of commands are those of haft's own environment; set {name} where haft is started"
                    );
                    carried.leave(format!("env.{name}"), why);
                }
            }
            ("model", Value::String(model)) if model.starts_with("claude-") => {
                carried.setting("agent.model", format!("anthropic/{model}"), "model");
            }
            ("model", _) => {
                carried.leave("model", "it is a short name; write the whole one as `model` of `[agent]`, as in `anthropic/claude-sonnet-4-5`");
            }
            ("sandbox", Value::Object(sandbox)) => {
                if sandbox.get("enabled") == Some(&Value::Bool(true)) {
                    carried.setting("sandbox.mode", "prefer", "sandbox.enabled");
                }
                for key in sandbox.keys().filter(|key| *key != "enabled") {
                    carried.leave(
                        format!("sandbox.{key}"),
                        "what is outside the sandbox follows from what a call was allowed",
                    );
                }
            }
            ("hooks", Value::Object(events)) => {
                for event in events.keys() {
                    let why = "programs that look at calls are a part of hosts, by the crate `haft-hooks`, and not of `haft.toml`; say what must not happen by a rule of `deny`";
                    carried.leave(format!("hooks.{event}"), why);
                }
            }
            ("mcpServers", Value::Object(members)) => servers(members, "mcpServers", &[], carried),
            ("disabledMcpjsonServers", _) => carried.leave(key, chosen("disabled")),
            ("enabledMcpjsonServers" | "enableAllProjectMcpServers", _) => {
                carried.leave(key, chosen("enabled"));
            }
            ("apiKeyHelper" | "awsAuthRefresh" | "awsCredentialExport", _) => {
                carried.leave(
                    key,
                    "keys come from variables of the environment, and no program is run for them",
                );
            }
            (word, _) if OF_THE_PROGRAM.contains(&word) => {}
            _ => carried.leave(key, "it has no counterpart here"),
        }
    }
}

fn chosen(how: &str) -> String {
    if how == "disabled" {
        "write `disabled = true` into the tables of these servers".to_owned()
    } else {
        "servers of a project start once you have run `haft policy trust`, or `haft mcp trust` for its `.mcp.json`".to_owned()
    }
}

fn of_permissions(permissions: &Map<String, Value>, carried: &mut Carried) {
    for (key, value) in permissions {
        let at = format!("permissions.{key}");
        let list = List::ALL.into_iter().find(|list| list.name() == key);
        match (list, key.as_str(), value) {
            (Some(list), _, Value::Array(items)) => {
                for (place, item) in items.iter().enumerate() {
                    let at = format!("{at}[{place}]");
                    match item.as_str() {
                        Some(text) => rule(list, text.trim(), &at, carried),
                        None => carried.leave(at, "it is not text"),
                    }
                }
            }
            (None, "defaultMode", Value::String(mode)) => mode_of(mode, &at, carried),
            (None, "additionalDirectories", Value::Array(_)) => {
                for (place, path) in texts(Some(value)).into_iter().enumerate() {
                    let at = format!("{at}[{place}]");
                    if carried.is_users && !path.starts_with(['/', '~']) {
                        carried.leave(at, "it begins in whatever directory is worked in; write it whole as one of `roots` of `[workdir]`");
                    } else if path.is_empty() {
                        carried.leave(at, "it names no directory");
                    } else if path.ends_with(":ro") || path.ends_with(":rw") {
                        let why = "its end would be read as how the directory may be used; write it as one of `roots` of \
                                   `[workdir]`, with `:ro` or `:rw` behind it";
                        carried.leave(at, why);
                    } else {
                        carried.root(path, &at);
                    }
                }
            }
            _ => carried.leave(at, "it has no counterpart here"),
        }
    }
}

fn mode_of(mode: &str, at: &str, carried: &mut Carried) {
    let here = match mode {
        "default" => "default",
        "acceptEdits" => "accept_edits",
        "plan" => "plan",
        "dontAsk" => "deny_unknown",
        "bypassPermissions" => {
            let why = "it lets everything through; if you mean that, give `--profile full_access` for a run of its own";
            return carried.leave(at, why);
        }
        _ => return carried.leave(at, format!("there is no mode `{mode}` here")),
    };
    carried.setting("permissions.mode", TomlValue::from(here), at);
}

/// Reads a document, of which comments are no part.
fn parsed(text: &str, carried: &mut Carried) -> Option<Map<String, Value>> {
    match serde_json::from_str(text) {
        Ok(Value::Object(document)) => Some(document),
        Ok(_) => {
            carried.leave("the file", "it is not a table");
            None
        }
        // What is wrong is not quoted: the file may hold secrets.
        Err(error) => {
            carried.leave(
                "the file",
                format!("it is not JSON, at line {}, column {}", error.line(), error.column()),
            );
            None
        }
    }
}

fn texts(value: Option<&Value>) -> Vec<&str> {
    value.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}
