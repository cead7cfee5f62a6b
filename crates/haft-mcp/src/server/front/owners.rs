use crate::server::caller::Principal;
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use tokio::time::Instant;

/// How many sessions are remembered; more than a server keeps.
const SESSIONS: usize = 20_000;

/// Knows to whom each session belongs; one that it does not know belongs to nobody.
///
/// Where it has to forget, it forgets those of whoever has the most, oldest first: nobody can push out another's.
#[derive(Debug, Default)]
pub(super) struct Owners(Mutex<HashMap<SessionKey, Owned>>);

/// Is a session's id, digested: ids are as good as passwords.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct SessionKey([u8; 32]);

#[derive(Debug)]
struct Owned {
    by: Principal,
    used: Instant,
}

impl Owners {
    pub(super) fn remember(&self, session: SessionKey, by: &Principal) {
        let mut sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if sessions.len() >= SESSIONS {
            forget(&mut sessions);
        }
        sessions.insert(session, Owned { by: by.clone(), used: Instant::now() });
    }

    pub(super) fn is_of(&self, session: SessionKey, principal: &Principal) -> bool {
        let mut sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match sessions.get_mut(&session) {
            Some(owned) if owned.by == *principal => {
                owned.used = Instant::now();
                true
            }
            _ => false,
        }
    }

    pub(super) fn forget(&self, session: SessionKey) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&session);
    }
}

/// Forgets a sixteenth of the sessions of whoever has the most.
fn forget(sessions: &mut HashMap<SessionKey, Owned>) {
    let mut counts: HashMap<&Principal, usize> = HashMap::new();
    for owned in sessions.values() {
        *counts.entry(&owned.by).or_default() += 1;
    }
    let Some((greatest, count)) =
        counts.into_iter().max_by_key(|(_, count)| *count).map(|(by, count)| (by.clone(), count))
    else {
        return;
    };
    let mut of_them: Vec<(Instant, SessionKey)> = sessions
        .iter()
        .filter(|(_, owned)| owned.by == greatest)
        .map(|(session, owned)| (owned.used, *session))
        .collect();
    of_them.sort_unstable_by_key(|(used, _)| *used);
    for (_, session) in of_them.into_iter().take((count / 16).max(1)) {
        sessions.remove(&session);
    }
}

impl SessionKey {
    pub(super) fn of(id: &[u8]) -> Self {
        Self(Sha256::digest(id).into())
    }

    /// What can be written into a log: enough to tell sessions apart.
    pub(super) fn short(self) -> String {
        let [a, b, c, d, ..] = self.0;
        format!("{a:02x}{b:02x}{c:02x}{d:02x}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_its_owners_alone() {
        let (owners, alice, bob) = (Owners::default(), Principal::new("alice"), Principal::new("bob"));
        let session = SessionKey::of(b"s");
        assert!(!owners.is_of(session, &alice));
        owners.remember(session, &alice);
        assert!(owners.is_of(session, &alice));
        assert!(!owners.is_of(session, &bob));
        owners.forget(session);
        assert!(!owners.is_of(session, &alice));
    }

    #[test]
    fn nobody_pushes_out_the_session_of_another() {
        let (owners, alice, bob) = (Owners::default(), Principal::new("alice"), Principal::new("bob"));
        let session = SessionKey::of(b"alice's");
        owners.remember(session, &alice);
        for number in 0..2 * SESSIONS {
            owners.remember(SessionKey::of(&number.to_le_bytes()), &bob);
        }
        assert!(owners.is_of(session, &alice));
        assert!(owners.is_of(SessionKey::of(&(2 * SESSIONS - 1).to_le_bytes()), &bob));
        assert!(!owners.is_of(SessionKey::of(&0_usize.to_le_bytes()), &bob));
        assert!(owners.0.lock().unwrap().len() <= SESSIONS);
    }
}
