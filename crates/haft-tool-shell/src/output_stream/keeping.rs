use std::sync::{Arc, OnceLock};

use haft_core::OutputId;
use haft_tools_core::{CallScope, RedactedStream};
use tokio::task::{JoinHandle, spawn_blocking};

use crate::script_outputs::ScriptOutputs;
use crate::transcript::Transcript;

/// Keeps an output in its transcript, whose file is written beside reading what comes next.
#[derive(Debug)]
pub(super) struct Keeping {
    transcript: Arc<Transcript>,
    /// What it can be read by, once somebody was told.
    name: OnceLock<OutputId>,
    outputs: ScriptOutputs,
    redacted: Option<RedactedStream>,
    /// What is to be written next, and what is being written.
    due: Option<Vec<u8>>,
    writing: Option<JoinHandle<Vec<u8>>>,
    /// A buffer that can be used again.
    spare: Option<Vec<u8>>,
    /// Whether what comes goes into a file.
    spills: bool,
}

impl Keeping {
    pub(super) fn new(outputs: &ScriptOutputs) -> Self {
        let redactor = outputs.secrets();
        Self {
            transcript: outputs.begin(),
            name: OnceLock::new(),
            outputs: outputs.clone(),
            redacted: (!redactor.is_empty()).then(|| redactor.stream()),
            due: None,
            writing: None,
            spare: None,
            spills: false,
        }
    }

    pub(super) fn transcript(&self) -> &Arc<Transcript> {
        &self.transcript
    }

    /// Gives the transcript a name by which it can be read.
    pub(super) fn name(&self, scope: &CallScope) -> OutputId {
        self.name.get_or_init(|| self.outputs.keep(scope, &self.transcript)).clone()
    }

    /// Tells whether all that has come is in memory.
    pub(super) fn is_small(&self) -> bool {
        !self.spills
    }

    /// Tells whether so many bytes of text can be kept without blocking.
    pub(super) fn takes_at_once(&self, bytes: usize) -> bool {
        self.redacted.is_none() && !self.spills && !self.transcript.blocks(bytes)
    }

    pub(super) fn push_at_once(&mut self, text: &str) {
        self.transcript.push(text.as_bytes());
    }

    /// Keeps text that may have to be written; [`settle`](Self::settle) has to be waited for before there is more.
    pub(super) fn push(&mut self, text: Vec<u8>) {
        let text = match &mut self.redacted {
            // What was read is text already.
            Some(stream) => stream.push(String::from_utf8_lossy(&text).into_owned()).into_bytes(),
            None => text,
        };
        self.push_redacted(text);
    }

    fn push_redacted(&mut self, mut text: Vec<u8>) {
        if !self.spills && !self.transcript.blocks(text.len()) {
            self.transcript.push(&text);
            return;
        }
        if !self.spills {
            self.outputs.make_room();
            self.spills = true;
        }
        match &mut self.due {
            Some(due) => due.append(&mut text),
            None => self.due = Some(text),
        }
    }

    /// Gives a buffer of so many bytes.
    pub(super) fn spare(&mut self, bytes: usize) -> Vec<u8> {
        let mut spare = self.spare.take().unwrap_or_default();
        spare.resize(bytes, 0);
        spare
    }

    /// Begins to write what is due, once what was due before is written.
    ///
    /// Cancel safe.
    pub(super) async fn settle(&mut self) {
        if self.due.is_none() {
            return;
        }
        if let Some(writing) = &mut self.writing {
            // It fails only while the runtime shuts down.
            let written = writing.await.unwrap_or_default();
            self.writing = None;
            self.spare = Some(written);
        }
        if let Some(due) = self.due.take() {
            let transcript = Arc::clone(&self.transcript);
            self.writing = Some(spawn_blocking(move || {
                transcript.push(&due);
                due
            }));
        }
    }

    /// Waits until everything is written.
    pub(super) async fn finish(&mut self) {
        if let Some(stream) = self.redacted.take() {
            let rest = stream.finish().into_bytes();
            self.push_redacted(rest);
        }
        self.flush().await;
        self.transcript.end();
    }

    /// Waits until everything is written that has come.
    pub(super) async fn flush(&mut self) {
        self.settle().await;
        if let Some(writing) = &mut self.writing {
            let written = writing.await.unwrap_or_default();
            self.writing = None;
            self.spare = Some(written);
        }
    }
}
