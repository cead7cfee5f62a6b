use std::time::{Duration, SystemTime};

/// The time in milliseconds since the Unix epoch, as events, grants and pending calls hold it; 0 before it.
pub fn now_ms() -> u64 {
    milliseconds(since_epoch())
}

/// The time since the Unix epoch; nothing before it.
pub(crate) fn since_epoch() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

/// A duration in whole milliseconds; [`u64::MAX`] for one that is longer than that.
pub fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
