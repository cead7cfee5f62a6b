use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

/// Is a connection that ends when its other side leaves unread what is sent to it for too long.
///
/// Whoever asks for much and reads nothing would else hold a place for ever.
pub(super) struct Stalling<T> {
    inner: T,
    patience: Duration,
    /// Runs while something waits to be taken.
    waits: Option<Pin<Box<Sleep>>>,
}

impl<T> Stalling<T> {
    pub(super) fn new(inner: T, patience: Duration) -> Self {
        Self { inner, patience, waits: None }
    }

    fn watched(&mut self, polled: Poll<io::Result<usize>>, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        if polled.is_ready() {
            self.waits = None;
            return polled;
        }
        let patience = self.patience;
        let waits = self.waits.get_or_insert_with(|| Box::pin(tokio::time::sleep(patience)));
        match waits.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Stalling<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(cx, into)
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Stalling<T> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.inner).poll_write(cx, bytes);
        self.watched(polled, cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.inner).poll_write_vectored(cx, pieces);
        self.watched(polled, cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    #[tokio::test(start_paused = true)]
    async fn ends_when_nothing_is_taken() {
        let (near, mut far) = tokio::io::duplex(4);
        let mut near = Stalling::new(near, Duration::from_secs(30));
        near.write_all(b"1234").await.unwrap();
        let (written, ()) = tokio::join!(near.write_all(b"5678"), async {
            tokio::time::sleep(Duration::from_secs(29)).await;
            far.read_exact(&mut [0; 4]).await.unwrap();
        });
        written.unwrap();
        let before = tokio::time::Instant::now();
        assert_eq!(near.write_all(b"9").await.unwrap_err().kind(), io::ErrorKind::TimedOut);
        assert_eq!(before.elapsed().as_secs(), 30);
    }
}
