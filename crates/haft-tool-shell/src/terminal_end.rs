use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use tokio::io::unix::AsyncFd;
use tokio::time::sleep;

/// Is the end of a terminal at which what a program prints is read, and what it reads is written.
#[derive(Debug)]
pub(crate) struct TerminalEnd(AsyncFd<OwnedFd>);

/// How long it takes to look again at a terminal that was closed and opened again.
const AGAIN: Duration = Duration::from_millis(10);

/// Waits a little where readiness does not tell when to go on: that a terminal was closed once is never taken back.
async fn pause_if(was_closed: bool) {
    if was_closed {
        sleep(AGAIN).await;
    }
}

impl TerminalEnd {
    #[expect(
        unsafe_code,
        reason = "tokio has nothing safe for descriptors that are neither pipes nor sockets"
    )]
    pub(crate) fn new(end: OwnedFd) -> io::Result<Self> {
        fcntl_setfl(&end, fcntl_getfl(&end)? | OFlags::NONBLOCK)?;
        // SAFETY: the descriptor is owned, and never exchanged or given away before this is dropped.
        Ok(Self(unsafe { AsyncFd::register(end) }?))
    }

    /// Reads what is printed; 0 when nobody has the terminal open any more.
    ///
    /// Cancel safe.
    pub(crate) async fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let mut ready = self.0.readable().await?;
            match ready.try_io(|end| Ok(rustix::io::read(end, &mut *buffer))) {
                Ok(Ok(Err(Errno::AGAIN))) => {
                    let was_closed = ready.ready().is_read_closed();
                    ready.clear_ready();
                    pause_if(was_closed).await;
                }
                Ok(Ok(Err(Errno::INTR))) | Err(_) => {}
                // That is how it is told that it is closed (`pty(7)`).
                Ok(Ok(Err(Errno::IO))) => return Ok(0),
                Ok(Ok(read)) => return Ok(read?),
                Ok(Err(error)) => return Err(error),
            }
        }
    }

    /// Writes all of it, as somebody would type it.
    pub(crate) async fn write_all(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let mut ready = self.0.writable().await?;
            match ready.try_io(|end| Ok(rustix::io::write(end, bytes))) {
                Ok(Ok(Err(Errno::AGAIN))) => {
                    let was_closed = ready.ready().is_write_closed();
                    ready.clear_ready();
                    pause_if(was_closed).await;
                }
                Ok(Ok(Err(Errno::INTR))) | Err(_) => {}
                Ok(Ok(written)) => bytes = &bytes[written?..],
                Ok(Err(error)) => return Err(error),
            }
        }
        Ok(())
    }
}
