use std::sync::{Arc, Mutex};
use std::time::Duration;

use haft_core::{Digest, OutputId, RunId, ToolError};
use haft_process::ProcessSignal;
use serde_json::json;
use tokio::sync::{Mutex as AsyncMutex, mpsc, watch};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::lock;
use crate::feed::Feed;
use crate::reduction::{Reduction, Room};
use crate::report::Ending;
use crate::screen::{Screen, Snapshot};
use crate::transcript::Transcript;

/// How much of what was printed is shown at once, in bytes.
const SHOWN_BYTES: u64 = 24 * 1024;

/// How many lines of it; fewer than the 2,000 that an executor lets pass by default.
const SHOWN_LINES: usize = 1_900;

/// What is said of a job that nothing can be done with any more.
const ENDED: &str =
    "the job has ended; read what it printed with `job_poll`, or start it again with `bash` and `background`";

/// How much of the end of an output comes with the news that its job has ended, in bytes.
const NEWS_BYTES: usize = 1024;

/// How long a job may take to read what it is given.
const WRITING: Duration = Duration::from_secs(5);

/// Is a script that goes on beside calls.
#[derive(Debug)]
pub(crate) struct Job {
    name: Box<str>,
    run: RunId,
    command: String,
    output: OutputId,
    transcript: Arc<Transcript>,
    input: AsyncMutex<Option<Feed>>,
    screen: Option<Arc<Screen>>,
    signals: mpsc::Sender<ProcessSignal>,
    stop: CancellationToken,
    state: watch::Sender<State>,
    told: Mutex<Told>,
}

/// How far a job has got.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct State {
    /// How the process that was started has ended, if it has.
    pub(crate) ending: Option<Ending>,
    /// Whether everything that came of it has ended too.
    pub(crate) is_over: bool,
    /// What there is to say of the sandbox.
    pub(crate) remarks: String,
}

/// What the model knows of a job.
#[derive(Debug)]
struct Told {
    /// Up to which byte it has seen what was printed.
    cursor: u64,
    is_end_known: bool,
}

/// A part of what a job printed.
#[derive(Debug)]
pub(crate) struct Shown {
    pub(crate) text: String,
    /// Where it ends, and where what there is ends.
    pub(crate) cursor: u64,
    pub(crate) printed: u64,
    /// How many bytes could not be kept.
    pub(crate) lost: u64,
    pub(crate) state: State,
}

impl Job {
    pub(super) fn new(
        number: u64,
        run: RunId,
        command: String,
        (output, transcript): (OutputId, Arc<Transcript>),
        input: Option<Feed>,
        ending: Option<Ending>,
        signals: mpsc::Sender<ProcessSignal>,
    ) -> Self {
        let told = Told { cursor: transcript.extent().bytes, is_end_known: false };
        let (state, _) = watch::channel(State { ending, is_over: false, remarks: String::new() });
        Self {
            name: format!("j{number}").into(),
            run,
            command,
            output,
            transcript,
            input: AsyncMutex::new(input),
            screen: None,
            signals,
            stop: CancellationToken::new(),
            state,
            told: Mutex::new(told),
        }
    }

    /// Gives it the screen of its terminal.
    pub(super) fn showing(self, screen: Option<Arc<Screen>>) -> Self {
        Self { screen, ..self }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn run(&self) -> &RunId {
        &self.run
    }

    pub(crate) fn output(&self) -> &OutputId {
        &self.output
    }

    /// The first line of what was run, cut where it is long.
    pub(crate) fn title(&self) -> String {
        let line = self.command.trim().lines().next().unwrap_or_default();
        let short = &line[..line.floor_char_boundary(100)];
        if short.len() < self.command.trim().len() { format!("{short}…") } else { short.to_owned() }
    }

    /// The [title](Self::title), which tells it apart from jobs of which no more than that is the same.
    ///
    /// Names of jobs begin anew with each process, and what was asked in one can be answered in another.
    pub(crate) fn identity(&self) -> String {
        let title = self.title();
        if title == self.command.trim() {
            return title;
        }
        let digest = Digest::of(&json!(self.command)).to_string();
        format!("{title} ({})", &digest[..digest.floor_char_boundary(12)])
    }

    pub(crate) fn state(&self) -> State {
        self.state.borrow().clone()
    }

    pub(crate) fn is_over(&self) -> bool {
        self.state.borrow().is_over
    }

    pub(crate) fn transcript(&self) -> &Arc<Transcript> {
        &self.transcript
    }

    /// Waits until everything that came of it has ended.
    pub(crate) async fn over(&self) {
        // It fails only with the sender, which is here.
        let _ = self.state.subscribe().wait_for(|state| state.is_over).await;
    }

    pub(super) fn has_exited(&self, ending: Option<Ending>) {
        self.state.send_modify(|state| state.ending = ending);
    }

    pub(super) async fn end(&self, ending: Ending, remarks: String) {
        *self.input.lock().await = None;
        if let Some(screen) = &self.screen {
            screen.end();
        }
        self.state.send_replace(State { ending: Some(ending), is_over: true, remarks });
    }

    /// Has it end, with everything that it has started.
    pub(crate) fn stop(&self) {
        self.stop.cancel();
    }

    pub(super) async fn stopped(&self) {
        self.stop.cancelled().await;
    }

    /// Has a signal sent to all its processes.
    pub(crate) fn signal(&self, signal: ProcessSignal) -> Result<(), ToolError> {
        self.signals.try_send(signal).map_err(|_| {
            ToolError::unavailable(if self.is_over() {
                ENDED
            } else {
                "too many signals wait to be sent to the job; look at what it does with `job_poll`"
            })
        })
    }

    /// Writes to its standard input, and closes that if nothing more is to come.
    pub(crate) async fn write(&self, text: &str, closes: bool) -> Result<(), ToolError> {
        let mut input = self.input.lock().await;
        let Some(sender) = input.as_mut() else {
            return Err(ToolError::invalid_input(if self.is_over() {
                ENDED
            } else {
                "the standard input of the job is closed; start one with `stdin` or `pty` to write to it"
            }));
        };
        let write = async {
            sender.write_all(text.as_bytes()).await?;
            let is_in_line = !text.is_empty() && !text.ends_with(['\n', '\r']);
            if closes { sender.end(is_in_line).await } else { Ok(()) }
        };
        let written = timeout(WRITING, write).await;
        let is_closed = closes && !sender.stays();
        if is_closed || matches!(written, Ok(Err(_))) {
            *input = None;
        }
        match written {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => {
                let text = "the job does not read its standard input any more; look at what it prints with `job_poll`";
                Err(ToolError::failed(text).with_source(error))
            }
            Err(_) => Err(ToolError::failed(
                "the job did not read all of it within 5 s, and how much is not known; look at what it does with `job_poll`",
            )),
        }
    }

    /// Shows what was printed from a place on, or from where it was last shown to.
    pub(crate) async fn show(&self, from: Option<u64>) -> Result<Shown, ToolError> {
        // Looked at first, so that what is printed at the very end is not missed.
        let state = self.state();
        let from = from.unwrap_or_else(|| lock(&self.told).cursor);
        let transcript = Arc::clone(&self.transcript);
        let read = tokio::task::spawn_blocking(move || {
            let extent = transcript.extent();
            Ok((transcript.read(from..from.saturating_add(SHOWN_BYTES).min(extent.bytes))?, extent))
        });
        let read = read.await.unwrap_or_else(|error| Err(std::io::Error::other(error)));
        let (bytes, extent) = read.map_err(|error| {
            let told = if self.transcript.has_ended() {
                ToolError::unavailable(
                    "what the job printed is lost; start it again, with its output in a file of the working directory",
                )
            } else {
                ToolError::retry("what the job printed cannot be read now; try again")
            };
            told.with_source(error)
        })?;
        // A place within a character is moved to its end, and one that is cut is left for the next time.
        let begins = bytes.iter().take_while(|byte| **byte & 0b1100_0000 == 0b1000_0000).count().min(3);
        let text = match std::str::from_utf8(&bytes[begins..]) {
            Ok(text) => text,
            Err(error) => {
                std::str::from_utf8(&bytes[begins..begins + error.valid_up_to()]).unwrap_or_default()
            }
        };
        let mut reduced = Reduction::new(Room { bytes: usize::MAX, lines: SHOWN_LINES });
        let taken = reduced.push(text);
        let cursor = from.min(extent.bytes) + (begins + taken) as u64;
        let is_all = cursor >= extent.bytes;
        let mut told = lock(&self.told);
        told.cursor = told.cursor.max(cursor);
        told.is_end_known |= state.is_over && is_all;
        Ok(Shown { text: reduced.to_text(), cursor, printed: extent.bytes, lost: extent.lost, state })
    }

    /// Shows what stands on its terminal, if it has one, and takes all that was printed for seen.
    pub(crate) fn look(&self) -> Option<(Snapshot, State, u64)> {
        let screen = self.screen.as_ref()?;
        // Looked at first, so that what is printed meanwhile is not taken for seen.
        let (state, printed) = (self.state(), self.transcript.extent().bytes);
        let snapshot = screen.snapshot();
        let mut told = lock(&self.told);
        told.cursor = told.cursor.max(printed);
        told.is_end_known |= state.is_over;
        Some((snapshot, state, printed))
    }

    /// Waits until there is more than up to a place, or nothing more comes.
    pub(crate) async fn more_than(&self, place: Option<u64>) {
        let place = place.unwrap_or_else(|| lock(&self.told).cursor);
        loop {
            let grown = self.transcript.grown();
            if self.is_over() || self.transcript.extent().bytes > place {
                return;
            }
            tokio::select! {
                () = grown => {}
                () = self.over() => {}
            }
        }
    }

    /// Takes note that the model was told how it ended.
    pub(crate) fn end_is_known(&self) {
        lock(&self.told).is_end_known = true;
    }

    /// What the model is to be told of its end, if it has ended and nobody has told.
    pub(super) fn take_news(&self) -> Option<String> {
        let state = self.state();
        if !state.is_over || std::mem::replace(&mut lock(&self.told).is_end_known, true) {
            return None;
        }
        Some(super::report::news(self, &state, &self.newest(NEWS_BYTES)))
    }

    /// The end of what was printed, in whole lines.
    pub(crate) fn newest(&self, most_bytes: usize) -> String {
        let extent = self.transcript.extent();
        let from = extent.bytes.saturating_sub(2 * most_bytes as u64);
        // Little is read, most often from memory.
        let bytes = self.transcript.read(from..extent.bytes).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let mut reduced = Reduction::new(Room { bytes: usize::MAX, lines: usize::MAX });
        reduced.push(&text);
        reduced.end(Room { bytes: most_bytes, lines: usize::MAX }).0
    }
}
