/// The keys whose values are lists of selectors.
const OF_TOOLS: [&str; 2] = ["tools", "disallowedTools"];

/// Puts quotes around what can be meant in one way only, and is not YAML without them.
///
/// These are descriptions on one line with a colon in them, as programs that write such files do, and selectors that begin
/// with `@`, `!` or a lone `*`. `None` where there is nothing to quote; the keys and the lines, 1-based, otherwise.
pub(super) fn quoted(front: &str) -> Option<(String, Vec<(&'static str, usize)>)> {
    let mut text = String::with_capacity(front.len() + 16);
    let mut quoted = Vec::new();
    // The key of selectors whose list the lines belong to.
    let mut list: Option<&'static str> = None;
    let lines: Vec<&str> = front.split('\n').collect();
    for (place, line) in lines.iter().enumerate() {
        let is_continued = lines.get(place + 1).is_some_and(|next| next.starts_with([' ', '\t']));
        let change = match key_and_value(line) {
            Some((key, value)) => {
                list = OF_TOOLS.into_iter().find(|known| *known == key && value.is_empty());
                let selectors = OF_TOOLS.into_iter().find(|known| *known == key && needs_quotes(value));
                let description =
                    (key == "description" && !is_continued && is_plain(value) && value.contains(": "))
                        .then_some("description");
                let value = match selectors {
                    Some(_) => without_comment(value),
                    None => value,
                };
                selectors.or(description).map(|known| (known, format!("{key}: {}", in_quotes(value))))
            }
            None => list.and_then(|known| {
                let (indent, item) = line.split_once("- ").filter(|(indent, _)| indent.trim().is_empty())?;
                let item = item.trim();
                needs_quotes(item).then(|| (known, format!("{indent}- {}", in_quotes(without_comment(item)))))
            }),
        };
        if place > 0 {
            text.push('\n');
        }
        match change {
            Some((key, changed)) => {
                quoted.push((key, place + 1));
                text.push_str(&changed);
            }
            None => text.push_str(line),
        }
    }
    (!quoted.is_empty()).then_some((text, quoted))
}

/// Reads a line as a key of the front matter and what stands behind it.
fn key_and_value(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let is_word = key.starts_with(|first: char| first.is_ascii_alphabetic())
        && key.chars().all(|character| character.is_ascii_alphanumeric() || matches!(character, '-' | '_'));
    let is_apart = value.is_empty() || value.starts_with([' ', '\t']);
    (is_word && is_apart).then(|| (key, value.trim()))
}

/// Tells whether selectors begin with what YAML has another use for, and no quotes are in them already.
fn needs_quotes(value: &str) -> bool {
    let is_lone_star =
        || value.strip_prefix('*').is_some_and(|rest| rest.is_empty() || rest.starts_with([',', ' ']));
    let is_marked = value.starts_with(['@', '!']) || is_lone_star();
    is_marked && !value.contains(['"', '\'', '\\'])
}

/// Tells whether a value is a plain one: not in quotes, and no block, list, anchor or the like.
fn is_plain(value: &str) -> bool {
    !value.starts_with(['"', '\'', '|', '>', '[', '{', '&', '*', '!', '%', '@', '`', '#'])
}

fn without_comment(value: &str) -> &str {
    value.split_once(" #").map_or(value, |(value, _)| value).trim()
}

fn in_quotes(value: &str) -> String {
    format!("'{}'", value.replace('\'', "''"))
}
