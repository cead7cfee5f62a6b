//! The events of an answer, as they come and each of them bounded.

use crate::complaint::{Fault, unanswered};
use futures_util::stream::{self, Stream, StreamExt as _};
use haft_http::Body;
use haft_model::{ModelError, ProtocolError};
use sse_stream::{Sse, SseStream};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// How many bytes may come before an event is complete: as many as a whole turn may have.
const MOST_EVENT_BYTES: usize = 16 * 1024 * 1024;

/// Reads `text/event-stream`.
pub(crate) struct Events {
    inner: Pin<Box<dyn Stream<Item = Result<Sse, sse_stream::Error>> + Send>>,
    /// How many bytes came since the last event.
    pending: Arc<AtomicUsize>,
}

/// Why no more bytes come.
#[derive(Debug, thiserror::Error)]
enum Ended {
    #[error(transparent)]
    Http(#[from] haft_http::Error),
    #[error("the service sent nothing for {} s; try again, or wait longer for this model", .0.as_secs_f64())]
    Idle(Duration),
    #[error("an event is larger than {MOST_EVENT_BYTES} bytes")]
    TooLarge,
}

impl Events {
    pub(crate) fn new(body: Body, idle: Duration) -> Self {
        let pending = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&pending);
        let bytes = stream::try_unfold((body, counted), move |(mut body, counted)| async move {
            let piece = tokio::time::timeout(idle, body.next()).await.map_err(|_| Ended::Idle(idle))??;
            let Some(piece) = piece else { return Ok(None) };
            if counted.fetch_add(piece.len(), Ordering::Relaxed).saturating_add(piece.len())
                > MOST_EVENT_BYTES
            {
                return Err(Ended::TooLarge);
            }
            Ok(Some((piece, (body, counted))))
        });
        Self { inner: Box::pin(SseStream::from_bytes_stream(bytes)), pending }
    }

    /// Gives the data of the next event; `None` at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<String>, Fault> {
        while let Some(event) = self.inner.next().await {
            let event = event.map_err(fault)?;
            self.pending.store(0, Ordering::Relaxed);
            if let Some(data) = event.data.filter(|data| !data.is_empty()) {
                return Ok(Some(data));
            }
        }
        Ok(None)
    }
}

fn fault(error: sse_stream::Error) -> Fault {
    let error = match error {
        sse_stream::Error::Body(error) => match error.downcast::<Ended>() {
            Ok(ended) => match *ended {
                Ended::Http(haft_http::Error::TooLarge { most }) => {
                    let limit = usize::try_from(most).unwrap_or(usize::MAX);
                    return Fault::last(ProtocolError::TooLarge { limit });
                }
                Ended::Http(error) => return unanswered(error),
                // It was waited for long enough.
                idle @ Ended::Idle(_) => return Fault::last(ModelError::unavailable(idle)),
                Ended::TooLarge => {
                    return Fault::last(ProtocolError::TooLarge { limit: MOST_EVENT_BYTES });
                }
            },
            Err(error) => sse_stream::Error::Body(error),
        },
        error => error,
    };
    Fault::last(ProtocolError::Unreadable {
        what: "it is not a stream of events; check the base URL, and ask again".to_owned(),
        source: Some(Box::new(error)),
    })
}
