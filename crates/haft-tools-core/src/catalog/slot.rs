use super::admission::Admitted;
use super::{Changes, OfferedTools, SourceError, SourceHealth, SourceStatus, ToolSource, ending};
use crate::RefusedTool;
use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// The most characters that are kept of the reason why a source failed.
const MOST_CHARACTERS: usize = 500;

/// The most causes of a failure that are told.
const MOST_CAUSES: usize = 8;

/// Holds one source of a catalog with what it gave last.
pub(super) struct Slot {
    pub(super) id: u64,
    pub(super) name: Arc<str>,
    pub(super) admitted: Arc<Admitted>,
    /// How many of its tools the snapshot has.
    pub(super) tools: usize,
    pub(super) refused: Vec<RefusedTool>,
    source: Arc<dyn ToolSource>,
    changes: Option<Changes>,
    health: SourceHealth,
    /// Counts how often the source was asked.
    asked: u64,
    /// Which time it answered last: what was asked earlier and answered later is out of date.
    answered: u64,
}

/// Says which source was asked, and which time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ticket {
    pub(super) slot: u64,
    number: u64,
}

/// Is a source about to be asked.
pub(super) struct Load {
    pub(super) name: Arc<str>,
    ticket: Ticket,
    source: Arc<dyn ToolSource>,
    before: Arc<Admitted>,
}

/// Holds what a source answered.
pub(super) struct Loaded {
    pub(super) ticket: Ticket,
    pub(super) result: Result<Admitted, SourceError>,
}

impl Slot {
    /// Makes a slot whose id is yet to be given.
    pub(super) fn new(name: Arc<str>, source: Arc<dyn ToolSource>) -> Self {
        // A source that panics here is only asked for its tools, through a shared reference.
        let changes = catch_unwind(AssertUnwindSafe(|| source.changes())).unwrap_or_default();
        Self {
            id: 0,
            name,
            admitted: Arc::default(),
            tools: 0,
            refused: Vec::new(),
            source,
            changes,
            health: SourceHealth::Waiting,
            asked: 0,
            answered: 0,
        }
    }

    pub(super) fn status(&self) -> SourceStatus {
        SourceStatus {
            name: self.name.to_string(),
            health: self.health.clone(),
            tools: self.tools,
            refused: self.refused.clone(),
        }
    }

    pub(super) fn changes(&self) -> Option<Changes> {
        self.changes.clone()
    }

    /// Tells whether the source never answered.
    pub(super) fn is_waiting(&self) -> bool {
        matches!(self.health, SourceHealth::Waiting)
    }

    pub(super) fn has_failed(&self) -> bool {
        matches!(self.health, SourceHealth::Failed { .. })
    }

    pub(super) fn begin(&mut self) -> Load {
        self.asked += 1;
        Load {
            name: Arc::clone(&self.name),
            ticket: Ticket { slot: self.id, number: self.asked },
            source: Arc::clone(&self.source),
            before: Arc::clone(&self.admitted),
        }
    }

    /// Takes note of an answer, unless a later one came before; gives the reason of a failure.
    pub(super) fn end(&mut self, loaded: Loaded) -> Option<String> {
        if loaded.ticket.number <= self.answered {
            return None;
        }
        self.answered = loaded.ticket.number;
        let at = SystemTime::now();
        match loaded.result {
            Ok(admitted) => {
                self.admitted = Arc::new(admitted);
                self.health = SourceHealth::Ready { at };
                None
            }
            Err(error) => {
                let times = match self.health {
                    SourceHealth::Failed { times, .. } => times.saturating_add(1),
                    SourceHealth::Waiting | SourceHealth::Ready { .. } => 1,
                };
                let reason = reason(&error);
                self.health = SourceHealth::Failed { at, reason: reason.clone(), times };
                Some(reason)
            }
        }
    }
}

/// Writes an error with its causes, cut to what is worth keeping.
fn reason(error: &SourceError) -> String {
    let causes = std::iter::successors(Some(error as &dyn Error), |error: &&dyn Error| (*error).source());
    let causes: Vec<String> = causes.take(MOST_CAUSES).map(ToString::to_string).collect();
    causes.join(": ").chars().take(MOST_CHARACTERS).collect()
}

impl Load {
    pub(super) fn ticket(&self) -> Ticket {
        self.ticket
    }

    /// Asks the source, and takes in what it offers where blocking does no harm.
    pub(super) async fn run(
        self,
        prefix: Option<Arc<str>>,
        most: usize,
        timeout: Duration,
    ) -> Result<Admitted, SourceError> {
        let Self { source, before, .. } = self;
        let asking = async {
            let offered: OfferedTools = source.tools().await?;
            let admitting = move || Admitted::of(offered, prefix.as_deref(), most, &before);
            tokio::task::spawn_blocking(admitting).await.map_err(|error| SourceError::new(ending(error)))
        };
        let seconds = timeout.as_secs_f64();
        let late = |_| SourceError::new(format!("it did not give its tools within {seconds} s"));
        tokio::time::timeout(timeout, asking).await.map_err(late)?
    }
}
