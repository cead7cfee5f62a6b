//! Lists that servers give in pages: read up to their end, or to where they are cut.

use serde_json::{Value, json};
use std::collections::HashSet;
use std::time::Duration;

/// The most pages of a list that are read.
const MOST_PAGES: usize = 1_000;

/// The most items of a list.
const MOST_ITEMS: usize = 10_000;

/// The most bytes of all pages together, in texts, names and numbers.
const MOST_BYTES: usize = 64 << 20;

/// The most bytes of a cursor.
const MOST_CURSOR_BYTES: usize = 64 << 10;

/// Is one page of a list.
pub(crate) struct Page {
    items: Vec<Value>,
    next: Value,
    ttl: Option<Duration>,
}

/// Is all that was read of a list.
pub(crate) struct Pages {
    pub(crate) items: Vec<Value>,
    /// Why the rest was left out, if it was; goes on where `the list` was said.
    pub(crate) cut: Option<String>,
    /// How long the list counts, if the server has said so: as long as the shortest of its pages.
    pub(crate) ttl: Option<Duration>,
}

impl Page {
    /// Takes the items below a key of a result; `None` where there is no list.
    pub(crate) fn of(mut result: Value, key: &str) -> Option<Self> {
        let Some(Value::Array(items)) = result.get_mut(key).map(Value::take) else { return None };
        let next = result.get_mut("nextCursor").map(Value::take).unwrap_or_default();
        let ttl = result.get("ttlMs").and_then(Value::as_u64).map(Duration::from_millis);
        Some(Self { items, next, ttl })
    }
}

/// Reads all pages of a list, each by the params it is asked for with.
///
/// A list that does not end is cut, and that is said; a page that cannot be read is an error, since a list without it would
/// look as if things had gone.
pub(crate) async fn read_pages<E, F: Future<Output = Result<Page, E>>>(
    mut ask: impl FnMut(Value) -> F,
) -> Result<Pages, E> {
    let mut pages = Pages { items: Vec::new(), cut: None, ttl: None };
    let (mut seen, mut left) = (HashSet::new(), MOST_BYTES);
    let mut params = json!({});
    for _ in 0..MOST_PAGES {
        let page = ask(params).await?;
        pages.ttl = pages.ttl.into_iter().chain(page.ttl).min();
        let room = MOST_ITEMS - pages.items.len();
        let too_many = page.items.len() > room;
        for item in page.items.into_iter().take(room) {
            let Some(rest) = left.checked_sub(size(&item)) else {
                return Ok(pages.cut(format!("has more than {MOST_BYTES} bytes; the rest was left out")));
            };
            left = rest;
            pages.items.push(item);
        }
        if too_many {
            return Ok(pages.cut(format!("has more than {MOST_ITEMS} items; the rest was left out")));
        }
        let next = match page.next {
            Value::Null => return Ok(pages),
            Value::String(next) if next.len() <= MOST_CURSOR_BYTES => next,
            _ => {
                let why = "goes on at a place that is not named by a text; the rest was left out";
                return Ok(pages.cut(why.to_owned()));
            }
        };
        params = json!({ "cursor": next });
        if !seen.insert(next) {
            let why = "goes in a circle; it was read up to where it repeats itself";
            return Ok(pages.cut(why.to_owned()));
        }
    }
    Ok(pages.cut(format!("has more than {MOST_PAGES} pages; the rest was left out")))
}

impl Pages {
    fn cut(self, why: String) -> Self {
        Self { cut: Some(why), ..self }
    }
}

/// Counts the bytes of texts and names, and one for everything else.
pub(crate) fn size(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 1,
        Value::String(text) => 1 + text.len(),
        Value::Array(items) => 1 + items.iter().map(size).sum::<usize>(),
        Value::Object(members) => {
            1 + members.iter().map(|(name, member)| name.len() + size(member)).sum::<usize>()
        }
    }
}
