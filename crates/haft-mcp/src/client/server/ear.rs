use crate::ServerName;
use crate::client::answers::Answers;
use crate::client::session::{Ask, AskRefused, Counterpart, News, Watch};
use crate::shown::line;
use async_trait::async_trait;
use haft_tools_core::{CallContext, Tool};
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// The most bytes of a line of a server's log.
const MOST_LINE_BYTES: usize = 4 << 10;

/// The most bytes of a server's log that are kept.
const MOST_LOG_BYTES: usize = 64 << 10;

/// Is what a server turns to, over whichever connection.
pub(crate) struct Ear {
    server: ServerName,
    answers: Arc<dyn Answers>,
    pub(super) tools_changed: Notify,
    /// How often the server has told that.
    tools_told: AtomicU64,
    log: Mutex<Log>,
    calls: Mutex<Calls>,
}

#[derive(Default)]
struct Log {
    lines: VecDeque<String>,
    bytes: usize,
}

/// Holds the calls that the server works on.
#[derive(Default)]
struct Calls {
    next: u64,
    running: Vec<(u64, CallContext)>,
}

/// Has what the server says be told to a call until it is dropped.
pub(crate) struct Heard<'a> {
    ear: &'a Ear,
    number: u64,
}

impl Ear {
    pub(crate) fn new(server: ServerName, answers: Arc<dyn Answers>) -> Self {
        Self {
            server,
            answers,
            tools_changed: Notify::new(),
            tools_told: AtomicU64::new(0),
            log: Mutex::default(),
            calls: Mutex::default(),
        }
    }

    /// The tools by which what the server asks is done.
    pub(crate) fn tools(&self) -> Vec<Arc<dyn Tool>> {
        self.answers.tools(&self.server)
    }

    /// How often the server has told that its tools changed.
    pub(super) fn tools_told(&self) -> u64 {
        self.tools_told.load(Ordering::Acquire)
    }

    /// Takes note that the server works on a call.
    pub(crate) fn heard_by(&self, call: CallContext) -> Heard<'_> {
        let mut calls = self.calls();
        calls.next += 1;
        let number = calls.next;
        calls.running.push((number, call));
        Heard { ear: self, number }
    }

    /// The last lines of the server's log.
    pub(super) fn log(&self) -> Vec<String> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).lines.iter().cloned().collect()
    }

    /// Keeps a line of the log, and tells it to the call it must belong to, if there is only one.
    fn note(&self, text: String) {
        let call = {
            let calls = self.calls();
            match &*calls.running {
                [(_, only)] => Some(only.clone()),
                _ => None,
            }
        };
        if let Some(call) = call {
            call.progress(&*text);
        }
        self.keep(text);
    }

    fn keep(&self, text: String) {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        // A line costs something besides its text.
        log.bytes += text.len() + 1;
        log.lines.push_back(text);
        while log.bytes > MOST_LOG_BYTES {
            let Some(oldest) = log.lines.pop_front() else { break };
            log.bytes -= oldest.len() + 1;
        }
    }

    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Heard<'_> {
    fn drop(&mut self) {
        self.ear.calls().running.retain(|(number, _)| *number != self.number);
    }
}

#[async_trait]
impl Counterpart for Ear {
    fn capabilities(&self) -> Value {
        self.answers.capabilities(&self.server)
    }

    async fn answer(&self, ask: Ask, of: Option<Arc<dyn Watch>>) -> Result<Value, AskRefused> {
        // Nobody is asked for the roots.
        let is_question = ask.method != "roots/list";
        if is_question && of.as_ref().is_some_and(|watch| !watch.may_ask()) {
            let message = "too much has been asked for this call".to_owned();
            return Err(AskRefused { code: -32600, message });
        }
        let answered = self.answers.answer(&self.server, ask, of.clone());
        match of.as_ref().and_then(|watch| watch.call()) {
            // How long the host takes is not for the server to answer for.
            Some(call) => call.stand_still_while(answered).await,
            None => answered.await,
        }
    }

    fn hear(&self, news: News) {
        match news {
            News::ToolsChanged => {
                self.tools_told.fetch_add(1, Ordering::Release);
                self.tools_changed.notify_one();
            }
            News::Log { level, text } => {
                self.note(format!("{}: {}", line(&level, 20), line(&text, MOST_LINE_BYTES)));
            }
            News::Odd(text) => self.keep(line(&text, MOST_LINE_BYTES)),
            news => self.answers.hear(&self.server, &news),
        }
    }
}
