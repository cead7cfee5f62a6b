//! The units of time, the longest first.

/// Each unit's suffix with its length in milliseconds.
pub(crate) const UNITS: [(&str, u64); 5] =
    [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];
