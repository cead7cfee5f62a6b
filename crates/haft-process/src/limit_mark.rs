use std::hash::{BuildHasher as _, RandomState};
use std::sync::OnceLock;

use crate::preparation::Preparation;

/// How many numbers a host has for its calls, and the first of them; what is below is for what waits for the host's end.
const NUMBERS: u64 = 10_000_000;
const FIRST: u64 = 1_000_000;

/// The number of a host has eleven digits, so that nobody sets such a limit for another reason.
const LEAST_HOST: u64 = 10_000_000_000;
const MOST_HOST: u64 = 100_000_000_000;

/// Marks the processes of one call by a limit of theirs that limits nothing.
///
/// Since 2.4 Linux keeps how many locks of files a process may have (`RLIMIT_LOCKS`, getrlimit(2)), and holds nobody to it.
/// Processes pass it on to those they start, whatever session these begin and whatever variables they clear, also in the
/// programs that they execute, and everybody may read it. So it tells whom a call has started where there is no control
/// group. Who sets another on purpose is not found by it.
///
/// A limit can be lowered only. So a host that is itself part of a call has numbers below those of that call, and what it
/// has started is not found by the outer call's: it ends with this host, when that is ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LimitMark(u64);

impl LimitMark {
    /// The mark of a call; `None` where there can be none.
    pub(crate) fn of_call(call: u64) -> Option<Self> {
        Self::host().map(|host| Self(host * NUMBERS + FIRST + call % (NUMBERS - FIRST)))
    }

    /// What the marks of this process's calls begin with, before a digit other than 0 and six more.
    pub(crate) fn host() -> Option<u64> {
        static HOST: OnceLock<Option<u64>> = OnceLock::new();
        *HOST.get_or_init(|| among(highest()?, RandomState::new().hash_one(std::process::id())))
    }

    /// The mark of what waits for the end of this process, which is of no call.
    pub(crate) fn of_lifeline() -> Option<Self> {
        Self::host().map(|host| Self(host * NUMBERS))
    }

    /// What gives a new process the mark.
    pub(crate) fn preparation(self) -> Preparation {
        set(self.0)
    }

    /// Tells whether the limits of a process, as `/proc` shows them, are these (`proc_pid_limits(5)`).
    pub(crate) fn is_in(self, limits: &[u8]) -> bool {
        let line = limits.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(b"Max file locks"));
        let number = line.and_then(|line| std::str::from_utf8(line).ok()?.split_ascii_whitespace().next());
        number.and_then(|number| number.parse().ok()) == Some(self.0)
    }
}

/// Takes the number of a host that is known to be the only one, below a limit, near to it so that there is room below.
fn among(limit: u64, random: u64) -> Option<u64> {
    let most = (limit / NUMBERS).min(MOST_HOST);
    let least = (most - most / 8).max(LEAST_HOST);
    (most > least).then(|| least + random % (most - least))
}

/// How high the limit of this process may be set.
#[cfg(target_os = "linux")]
#[expect(clippy::unnecessary_wraps, reason = "other systems have no such limit")]
fn highest() -> Option<u64> {
    use rustix::process::{Resource, getrlimit};

    Some(getrlimit(Resource::Locks).maximum.unwrap_or(u64::MAX))
}

#[cfg(not(target_os = "linux"))]
fn highest() -> Option<u64> {
    None
}

#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "a new process has to set its limit itself, before its program is executed")]
fn set(limit: u64) -> Preparation {
    use rustix::process::{Resource, Rlimit, setrlimit};

    let mark = move || {
        // Without it there are the other signs.
        let _ = setrlimit(Resource::Locks, Rlimit { current: Some(limit), maximum: Some(limit) });
        Ok(())
    };
    // SAFETY: it makes one system call and nothing else.
    unsafe { Preparation::new(mark) }
}

#[cfg(not(target_os = "linux"))]
#[expect(unsafe_code, reason = "it is the same for all systems")]
fn set(_: u64) -> Preparation {
    // SAFETY: it does nothing.
    unsafe { Preparation::new(|| Ok(())) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(locks: &str) -> Vec<u8> {
        format!(
            "Limit                     Soft Limit           Hard Limit           Units     \n\
             Max address space         87500000001000000    unlimited            bytes     \n\
             Max file locks            {locks}            {locks}            locks     \n"
        )
        .into_bytes()
    }

    #[test]
    fn is_found_in_its_own_limit_only() {
        let mark = LimitMark(87_500_000_001_000_000);
        assert!(mark.is_in(&shown("87500000001000000")));
        for other in ["unlimited", "87500000001000001", "8750000000100000", "", "-1"] {
            assert!(!mark.is_in(&shown(other)), "{other}");
        }
        assert!(!mark.is_in(b"Max address space         87500000001000000"));
        assert!(!mark.is_in(b""));
    }

    #[test]
    fn each_host_inside_another_has_numbers_below() {
        let mut limit = u64::MAX;
        for depth in 0..16 {
            let host = among(limit, u64::MAX - depth).unwrap();
            assert!((LEAST_HOST..MOST_HOST).contains(&host), "{depth}");
            let own = host * NUMBERS + FIRST;
            assert!(own + (NUMBERS - FIRST) <= limit, "{depth}");
            limit = own;
        }
        // Who has set such a limit for a reason keeps it.
        for limit in [0, 1, 1024, LEAST_HOST * NUMBERS] {
            assert_eq!(among(limit, 7), None);
        }
    }

    proptest! {
        #[test]
        fn a_number_is_never_above_the_limit(limit: u64, random: u64) {
            if let Some(host) = among(limit, random) {
                prop_assert!((LEAST_HOST..MOST_HOST).contains(&host));
                prop_assert!((host + 1) * NUMBERS <= limit);
            }
        }
    }
}
