use crate::server::round::Spent;
use std::collections::{HashSet, VecDeque};
use std::sync::{Mutex, PoisonError};

/// Remembers nonces for as long as the process lives, the newest so many of them.
pub(crate) struct SpentNonces {
    most: usize,
    spent: Mutex<Remembered>,
}

#[derive(Default)]
struct Remembered {
    known: HashSet<[u8; 16]>,
    in_order: VecDeque<[u8; 16]>,
}

impl SpentNonces {
    /// Remembers so many.
    pub(crate) fn of_most(most: usize) -> Self {
        Self { most, spent: Mutex::default() }
    }
}

impl Default for SpentNonces {
    /// Remembers 100,000, which is some 170 rounds a second for as long as a state counts.
    fn default() -> Self {
        Self::of_most(100_000)
    }
}

impl Spent for SpentNonces {
    fn spend(&self, nonce: [u8; 16]) -> bool {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        if !spent.known.insert(nonce) {
            return false;
        }
        if spent.in_order.len() >= self.most {
            for _ in 0..self.most.div_ceil(2) {
                if let Some(oldest) = spent.in_order.pop_front() {
                    spent.known.remove(&oldest);
                }
            }
        }
        spent.in_order.push_back(nonce);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::SpentNonces;
    use crate::server::round::Spent as _;

    #[test]
    fn a_nonce_counts_once_and_what_is_remembered_is_bounded() {
        let spent = SpentNonces::of_most(4);
        let nonce = |number: u8| [number; 16];
        assert!((0..4).all(|number| spent.spend(nonce(number))));
        assert!((0..4).all(|number| !spent.spend(nonce(number))));
        assert!(spent.spend(nonce(4)), "the oldest half goes");
        assert!(!spent.spend(nonce(2)) && !spent.spend(nonce(3)) && !spent.spend(nonce(4)));
        assert!(spent.spend(nonce(0)));
    }
}
