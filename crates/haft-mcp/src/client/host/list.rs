use super::{Requester, ServerRequestError};
use haft_tools_core::CallContext;
use serde_json::{Value, json};
use std::collections::HashSet;

/// The most pages of a list that are read.
const MOST_PAGES: usize = 1_000;

/// The most items of a list.
const MOST_ITEMS: usize = 10_000;

/// The most bytes of all items of a list together.
const MOST_BYTES: usize = 64 << 20;

/// The most bytes of a cursor.
const MOST_CURSOR_BYTES: usize = 64 << 10;

/// Is a list of a server, with what was left out of it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ServerList<T> {
    /// What is on it, in the server's order.
    pub items: Vec<T>,
    /// What was left out and why, for people.
    pub left_out: Vec<String>,
}

/// Reads all pages of a list; an item that cannot be read is left out.
pub(super) async fn read_list<T>(
    requester: &dyn Requester,
    method: &'static str,
    key: &str,
    of: Option<&CallContext>,
    read: impl Fn(&Value) -> Result<T, String>,
) -> Result<ServerList<T>, ServerRequestError> {
    let mut list = ServerList { items: Vec::new(), left_out: Vec::new() };
    let (mut seen, mut bytes, mut cursor) = (HashSet::new(), 0, None::<String>);
    for _ in 0..MOST_PAGES {
        let params = cursor.as_ref().map_or_else(|| json!({}), |cursor| json!({ "cursor": cursor }));
        let mut page = requester.request(method, params, of).await?;
        let Some(Value::Array(items)) = page.get_mut(key).map(Value::take) else {
            return Err(ServerRequestError::unusable(format!(
                "its answer to `{method}` has no list `{key}`"
            )));
        };
        for item in items {
            bytes += size(&item);
            if list.items.len() == MOST_ITEMS || bytes > MOST_BYTES {
                list.left_out
                    .push(format!("the list has more than {MOST_ITEMS} items or {MOST_BYTES} bytes"));
                return Ok(list);
            }
            match read(&item) {
                Ok(item) => list.items.push(item),
                Err(reason) if list.left_out.len() < 100 => list.left_out.push(reason),
                Err(_) => {}
            }
        }
        cursor = match page.get_mut("nextCursor").map(Value::take) {
            None | Some(Value::Null) => return Ok(list),
            Some(Value::String(next)) if next.len() <= MOST_CURSOR_BYTES => Some(next),
            Some(_) => {
                list.left_out.push("the list goes on at a place that cannot be named".to_owned());
                return Ok(list);
            }
        };
        if !seen.insert(cursor.clone()) {
            list.left_out.push("the list goes in a circle".to_owned());
            return Ok(list);
        }
    }
    list.left_out.push(format!("the list has more than {MOST_PAGES} pages"));
    Ok(list)
}

fn size(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 1,
        Value::String(text) => 1 + text.len(),
        Value::Array(items) => 1 + items.iter().map(size).sum::<usize>(),
        Value::Object(members) => members.iter().map(|(name, member)| 1 + name.len() + size(member)).sum(),
    }
}
