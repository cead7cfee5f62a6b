use crate::client::session::Watch;
use crate::shown::line;
use haft_core::Progress;
use haft_tools_core::CallContext;
use std::sync::atomic::{AtomicU32, Ordering};
use tokio::sync::Notify;

/// The most questions that a server may put for one call.
const MOST_QUESTIONS: u32 = 8;

/// The most bytes of what a server tells of how far it is.
const MOST_BYTES: usize = 1_024;

/// Tells a call what happens to its request.
pub(super) struct CallWatch {
    /// The call; none where the host itself wants something.
    cx: Option<CallContext>,
    questions: AtomicU32,
    asked_too_much: Notify,
}

impl CallWatch {
    pub(super) fn new(cx: impl Into<Option<CallContext>>) -> Self {
        Self { cx: cx.into(), questions: AtomicU32::new(0), asked_too_much: Notify::new() }
    }

    /// Tells people something, and the executor that the call gets on.
    pub(super) fn tell(&self, text: &str) {
        if let Some(cx) = &self.cx {
            cx.progress(text);
        }
    }

    /// Tells whether the server has put more questions than it may.
    pub(super) fn was_asked_too_much(&self) -> bool {
        self.questions.load(Ordering::Relaxed) > MOST_QUESTIONS
    }

    /// Waits until the server has put more questions than it may.
    pub(super) async fn is_asked_too_much(&self) {
        self.asked_too_much.notified().await;
    }
}

impl Watch for CallWatch {
    fn progress(&self, done: f64, total: Option<f64>, text: Option<&str>) {
        let Some(cx) = &self.cx else { return };
        let fraction =
            total.filter(|total| *total > 0.0).and_then(|total| Progress::from(done / total).fraction);
        let message = text.map(|text| line(text, MOST_BYTES));
        cx.progress(Progress { message, fraction });
    }

    fn may_ask(&self) -> bool {
        let may = self.questions.fetch_add(1, Ordering::Relaxed) < MOST_QUESTIONS;
        if !may {
            self.asked_too_much.notify_one();
        }
        may
    }

    fn call(&self) -> Option<&CallContext> {
        self.cx.as_ref()
    }
}
