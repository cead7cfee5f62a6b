use crate::policy_setup::hex;
use anyhow::{Context as _, Result};
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use subtle::ConstantTimeEq as _;

/// The most browsers that are let in; one more takes the place of the one that came first.
const MOST_BROWSERS: usize = 8;

/// Holds what lets a browser in.
///
/// The address that is printed has two secrets. The first is exchanged once for a cookie, so that it is worth nothing where
/// addresses are kept. The second stands behind the `#`, is never sent with an address, and comes back in a header of each request
/// for data: the page keeps it for its own origin, while a cookie is sent to every port of this machine.
pub(super) struct Keys {
    lent: Mutex<Lent>,
    page: String,
}

struct Lent {
    /// What is exchanged for the next cookie.
    once: String,
    cookies: VecDeque<String>,
}

impl Keys {
    pub(super) fn new() -> Result<Self> {
        let lent = Lent { once: random()?, cookies: VecDeque::new() };
        Ok(Self { lent: Mutex::new(lent), page: random()? })
    }

    /// What the address ends with that lets the next browser in.
    pub(super) fn address(&self) -> String {
        format!("?once={}#{}", self.lent().once, self.page)
    }

    /// Exchanges the secret of an address for a cookie, which works once.
    pub(super) fn exchange(&self, once: &str) -> Option<String> {
        let mut lent = self.lent();
        if !same(once, &lent.once) {
            return None;
        }
        let (cookie, next) = (random().ok()?, random().ok()?);
        lent.once = next;
        lent.cookies.push_back(cookie.clone());
        if lent.cookies.len() > MOST_BROWSERS {
            lent.cookies.pop_front();
        }
        Some(cookie)
    }

    /// Tells whether a browser was let in with this cookie.
    pub(super) fn knows(&self, cookie: &str) -> bool {
        self.lent().cookies.iter().fold(false, |known, lent| known | same(cookie, lent))
    }

    /// Tells whether a page of ours was opened with the printed address.
    pub(super) fn is_page(&self, key: &str) -> bool {
        same(key, &self.page)
    }

    fn lent(&self) -> MutexGuard<'_, Lent> {
        // Nothing panics half-way through a change.
        self.lent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Compares two secrets in a time that tells nothing of where they differ.
fn same(written: &str, secret: &str) -> bool {
    written.as_bytes().ct_eq(secret.as_bytes()).into()
}

/// Makes a secret of 256 bits.
fn random() -> Result<String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).context("the system gives no random bytes")?;
    Ok(hex(&bytes))
}

#[cfg(test)]
mod tests {
    use super::{Keys, MOST_BROWSERS};

    fn once(keys: &Keys) -> String {
        let address = keys.address();
        address.strip_prefix("?once=").unwrap().split('#').next().unwrap().to_owned()
    }

    #[test]
    fn an_address_lets_one_browser_in_and_the_first_goes_when_there_are_too_many() {
        let keys = Keys::new().unwrap();
        let first = once(&keys);
        let cookie = keys.exchange(&first).unwrap();
        assert_eq!((keys.exchange(&first), keys.exchange(""), keys.exchange(&cookie)), (None, None, None));
        assert!(keys.knows(&cookie) && !keys.knows("") && !keys.knows(&first));
        assert!(!keys.is_page(&cookie) && !keys.is_page(""));
        let others: Vec<String> = (0..MOST_BROWSERS).map(|_| keys.exchange(&once(&keys)).unwrap()).collect();
        assert!(!keys.knows(&cookie) && others.iter().all(|other| keys.knows(other)));
    }
}
