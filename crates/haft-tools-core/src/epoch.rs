use std::time::{Duration, SystemTime};

/// The time in milliseconds since the Unix epoch, as events, grants and pending calls hold it; 0 before it.
///
/// ```
/// use haft_tools_core::now_ms;
///
/// let (before, after) = (now_ms(), now_ms());
/// // 2020-09-13
/// assert!(before > 1_600_000_000_000 && after >= before);
/// ```
pub fn now_ms() -> u64 {
    milliseconds(since_epoch())
}

/// The time since the Unix epoch; nothing before it.
pub(crate) fn since_epoch() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

/// A duration in whole milliseconds; [`u64::MAX`] for one that is longer than that.
///
/// ```
/// use haft_tools_core::milliseconds;
/// use std::time::Duration;
///
/// assert_eq!(milliseconds(Duration::from_secs(2)), 2_000);
/// assert_eq!(milliseconds(Duration::MAX), u64::MAX);
/// ```
pub fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
