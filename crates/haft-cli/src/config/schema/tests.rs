//! The schema and the readers of `haft.toml` agree: what is read fits the schema, and what neither knows both refuse.

use super::super::commands;
use super::super::file::{ConfigFile, Layer};
use super::super::tables::Tables;
use super::{schema, text};
use crate::init::{FOR_USER, for_each_kind_of_project};
use crate::openapi;
use expect_test::{expect, expect_file};
use haft::Workdir;
use haft::mcp::ServersFile;
use haft::policy::{PolicyFile, Profile};
use haft::tools_core::RuleLanguage;
use jsonschema::Validator;
use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use toml::{Table, Value};

static VALIDATOR: LazyLock<Validator> = LazyLock::new(|| jsonschema::draft7::new(&schema()).unwrap());

static LANGUAGE: LazyLock<RuleLanguage> = LazyLock::new(|| {
    let directory = tempfile::tempdir().unwrap();
    haft::DefaultRules::new(&Workdir::open(directory.path()).unwrap()).home(directory.path()).language()
});

/// Each table and each key with a value that is right.
const EVERYTHING: &str = r#"
include = ["shared.toml"]
profile = "workspace_write"

[permissions]
mode = "default"
allow = ["read(**)", "exec(cargo test *)"]
ask = ["write(Cargo.lock)"]
deny = ["write(**/.env)"]

[agents.explorer.permissions]
allow = ["read(src/**)"]
[agents.explorer.ceiling]
deny = ["connect(*)"]

[limits]
timeout = "2min"
timeout_ceiling = 3600
idle_timeout = 1.5
grace = "2s"
output_bytes = "64 KiB"
bounded_output_bytes = 65536
output_lines = 100
line_bytes = 100
media_bytes = "5 MiB"
data_bytes = 1
nesting = 2
input_bytes = "1 MiB"
approval_lifetime = "24h"
update_interval = "50ms"
[limits.retries]
most = 1
delay = "1s"
longest_delay = "5s"
[limits.widths]
read = 64
connect = 8
write = 4
execute = 2
opaque = 1
[limits.tools."@github"]
timeout = "30s"
idle_timeout = "5s"
output_bytes = 1000
output_lines = 10

[sandbox]
mode = "prefer"

[[test]]
name = "secrets"
access = "write(config/.env)"
expect = "deny"
agent = "explorer"
mode = "plan"
[[test]]
command = "git status"
expect = "ask"
agent = ["lead", "explorer"]
[[test]]
tool = "read_file"
input = { path = "a" }
expect = "allow"

[shell]
catalog = "commands.toml"
[shell.commands.lines]
options = "-n"
operands = "read*"

[executor]
restate = "http://127.0.0.1:8080"
admin = "http://127.0.0.1:9070"
pool = "tools"
routes = ["browse_*=browsers"]

[store]
postgres = "postgres://haft@db.example.org/haft"
password = "HAFT_DB_PASSWORD"
password_file = "password"
schema = "haft"
authorities = "authorities.pem"

[telemetry]
endpoint = "https://otlp.example.com"
header = ["api-key: $OTLP_KEY"]
content = true

[tools]
select = "!web_fetch"

[workdir]
roots = ["../docs:ro"]

[mcp.servers.time]
command = "uvx"
args = ["mcp-server-time", 1]
env = { KEY = "x" }
cwd = "/"
type = "stdio"
start = "eager"
era = "legacy"
log_level = "none"
resource_tools = true
orders_itself = false
repeatable = ["get"]
description = "tells the time"
limits = { start_timeout = "10s", probe_timeout = "1s", idle_timeout = "1m", timeout = "1h", message = "1 MiB", restarts = 5, restart_window = "5min" }
[mcp.servers.docs]
url = "https://mcp.example.com/mcp"
headers = { "X-Team" = "ours" }
authorities = "ca.pem"
[mcp.servers.docs.login]
client_id = "haft"
client_secret = "s"
issuer = "https://login.example.com"
client_metadata_url = "https://example.com/client"
scopes = ["read"]
redirect_port = 8765
[mcp.servers.index]
unix = "/run/index.sock"
disabled = false

[openapi.pets]
document = "openapi.yaml"
disabled = false
server = "https://api.example.com"
variables = { region = "eu" }
references = true
forms = "brackets"
headers = { "X-A" = "b" }
allow_origins = ["https://api.example.com"]
authorities = "ca.pem"
output_schemas = true
orders_itself = true
defer_above = 10
[openapi.pets.select]
tags = ["a"]
without_tags = ["b"]
methods = ["GET"]
paths = ["/a/**"]
without_paths = ["/b"]
operations = ["c"]
without_operations = ["d"]
without_deprecated = true
switches = "required"
[openapi.pets.credentials]
key = "s"
basic = { user = "u", password = "p" }
client = { client_id = "i", client_secret_file = "f", token_url = "https://l.example/t", scopes = ["s"], in_body = true }

[agent]
model = "local/m"
base_url = "https://api.example.org/v1"
header = ["X-A: b"]
wire = "chat"
effort = "low"
without = ["images", "parallel_calls"]
context_window = 100000
system = "system.md"
agents = "agents"
max_turns = 1
max_calls = 1
max_tokens = 1
max_time = "10m"
max_cost = 0.5
price = "in=3,out=15"

[providers.local]
like = "openai"
base_url = "http://127.0.0.1:11434/v1"
key = "LOCAL_KEY"
model = "m"
header = ["X-A: $B"]
wire = "responses"
"#;

/// Reads a file as the command does, without what it names.
fn reads(text: &str) -> Result<(), String> {
    PolicyFile::parse_with_others(text, "haft.toml", &LANGUAGE, &crate::config::TABLES)
        .map_err(|error| error.to_string())?;
    let file = ConfigFile {
        layer: Layer::User,
        path: "haft.toml".to_owned(),
        name: "haft.toml".to_owned(),
        folder: PathBuf::new(),
        text: text.to_owned(),
    };
    file.parse::<Tables>().map_err(|error| error.to_string())?;
    file.parse::<commands::Tables>().map_err(|error| error.to_string())?;
    let servers = ServersFile::from_toml(text, "haft.toml", &|_| Some("x".to_owned()))
        .map_err(|error| error.to_string())?;
    if !servers.disabled.is_empty() {
        return Err("a server is left out, and what is not started need not be right".to_owned());
    }
    let mut problems = servers.refused.iter().flat_map(|refused| &refused.problems).chain(&servers.warnings);
    if let Some(problem) = problems.next() {
        return Err(problem.to_string());
    }
    let table: Table = text.parse().map_err(|error: toml::de::Error| error.to_string())?;
    let documents = match table.get("openapi") {
        Some(documents) => documents.as_table().cloned().ok_or("`openapi` is no table")?,
        None => Table::new(),
    };
    documents
        .into_iter()
        .try_for_each(|(_, document)| openapi::reads(document).map_err(|error| format!("{error:#}")))
}

/// Tells whether a list stands where a table belongs: a list of a table's values in their order is read like the table, which
/// is no form that anybody is told of.
fn has_list_for_table(document: &Table) -> bool {
    let is_list = |value: &Value| value.is_array();
    let members = |value: &Value| value.as_table().cloned().unwrap_or_default();
    ["agent", "executor", "openapi", "providers", "shell", "store", "telemetry", "tools", "workdir"]
        .iter()
        .filter_map(|key| Some((*key, document.get(*key)?)))
        .any(|(key, value)| {
            let has_parts = ["openapi", "providers"].contains(&key);
            is_list(value)
                || has_parts
                    && members(value).values().any(|part| {
                        let part_members = members(part);
                        let credentials = part_members.get("credentials").map(members).unwrap_or_default();
                        is_list(part)
                            || part_members.get("select").is_some_and(is_list)
                            || credentials.values().any(is_list)
                    })
        })
}

fn fits(text: &str) -> Result<(), String> {
    let table: Table = text.parse().map_err(|error: toml::de::Error| error.to_string())?;
    let instance = serde_json::to_value(&table).unwrap();
    let errors: Vec<String> =
        VALIDATOR.iter_errors(&instance).map(|error| format!("{}: {error}", error.instance_path())).collect();
    if errors.is_empty() { Ok(()) } else { Err(errors.join("\n")) }
}

/// Takes a text that is right for both.
fn check(what: &str, text: &str) {
    assert_eq!((reads(text), fits(text)), (Ok(()), Ok(())), "{what}:\n{text}");
}

/// Takes a text that is wrong for both, and says why for the schema.
fn refused(text: &str) -> String {
    assert!(reads(text).is_err(), "it is read:\n{text}");
    fits(text).expect_err(text)
}

#[test]
fn the_published_schema_is_that_of_what_reads_the_file() {
    expect_file!["../../../../../docs/reference/haft.schema.json"].assert_eq(&text());
}

#[test]
fn every_table_and_key_is_read_and_fits() {
    check("everything", EVERYTHING);
    // No key is known to the schema alone, but for the names that others have for fields.
    let known: Table = EVERYTHING.parse().unwrap();
    let schema = schema();
    let missing: Vec<&String> = schema["properties"]
        .as_object()
        .unwrap()
        .keys()
        .filter(|key| !known.contains_key(key.as_str()))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn what_keys_were_called_before_is_read_and_fits() {
    let api = "[openapi.pets]\ndocument = \"openapi.yaml\"\n";
    let server = "[mcp.servers.docs]\nurl = \"https://mcp.example.com/mcp\"\n";
    for (table, earlier, now) in [
        (api, "ca = \"ca.pem\"\n", "authorities = \"ca.pem\"\n"),
        (server, "ca = \"ca.pem\"\n", "authorities = \"ca.pem\"\n"),
        ("[shell]\n", "catalogue = \"commands.toml\"\n", "catalog = \"commands.toml\"\n"),
        (server, "limits = { start = \"10s\" }\n", ""),
    ] {
        check(earlier, &format!("{table}{earlier}"));
        assert!(now.is_empty() || reads(&format!("{table}{earlier}{now}")).is_err(), "{earlier} and {now}");
    }
}

#[test]
fn what_init_writes_and_the_profiles_fit() {
    check("user", FOR_USER);
    for_each_kind_of_project(|name, text| {
        check(name, text);
        // What is commented out is right, too, once it is not.
        let commented = |line: &str| {
            line.strip_prefix("# ")
                .filter(|rest| rest.starts_with('[') || rest.contains(" = "))
                .map(str::to_owned)
        };
        let whole: Vec<String> =
            text.lines().map(|line| commented(line).unwrap_or_else(|| line.to_owned())).collect();
        check(name, &whole.join("\n"));
    });
    for profile in Profile::ALL {
        check(profile.as_str(), profile.text());
    }
}

#[test]
fn every_example_of_the_pages_fits() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut pages = vec![root.join("README.md")];
    let mut folders = vec![root.join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            match entry.path() {
                path if path.is_dir() => folders.push(path),
                path if path.extension().is_some_and(|end| end == "md") => pages.push(path),
                _ => {}
            }
        }
    }
    let mut count = 0;
    for page in pages {
        let markdown = fs::read_to_string(&page).unwrap();
        for block in markdown.split("\n```toml").skip(1) {
            let (kind, body) = block.split_once('\n').unwrap();
            // The clients of a server are in a file of their own.
            let is_of_clients = body.starts_with("[clients.");
            if !is_of_clients && matches!(kind.trim(), "" | "policy" | "user" | "workspace") {
                check(&page.display().to_string(), body.split("\n```").next().unwrap());
                count += 1;
            }
        }
    }
    assert!(count > 15, "{count} examples were found");
}

#[test]
#[expect(clippy::too_many_lines, reason = "it is the list of mistakes")]
fn mistakes_fit_no_more_than_they_are_read() {
    let mistakes = [
        "profle = \"read_only\"",
        "profile = \"read-only\"",
        "[permission]\nallow = []",
        "[permissions]\nallow = \"read(**)\"",
        "[permissions]\ndney = []",
        "[limits]\ntimeout = true",
        "[limits]\ntimeout = \"5 hours\"",
        "[limits]\noutput_lines = \"many\"",
        "[sandbox]\nmode = \"on\"",
        "[[test]]\naccess = \"read(a)\"",
        "[[test]]\naccess = \"read(a)\"\ncommand = \"ls\"\nexpect = \"ask\"",
        "[tools]\nselect = [\"bash\"]",
        "[workdir]\nroot = []",
        "[mcp.servers.a]\ncomand = \"x\"",
        "[mcp.servers.a]\ncommand = \"x\"\nstart = \"now\"",
        "[mcp.servers.a]\ncommand = \"x\"\nlimits = { timeout = 5 }",
        "[mcp.server.a]\ncommand = \"x\"",
        "[openapi.a]\ndocument = \"x\"\nforms = \"odd\"",
        "[openapi.a]\ndocument = \"x\"\ncredentials = { a = { secrt = \"x\" } }",
        "[agent]\nmax_turns = 0",
        "[agent]\nmodle = \"x\"",
        "[providers.a]\nkey = \"sk-123\"",
        "[providers.\"a b\"]\nlike = \"openai\"",
    ];
    let told: Vec<String> = mistakes
        .iter()
        .map(|text| format!("{text}\n  -> {}\n", refused(text).replace('\n', "\n     ")))
        .collect();
    expect![[r#"
        profle = "read_only"
          -> : Additional properties are not allowed ('profle' was unexpected)
        profile = "read-only"
          -> /profile: "read-only" is not one of "read_only", "workspace_write" or "full_access"
        [permission]
        allow = []
          -> : Additional properties are not allowed ('permission' was unexpected)
        [permissions]
        allow = "read(**)"
          -> /permissions/allow: "read(**)" is not of type "array"
        [permissions]
        dney = []
          -> /permissions: Additional properties are not allowed ('dney' was unexpected)
        [limits]
        timeout = true
          -> /limits/timeout: true is not valid under any of the schemas listed in the 'anyOf' keyword
        [limits]
        timeout = "5 hours"
          -> /limits/timeout: "5 hours" is not valid under any of the schemas listed in the 'anyOf' keyword
        [limits]
        output_lines = "many"
          -> /limits/output_lines: "many" is not of type "integer"
        [sandbox]
        mode = "on"
          -> /sandbox/mode: "on" is not one of "off", "prefer" or "require"
        [[test]]
        access = "read(a)"
          -> /test/0: "expect" is a required property
        [[test]]
        access = "read(a)"
        command = "ls"
        expect = "ask"
          -> /test/0: {"access":"read(a)","command":"ls","expect":"ask"} is valid under more than one of the schemas listed in the 'oneOf' keyword
        [tools]
        select = ["bash"]
          -> /tools/select: ["bash"] is not of type "string"
        [workdir]
        root = []
          -> /workdir: Additional properties are not allowed ('root' was unexpected)
        [mcp.servers.a]
        comand = "x"
          -> /mcp/servers/a: Additional properties are not allowed ('comand' was unexpected)
        [mcp.servers.a]
        command = "x"
        start = "now"
          -> /mcp/servers/a/start: "now" is not one of "lazy" or "eager"
        [mcp.servers.a]
        command = "x"
        limits = { timeout = 5 }
          -> /mcp/servers/a/limits/timeout: 5 is not of type "string"
        [mcp.server.a]
        command = "x"
          -> /mcp: Additional properties are not allowed ('server' was unexpected)
        [openapi.a]
        document = "x"
        forms = "odd"
          -> /openapi/a/forms: "odd" is not one of "spec", "brackets" or "indexed"
        [openapi.a]
        document = "x"
        credentials = { a = { secrt = "x" } }
          -> /openapi/a/credentials/a: {"secrt":"x"} is not valid under any of the schemas listed in the 'anyOf' keyword
        [agent]
        max_turns = 0
          -> /agent/max_turns: 0 is less than the minimum of 1
        [agent]
        modle = "x"
          -> /agent: Additional properties are not allowed ('modle' was unexpected)
        [providers.a]
        key = "sk-123"
          -> /providers/a/key: "sk-123" does not match "^[A-Z_][A-Z0-9_]*$"
        [providers."a b"]
        like = "openai"
          -> /providers: "a b" does not match "^[A-Za-z0-9_-]{1,32}$"
    "#]].assert_eq(&told.concat());
}

/// Gives the tables and lists of a document in one order, and changes one of them.
fn changed(document: &mut Value, at: usize, change: usize, other: &Value) {
    fn places(value: &mut Value, at: &mut usize, act: &mut dyn FnMut(&mut Value)) {
        if *at == 0 {
            act(value);
            *at = usize::MAX;
            return;
        }
        *at = at.saturating_sub(1);
        match value {
            Value::Table(table) => table.iter_mut().for_each(|(_, value)| {
                if *at != usize::MAX {
                    places(value, at, act);
                }
            }),
            Value::Array(items) => items.iter_mut().for_each(|value| {
                if *at != usize::MAX {
                    places(value, at, act);
                }
            }),
            _ => {}
        }
    }
    let mut place = at;
    places(document, &mut place, &mut |value| match (change, value) {
        (0, Value::Table(table)) => {
            let first = table.keys().next().cloned();
            first.map(|key| table.remove(&key));
        }
        (1, Value::Table(table)) => {
            table.insert("zzz".to_owned(), other.clone());
        }
        (2, Value::Table(table)) => {
            if let Some(key) = table.keys().next_back().cloned() {
                table.insert(key, other.clone());
            }
        }
        (3, Value::Array(items)) => items.push(other.clone()),
        (_, value) => value.clone_from(other),
    });
}

fn other() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::String("x".to_owned())),
        Just(Value::String("30s".to_owned())),
        Just(Value::String("64 KiB".to_owned())),
        Just(Value::String(String::new())),
        Just(Value::Integer(0)),
        Just(Value::Integer(-1)),
        Just(Value::Integer(7)),
        Just(Value::Float(1.5)),
        Just(Value::Boolean(true)),
        Just(Value::Array(Vec::new())),
        Just(Value::Array(vec![Value::String("x".to_owned())])),
        Just(Value::Array(vec![Value::Integer(1)])),
        Just(Value::Table(Table::new())),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    /// What the readers take, the schema takes, whatever was done to a file that is right.
    #[test]
    fn what_is_read_fits(at in 0_usize..260, change in 0_usize..6, other in other(), more in 0_usize..260) {
        let mut document = Value::Table(EVERYTHING.parse().unwrap());
        changed(&mut document, at, change, &other);
        if more % 3 == 0 {
            changed(&mut document, more, change + 1, &other);
        }
        if let Value::Table(table) = &document {
            let text = toml::to_string(table).unwrap();
            if reads(&text).is_ok() && !has_list_for_table(table) {
                prop_assert_eq!(fits(&text), Ok(()), "{}", text);
            }
        }
    }
}
