use super::carried::{Carried, Left, List};
use anyhow::{Result, anyhow};
use toml_edit::{Array, DocumentMut, Item, Table, Value};

/// Adds what is carried over to a file, with all that is in it kept as it is written.
pub(super) fn merged(before: &str, carried: &mut Carried) -> Result<String> {
    let mut document: DocumentMut =
        before.parse().map_err(|error: toml_edit::TomlError| anyhow!("{}", error.message().trim()))?;
    let mut left = Vec::new();
    let is_set = |file: &str, at: &str, key: &str| Left {
        file: file.to_owned(),
        at: at.to_owned(),
        why: format!("`{key}` is set already, and kept as it is"),
    };
    // How a model is asked belongs to it, so nothing of that is added to another.
    let has_model = document.get("agent").and_then(|agent| agent.get("model")).map(said);
    // Keys of the top stand ahead of all tables.
    for (key, value, (file, at)) in &carried.settings {
        let (table, name) = match key.rsplit_once('.') {
            Some((table, name)) => (place(&mut document, table)?, name),
            None => (document.as_table_mut(), key.as_str()),
        };
        let is_of_other = key.starts_with("agent.")
            && has_model.as_ref().is_some_and(|model| {
                carried
                    .settings
                    .iter()
                    .any(|(key, value, _)| key == "agent.model" && value.to_string().trim() != model)
            });
        match table.get(name) {
            None if is_of_other => left.push(Left {
                file: file.clone(),
                at: at.clone(),
                why: "it belongs to another model than the one that is set".to_owned(),
            }),
            None => drop(table.insert(name, Item::Value(value.clone()))),
            Some(there) if said(there) == value.to_string().trim() => {}
            Some(_) => left.push(is_set(file, at, key)),
        }
    }
    for list in List::ALL {
        let rules: Vec<&str> =
            carried.rules.iter().filter(|(of, _)| *of == list).map(|(_, rule)| rule.as_str()).collect();
        add(&mut document, "permissions", list.name(), &rules)?;
    }
    let roots: Vec<&str> = carried.roots.iter().map(String::as_str).collect();
    add(&mut document, "workdir", "roots", &roots)?;
    for ((below, name), (table, (file, at))) in &carried.tables {
        let parent = place(&mut document, below)?;
        match parent.get(name) {
            None => drop(parent.insert(name, Item::Table(table.clone()))),
            Some(there) if is_same(there, table) => {}
            Some(_) => left.push(is_set(file, at, &format!("{below}.{name}"))),
        }
    }
    carried.left.extend(left);
    Ok(document.to_string())
}

/// Finds a table, and makes it and those above it where they are missing.
fn place<'d>(document: &'d mut DocumentMut, path: &str) -> Result<&'d mut Table> {
    let mut table = document.as_table_mut();
    let names: Vec<&str> = path.split('.').collect();
    for (depth, name) in names.iter().enumerate() {
        let is_last = depth + 1 == names.len();
        let is_only_parent = ["mcp", "providers"].contains(name) || (*name == "servers" && depth == 1);
        let item = table.entry(name).or_insert_with(|| {
            let mut made = Table::new();
            // Where only tables are in it, it needs no line of its own.
            made.set_implicit(!is_last || is_only_parent);
            Item::Table(made)
        });
        if let Item::Value(Value::InlineTable(inline)) = item {
            *item = Item::Table(std::mem::take(inline).into_table());
        }
        table = item.as_table_mut().ok_or_else(|| anyhow!("`{name}` is not a table in it"))?;
    }
    Ok(table)
}

/// Adds texts to a list that are not in it.
fn add(document: &mut DocumentMut, table: &str, key: &str, texts: &[&str]) -> Result<()> {
    if texts.is_empty() {
        return Ok(());
    }
    let table = place(document, table)?;
    let item = table.entry(key).or_insert_with(|| Item::Value(Value::Array(Array::new())));
    let list = item.as_array_mut().ok_or_else(|| anyhow!("`{key}` is not a list in it"))?;
    let there: Vec<String> = list.iter().filter_map(|value| value.as_str().map(str::to_owned)).collect();
    let new: Vec<&str> =
        texts.iter().copied().filter(|text| !there.iter().any(|other| other == text)).collect();
    if new.is_empty() {
        return Ok(());
    }
    let is_of_lines = there.is_empty() || list.to_string().contains('\n');
    let mut comments = comments_behind(list);
    for text in new {
        let mut value = Value::from(text);
        if is_of_lines {
            value.decor_mut().set_prefix(format!("{}\n    ", std::mem::take(&mut comments)));
        } else if !there.is_empty() {
            value.decor_mut().set_prefix(" ");
        }
        list.push_formatted(value);
    }
    if is_of_lines {
        list.set_trailing_comma(true);
        list.set_trailing("\n");
    }
    Ok(())
}

/// Takes the comments behind the last entry of a list, which stay there when others follow.
fn comments_behind(list: &mut Array) -> String {
    let mut comments = String::new();
    let end = list.len().checked_sub(1).and_then(|end| list.get_mut(end));
    if let Some(end) = end
        && let Some(suffix) =
            end.decor().suffix().and_then(|suffix| suffix.as_str()).filter(|suffix| suffix.contains('#'))
    {
        comments.push_str(suffix.trim_end());
        end.decor_mut().set_suffix("");
    }
    if let Some(trailing) = list.trailing().as_str().filter(|trailing| trailing.contains('#')) {
        comments.push_str(trailing.trim_end());
    }
    comments
}

fn said(item: &Item) -> String {
    item.as_value().map(|value| value.clone().decorated("", "").to_string()).unwrap_or_default()
}

fn is_same(item: &Item, table: &Table) -> bool {
    let plain = |text: String| text.parse::<toml::Table>().ok();
    let there = match item {
        Item::Table(there) => plain(there.to_string()),
        Item::Value(Value::InlineTable(there)) => plain(there.clone().into_table().to_string()),
        _ => None,
    };
    there.is_some() && there == plain(table.to_string())
}
