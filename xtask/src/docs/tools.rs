//! The page of the tools, made of what a model is told of them.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Context as _;
use serde_json::Value;

use super::cell;

/// Makes the page of the specifications that `haft tools --json` prints.
pub(super) fn page(root: &Path, specs: &str) -> anyhow::Result<String> {
    let specs: Vec<Value> = serde_json::from_str(specs).context("`haft tools --json` prints no list")?;
    let mut page = "# Tools\n\n\
                    <!-- Written by `cargo xtask docs` from `haft tools --json`. -->\n\n\
                    What a model is told of each tool of the command, with the bounds of its arguments. How a tool answers is shown\n\
                    by its cases, which are its tests; what all replies are bounded to stands in [bounds](../concepts/bounds.md).\n\n"
        .to_owned();
    for spec in &specs {
        let name = spec["name"].as_str().context("a tool has no name")?;
        let _ = writeln!(page, "- [`{name}`](#{name})");
    }
    for spec in &specs {
        tool(root, &mut page, spec)?;
    }
    Ok(page)
}

fn tool(root: &Path, page: &mut String, spec: &Value) -> anyhow::Result<()> {
    let name = spec["name"].as_str().context("a tool has no name")?;
    let description = spec["description"].as_str().unwrap_or_default();
    let _ = writeln!(page, "\n## `{name}`\n\n{}\n", description.trim());
    let hints = spec["hints"].as_object().into_iter().flatten();
    let hints: Vec<_> =
        hints.filter(|(_, is)| is.as_bool() == Some(true)).map(|(hint, _)| format!("`{hint}`")).collect();
    if !hints.is_empty() {
        let _ = writeln!(page, "Hints, which permit nothing: {}.\n", hints.join(", "));
    }
    let schema = &spec["input_schema"];
    let required: Vec<_> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    page.push_str("| argument | type | bounds | what it is |\n| --- | --- | --- | --- |\n");
    for (argument, says) in schema["properties"].as_object().into_iter().flatten() {
        let must = if required.contains(&argument.as_str()) { "" } else { "?" };
        let what = says["description"].as_str().unwrap_or_default();
        let _ = writeln!(page, "| `{argument}`{must} | {} | {} | {} |", kind(says), bounds(says), cell(what));
    }
    if let Some(cases) = cases(root, name)? {
        let _ = writeln!(page, "\n[Cases](../../{cases}): how it answers.");
    }
    Ok(())
}

/// Says of which type a value is, in one or two words.
fn kind(schema: &Value) -> String {
    if let Some(values) = schema["enum"].as_array() {
        return cell(&values.iter().map(|value| format!("`{value}`")).collect::<Vec<_>>().join(", "));
    }
    let one = |name: &str| match name {
        "array" => format!("list of {}", plural(&kind(&schema["items"]))),
        name => name.to_owned(),
    };
    match &schema["type"] {
        Value::String(name) => one(name),
        Value::Array(names) => {
            names.iter().filter_map(Value::as_str).map(one).collect::<Vec<_>>().join(" or ")
        }
        _ => ["anyOf", "oneOf"]
            .into_iter()
            .find_map(|any| schema[any].as_array())
            .map_or_else(|| "object".to_owned(), |any| any.iter().map(kind).collect::<Vec<_>>().join(" or ")),
    }
}

fn plural(kind: &str) -> String {
    if kind.ends_with('s') || kind.contains('`') { kind.to_owned() } else { format!("{kind}s") }
}

fn bounds(schema: &Value) -> String {
    const SAID: [(&str, &str); 8] = [
        ("minimum", "at least"),
        ("maximum", "at most"),
        ("minLength", "characters at least"),
        ("maxLength", "characters at most"),
        ("minItems", "items at least"),
        ("maxItems", "items at most"),
        ("pattern", "fits"),
        ("default", "by default"),
    ];
    let said = SAID.iter().filter_map(|(key, said)| Some(format!("{said} `{}`", schema.get(key)?)));
    cell(&said.collect::<Vec<_>>().join(", "))
}

/// Finds the page of a tool's cases.
fn cases(root: &Path, name: &str) -> anyhow::Result<Option<String>> {
    let mut crates: Vec<_> = std::fs::read_dir(root.join("crates"))
        .context("cannot list crates")?
        .filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()))
        .filter(|name| name.starts_with("haft-tool-"))
        .collect();
    crates.sort();
    let paths = crates.iter().flat_map(|family| {
        ["cases", "cases-code", "manage_cases"]
            .map(|folder| format!("crates/{family}/tests/{folder}/{name}.md"))
    });
    Ok(paths.into_iter().find(|path| root.join(path).is_file()))
}

#[cfg(test)]
mod tests {
    use super::page;
    use std::path::Path;

    #[test]
    fn a_tool_is_told_with_the_bounds_of_its_arguments() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let specs = r#"[{"name": "glob", "description": "Finds files.", "hints": {"read_only": true, "destructive": false},
            "input_schema": {"type": "object", "required": ["pattern"], "properties": {
                "limit": {"type": "integer", "minimum": 1, "maximum": 9, "default": 3, "description": "How many | at most."},
                "pattern": {"type": "string"}, "sort": {"enum": ["path", "newest"]},
                "paths": {"type": ["array", "null"], "items": {"type": "string"}}}}}]"#;
        let page = page(root, specs).unwrap();
        let (_, tool) = page.split_once("\n## ").unwrap();
        assert_eq!(
            tool,
            "`glob`\n\nFinds files.\n\nHints, which permit nothing: `read_only`.\n\n\
             | argument | type | bounds | what it is |\n| --- | --- | --- | --- |\n\
             | `limit`? | integer | at least `1`, at most `9`, by default `3` | How many \\| at most. |\n\
             | `paths`? | list of strings or null |  |  |\n\
             | `pattern` | string |  |  |\n\
             | `sort`? | `\"path\"`, `\"newest\"` |  |  |\n\n\
             [Cases](../../crates/haft-tool-search/tests/cases/glob.md): how it answers.\n"
        );
    }
}
