use super::carried::Carried;
use crate::looks_secret;
use haft::mcp::{ServerName, ServersFile};
use serde_json::{Map, Value};
use toml_edit::{Array, InlineTable, Table};

/// Carries servers over that are written as in `.mcp.json`; those that are named as disabled stay so.
pub(super) fn servers(members: &Map<String, Value>, at: &str, disabled: &[&str], carried: &mut Carried) {
    for (name, server) in members {
        let at = format!("{at}.{name}");
        let Ok(valid) = name.parse::<ServerName>() else {
            let meant = haft::core::namespace(name);
            carried.leave(
                &at,
                format!("a server cannot be called so here; add it as `{meant}` with `haft mcp add`"),
            );
            continue;
        };
        let Some(server) = server.as_object() else {
            carried.leave(&at, "it is not a table");
            continue;
        };
        one(valid.as_str(), server, &at, disabled.contains(&name.as_str()), carried);
    }
}

/// Carries one server over.
pub(super) fn one(
    name: &str,
    server: &Map<String, Value>,
    at: &str,
    is_disabled: bool,
    carried: &mut Carried,
) {
    let mut table = Table::new();
    let mut left = Vec::new();
    for (field, value) in server {
        let here = format!("{at}.{field}");
        match (field.as_str(), value) {
            ("command", Value::String(command)) => drop(table.insert("command", command.into_item())),
            ("args", Value::Array(items)) => arguments(name, items, &here, &mut table, &mut left),
            ("env", Value::Object(pairs)) => references("env", name, pairs, &here, &mut table, &mut left),
            ("headers" | "http_headers", Value::Object(pairs)) => {
                references("headers", name, pairs, &here, &mut table, &mut left);
            }
            ("url" | "serverUrl" | "httpUrl", Value::String(url)) => {
                if looks_secret::address_may_hold_secret(url) {
                    let why = "its address may hold a secret, which is not copied; add the server with `haft mcp add`, with a variable for that part";
                    carried.leave(&here, why);
                    return;
                }
                table.insert("url", url.into_item());
            }
            ("type" | "transport", Value::String(kind)) if kind == "sse" => {
                let why = "the transport `sse` of 2024 is not spoken; if the server has streamable HTTP, too, add that address with `haft mcp add`";
                carried.leave(&here, why);
                return;
            }
            ("cwd", Value::String(directory)) => drop(table.insert("cwd", directory.into_item())),
            ("disabled", Value::Bool(true)) | ("enabled", Value::Bool(false)) => {
                table.insert("disabled", toml_edit::value(true));
            }
            // What it is follows from the other fields.
            ("type" | "transport", Value::String(_))
            | ("description" | "name" | "version", _)
            | ("disabled" | "enabled", Value::Bool(_)) => {}
            ("timeout", Value::Number(milliseconds)) => {
                limit(&mut table, "timeout", format!("{milliseconds}ms"));
            }
            ("startup_timeout_sec", Value::Number(seconds)) => {
                limit(&mut table, "start_timeout", format!("{seconds}s"));
            }
            ("startup_timeout_ms", Value::Number(time)) => {
                limit(&mut table, "start_timeout", format!("{time}ms"));
            }
            ("tool_timeout_sec", Value::Number(seconds)) => {
                limit(&mut table, "timeout", format!("{seconds}s"));
            }
            ("autoApprove" | "alwaysAllow" | "trust", _) => {
                left.push((
                    here,
                    format!("what may be called is said by rules; write `call(@{name}/TOOL)` into `allow`"),
                ));
            }
            ("oauth" | "auth" | "login", _) => {
                left.push((here, format!("a login is not carried over; run `haft mcp login {name}`")));
            }
            _ => left.push((here, "it has no counterpart here".to_owned())),
        }
    }
    if is_disabled {
        table.insert("disabled", toml_edit::value(true));
    }
    if let Some(problem) = problem(name, &table) {
        carried.leave(at, format!("it could not be used: {problem}"));
        return;
    }
    for (at, why) in left {
        carried.leave(at, why);
    }
    carried.table("mcp.servers", name, table, at);
}

/// Says what is wrong with a server that is to be written, if anything is.
fn problem(name: &str, table: &Table) -> Option<String> {
    let mut document = toml_edit::DocumentMut::new();
    let mut servers = Table::new();
    servers.insert(name, toml_edit::Item::Table(table.clone()));
    let mut mcp = Table::new();
    mcp.insert("servers", toml_edit::Item::Table(servers));
    document.insert("mcp", toml_edit::Item::Table(mcp));
    let variable = |_: &str| Some("x".to_owned());
    match ServersFile::from_toml(&document.to_string(), "haft.toml", &variable) {
        Ok(read) => {
            let problem = read.refused.first()?.problems.first()?;
            let field = problem.field.as_ref().map(|field| format!("`{field}`: ")).unwrap_or_default();
            Some(format!("{field}{}", problem.message))
        }
        Err(error) => Some(error.to_string()),
    }
}

/// Writes arguments, with variables for what may be a secret.
fn arguments(server: &str, items: &[Value], at: &str, table: &mut Table, left: &mut Vec<(String, String)>) {
    let mut list = Array::new();
    let mut is_behind_name = false;
    for (place, item) in items.iter().enumerate() {
        let text = match item {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            Value::Bool(switch) => switch.to_string(),
            _ => {
                left.push((format!("{at}[{place}]"), "it is not text".to_owned()));
                continue;
            }
        };
        let (name, value) = match text.split_once('=') {
            Some((name, value)) if name.starts_with('-') && looks_secret::names_secret(name) => {
                (format!("{name}="), value.to_owned())
            }
            _ => (String::new(), text.clone()),
        };
        let is_secret = !value.is_empty()
            && !looks_secret::is_reference(&value)
            && (!name.is_empty()
                || (is_behind_name && !text.starts_with('-'))
                || looks_secret::looks_secret(&value));
        if is_secret {
            let variable = looks_secret::variable(&[server, "ARG", &(place + 1).to_string()]);
            list.push(format!("{name}${{{variable}}}"));
            left.push((format!("{at}[{place}]"), not_copied(&variable)));
        } else {
            list.push(text.as_str());
        }
        is_behind_name = text.starts_with('-') && !text.contains('=') && looks_secret::names_secret(&text);
    }
    table.insert("args", toml_edit::value(list));
}

/// Writes values as the variables that have them: whether one is a secret cannot be told.
fn references(
    field: &str,
    server: &str,
    pairs: &Map<String, Value>,
    at: &str,
    table: &mut Table,
    left: &mut Vec<(String, String)>,
) {
    let mut written = InlineTable::new();
    for (name, value) in pairs {
        let here = format!("{at}.{name}");
        let value = match value {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            Value::Bool(switch) => switch.to_string(),
            _ => {
                left.push((here, "it is not text".to_owned()));
                continue;
            }
        };
        if looks_secret::is_reference(&value) || value.is_empty() {
            written.insert(name, value.into());
            continue;
        }
        let is_variable = field == "env" && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let variable = if is_variable { name.clone() } else { looks_secret::variable(&[server, name]) };
        written.insert(name, looks_secret::reference(&value, &variable).into());
        left.push((here, not_copied(&variable)));
    }
    if !written.is_empty() {
        table.insert(field, toml_edit::value(written));
    }
}

fn not_copied(variable: &str) -> String {
    format!(
        "its value may be a secret, and is not copied; set the variable {variable} to it where haft is started"
    )
}

/// Adds one of the limits of a server.
pub(super) fn limit(table: &mut Table, name: &str, time: String) {
    let item = table.entry("limits").or_insert_with(|| toml_edit::value(InlineTable::new()));
    if let Some(limits) = item.as_inline_table_mut() {
        limits.insert(name, time.into());
    }
}

/// Makes an item of a text.
trait IntoItem {
    fn into_item(self) -> toml_edit::Item;
}

impl IntoItem for &String {
    fn into_item(self) -> toml_edit::Item {
        toml_edit::value(self.as_str())
    }
}
