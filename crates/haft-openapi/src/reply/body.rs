use super::Asked;
use crate::tools::unanswered;
use bytes::Bytes;
use haft_core::{ToolError, ToolErrorKind};
use haft_http::Body;
use std::time::Duration;
use tokio::time::timeout;

/// How many bytes come between two words on how far it got.
const WORD_EVERY: usize = 256 << 10;

/// Is as much of a body as is read.
pub(super) struct Taken {
    pub(super) bytes: Vec<u8>,
    /// There is more.
    pub(super) is_cut: bool,
}

/// Reads a body as far as the limits say; less than twice that much is in memory at once, and one piece.
pub(super) async fn take(asked: &Asked<'_>, mut body: Body) -> Result<Taken, ToolError> {
    let most = asked.tool.shared.limits.most_bytes;
    let mut told = 0;
    let taken = collect(&mut body, most, asked.tool.shared.limits.idle_timeout, |read| {
        if read - told >= WORD_EVERY {
            told = read;
            asked.cx.progress(format!("{} KiB read", read >> 10));
        }
    });
    taken.await.map_err(|broken| broken.told(asked))
}

/// Says why the rest of a body does not come.
pub(super) enum Broken {
    Http(haft_http::Error),
    Idle(Duration),
}

impl Broken {
    pub(super) fn told(self, asked: &Asked<'_>) -> ToolError {
        match self {
            Self::Http(error) => unanswered(error, asked.tool),
            Self::Idle(idle) => ToolError::new(
                ToolErrorKind::TimedOut,
                format!(
                    "the reply to `{}` stopped coming for {} s; the call may have been done, so see what has been done \
                     before you repeat it",
                    asked.tool.name,
                    idle.as_secs()
                ),
            ),
        }
    }
}

/// Waits for the next piece of a body.
pub(super) async fn next(body: &mut Body, idle: Duration) -> Result<Option<Bytes>, Broken> {
    match timeout(idle, body.next()).await {
        Ok(piece) => piece.map_err(Broken::Http),
        Err(_) => Err(Broken::Idle(idle)),
    }
}

/// Collects the pieces of a body up to a number of bytes.
pub(super) async fn collect(
    body: &mut Body,
    most: usize,
    idle: Duration,
    mut so_far: impl FnMut(usize),
) -> Result<Taken, Broken> {
    let said = body.length().and_then(|length| usize::try_from(length).ok()).unwrap_or_default();
    // What it says of its length is believed as far as it costs little.
    let mut bytes = Vec::with_capacity(said.min(most / 2).min(WORD_EVERY));
    while let Some(piece) = next(body, idle).await? {
        let taken = &piece[..piece.len().min(most - bytes.len())];
        let wanted = bytes.len() + taken.len();
        if bytes.capacity() < wanted {
            // The last step is the most that is taken, and the one before half of it, whatever sizes the pieces have.
            let mut capacity = most;
            while capacity / 2 >= wanted {
                capacity /= 2;
            }
            bytes.reserve_exact(capacity - bytes.len());
        }
        bytes.extend_from_slice(taken);
        if taken.len() < piece.len() {
            return Ok(Taken { bytes, is_cut: true });
        }
        so_far(bytes.len());
    }
    Ok(Taken { bytes, is_cut: false })
}
