//! Lines that a person types, which can be waited for in vain.

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::termios::{QueueSelector, tcflush};
use std::io::{self, BufRead as _, stdin};
use std::os::fd::OwnedFd;

/// Reads standard input line by line until the other end goes; then there is nothing more to read.
///
/// A terminal gives a line as a whole, so nothing is left in a buffer when one was read, and nothing is taken from whoever
/// reads next.
pub(crate) struct Typed {
    /// Is hung up when nobody waits any more.
    gone: OwnedFd,
}

/// Waits for what is typed: when it is dropped, what reads ends.
#[must_use]
pub(crate) struct Waiting {
    _end: OwnedFd,
}

/// Begins to read what is typed, for as long as what is given beside it is held.
///
/// What was typed before is thrown away: nobody has answered a question that they have not seen.
pub(crate) fn typed() -> io::Result<(Typed, Waiting)> {
    // Where it is no terminal, nothing is thrown away.
    let _ = tcflush(stdin(), QueueSelector::IFlush);
    let (gone, end) = pipe_with(PipeFlags::CLOEXEC)?;
    Ok((Typed { gone }, Waiting { _end: end }))
}

impl Typed {
    /// Waits until something was typed; gives whether somebody still waits for it.
    fn is_wanted(&self) -> io::Result<bool> {
        let stdin = stdin();
        loop {
            let mut sources =
                [PollFd::new(&self.gone, PollFlags::empty()), PollFd::new(&stdin, PollFlags::IN)];
            match poll(&mut sources, None) {
                Ok(_) if !sources[0].revents().is_empty() => return Ok(false),
                Ok(_) if !sources[1].revents().is_empty() => return Ok(true),
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Gives what a person types, a line at a time.
pub(crate) trait Lines {
    /// The next line with what ends it; an empty text where nobody types any more, and `None` where nobody waits for it.
    fn next_line(&mut self) -> Option<String>;
}

impl Lines for Typed {
    fn next_line(&mut self) -> Option<String> {
        let mut line = String::new();
        if !self.is_wanted().ok()? {
            return None;
        }
        stdin().lock().read_line(&mut line).ok()?;
        Some(line)
    }
}

#[cfg(test)]
impl Lines for &[u8] {
    fn next_line(&mut self) -> Option<String> {
        let mut line = String::new();
        self.read_line(&mut line).ok()?;
        Some(line)
    }
}
