use super::carried::Carried;
use super::servers;
use crate::looks_secret;
use haft::mcp::ServerName;
use serde_json::{Map, Value};
use toml_edit::{Array, Table};

/// Settings that only say how the program itself looks and works: nobody misses them here.
const OF_THE_PROGRAM: [&str; 12] = [
    "check_for_update_on_startup",
    "disable_paste_burst",
    "features",
    "file_opener",
    "hide_agent_reasoning",
    "history",
    "model_reasoning_summary",
    "model_verbosity",
    "notice",
    "show_raw_agent_reasoning",
    "tui",
    "analytics",
];

/// The providers that need no table.
const OPENAI: &str = "openai";

/// Carries the configuration of Codex over.
pub(super) fn config(text: &str, carried: &mut Carried) {
    let document: toml::Table = match text.parse() {
        Ok(document) => document,
        Err(_) => return carried.leave("the file", "it is not TOML"),
    };
    let Ok(Value::Object(document)) = serde_json::to_value(document) else { return };
    let text = |key: &str| document.get(key).and_then(Value::as_str);
    what_may_be_done(text("sandbox_mode"), text("approval_policy"), carried);
    model(&document, carried);
    for (key, value) in &document {
        match (key.as_str(), value) {
            (
                "sandbox_mode"
                | "model"
                | "model_provider"
                | "model_context_window"
                | "model_reasoning_effort",
                _,
            )
            | ("approval_policy", Value::String(_)) => {}
            ("mcp_servers", Value::Object(members)) => mcp_servers(members, carried),
            ("model_providers", Value::Object(members)) => {
                members.iter().for_each(|(name, provider)| model_provider(name, provider, carried));
            }
            ("sandbox_workspace_write", Value::Object(members)) => sandbox(members, carried),
            ("projects", Value::Object(projects)) => {
                for project in projects.keys() {
                    let why = "trust is not carried over; look at the `haft.toml` that is there, then run `haft policy trust`";
                    carried.leave(format!("projects.{project:?}"), why);
                }
            }
            ("profiles" | "profile", _) => {
                carried.leave(
                    key,
                    "there are no sets of settings to choose from; give flags, or another file with `--policy`",
                );
            }
            ("notify", _) => carried.leave(key, "no program is run when something has happened"),
            ("shell_environment_policy", _) => {
                carried.leave(
                    key,
                    "commands are given the environment of haft without what looks like a secret",
                );
            }
            (word, _) if OF_THE_PROGRAM.contains(&word) => {}
            _ => carried.leave(key, "it has no counterpart here"),
        }
    }
}

/// Says by which profile and mode no more is let through than there.
fn what_may_be_done(sandbox: Option<&str>, approval: Option<&str>, carried: &mut Carried) {
    let profile = match (sandbox, approval) {
        (Some("danger-full-access"), _) => {
            let why = "it lets commands do everything; if you mean that, give `--profile full_access` for a run of its own";
            carried.leave("sandbox_mode", why);
            None
        }
        // With the second, only what reads is let through unasked.
        (Some("read-only"), _) | (Some("workspace-write"), Some("untrusted")) => Some("read_only"),
        (Some("workspace-write"), _) => Some("workspace_write"),
        (Some(other), _) => {
            carried.leave("sandbox_mode", format!("there is no `{other}` here"));
            None
        }
        (None, _) => None,
    };
    if let Some(profile) = profile {
        carried.setting("profile", profile, "sandbox_mode");
        carried.setting("sandbox.mode", "require", "sandbox_mode");
    }
    match approval {
        Some("never") => drop(carried.setting("permissions.mode", "deny_unknown", "approval_policy")),
        Some("on-request" | "on-failure" | "untrusted") | None => {}
        Some(other) => carried.leave("approval_policy", format!("there is no `{other}` here")),
    }
}

fn sandbox(members: &Map<String, Value>, carried: &mut Carried) {
    for (key, value) in members {
        let at = format!("sandbox_workspace_write.{key}");
        match (key.as_str(), value) {
            ("writable_roots", Value::Array(roots)) => {
                for (place, root) in roots.iter().enumerate() {
                    match root.as_str() {
                        Some(root)
                            if root.starts_with('/') && !root.ends_with(":ro") && !root.ends_with(":rw") =>
                        {
                            carried.root(root, &format!("{at}[{place}]"));
                        }
                        _ => carried.leave(
                            format!("{at}[{place}]"),
                            "it is not a whole path; write it as one of `roots` of `[workdir]`",
                        ),
                    }
                }
            }
            ("network_access", Value::Bool(true)) => {
                carried.leave(
                    at,
                    "which hosts are reached is said by rules; write `connect(HOST)` into `allow`",
                );
            }
            ("network_access", _) => {}
            _ => carried.leave(at, "it has no counterpart here"),
        }
    }
}

fn model(document: &Map<String, Value>, carried: &mut Carried) {
    let text = |key: &str| document.get(key).and_then(Value::as_str);
    let provider = text("model_provider").unwrap_or(OPENAI);
    let Some(model) = text("model") else {
        for key in ["model_reasoning_effort", "model_context_window"] {
            if document.contains_key(key) {
                carried.leave(key, "it belongs to a model, and none is named beside it");
            }
        }
        return;
    };
    let is_there =
        provider == OPENAI || document.get("model_providers").and_then(|all| all.get(provider)).is_some();
    if !is_there || !is_name(provider) || !is_name_of_model(model) {
        let why = format!(
            "the provider `{provider}` is not known; write `[providers.NAME]` and `model` of `[agent]`"
        );
        return carried.leave("model", why);
    }
    // How a model is asked belongs to it.
    if !carried.setting("agent.model", format!("{provider}/{model}"), "model") {
        return;
    }
    if let Some(effort) = text("model_reasoning_effort") {
        carried.setting("agent.effort", effort, "model_reasoning_effort");
    }
    match document.get("model_context_window").and_then(Value::as_i64) {
        Some(tokens) if tokens >= 1000 => {
            carried.setting("agent.context_window", tokens, "model_context_window");
        }
        Some(_) => carried.leave(
            "model_context_window",
            "it is less than the 1000 tokens that a run needs; write `context_window` of `[agent]` yourself",
        ),
        None => {}
    }
}

fn is_name(name: &str) -> bool {
    crate::config::ProviderName::parse(name).is_some()
}

fn is_name_of_model(name: &str) -> bool {
    !name.is_empty() && !name.chars().any(|c| c.is_whitespace() || c.is_control())
}

fn model_provider(name: &str, provider: &Value, carried: &mut Carried) {
    let at = format!("model_providers.{name}");
    let Some(members) = provider.as_object().filter(|_| is_name(name)) else {
        return carried.leave(at, "a provider has a name of letters, digits, `-` and `_`, and a table");
    };
    let Some(base_url) = members.get("base_url").and_then(Value::as_str) else {
        return carried.leave(at, "it does not say where it is");
    };
    if looks_secret::address_may_hold_secret(base_url) {
        return carried.leave(format!("{at}.base_url"), "it may hold a secret, which is not copied");
    }
    let mut table = Table::new();
    if ![OPENAI, "anthropic"].contains(&name) {
        table.insert("like", toml_edit::value(OPENAI));
    }
    table.insert("base_url", toml_edit::value(base_url));
    let mut headers = Array::new();
    for (key, value) in members {
        let here = format!("{at}.{key}");
        match (key.as_str(), value) {
            ("base_url" | "name", _) => {}
            ("env_key", Value::String(variable)) if is_variable(variable) => {
                table.insert("key", toml_edit::value(variable.as_str()));
            }
            ("wire_api", Value::String(api)) if ["chat", "responses"].contains(&api.as_str()) => {
                table.insert("wire", toml_edit::value(api.as_str()));
            }
            ("env_http_headers", Value::Object(pairs)) => {
                for (header, variable) in pairs {
                    match variable.as_str().filter(|variable| is_variable(variable)) {
                        Some(variable) => headers.push(format!("{header}: ${variable}")),
                        None => carried.leave(format!("{here}.{header}"), "it is not a name of a variable"),
                    }
                }
            }
            ("http_headers", Value::Object(pairs)) => {
                for header in pairs.keys() {
                    let why = format!(
                        "its value may be a secret, and is not copied; write `header = [\"{header}: $VARIABLE\"]`"
                    );
                    carried.leave(format!("{here}.{header}"), why);
                }
            }
            ("env_key", _) => carried.leave(
                here,
                "a variable has capitals, digits and `_`; set one of such a name, and write it as `key`",
            ),
            _ => carried.leave(here, "it has no counterpart here"),
        }
    }
    if !headers.is_empty() {
        table.insert("header", toml_edit::value(headers));
    }
    carried.table("providers", name, table, &at);
}

fn is_variable(name: &str) -> bool {
    let starts = name.starts_with(|c: char| c.is_ascii_uppercase() || c == '_');
    starts && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

fn mcp_servers(members: &Map<String, Value>, carried: &mut Carried) {
    for (name, server) in members {
        let at = format!("mcp_servers.{name}");
        let (Ok(valid), Some(server)) = (name.parse::<ServerName>(), server.as_object()) else {
            let meant = haft::core::namespace(name);
            carried.leave(
                &at,
                format!("a server cannot be called so here; add it as `{meant}` with `haft mcp add`"),
            );
            continue;
        };
        let mut server = server.clone();
        forwarded(&mut server, &at, carried);
        for (list, key) in [("enabled_tools", "allow"), ("disabled_tools", "deny")] {
            let Some(tools) = server.remove(list) else { continue };
            let texts: Vec<&str> = tools.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            let here = format!("{at}.{list}");
            if key == "deny" {
                for tool in texts {
                    carried.rule(super::carried::List::Deny, format!("call(@{name}/{tool})"), &here);
                }
            } else {
                let why =
                    format!("leave the others out with `select` of `[tools]`, as in `!@{name}/delete_*`");
                carried.leave(here, why);
            }
        }
        servers::one(valid.as_str(), &server, &at, false, carried);
    }
}

/// Writes what Codex takes from variables as the variables themselves.
fn forwarded(server: &mut Map<String, Value>, at: &str, carried: &mut Carried) {
    let is_variable =
        |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let mut pairs: Vec<(&str, String, String)> = Vec::new();
    if let Some(Value::String(variable)) = server.remove("bearer_token_env_var") {
        pairs.push(("http_headers", "Authorization".to_owned(), format!("Bearer ${{{variable}}}")));
    }
    if let Some(Value::Object(headers)) = server.remove("env_http_headers") {
        for (header, variable) in headers {
            pairs.push(("http_headers", header, format!("${{{}}}", variable.as_str().unwrap_or_default())));
        }
    }
    if let Some(Value::Array(names)) = server.remove("env_vars") {
        for (place, name) in names.iter().enumerate() {
            match name.as_str().filter(|name| is_variable(name)) {
                Some(name) => pairs.push(("env", name.to_owned(), format!("${{{name}}}"))),
                None => carried.leave(format!("{at}.env_vars[{place}]"), "it is not a name of a variable"),
            }
        }
    }
    for (table, name, value) in pairs {
        if !looks_secret::is_reference(&value) {
            carried.leave(format!("{at}.{table}.{name}"), "it names no variable");
            continue;
        }
        let members = server.entry(table).or_insert_with(|| Value::Object(Map::new()));
        if let Some(members) = members.as_object_mut() {
            members.insert(name, Value::String(value));
        }
    }
}
