use super::{Ending, Found};
use crate::client::session::Farewell;
use crate::lines::Lines;
use std::fmt;
use std::io;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncReadExt as _};

#[cfg(unix)]
use super::keeper::Keeper;
#[cfg(unix)]
use tokio::net::unix::{OwnedWriteHalf, pipe};

/// How much may wait for a server that does not read, in bytes, before nothing more is taken.
const MOST_WAITING: usize = 64 * 1024 * 1024;

/// The largest buffer that is kept when nothing waits, in bytes.
const MOST_IDLE: usize = 1024 * 1024;

/// Is a connection over which lines are read and written.
///
/// It has no task of its own: what cannot be written at once is written while the next line is waited for.
pub(crate) struct Framed {
    input: Pin<Box<dyn AsyncRead + Send>>,
    output: Option<Output>,
    lines: Lines,
    /// What is written from `written` on.
    waiting: Vec<u8>,
    written: usize,
    is_read_up: bool,
    ending: Arc<Ending>,
    #[cfg(unix)]
    keeper: Option<Keeper>,
}

/// Is where lines are written to.
pub(super) enum Output {
    #[cfg(unix)]
    Pipe(pipe::Sender),
    #[cfg(unix)]
    Socket(OwnedWriteHalf),
}

/// Says who ended a connection.
#[derive(Debug, Clone, Copy)]
pub(super) enum Parting {
    ByHost,
    ByServer,
}

impl fmt::Display for Parting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ByHost => "it was closed",
            Self::ByServer => "it closed the connection",
        })
    }
}

impl Framed {
    /// Connects an input and an output; lines of more than so many bytes are passed over.
    pub(super) fn new(
        input: impl AsyncRead + Send + 'static,
        output: Output,
        most: usize,
        ending: Arc<Ending>,
    ) -> Self {
        Self {
            input: Box::pin(input),
            output: Some(output),
            lines: Lines::new(most),
            waiting: Vec::new(),
            written: 0,
            is_read_up: false,
            ending,
            #[cfg(unix)]
            keeper: None,
        }
    }

    /// Has the program at the other end ended when the connection does; it then says how that was.
    #[cfg(unix)]
    pub(super) fn kept_by(mut self, keeper: Keeper) -> Self {
        self.keeper = Some(keeper);
        self
    }

    /// Sends a line; what `write` puts into the buffer has no line break in it.
    ///
    /// A connection that can no longer be written to is ending, which shows when it is read.
    pub(crate) fn send(
        &mut self,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), serde_json::Error>,
    ) -> io::Result<()> {
        if self.output.is_none() {
            return Ok(());
        }
        if self.waiting.len() - self.written > MOST_WAITING {
            return Err(io::Error::other("the server does not read what it is sent"));
        }
        if self.written > MOST_IDLE {
            // A server that always reads a little late would have what it has read kept for ever.
            self.waiting.drain(..self.written);
            self.written = 0;
        }
        let before = self.waiting.len();
        if let Err(error) = write(&mut self.waiting) {
            self.waiting.truncate(before);
            return Err(error.into());
        }
        self.waiting.push(b'\n');
        self.write_waiting();
        Ok(())
    }

    /// Waits for the next line; `None` when there are no more, and nothing of the connection is left.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub(crate) async fn next(&mut self) -> Option<Found> {
        loop {
            if let Some(found) = self.lines.find() {
                return Some(found);
            }
            if self.is_read_up {
                self.output = None;
                self.hang_up(Parting::ByServer);
                self.ending.over().cancelled().await;
                return None;
            }
            let is_waiting = self.written < self.waiting.len();
            tokio::select! {
                read = self.input.read_buf(self.lines.room()) => {
                    if !matches!(read, Ok(1..)) {
                        self.lines.end();
                        self.is_read_up = true;
                    }
                }
                () = writable(self.output.as_ref()), if is_waiting => self.write_waiting(),
                () = self.ending.over().cancelled() => return None,
            }
        }
    }

    /// The bytes of a line that was found just now.
    pub(crate) fn line(&self, line: Range<usize>) -> &[u8] {
        self.lines.line(line)
    }

    /// Ends the connection and the program behind it; done when nothing of them is left.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: dropped, it can be called again.
    pub(crate) async fn close(&mut self) {
        self.output = None;
        self.hang_up(Parting::ByHost);
        let ending = self.ending.clone();
        let mut unread = Vec::with_capacity(64 * 1024);
        loop {
            unread.clear();
            // A program that is still writing can come to its end only if it is read.
            tokio::select! {
                () = ending.over().cancelled() => return,
                read = self.input.read_buf(&mut unread), if !self.is_read_up => {
                    self.is_read_up = !matches!(read, Ok(1..));
                }
            }
        }
    }

    fn hang_up(&self, parting: Parting) {
        #[cfg(unix)]
        if let Some(keeper) = &self.keeper {
            keeper.hang_up(parting);
            return;
        }
        self.ending.finish(Farewell { how: parting.to_string(), ..Farewell::default() });
    }

    /// Takes note that the server reads no more; a program still has the time to write its last answers.
    fn give_up_writing(&mut self) {
        self.output = None;
        #[cfg(unix)]
        if let Some(keeper) = &self.keeper {
            keeper.hang_up(Parting::ByServer);
            return;
        }
        self.is_read_up = true;
    }

    fn write_waiting(&mut self) {
        while let Some(output) = &self.output
            && self.written < self.waiting.len()
        {
            match output.try_write(&self.waiting[self.written..]) {
                Ok(count) => self.written += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => self.give_up_writing(),
            }
        }
        self.written = 0;
        self.waiting.clear();
        self.waiting.shrink_to(MOST_IDLE);
    }
}

impl Output {
    fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            #[cfg(unix)]
            Self::Pipe(sender) => sender.try_write(bytes),
            #[cfg(unix)]
            Self::Socket(half) => half.try_write(bytes),
            #[cfg(not(unix))]
            _ => Err(io::ErrorKind::Unsupported.into()),
        }
    }
}

/// Waits until more can be written, or it is known that nothing can.
async fn writable(output: Option<&Output>) {
    // An error shows again when it is written.
    let _ = match output {
        #[cfg(unix)]
        Some(Output::Pipe(sender)) => sender.writable().await,
        #[cfg(unix)]
        Some(Output::Socket(half)) => half.writable().await,
        _ => std::future::pending().await,
    };
}
