use std::io;
use std::sync::Arc;

use tokio::io::AsyncWriteExt as _;
use tokio::net::unix::pipe::Sender;

use crate::terminal_end::TerminalEnd;

/// What ends the input of a program that reads lines from a terminal, at the beginning of a line (Ctrl-D). Within a line it
/// gives the program what there is of it.
const END: u8 = 0x04;

/// Writes what a job reads.
#[derive(Debug)]
pub(crate) enum Feed {
    Pipe(Sender),
    Terminal(Arc<TerminalEnd>),
}

impl Feed {
    pub(crate) async fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Pipe(pipe) => pipe.write_all(bytes).await,
            Self::Terminal(end) => end.write_all(bytes).await,
        }
    }

    /// Tells whether the program can be typed to after its input has ended, as by keys that interrupt it.
    pub(crate) fn stays(&self) -> bool {
        matches!(self, Self::Terminal(_))
    }

    /// Says that nothing more comes, where dropping this does not.
    pub(crate) async fn end(&mut self, is_in_line: bool) -> io::Result<()> {
        match self {
            Self::Pipe(_) => Ok(()),
            Self::Terminal(end) => end.write_all(if is_in_line { &[END, END] } else { &[END] }).await,
        }
    }
}
