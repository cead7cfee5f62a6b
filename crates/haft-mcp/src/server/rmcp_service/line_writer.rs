use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::io::{AsyncWrite, AsyncWriteExt as _};

/// The largest buffer that is kept when it is empty, in bytes.
const MOST_IDLE: usize = 1024 * 1024;

/// How much may wait to be written before nothing more is to be answered, in bytes.
const MOST_WAITING: usize = 4 * 1024 * 1024;

/// Writes the lines of a connection: whoever has one writes all that wait.
///
/// So that a single line is written at once, by no other task, and lines that come fast are written together.
#[derive(Debug)]
pub(super) struct LineWriter<W> {
    waiting: Mutex<Vec<u8>>,
    /// How much was put and not written yet, in bytes.
    unwritten: AtomicUsize,
    pen: tokio::sync::Mutex<Pen<W>>,
}

/// Writes what is left of what was taken; whoever comes after one that was dropped goes on where that stopped.
#[derive(Debug)]
struct Pen<W> {
    to: W,
    taken: Vec<u8>,
    written: usize,
    /// Whether what was written has gone out.
    is_flushed: bool,
}

impl<W: AsyncWrite + Unpin> LineWriter<W> {
    pub(super) fn new(to: W) -> Self {
        Self {
            waiting: Mutex::default(),
            unwritten: AtomicUsize::new(0),
            pen: tokio::sync::Mutex::new(Pen { to, taken: Vec::new(), written: 0, is_flushed: true }),
        }
    }

    /// Puts a line behind those that wait, without its end.
    pub(super) fn put(&self, line: &[u8]) {
        let mut waiting = self.waiting();
        waiting.reserve(line.len() + 1);
        waiting.extend_from_slice(line);
        waiting.push(b'\n');
        self.unwritten.fetch_add(line.len() + 1, Ordering::Relaxed);
    }

    /// Tells whether so much waits that whoever is answered has to read first.
    pub(super) fn is_full(&self) -> bool {
        self.unwritten.load(Ordering::Relaxed) > MOST_WAITING
    }

    /// Writes all that was put before.
    ///
    /// # Errors
    ///
    /// When the client has closed its side; what waits is let go of.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost: who writes next goes on.
    pub(super) async fn flush(&self) -> io::Result<()> {
        let mut pen = self.pen.lock().await;
        let written = self.write(&mut pen).await;
        if written.is_err() {
            (pen.taken, pen.written) = (Vec::new(), 0);
            let mut waiting = self.waiting();
            *waiting = Vec::new();
            self.unwritten.store(0, Ordering::Relaxed);
        }
        written
    }

    async fn write(&self, pen: &mut Pen<W>) -> io::Result<()> {
        loop {
            if pen.written == pen.taken.len() {
                if !pen.is_flushed {
                    pen.to.flush().await?;
                    pen.is_flushed = true;
                }
                pen.taken.clear();
                pen.written = 0;
                if pen.taken.capacity() > MOST_IDLE {
                    pen.taken = Vec::new();
                }
                std::mem::swap(&mut pen.taken, &mut *self.waiting());
                if pen.taken.is_empty() {
                    return Ok(());
                }
                pen.is_flushed = false;
            }
            let Pen { to, taken, written, .. } = &mut *pen;
            match to.write(&taken[*written..]).await? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                more => {
                    *written += more;
                    self.unwritten.fetch_sub(more, Ordering::Relaxed);
                }
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
    use futures_util::FutureExt as _;
    use std::pin::Pin;
    use std::task::{Context, Poll};
    use tokio::io::AsyncReadExt as _;

    /// Counts how often it is written to and has written all out, the first of which takes a while.
    #[derive(Default)]
    struct Counting {
        text: Vec<u8>,
        writes: usize,
        flushes: usize,
        is_slow: bool,
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

        fn poll_flush(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            if std::mem::take(&mut self.is_slow) {
                return Poll::Pending;
            }
            self.flushes += 1;
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
        let Counting { text, writes, .. } = writer.pen.into_inner().to;
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
    async fn what_is_written_goes_out_though_who_wrote_it_was_dropped() {
        let writer = LineWriter::new(Counting { is_slow: true, ..Counting::default() });
        writer.put(b"a");
        assert!(writer.flush().now_or_never().is_none());
        writer.flush().await.unwrap();
        let Counting { text, flushes, .. } = writer.pen.into_inner().to;
        assert_eq!((text.as_slice(), flushes), (&b"a\n"[..], 1));
    }

    #[tokio::test]
    async fn what_nobody_reads_any_more_is_let_go_of() {
        let (near, far) = tokio::io::duplex(4);
        drop(far);
        let writer = LineWriter::new(near);
        writer.put(&vec![b'x'; MOST_WAITING]);
        assert!(writer.is_full());
        writer.flush().await.unwrap_err();
        assert!(!writer.is_full());
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
