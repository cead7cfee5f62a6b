use haft_core::{Origin, ToolSpec, is_hidden};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The most characters that are told of a tool's description and of a parameter's.
const MOST_CHARACTERS: usize = 200;
const MOST_PARAMETER_CHARACTERS: usize = 100;

/// The most parameters that are told of a tool, and the most origins of tools.
const MOST_PARAMETERS: usize = 12;
const MOST_ORIGINS: usize = 20;

/// The most characters of the name that an origin has.
const MOST_NAME_CHARACTERS: usize = 40;

/// Says in a few lines what a tool does and what it takes, for a model that looks for one; with `from`, who says so.
///
/// Each line is indented by two blanks and ends with a line feed: the first paragraph of the description, cut to 200
/// characters, and up to 12 parameters, the required ones first. What others wrote is put on one line, as [`one_line`] does.
///
/// ```
/// use haft_core::{Schema, ToolSpec};
/// use haft_tools_core::outline;
///
/// let schema = serde_json::json!({ "type": "object", "properties": { "to": { "type": "string" } }, "required": ["to"] });
/// let spec = ToolSpec::new("send".parse()?, "Sends\na mail.", Schema::new(schema)?);
/// assert_eq!(outline(&spec, Some("mail")), "  [mail] Sends a mail.\n  - to (string, required)\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn outline(spec: &ToolSpec, from: Option<&str>) -> String {
    let mut text = String::new();
    let paragraph = spec.description().trim_start().split("\n\n").next().unwrap_or_default();
    let description = one_line(paragraph, MOST_CHARACTERS);
    if !description.is_empty() {
        let from =
            from.map(|from| format!("[{}] ", one_line(from, MOST_NAME_CHARACTERS))).unwrap_or_default();
        let _ = writeln!(text, "  {from}{description}");
    }
    let schema = spec.input_schema().as_value();
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return text };
    let required = schema.get("required").and_then(Value::as_array);
    let is_required =
        |name: &str| required.is_some_and(|names| names.iter().any(|known| known.as_str() == Some(name)));
    let mut parameters: Vec<_> = properties.iter().collect();
    parameters.sort_by_key(|(name, _)| !is_required(name));
    for (name, parameter) in parameters.iter().take(MOST_PARAMETERS) {
        let _ = write!(text, "  - {}", one_line(name, 64));
        let kind = parameter.get("type").and_then(Value::as_str).map(|kind| one_line(kind, 16));
        let notes: Vec<&str> =
            kind.as_deref().into_iter().chain(is_required(name).then_some("required")).collect();
        if !notes.is_empty() {
            let _ = write!(text, " ({})", notes.join(", "));
        }
        let description = parameter.get("description").and_then(Value::as_str).unwrap_or_default();
        match one_line(description, MOST_PARAMETER_CHARACTERS).as_str() {
            "" => text.push('\n'),
            description => drop(writeln!(text, ": {description}")),
        }
    }
    if parameters.len() > MOST_PARAMETERS {
        let _ = writeln!(text, "  - and {} more", parameters.len() - MOST_PARAMETERS);
    }
    text
}

/// Says where tools are from and how many of each place, so that a search among them can be a better one: the first 20
/// places in alphabetical order, as in `builtin (8), github (31)`.
///
/// ```
/// use haft_core::{Schema, ToolSpec};
/// use haft_tools_core::origins;
///
/// let spec = ToolSpec::new("send".parse()?, "Sends a mail.", Schema::empty());
/// assert_eq!(origins([&spec]), "host (1)");
/// # Ok::<(), haft_core::NameError>(())
/// ```
pub fn origins<'a>(specs: impl IntoIterator<Item = &'a ToolSpec>) -> String {
    let mut origins: BTreeMap<String, usize> = BTreeMap::new();
    for spec in specs {
        let origin = match spec.origin() {
            Origin::Mcp { server: name, .. } | Origin::OpenApi { document: name, .. } => {
                one_line(name, MOST_NAME_CHARACTERS)
            }
            Origin::Agent { .. } => "agents".to_owned(),
            Origin::Builtin => "builtin".to_owned(),
            _ => "host".to_owned(),
        };
        *origins.entry(origin).or_default() += 1;
    }
    let more = origins.len().saturating_sub(MOST_ORIGINS);
    let mut shown: Vec<String> =
        origins.iter().take(MOST_ORIGINS).map(|(origin, count)| format!("{origin} ({count})")).collect();
    if more > 0 {
        shown.push(format!("{more} others"));
    }
    shown.join(", ")
}

/// Puts a foreign text on one line, cut to so many characters, without what cannot be seen.
///
/// ```
/// assert_eq!(haft_tools_core::one_line(" two\n\u{200b}words ", 5), "two w…");
/// ```
pub fn one_line(text: &str, most: usize) -> String {
    let mut line = String::new();
    let words = text.split(|character: char| character.is_whitespace() || character.is_control());
    let mut count = 0;
    for word in words.filter(|word| !word.is_empty()) {
        if count > 0 {
            line.push(' ');
            count += 1;
        }
        for character in word.chars().filter(|character| !is_hidden(*character)) {
            if count >= most {
                line.push('…');
                return line;
            }
            line.push(character);
            count += 1;
        }
    }
    line
}
