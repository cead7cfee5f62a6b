use crate::client::server::{NoticeKind, ServerNotice};
use crate::client::session::{Fault, Request, Session};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::time::Duration;

/// The most pages of a list that are read.
const MOST_PAGES: usize = 1_000;

/// The most tools of a server.
const MOST_TOOLS: usize = 10_000;

/// The most bytes of all pages together, in texts, names and numbers.
const MOST_BYTES: usize = 64 << 20;

/// The most bytes of a cursor.
const MOST_CURSOR_BYTES: usize = 64 << 10;

/// The shortest time for which a list counts, whatever the server says: its tools are looked at before each call.
const SHORTEST_TTL: Duration = Duration::from_mins(1);

/// Is a list of tools as it was read.
#[derive(Debug, Default)]
pub(crate) struct Pages {
    pub(crate) items: Vec<Value>,
    pub(crate) notices: Vec<ServerNotice>,
    /// How long it counts, if the server has said so; the shortest of its pages, and at least a minute.
    pub(crate) ttl: Option<Duration>,
}

/// Reads all pages of a list of tools, each within a time.
///
/// A list that does not end is cut, and that is reported; a page that cannot be read is an error, since a list without it
/// would look as if tools had gone.
pub(crate) async fn read_pages(session: &dyn Session, time: Duration) -> Result<Pages, Fault> {
    let Pages { mut items, mut notices, mut ttl } = Pages::default();
    let (mut seen, mut left) = (HashSet::new(), MOST_BYTES);
    let mut cursor: Option<String> = None;
    let mut cut = |text: String| notices.push(ServerNotice { kind: NoticeKind::LeftOut, tool: None, text });
    for page in 1.. {
        let params = cursor.as_ref().map_or_else(|| json!({}), |cursor| json!({ "cursor": cursor }));
        let request = session.request(Request { method: "tools/list", params }, None);
        let late = |_| Fault::Broken(format!("it did not list its tools within {time:?}"));
        let mut result = tokio::time::timeout(time, request).await.map_err(late)??;
        let said = result.get("ttlMs").and_then(Value::as_u64).map(Duration::from_millis);
        ttl = ttl.into_iter().chain(said.map(|said| said.max(SHORTEST_TTL))).min();
        let Some(Value::Array(tools)) = result.get_mut("tools").map(Value::take) else {
            return Err(Fault::Broken("its list of tools is none".to_owned()));
        };
        let room = MOST_TOOLS - items.len();
        let too_many = tools.len() > room;
        for tool in tools.into_iter().take(room) {
            let Some(rest) = left.checked_sub(size(&tool)) else {
                cut(format!("its list of tools has more than {MOST_BYTES} bytes; the rest was left out"));
                return Ok(Pages { items, notices, ttl });
            };
            left = rest;
            items.push(tool);
        }
        if too_many {
            cut(format!("it lists more than {MOST_TOOLS} tools; the rest was left out"));
            break;
        }
        let next = match result.get_mut("nextCursor").map(Value::take) {
            None | Some(Value::Null) => break,
            Some(Value::String(next)) if next.len() <= MOST_CURSOR_BYTES => next,
            Some(_) => {
                cut(
                    "its list of tools goes on at a place that is not named by a text; the rest was left out"
                        .to_owned(),
                );
                break;
            }
        };
        if page == MOST_PAGES {
            cut(format!("its list of tools has more than {MOST_PAGES} pages; the rest was left out"));
            break;
        }
        if !seen.insert(next.clone()) {
            cut("its list of tools goes in a circle; it was read up to where it repeats itself".to_owned());
            break;
        }
        cursor = Some(next);
    }
    Ok(Pages { items, notices, ttl })
}

/// Counts the bytes of texts and names, and one for everything else.
pub(super) fn size(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 1,
        Value::String(text) => 1 + text.len(),
        Value::Array(items) => 1 + items.iter().map(size).sum::<usize>(),
        Value::Object(members) => {
            1 + members.iter().map(|(name, member)| name.len() + size(member)).sum::<usize>()
        }
    }
}
