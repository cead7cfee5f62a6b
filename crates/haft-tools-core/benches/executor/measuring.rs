//! Takes measurements by turns.

use haft_testkit::counting::Spent;
use std::time::{Duration, Instant};

/// What is measured: does its work once, or says why it could not.
pub(crate) type Work<'a> = dyn Fn() -> Result<(), String> + 'a;

/// Holds the fastest of several measurements.
#[derive(Clone, Copy)]
pub(crate) struct Measured {
    pub(crate) time: Duration,
    pub(crate) spent: Spent,
}

impl Measured {
    /// The time of one of so many equal parts, in nanoseconds.
    pub(crate) fn nanoseconds(&self, parts: u32) -> f64 {
        self.time.as_secs_f64() * 1e9 / f64::from(parts)
    }

    pub(crate) fn milliseconds(&self) -> f64 {
        self.time.as_secs_f64() * 1e3
    }

    pub(crate) fn ratio(&self, floor: &Self) -> f64 {
        self.time.as_secs_f64() / floor.time.as_secs_f64()
    }
}

/// Measures each work so many times and keeps its fastest, since noise only ever adds.
///
/// They take turns, so that all of them meet the same noise.
pub(crate) fn by_turns<const N: usize>(
    rounds: usize,
    works: [&Work<'_>; N],
) -> Result<[Measured; N], String> {
    let mut best = [Measured { time: Duration::MAX, spent: Spent::so_far() }; N];
    for _ in 0..rounds {
        for (best, work) in best.iter_mut().zip(works) {
            let (before, start) = (Spent::so_far(), Instant::now());
            work()?;
            let (time, spent) = (start.elapsed(), Spent::so_far() - before);
            if time < best.time {
                *best = Measured { time, spent };
            }
        }
    }
    Ok(best)
}
