use serde_json::Value;

/// The most fenced blocks that are looked at, from the last one.
const MOST_BLOCKS: usize = 8;

/// Reads the JSON objects that a text may mean as its result, the likeliest first.
pub(super) fn candidates(text: &str) -> impl Iterator<Item = Value> + '_ {
    places(text).filter_map(|place| serde_json::from_str::<Value>(place).ok()).filter(Value::is_object)
}

/// Says what is wrong with the likeliest text that looks like a JSON object and is none.
pub(super) fn fault(text: &str) -> Option<String> {
    let place = places(text).find(|place| place.starts_with('{'))?;
    serde_json::from_str::<Value>(place).err().map(|error| error.to_string())
}

/// The whole text, its fenced blocks from the last to the first, and what stands between the outermost braces.
fn places(text: &str) -> impl Iterator<Item = &str> {
    let whole = text.trim();
    let blocks = blocks(whole);
    let first_block = blocks.len().saturating_sub(MOST_BLOCKS);
    let blocks = blocks.into_iter().skip(first_block).rev();
    let braces = whole.find('{').zip(whole.rfind('}')).and_then(|(start, end)| whole.get(start..=end));
    std::iter::once(whole).chain(blocks).chain(braces.filter(|braces| *braces != whole))
}

/// Finds what stands between lines that begin with three backquotes; a block that does not end goes on to the end.
fn blocks(text: &str) -> Vec<&str> {
    let mut blocks = Vec::new();
    let mut open: Option<usize> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let next = at + line.len();
        if line.trim_start().starts_with("```") {
            open = match open {
                None => Some(next),
                Some(start) => {
                    blocks.push(text[start..at].trim());
                    None
                }
            };
        }
        at = next;
    }
    blocks.extend(open.map(|start| text[start..].trim()));
    blocks
}
