use super::{OUTPUTS, Output};
use serde_json::Value;
use std::fmt::Write as _;

/// Writes the page of all of them.
pub(super) fn page() -> String {
    let mut page = "# Output for programs\n\nWhat commands print with `--json` is an interface: members are added, and none is taken away or given another \
                    meaning without a line in the [changelog](../changelog.md). Take no offence at members and events that you do not know.\n\
                    `haft schema COMMAND` prints each of these as JSON Schema. This page is generated from the types that are printed.\n"
        .to_owned();
    for Output { command, says, schema } in OUTPUTS {
        let schema = Value::from(schema());
        let _ = write!(page, "\n## `haft {command} --json`\n\n{}\n", sentence(&schema, says));
        members(&schema, &mut page);
    }
    page
}

fn sentence(schema: &Value, says: &str) -> String {
    let description =
        schema["description"].as_str().or(schema["items"]["description"].as_str()).unwrap_or_default();
    let description = description.split_whitespace().collect::<Vec<_>>().join(" ");
    match schema["type"].as_str() {
        Some("array") => format!("Described is {says}: a list. Of each entry:\n\n{description}"),
        _ => format!("Described is {says}.\n\n{description}"),
    }
}

/// Lists the members of an object, or of each form that there is.
fn members(schema: &Value, page: &mut String) {
    let root = schema;
    let at = |part: &Value| -> Value {
        let resolved = part["$ref"].as_str().and_then(|path| root.pointer(path.trim_start_matches('#')));
        let mut found = resolved.unwrap_or(part).clone();
        if let Some(description) = part.get("description") {
            found["description"] = description.clone();
        }
        found
    };
    let mut open = vec![at(if schema["type"] == "array" { &schema["items"] } else { schema })];
    while let Some(part) = open.pop() {
        let forms = part["anyOf"].as_array().or(part["oneOf"].as_array());
        if let Some(forms) = forms {
            open.extend(forms.iter().rev().map(at));
        }
        let Some(properties) = part["properties"].as_object() else { continue };
        if let Some(description) = part["description"].as_str() {
            let _ = write!(page, "\n{}\n", description.split_whitespace().collect::<Vec<_>>().join(" "));
        }
        page.push_str("\n| member | type | |\n|---|---|---|\n");
        let required: Vec<&str> =
            part["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        for (name, property) in properties {
            let optional = if required.contains(&name.as_str()) { "" } else { "?" };
            let described = property["description"].as_str().unwrap_or_default().replace('\n', " ");
            let _ = writeln!(page, "| `{name}`{optional} | {} | {described} |", kind(property));
        }
    }
}

/// Says in a word what a member is.
fn kind(property: &Value) -> String {
    if let Some(value) = property.get("const") {
        return format!("`{value}`");
    }
    if let Some(name) = property["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
        return name.to_owned();
    }
    match &property["type"] {
        Value::String(name) if name == "array" => format!("list of {}", kind(&property["items"])),
        Value::String(name) => name.clone(),
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or "),
        _ => match property["anyOf"].as_array() {
            Some(forms) => forms.iter().map(kind).collect::<Vec<_>>().join(" or "),
            None => "any".to_owned(),
        },
    }
}
