use crate::now_ms;
use std::hash::{BuildHasher as _, RandomState};

/// Makes a name that nothing else has: 16 hexadecimal digits.
pub(super) fn unique() -> String {
    // Each state is keyed differently, from randomness of the system.
    format!("{:016x}", RandomState::new().hash_one(now_ms()))
}
