use rmcp::transport::stdio_pipes;
use tokio::io::{AsyncRead, AsyncWrite};

/// Gives this process's standard streams: pipes as they are, where both are pipes on Linux, and through threads elsewhere.
///
/// Others that share them are not affected. Must be called within a runtime that reads and writes.
pub(crate) fn standard_streams()
-> (impl AsyncRead + Send + Unpin + 'static, impl AsyncWrite + Send + Unpin + 'static) {
    stdio_pipes()
}
