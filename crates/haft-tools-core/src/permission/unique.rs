use std::hash::{BuildHasher as _, RandomState};
use std::time::{Duration, SystemTime};

/// Makes a name that nothing else has: 16 hexadecimal digits.
pub(super) fn unique() -> String {
    // Each state is keyed differently, from randomness of the system.
    format!("{:016x}", RandomState::new().hash_one(now_ms()))
}

/// The time in milliseconds since the Unix epoch; 0 before it.
pub(super) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    milliseconds(since)
}

/// A duration in whole milliseconds.
pub(super) fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
