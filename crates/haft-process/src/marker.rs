use std::ffi::{OsStr, OsString};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::limit_mark::LimitMark;
use crate::preparation::Preparation;

/// Marks the processes of one call in their environment, and in a [limit](LimitMark), which they pass on to whatever they
/// start.
///
/// Every call has its own mark, also beside calls of other hosts on the same machine. When a command runs a host of its
/// own, the mark of the outer call stays in front of the inner one, so that the outer call finds all its processes.
#[derive(Debug, Clone)]
pub(crate) struct Marker {
    name: String,
    limit: Option<LimitMark>,
}

impl Marker {
    /// The environment variable that carries the mark.
    pub(crate) const VARIABLE: &str = "HAFT_CALL";

    /// Makes a mark that no other call has.
    pub(crate) fn next() -> Self {
        static CALLS: AtomicU64 = AtomicU64::new(0);
        let call = CALLS.fetch_add(1, Ordering::Relaxed);
        Self { name: format!("{}-{call:x}", Self::host()), limit: LimitMark::of_call(call) }
    }

    /// What all marks of this process begin with, and those of no other.
    pub(crate) fn host() -> &'static str {
        static HOST: LazyLock<String> = LazyLock::new(|| {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            format!("{:x}-{:x}", std::process::id(), now.as_nanos())
        });
        &HOST
    }

    /// When the host was started whose marks begin so, since the beginning of 1970; `None` if no mark begins so.
    pub(crate) fn began(host: &str) -> Option<Duration> {
        let (process, nanoseconds) = host.split_once('-')?;
        let is_number =
            |part: &str| part.bytes().all(|digit| digit.is_ascii_digit() || (b'a'..=b'f').contains(&digit));
        if process.is_empty() || !is_number(process) || !is_number(nanoseconds) {
            return None;
        }
        u64::from_str_radix(nanoseconds, 16).ok().map(Duration::from_nanos)
    }

    /// The value of the variable for this call, inside the call that the host itself is part of.
    pub(crate) fn value(&self, outer: Option<&OsStr>) -> OsString {
        let mut value = OsString::new();
        if let Some(outer) = outer {
            value.push(outer);
            value.push(":");
        }
        value.push(&self.name);
        value
    }

    /// What gives a new process the mark that is no variable, where there can be one.
    pub(crate) fn preparation(&self) -> Option<Preparation> {
        self.limit.map(LimitMark::preparation)
    }

    /// Tells whether the limits of a process, as the system shows them, carry the mark.
    pub(crate) fn is_in_limits(&self, limits: &[u8]) -> bool {
        self.limit.is_some_and(|limit| limit.is_in(limits))
    }

    /// Tells whether an environment, as the system shows it, carries the mark.
    pub(crate) fn is_in(&self, environment: &[u8]) -> bool {
        environment
            .split(|byte| *byte == 0)
            .filter_map(|variable| variable.strip_prefix(Self::VARIABLE.as_bytes())?.strip_prefix(b"="))
            .any(|value| value.split(|byte| *byte == b':').any(|mark| mark == self.name.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStrExt as _;

    fn environment_of(value: &OsStr) -> Vec<u8> {
        [b"A=1\0HAFT_CALL=", value.as_bytes(), b"\0B=2\0"].concat()
    }

    #[test]
    fn is_found_in_its_own_call_and_in_calls_inside_it_only() {
        let (outer, inner, other) = (Marker::next(), Marker::next(), Marker::next());
        let nested = environment_of(&inner.value(Some(&outer.value(None))));
        assert_eq!([&outer, &inner, &other].map(|marker| marker.is_in(&nested)), [true, true, false]);
        let alone = environment_of(&outer.value(None));
        assert_eq!([&outer, &inner, &other].map(|marker| marker.is_in(&alone)), [true, false, false]);
    }

    #[test]
    fn is_not_found_in_other_variables() {
        let marker = Marker::next();
        let decoys = format!("NOT_HAFT_CALL={0}\0HAFT_CALLS={0}\0{0}\0HAFT_CALL={0}0\0", marker.name);
        assert!(!marker.is_in(decoys.as_bytes()));
    }
}
