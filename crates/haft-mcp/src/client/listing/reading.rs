use crate::client::pages::{Page, read_pages};
use crate::client::server::{NoticeKind, ServerNotice};
use crate::client::session::{Fault, Request, Session};
use serde_json::Value;
use std::time::Duration;
use tokio::time::timeout;

/// The shortest time for which a list counts, whatever the server says: its tools are looked at before each call.
const SHORTEST_TTL: Duration = Duration::from_mins(1);

/// Is a list of tools as it was read.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    pub(crate) items: Vec<Value>,
    /// What was left out.
    pub(crate) notices: Vec<ServerNotice>,
    /// How long it counts, if the server has said so; at least a minute.
    pub(crate) ttl: Option<Duration>,
}

/// Reads all pages of a list of tools, each within a time; says what was left out.
pub(crate) async fn read_tools(session: &dyn Session, time: Duration) -> Result<Reading, Fault> {
    let pages = read_pages(|params| async move {
        let request = session.request(Request { method: "tools/list", params }, None);
        let late = |_| Fault::Broken(format!("it did not list its tools within {} s", time.as_secs_f64()));
        let result = timeout(time, request).await.map_err(late)??;
        Page::of(result, "tools")
            .ok_or_else(|| Fault::Broken("what it gives as its tools is not a list".to_owned()))
    });
    let pages = pages.await?;
    let notice = |why| ServerNotice {
        kind: NoticeKind::LeftOut,
        tool: None,
        text: format!("its list of tools {why}"),
    };
    Ok(Reading {
        items: pages.items,
        notices: pages.cut.map(notice).into_iter().collect(),
        ttl: pages.ttl.map(|ttl| ttl.max(SHORTEST_TTL)),
    })
}
