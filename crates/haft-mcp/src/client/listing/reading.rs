use crate::client::pages::{Page, read_pages};
use crate::client::server::{NoticeKind, ServerNotice};
use crate::client::session::{Fault, Request, Session};
use serde_json::Value;
use std::time::Duration;
use tokio::time::timeout;

/// Reads all pages of a list of tools, each within a time; says what was left out.
pub(crate) async fn read_tools(
    session: &dyn Session,
    time: Duration,
) -> Result<(Vec<Value>, Vec<ServerNotice>), Fault> {
    let pages = read_pages(|params| async move {
        let request = session.request(Request { method: "tools/list", params }, None);
        let late = |_| Fault::Broken(format!("it did not list its tools within {time:?}"));
        let result = timeout(time, request).await.map_err(late)??;
        Page::of(result, "tools").ok_or_else(|| Fault::Broken("its list of tools is none".to_owned()))
    });
    let pages = pages.await?;
    let notice = |why| ServerNotice {
        kind: NoticeKind::LeftOut,
        tool: None,
        text: format!("its list of tools {why}"),
    };
    Ok((pages.items, pages.cut.map(notice).into_iter().collect()))
}
