use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::io::{AsyncWrite, AsyncWriteExt as _};

/// The largest buffer that is kept when it is empty, in bytes.
const MOST_IDLE: usize = 1024 * 1024;

/// Writes the lines of a connection: whoever has one writes all that wait.
///
/// So that a single line is written at once, by no other task, and lines that come fast are written together.
#[derive(Debug)]
pub(super) struct LineWriter<W> {
    waiting: Mutex<Vec<u8>>,
    pen: tokio::sync::Mutex<Pen<W>>,
}

/// Writes what is left of what was taken; whoever comes after one that was dropped goes on where that stopped.
#[derive(Debug)]
struct Pen<W> {
    to: W,
    taken: Vec<u8>,
    written: usize,
}

impl<W: AsyncWrite + Unpin> LineWriter<W> {
    pub(super) fn new(to: W) -> Self {
        Self {
            waiting: Mutex::default(),
            pen: tokio::sync::Mutex::new(Pen { to, taken: Vec::new(), written: 0 }),
        }
    }

    /// Puts a line behind those that wait, without its end.
    pub(super) fn put(&self, line: &[u8]) {
        let mut waiting = self.waiting();
        waiting.reserve(line.len() + 1);
        waiting.extend_from_slice(line);
        waiting.push(b'\n');
    }

    /// Writes all that was put before.
    ///
    /// # Errors
    ///
    /// When the client has closed its side.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost: who writes next goes on.
    pub(super) async fn flush(&self) -> io::Result<()> {
        let mut pen = self.pen.lock().await;
        loop {
            if pen.written == pen.taken.len() {
                pen.taken.clear();
                pen.written = 0;
                if pen.taken.capacity() > MOST_IDLE {
                    pen.taken = Vec::new();
                }
                std::mem::swap(&mut pen.taken, &mut *self.waiting());
                if pen.taken.is_empty() {
                    return Ok(());
                }
            }
            let Pen { to, taken, written } = &mut *pen;
            match to.write(&taken[*written..]).await? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                more => *written += more,
            }
            if *written == taken.len() {
                to.flush().await?;
            }
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<u8>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::Pin;
    use std::task::{Context, Poll};
    use tokio::io::AsyncReadExt as _;

    /// Counts how often it is written to.
    #[derive(Default)]
    struct Counting {
        text: Vec<u8>,
        writes: usize,
    }

    impl AsyncWrite for Counting {
        fn poll_write(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            self.writes += 1;
            self.text.extend_from_slice(bytes);
            Poll::Ready(Ok(bytes.len()))
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    #[tokio::test]
    async fn lines_that_wait_are_written_together() {
        let writer = LineWriter::new(Counting::default());
        for line in ["a", "b", "c"] {
            writer.put(line.as_bytes());
        }
        writer.flush().await.unwrap();
        writer.flush().await.unwrap();
        let Counting { text, writes } = writer.pen.into_inner().to;
        assert_eq!((text.as_slice(), writes), (&b"a\nb\nc\n"[..], 1));
    }

    #[tokio::test]
    async fn a_write_that_is_dropped_is_gone_on_with() {
        let (near, mut far) = tokio::io::duplex(4);
        let writer = LineWriter::new(near);
        writer.put(b"123456");
        let stuck = tokio::time::timeout(std::time::Duration::ZERO, writer.flush()).await;
        assert!(stuck.is_err());
        writer.put(b"789");
        let mut read = [0; 11];
        let (flushed, _) = tokio::join!(writer.flush(), async { far.read_exact(&mut read).await.unwrap() });
        flushed.unwrap();
        assert_eq!(&read, b"123456\n789\n");
    }

    #[tokio::test]
    async fn who_has_closed_its_side_is_told_nothing() {
        let (near, far) = tokio::io::duplex(4);
        drop(far);
        let writer = LineWriter::new(near);
        writer.put(b"123456");
        writer.flush().await.unwrap_err();
    }
}
