mod keeping;

use std::borrow::Cow;
use std::io;
use std::os::fd::OwnedFd;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use haft_core::{OutputId, ToolOutput};
use haft_tools_core::{CallContext, CallScope};
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe::Receiver;
use tokio::time::{Instant, sleep_until, timeout_at};

use self::keeping::Keeping;
use crate::capture::{Capture, Whole};
use crate::screen::Screen;
use crate::script_outputs::ScriptOutputs;
use crate::terminal_end::TerminalEnd;
use crate::transcript::Transcript;

/// How much is read at once, in bytes: what a pipe holds on Linux (pipe(7)).
const READ_BYTES: usize = 64 * 1024;

/// How much is read at once of an output that turns out to be large, and how much its pipe holds: what it may have at most
/// without privileges (`pipe-max-size`, `proc_sys_fs(5)`).
const READ_MORE_BYTES: usize = 256 * 1024;
#[cfg(target_os = "linux")]
const PIPE_BYTES: usize = 1024 * 1024;

/// How long an output has to say nothing to count as quiet.
const QUIET: Duration = Duration::from_millis(100);

/// How long people wait for news at least, so that a flood of output is not a flood of events.
const BETWEEN_UPDATES: Duration = Duration::from_millis(100);

/// How much of the newest output an update shows, in bytes.
const UPDATE_BYTES: usize = 2 * 1024;

/// Reads what the processes of a call print, keeps it, and shows it to people as it comes.
#[derive(Debug)]
pub(crate) struct OutputStream {
    source: Source,
    is_open: bool,
    buffer: Vec<u8>,
    /// How many bytes at the start of the buffer begin a character that is not complete yet.
    carried: usize,
    received: u64,
    capture: Capture,
    keeping: Option<Keeping>,
    /// Who is told of what comes, while there is a call.
    cx: Option<CallContext>,
    has_news: bool,
    next_update: Instant,
}

/// Where what is printed comes from.
#[derive(Debug)]
pub(crate) enum Source {
    Pipe(Receiver),
    Terminal {
        end: Arc<TerminalEnd>,
        screen: Arc<Screen>,
        /// Keeps it open while all may have closed it who can open it again.
        held_open: Option<OwnedFd>,
    },
}

impl Source {
    async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Pipe(pipe) => pipe.read(buffer).await,
            Self::Terminal { end, .. } => end.read(buffer).await,
        }
    }

    /// Has it end once all have closed it, since whoever could open it again has ended.
    fn let_close(&mut self) {
        if let Self::Terminal { held_open, .. } = self {
            *held_open = None;
        }
    }
}

impl OutputStream {
    /// Reads from a pipe or a terminal until nobody can write to it any more.
    pub(crate) fn new(source: Source, outputs: Option<&ScriptOutputs>, cx: CallContext) -> Self {
        Self {
            source,
            is_open: true,
            buffer: vec![0; READ_BYTES],
            carried: 0,
            received: 0,
            capture: Capture::default(),
            keeping: outputs.map(Keeping::new),
            cx: Some(cx),
            has_news: false,
            next_update: Instant::now(),
        }
    }

    /// What stands on the terminal, where there is one.
    pub(crate) fn screen(&self) -> Option<&Arc<Screen>> {
        match &self.source {
            Source::Pipe(_) => None,
            Source::Terminal { screen, .. } => Some(screen),
        }
    }

    /// Tells whether a process still can write to the pipe, as far as is known.
    pub(crate) fn is_open(&self) -> bool {
        self.is_open
    }

    /// How many bytes were printed so far.
    pub(crate) fn received_bytes(&self) -> u64 {
        self.received
    }

    /// Takes what is printed until something happens; what that gives is given back.
    pub(crate) async fn collect_until<T>(&mut self, event: impl Future<Output = T>) -> T {
        let mut event = pin!(event);
        loop {
            let (is_open, has_news, next_update) = (self.is_open, self.has_news, self.next_update);
            tokio::select! {
                // The event goes first, so that a flood of output cannot keep it from being seen.
                biased;
                given = &mut event => return given,
                () = self.read(), if is_open => self.show_news(),
                () = sleep_until(next_update), if has_news => self.show_news(),
            }
        }
    }

    /// Takes what is still printed after the script has ended, until the pipe is closed or quiet, or for this long.
    pub(crate) async fn drain(&mut self, most: Duration) {
        self.source.let_close();
        let deadline = Instant::now() + most;
        while self.is_open && Instant::now() < deadline {
            if timeout_at(deadline.min(Instant::now() + QUIET), self.read()).await.is_err() {
                return;
            }
        }
    }

    /// Sees to it that all is kept that was read; what is still printed is not taken any more.
    pub(crate) async fn finish(&mut self) {
        if self.carried > 0 {
            self.carried = 0;
            self.capture.push("\u{fffd}");
            if let Some(keeping) = &mut self.keeping {
                keeping.push("\u{fffd}".to_owned().into_bytes());
            }
        }
        if let Some(keeping) = &mut self.keeping {
            keeping.finish().await;
        }
    }

    /// Sees to it that all that was read can be read again; what comes is still taken.
    pub(crate) async fn flush(&mut self) {
        if let Some(keeping) = &mut self.keeping {
            keeping.flush().await;
        }
    }

    /// The output so far, as the model reads it, and the name of the whole where it has one.
    pub(crate) fn to_text(&self, scope: &CallScope) -> (String, Option<OutputId>) {
        let Some(keeping) = &self.keeping else {
            return (self.capture.to_text(Whole::Gone), None);
        };
        if keeping.is_small() && self.capture.is_whole() {
            return (self.capture.to_text(Whole::Gone), None);
        }
        let output = keeping.name(scope);
        let whole = Whole::Kept { output: output.as_str(), lost: keeping.transcript().extent().lost };
        (self.capture.to_text(whole), Some(output))
    }

    /// The output so far, as the model reads it, wherever the whole is.
    pub(crate) fn to_plain_text(&self) -> String {
        self.capture.to_text(Whole::Gone)
    }

    /// All that is kept, and its name, for somebody who reads it while it goes on; the call is not told of it any more.
    pub(crate) fn followed(&mut self, scope: &CallScope) -> Option<(OutputId, Arc<Transcript>)> {
        // It would hold the executor, and so the tools, for as long as it goes on.
        self.cx = None;
        let keeping = self.keeping.as_ref()?;
        Some((keeping.name(scope), Arc::clone(keeping.transcript())))
    }

    async fn read(&mut self) {
        if let Some(keeping) = &mut self.keeping {
            keeping.settle().await;
        }
        match self.source.read(&mut self.buffer[self.carried..]).await {
            // A pipe that cannot be read is of no more use than one that is closed.
            Ok(0) | Err(_) => self.is_open = false,
            Ok(count) => self.take(count),
        }
    }

    /// Takes so many bytes that were read behind those that are carried.
    fn take(&mut self, count: usize) {
        let is_large = self.received <= READ_BYTES as u64 && self.received + count as u64 > READ_BYTES as u64;
        match &self.source {
            // Where the system does not give more, it takes a little longer.
            Source::Pipe(pipe) if is_large => enlarge(pipe),
            Source::Pipe(_) => {}
            Source::Terminal { screen, .. } => screen.feed(&self.buffer[self.carried..self.carried + count]),
        }
        self.received += count as u64;
        self.has_news = true;
        let end = self.carried + count;
        let (text, carried) = text_of(&self.buffer[..end]);
        self.capture.push(&text);
        self.carried = carried;
        let rest = end - carried..end;
        let Some(keeping) = &mut self.keeping else { return self.buffer.copy_within(rest, 0) };
        match text {
            Cow::Borrowed(text) if keeping.takes_at_once(text.len()) => {
                keeping.push_at_once(text);
                self.buffer.copy_within(rest, 0);
            }
            Cow::Borrowed(_) => {
                let mut next = keeping.spare(READ_MORE_BYTES);
                next[..carried].copy_from_slice(&self.buffer[rest]);
                let mut full = std::mem::replace(&mut self.buffer, next);
                full.truncate(end - carried);
                keeping.push(full);
            }
            Cow::Owned(text) => {
                self.buffer.copy_within(rest, 0);
                keeping.push(text.into_bytes());
            }
        }
    }

    fn show_news(&mut self) {
        let now = Instant::now();
        if self.has_news && now >= self.next_update {
            if let Some(cx) = &self.cx {
                cx.update(|| ToolOutput::text(self.capture.newest(UPDATE_BYTES)));
            }
            self.next_update = now + BETWEEN_UPDATES;
            self.has_news = false;
        }
    }
}

/// Has a pipe hold more at once, where the system knows how.
#[cfg(target_os = "linux")]
fn enlarge(pipe: &Receiver) {
    let _ = rustix::pipe::fcntl_setpipe_size(pipe, PIPE_BYTES);
}

#[cfg(not(target_os = "linux"))]
fn enlarge(_: &Receiver) {}

/// Reads bytes as text, and tells how many at their end begin a character that is not complete yet.
///
/// Bytes that are not UTF-8 become U+FFFD.
fn text_of(bytes: &[u8]) -> (Cow<'_, str>, usize) {
    let error = match std::str::from_utf8(bytes) {
        Ok(text) => return (Cow::Borrowed(text), 0),
        Err(error) => error,
    };
    let (valid, rest) = bytes.split_at(error.valid_up_to());
    if error.error_len().is_none() {
        return (std::str::from_utf8(valid).map_or(Cow::Borrowed(""), Cow::Borrowed), rest.len());
    }
    let (mut text, mut taken) = (String::with_capacity(bytes.len()), 0);
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        taken += chunk.valid().len() + chunk.invalid().len();
        let is_beginning =
            || std::str::from_utf8(chunk.invalid()).is_err_and(|error| error.error_len().is_none());
        match chunk.invalid() {
            [] => {}
            invalid if taken == bytes.len() && is_beginning() => return (Cow::Owned(text), invalid.len()),
            _ => text.push('\u{fffd}'),
        }
    }
    (Cow::Owned(text), 0)
}

#[cfg(test)]
mod tests;
