use super::{Catalog, Changes};
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use std::future::pending;
use std::time::Duration;

/// How long is waited for more changes of a source before it is asked, so that many at once cost one refresh.
const SETTLING: Duration = Duration::from_millis(100);

/// How many times the first delay the longest one before a source is asked again that keeps failing.
const MOST_PATIENCE: u32 = 32;

impl Catalog {
    /// Refreshes sources as they tell of changes, those that are attached later as they come, and those that failed after
    /// a while; never ends.
    ///
    /// The host owns it: it runs in a task of the host's until that is aborted, or beside something else in a `select!`.
    /// Each source is followed on its own, so a slow one holds no other up, and changes told while it is asked lead to
    /// one more refresh together. Sources that have not answered yet are asked first.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe, as [`Catalog::refresh`] is; following can be taken up again.
    pub async fn follow(&self) {
        let mut attached = self.0.attached.subscribe();
        let mut followed = 0;
        let mut following = FuturesUnordered::new();
        loop {
            attached.mark_unchanged();
            let begun = followed;
            for slot in self.slots().iter().filter(|slot| slot.id > begun) {
                following.push(self.follow_source(slot.id, slot.changes()));
                followed = followed.max(slot.id);
            }
            tokio::select! {
                _ = attached.changed() => {}
                Some(()) = following.next() => {}
            }
        }
    }

    /// Follows one source until it is detached.
    async fn follow_source(&self, id: u64, mut changes: Option<Changes>) {
        let shortest = self.0.settings.retry_delay.max(SETTLING);
        let mut delay = shortest;
        let mut is_due = self.slots().iter().any(|slot| slot.id == id && slot.is_waiting());
        loop {
            if is_due {
                self.load(|slot| slot.id == id).await;
            }
            let Some(has_failed) =
                self.slots().iter().find(|slot| slot.id == id).map(super::Slot::has_failed)
            else {
                return;
            };
            let retry = async { if has_failed { tokio::time::sleep(delay).await } else { pending().await } };
            let change = async {
                match &mut changes {
                    Some(changes) => changes.changed().await,
                    None => pending().await,
                }
            };
            tokio::select! {
                told = change => {
                    is_due = told;
                    if !told {
                        changes = None;
                    } else if let Some(changes) = &mut changes {
                        tokio::time::sleep(SETTLING).await;
                        changes.catch_up();
                    }
                }
                () = retry => is_due = true,
            }
            let longer = delay.saturating_mul(2).min(shortest.saturating_mul(MOST_PATIENCE));
            delay = if has_failed { longer } else { shortest };
        }
    }
}
