use super::{Budget, Spent};
use haft_core::BudgetKind;
use serde::{Deserialize, Serialize};

/// Holds what a run may spend, what it has spent, and what it has set aside for the runs it started.
///
/// Plain data. A run that starts another [reserves](Self::reserve) a part for it and [settles](Self::settle) when that has
/// ended: what was not spent comes back.
///
/// ```
/// use haft_agent::{Account, Budget, Spent};
/// use haft_core::BudgetKind;
///
/// let mut account = Account::new(Budget::default().turns(10));
/// let part = account.reserve(&Budget::default().turns(4))?;
/// assert_eq!(account.left(BudgetKind::Turns), Some(6));
/// let mut spent = Spent::default();
/// spent.turns = 1;
/// account.settle(&part, &spent);
/// assert_eq!(account.left(BudgetKind::Turns), Some(9));
/// # Ok::<(), haft_core::BudgetKind>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Account {
    /// What may be spent.
    pub budget: Budget,
    /// What was spent, by the run and by those it started that were settled.
    pub spent: Spent,
    /// What is set aside.
    pub reserved: Spent,
}

impl Account {
    /// Opens an account of which nothing was spent.
    pub fn new(budget: Budget) -> Self {
        Self { budget, ..Self::default() }
    }

    /// How much of one kind is neither spent nor set aside, in its own unit; `None` where it is not limited.
    pub fn left(&self, kind: BudgetKind) -> Option<u64> {
        let limit = self.budget.limit(kind)?;
        Some(limit.saturating_sub(self.spent.of(kind)).saturating_sub(self.reserved.of(kind)))
    }

    /// What is neither spent nor set aside.
    pub fn rest(&self) -> Budget {
        Budget {
            turns: self.left(BudgetKind::Turns),
            calls: self.left(BudgetKind::Calls),
            tokens: self.left(BudgetKind::Tokens),
            wall_ms: self.left(BudgetKind::WallTime),
            cost_nanos: self.left(BudgetKind::Cost),
        }
    }

    /// The first kind of which nothing is left.
    pub fn exhausted(&self) -> Option<BudgetKind> {
        BudgetKind::ALL.iter().copied().find(|kind| self.left(*kind) == Some(0))
    }

    /// Sets a part aside: as much as is wished for, as far as it is there, and all that is left where nothing is said.
    ///
    /// Time is not set aside, since it passes for all at once.
    ///
    /// # Errors
    ///
    /// The kind of which nothing is left, or of which nothing was wished for.
    pub fn reserve(&mut self, wish: &Budget) -> Result<Budget, BudgetKind> {
        let part = wish.stricter(&self.rest());
        if let Some(none) = BudgetKind::ALL.iter().copied().find(|kind| part.limit(*kind) == Some(0)) {
            return Err(none);
        }
        Ok(self.reserve_at_most(wish))
    }

    /// As [`Account::reserve`], also where nothing is left of a kind: for a run that has begun, and is to come to its end.
    pub fn reserve_at_most(&mut self, wish: &Budget) -> Budget {
        let part = wish.stricter(&self.rest());
        self.reserved += self.set_aside(&part);
        part
    }

    /// Takes a part back that was set aside, and counts what was spent of it.
    pub fn settle(&mut self, part: &Budget, spent: &Spent) {
        self.take_back(&self.set_aside(part), spent);
    }

    /// Takes back exactly what was set aside, whatever the budget is now, and counts what was spent of it.
    pub(super) fn take_back(&mut self, set_aside: &Spent, spent: &Spent) {
        self.reserved = self.reserved.without(set_aside);
        self.spent += Spent { wall_ms: 0, ..*spent };
    }

    /// What of a part is set aside: what this account is limited in.
    pub(super) fn set_aside(&self, part: &Budget) -> Spent {
        let of = |kind| self.budget.limit(kind).and(part.limit(kind)).unwrap_or_default();
        Spent {
            turns: of(BudgetKind::Turns),
            calls: of(BudgetKind::Calls),
            tokens: of(BudgetKind::Tokens),
            wall_ms: 0,
            cost_nanos: of(BudgetKind::Cost),
        }
    }
}
