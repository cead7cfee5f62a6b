use rmcp::model::{RequestId, ServerJsonRpcMessage};
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::task::Waker;
use tokio::time::Instant;

/// How many messages of one stream are kept for whoever comes back, and how many bytes of them.
const MOST_KEPT: usize = 256;
const MOST_KEPT_BYTES: usize = 1024 * 1024;

/// Is what is told on one stream.
#[derive(Debug, Default)]
pub(super) struct Outgoing {
    /// The request that it answers; none for the common one.
    pub(super) request: Option<RequestId>,
    kept: VecDeque<Kept>,
    bytes: usize,
    /// How many messages were put on it.
    pub(super) sent: u64,
    /// The reader that counts; one that came before gets nothing more.
    pub(super) reader: u64,
    pub(super) waker: Option<Waker>,
    /// Since when nobody reads it.
    pub(super) left: Option<Instant>,
    pub(super) is_answered: bool,
}

#[derive(Debug)]
pub(super) struct Kept {
    pub(super) number: u64,
    bytes: usize,
    pub(super) message: Arc<ServerJsonRpcMessage>,
}

impl Outgoing {
    pub(super) fn to(request: Option<RequestId>) -> Self {
        Self { request, ..Self::default() }
    }

    pub(super) fn put(&mut self, message: ServerJsonRpcMessage) {
        self.is_answered |=
            matches!(message, ServerJsonRpcMessage::Response(_) | ServerJsonRpcMessage::Error(_));
        let bytes = size(&message);
        self.kept.push_back(Kept { number: self.sent, bytes, message: Arc::new(message) });
        self.sent += 1;
        self.bytes += bytes;
        while (self.kept.len() > MOST_KEPT || self.bytes > MOST_KEPT_BYTES)
            && let Some(spared) = self.kept.iter().position(Kept::can_be_spared)
        {
            self.bytes -= self.kept.remove(spared).map_or(0, |spared| spared.bytes);
        }
    }

    /// Is the next message at or after a number.
    pub(super) fn next(&self, number: u64) -> Option<&Kept> {
        // Those before were read, and are kept for whoever comes back.
        let place = self.kept.partition_point(|kept| kept.number < number);
        self.kept.get(place)
    }
}

impl Outgoing {
    /// Lets go of most of what was read, of a stream that lasts.
    pub(super) fn forget_before(&mut self, number: u64) {
        while self.kept.len() > MOST_KEPT / 4 && self.kept[0].number < number {
            self.bytes -= self.kept.pop_front().map_or(0, |read| read.bytes);
        }
    }
}

impl Kept {
    fn can_be_spared(&self) -> bool {
        matches!(*self.message, ServerJsonRpcMessage::Notification(_))
    }
}

/// Counts the bytes that a message is written as.
fn size(message: &ServerJsonRpcMessage) -> usize {
    struct Count(usize);
    impl io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    if !matches!(message, ServerJsonRpcMessage::Notification(_)) {
        // It is kept whatever its size.
        return 0;
    }
    let mut count = Count(0);
    // Messages can always be written.
    let _ = serde_json::to_writer(&mut count, message);
    count.0
}
