//! The server of this crate, with permission, validation and a journal on.

use crate::Fault;
use crate::client::announce;
use crate::echo::server;
use haft_mcp::{HttpConfig, HttpLimits, HttpListener, Rate};
use tokio_util::sync::CancellationToken;

pub(crate) async fn over_http(tools: usize) -> Result<(), Fault> {
    let (server, _directory) = server(tools)?;
    let limits = HttpLimits { rate: Rate::new(1e9, 1e9), ..HttpLimits::default() };
    let config = HttpConfig::new("127.0.0.1:0".parse()?).limits(limits);
    let listener = HttpListener::bind(config).await?;
    announce(listener.address())?;
    server.serve_http(listener, CancellationToken::new()).await;
    Ok(())
}

pub(crate) async fn over_lines() -> Result<(), Fault> {
    let (server, _directory) = server(1)?;
    Box::pin(server.serve_stdio(CancellationToken::new())).await;
    Ok(())
}
