use super::{Account, Budget, Spent};
use crate::RunState;
use haft_core::{BudgetKind, RunId};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Lets what a run starts draw on the run's budget while the run is at work.
///
/// An [`Agent`](crate::Agent) puts one into the [scope](haft_tools_core::CallScope::extension) of the calls that it
/// executes. A tool that runs an agent of its own reserves a part for it; the run takes note of what was spent of it, and
/// of what is set aside, before its next turn. Clones are the same purse.
///
/// ```
/// use haft_agent::{Account, Budget, Purse, Spent};
///
/// let purse = Purse::new(Account::new(Budget::default().tokens(1_000)));
/// let mut part = purse.reserve(&Budget::default().tokens(300))?;
/// assert_eq!(purse.rest().tokens, Some(700));
/// let mut spent = Spent::default();
/// spent.tokens = 120;
/// part.record(spent);
/// drop(part);
/// assert_eq!(purse.rest().tokens, Some(880));
/// # Ok::<(), haft_core::BudgetKind>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Purse(Arc<Mutex<Held>>);

#[derive(Debug, Default)]
struct Held {
    account: Account,
    /// What those who drew on it have spent and the run has not taken note of; the account counts it.
    news: Spent,
    /// What runs have spent in all, as far as the account counts it.
    counted: BTreeMap<RunId, Spent>,
    /// Those of them of which the run has not taken note.
    fresh: BTreeSet<RunId>,
}

/// Is what a run takes note of.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    /// What was spent since it was last asked.
    pub(crate) spent: Spent,
    /// What is set aside now.
    pub(crate) reserved: Spent,
    /// What runs have spent in all, of those of which `spent` counts something.
    pub(crate) counted: BTreeMap<RunId, Spent>,
}

/// Is a part of a budget that was set aside; what was not spent of it goes back when it is dropped.
///
/// ```
/// use haft_agent::{Account, Budget, Purse};
///
/// let purse = Purse::new(Account::new(Budget::default().turns(10)));
/// let part = purse.reserve_at_most(&Budget::default().turns(40));
/// assert_eq!(part.budget().turns, Some(10));
/// assert_eq!(purse.rest().turns, Some(0));
/// drop(part);
/// assert_eq!(purse.rest().turns, Some(10));
/// ```
#[derive(Debug)]
pub struct Reservation {
    purse: Purse,
    budget: Budget,
    /// What of the account was set aside for it; the account's budget can be another when it goes back.
    set_aside: Spent,
    spent: Spent,
}

impl Purse {
    /// Makes a purse of what an account holds, of which nothing is set aside.
    pub fn new(account: Account) -> Self {
        let account = Account { reserved: Spent::default(), ..account };
        Self(Arc::new(Mutex::new(Held { account, ..Held::default() })))
    }

    /// Makes a purse of what a run holds that is not at work: it knows what the run's account counts of others.
    pub fn of(state: &RunState) -> Self {
        let purse = Self::new(*state.account());
        purse.know(state.counted());
        purse
    }

    /// What is neither spent nor set aside.
    pub fn rest(&self) -> Budget {
        self.lock().account.rest()
    }

    /// Sets a part aside, as [`Account::reserve`] does.
    ///
    /// # Errors
    ///
    /// The kind of which nothing is left.
    pub fn reserve(&self, wish: &Budget) -> Result<Reservation, BudgetKind> {
        let mut held = self.lock();
        let budget = held.account.reserve(wish)?;
        let set_aside = held.account.set_aside(&budget);
        drop(held);
        Ok(Reservation { purse: self.clone(), budget, set_aside, spent: Spent::default() })
    }

    /// Sets a part aside, as [`Account::reserve_at_most`] does.
    pub fn reserve_at_most(&self, wish: &Budget) -> Reservation {
        let mut held = self.lock();
        let budget = held.account.reserve_at_most(wish);
        let set_aside = held.account.set_aside(&budget);
        drop(held);
        Reservation { purse: self.clone(), budget, set_aside, spent: Spent::default() }
    }

    /// Takes what a run has spent of late that draws on it, by what that has spent in all: what was counted of it before, also
    /// by an earlier process, is not counted again.
    ///
    /// Who sets something aside for such a run, and counts here what it spends, leaves the [reservation](Self::reserve)
    /// itself at nothing.
    ///
    /// ```
    /// use haft_agent::{Account, Budget, Purse, Spent};
    ///
    /// let purse = Purse::new(Account::new(Budget::default().turns(10)));
    /// let (run, mut spent) = ("run-1".parse()?, Spent::default());
    /// for turns in [2, 2, 3] {
    ///     spent.turns = turns;
    ///     purse.count(&run, spent);
    /// }
    /// assert_eq!(purse.rest().turns, Some(7));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn count(&self, run: &RunId, total: Spent) {
        let mut held = self.lock();
        let known = held.counted.get(run).copied().unwrap_or_default();
        let due = total.without(&known);
        if due == Spent::default() {
            return;
        }
        let mut counted = known;
        counted += due;
        held.counted.insert(run.clone(), counted);
        held.fresh.insert(run.clone());
        held.account.spent += Spent { wall_ms: 0, ..due };
        held.news += Spent { wall_ms: 0, ..due };
    }

    /// Takes something of which nothing was set aside: what was spent while nobody could draw on the purse.
    pub fn charge(&self, spent: Spent) {
        let mut held = self.lock();
        held.account.spent += Spent { wall_ms: 0, ..spent };
        held.news += Spent { wall_ms: 0, ..spent };
    }

    /// What is not spent, what is set aside included.
    pub fn unspent(&self) -> Budget {
        let account = self.lock().account;
        Account { reserved: Spent::default(), ..account }.rest()
    }

    /// What those who drew on it have spent and the run has not taken note of.
    pub fn drawn(&self) -> Spent {
        self.lock().news
    }

    /// Whether anybody else has it, or the run has not taken note of all that was spent.
    pub(crate) fn is_in_use(&self) -> bool {
        Arc::strong_count(&self.0) > 1 || self.lock().news != Spent::default()
    }

    /// Takes what the run is to take note of.
    pub(crate) fn collect(&self) -> Collected {
        let mut held = self.lock();
        let spent = std::mem::take(&mut held.news);
        let fresh = std::mem::take(&mut held.fresh);
        let counted = fresh
            .into_iter()
            .filter_map(|run| held.counted.get_key_value(&run).map(|(run, spent)| (run.clone(), *spent)));
        Collected { spent, reserved: held.account.reserved, counted: counted.collect() }
    }

    /// Has something collected again that was collected, and that no state of the run counts.
    pub(crate) fn give_back(&self, collected: &Collected) {
        let mut held = self.lock();
        held.news += collected.spent;
        held.fresh.extend(collected.counted.keys().cloned());
    }

    /// Takes over what the run's account counts of others; what it has not collected yet is known besides.
    pub(crate) fn know(&self, counted: &BTreeMap<RunId, Spent>) {
        let mut held = self.lock();
        let Held { counted: known, fresh, .. } = &mut *held;
        known.retain(|run, _| fresh.contains(run));
        for (run, spent) in counted {
            known.entry(run.clone()).or_insert(*spent);
        }
    }

    /// Takes over what the run knows it may spend and has spent; what it has not collected yet comes on top.
    pub(crate) fn follow(&self, account: &Account) {
        let mut held = self.lock();
        held.account.budget = account.budget;
        held.account.spent = account.spent;
        let news = held.news;
        held.account.spent += news;
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        // Nothing that is called under the lock panics.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reservation {
    /// What may be spent.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Says what was spent so far, in all.
    pub fn record(&mut self, spent: Spent) {
        self.spent = spent;
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let mut held = self.purse.lock();
        held.account.take_back(&self.set_aside, &self.spent);
        held.news += Spent { wall_ms: 0, ..self.spent };
    }
}
