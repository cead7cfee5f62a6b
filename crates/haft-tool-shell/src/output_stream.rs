use std::io;
use std::pin::pin;
use std::time::Duration;

use haft_core::ToolOutput;
use haft_tools_core::CallContext;
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe::Receiver;
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::capture::Capture;

/// How much is read at once, in bytes: what a pipe holds on Linux (pipe(7)).
const READ_BYTES: usize = 64 * 1024;

/// How long an output has to say nothing to count as quiet.
const QUIET: Duration = Duration::from_millis(100);

/// How long people wait for news at least, so that a flood of output is not a flood of events.
const BETWEEN_UPDATES: Duration = Duration::from_millis(100);

/// How much of the newest output an update shows, in bytes.
const UPDATE_BYTES: usize = 2 * 1024;

/// Reads what the processes of a call print, and shows it to people as it comes.
#[derive(Debug)]
pub(crate) struct OutputStream {
    pipe: Receiver,
    is_open: bool,
    buffer: Box<[u8]>,
    /// How many bytes at the start of the buffer begin a character that is not complete yet.
    carried: usize,
    received: u64,
    capture: Capture,
    cx: CallContext,
    has_news: bool,
    next_update: Instant,
}

impl OutputStream {
    /// Reads from a pipe until nobody can write to it any more.
    pub(crate) fn new(pipe: io::PipeReader, cx: CallContext) -> io::Result<Self> {
        Ok(Self {
            pipe: Receiver::from_owned_fd(pipe.into())?,
            is_open: true,
            buffer: vec![0; READ_BYTES].into(),
            carried: 0,
            received: 0,
            capture: Capture::default(),
            cx,
            has_news: false,
            next_update: Instant::now(),
        })
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

    /// Takes what is still printed until the pipe is closed or quiet, or for this long.
    pub(crate) async fn drain(&mut self, most: Duration) {
        let deadline = Instant::now() + most;
        while self.is_open && Instant::now() < deadline {
            if timeout_at(deadline.min(Instant::now() + QUIET), self.read()).await.is_err() {
                return;
            }
        }
    }

    /// The output so far, as the model reads it.
    pub(crate) fn into_text(mut self) -> String {
        if self.carried > 0 {
            self.capture.push_broken();
        }
        self.capture.to_text()
    }

    async fn read(&mut self) {
        match self.pipe.read(&mut self.buffer[self.carried..]).await {
            // A pipe that cannot be read is of no more use than one that is closed.
            Ok(0) | Err(_) => self.is_open = false,
            Ok(count) => {
                self.received += count as u64;
                let end = self.carried + count;
                self.carried = self.capture.push(&self.buffer[..end]);
                self.buffer.copy_within(end - self.carried..end, 0);
                self.has_news = true;
            }
        }
    }

    fn show_news(&mut self) {
        let now = Instant::now();
        if self.has_news && now >= self.next_update {
            self.cx.update(|| ToolOutput::text(self.capture.newest(UPDATE_BYTES)));
            self.next_update = now + BETWEEN_UPDATES;
            self.has_news = false;
        }
    }
}
