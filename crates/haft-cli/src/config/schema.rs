use super::agent_table::AgentTable;
use super::executor_table::ExecutorTable;
use super::providers::ProviderTable;
use super::store_table::StoreTable;
use super::tables::{ToolsTable, WorkdirTable};
use super::telemetry_table::TelemetryTable;
use crate::exit::Exit;
use crate::openapi;
use haft::mcp::ServersFile;
use haft::policy::PolicyFile;
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// Prints the JSON Schema of `haft.toml`.
pub(super) fn print() -> Exit {
    out!("{}", text());
    Exit::Done
}

/// Writes the schema as it is published.
fn text() -> String {
    format!("{:#}\n", schema())
}

/// Makes the schema of what reads the file: its own tables, the policy's and those of servers and documents.
pub(super) fn schema() -> Value {
    // The draft that editors know best.
    let mut generator = SchemaSettings::draft07().into_generator();
    let mut properties = PolicyFile::schema();
    properties.extend(own(&mut generator));
    let mut definitions = Value::Object(generator.take_definitions(true));
    let mut properties = Value::Object(properties);
    [&mut properties, &mut definitions].into_iter().for_each(without_what_toml_has_not);
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "haft.toml",
        "description": "What agents may do, and what they work with: the configuration of haft.",
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
        "definitions": definitions,
    })
}

/// The tables that are no part of a policy.
fn own(generator: &mut SchemaGenerator) -> Map<String, Value> {
    let named = |schema: Value, what: &str| json!({ "type": "object", "description": what, "additionalProperties": schema });
    let servers = named(ServersFile::schema(), "Servers whose tools are tools here, by their names.");
    let mcp = json!({
        "type": "object",
        "description": "Servers of the Model Context Protocol.",
        "properties": { "servers": servers },
        "additionalProperties": false,
    });
    let openapi =
        named(openapi::schema(generator).into(), "APIs whose operations are tools here, by their names.");
    let mut providers = named(
        generator.subschema_for::<ProviderTable>().into(),
        "Services whose models `haft agent` can ask, by their names.",
    );
    providers["propertyNames"] = json!({ "pattern": "^[A-Za-z0-9_-]{1,32}$" });
    let shell = json!({
        "type": "object",
        "description": "Commands that are known beside those that haft knows.",
        "properties": {
            "catalog": {
                "type": "string",
                "description": "A file of such entries beside this one, in your own `haft.toml` alone.",
            },
            "catalogue": {
                "type": "string",
                "description": "The same as `catalog`.",
                "deprecated": true,
            },
            "commands": {
                "type": "object",
                "description": "What commands do, by their names, in the format of the catalog.",
                "additionalProperties": { "type": "object" },
            },
        },
        "additionalProperties": false,
    });
    let tables = [
        ("agent", generator.subschema_for::<AgentTable>().into()),
        ("executor", generator.subschema_for::<ExecutorTable>().into()),
        ("mcp", mcp),
        ("openapi", openapi),
        ("providers", providers),
        ("shell", shell),
        ("store", generator.subschema_for::<StoreTable>().into()),
        ("telemetry", generator.subschema_for::<TelemetryTable>().into()),
        ("tools", generator.subschema_for::<ToolsTable>().into()),
        ("workdir", generator.subschema_for::<WorkdirTable>().into()),
    ];
    tables.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect()
}

/// Leaves out what no TOML says: there is no null in it, and its numbers have no formats.
fn without_what_toml_has_not(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            members.remove("format");
            if members.get("default").is_some_and(|default| default.is_null() || default == "") {
                members.remove("default");
            }
            if let Some(Value::Array(kinds)) = members.get_mut("type") {
                kinds.retain(|kind| kind != "null");
                if let [only] = kinds.as_slice() {
                    let only = only.clone();
                    members.insert("type".to_owned(), only);
                }
            }
            if let Some(Value::Array(words)) = members.get_mut("enum") {
                words.retain(|word| !word.is_null());
            }
            if let Some(Value::Array(ways)) = members.get_mut("anyOf") {
                ways.retain(|way| *way != json!({ "type": "null" }));
            }
            members.values_mut().for_each(without_what_toml_has_not);
        }
        Value::Array(items) => items.iter_mut().for_each(without_what_toml_has_not),
        _ => {}
    }
}

#[cfg(test)]
mod tests;
