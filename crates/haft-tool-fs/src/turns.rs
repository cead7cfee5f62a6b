//! Whose turn it is to change a file.

use ahash::RandomState;
use haft_workdir::WorkdirPath;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many files can be changed at once by calls that know nothing of each other.
const TURNS: usize = 64;

static HELD: [Mutex<()>; TURNS] = [const { Mutex::new(()) }; TURNS];

/// Waits until no other call of this process changes one of these files; what is returned keeps the turn.
///
/// Two files may share a turn, which costs one of them a wait.
pub(crate) fn take_turn<'a>(
    paths: impl IntoIterator<Item = &'a WorkdirPath>,
) -> Vec<MutexGuard<'static, ()>> {
    let hasher = RandomState::with_seeds(1, 2, 3, 4);
    let place =
        |path: &WorkdirPath| usize::try_from(hasher.hash_one(path.as_str()) % TURNS as u64).unwrap_or(0);
    let mut places: Vec<usize> = paths.into_iter().map(place).collect();
    // In one order, so that no two calls wait for each other.
    places.sort_unstable();
    places.dedup();
    places.into_iter().map(|place| HELD[place].lock().unwrap_or_else(PoisonError::into_inner)).collect()
}
