//! What a run may spend of what the run above it has left.

use crate::{AgentSpec, ChildRecord, SpawnLimits};
use haft_agent::{Budget, Purse, Reservation, Spent};
use haft_core::BudgetKind;

/// Is what was set aside for one run, which goes back when it is dropped.
pub(super) struct Part {
    reservation: Option<Reservation>,
    /// What the run may spend in all.
    pub(super) budget: Budget,
}

/// Says why nothing can be set aside, and of what there is nothing.
pub(super) enum Short {
    /// All is spent.
    Spent(BudgetKind),
    /// Others have what is left, and may give some of it back.
    Held(BudgetKind),
}

/// Is a run that wants to spend something.
pub(super) struct Claim<'a> {
    pub(super) spec: &'a AgentSpec,
    pub(super) record: &'a ChildRecord,
    /// How many runs share what is left.
    pub(super) sharers: u64,
    /// Whether it was at work before: then it is to come to its end, even where nothing is left.
    pub(super) has_begun: bool,
}

impl Claim<'_> {
    /// Sets aside what the run may spend: its agent's budget, as far as it is there and not spent, and no more than its share.
    pub(super) fn reserve(&self, purse: Option<&Purse>, limits: &SpawnLimits) -> Result<Part, Short> {
        let own = self.own(limits);
        let wish = left(&own, &self.record.spent);
        let Some(purse) = purse else { return self.of_its_own(own, &wish) };
        let share = wish.stricter(&shared(&purse.rest(), self.sharers));
        let reservation = match none_of(&share) {
            // Between the look and this somebody else may have taken it.
            None => purse.reserve(&share).map_err(Short::Held)?,
            Some(kind) if wish.limit(kind) != Some(0) && purse.unspent().limit(kind) != Some(0) => {
                return Err(Short::Held(kind));
            }
            Some(_) if self.has_begun => purse.reserve_at_most(&share),
            Some(kind) => return Err(Short::Spent(kind)),
        };
        let budget = in_all(reservation.budget(), &self.record.spent);
        Ok(Part { reservation: Some(reservation), budget })
    }

    /// Sets aside what little there is, for a run that has begun and that nobody gives anything back for.
    pub(super) fn reserve_rest(&self, purse: &Purse, limits: &SpawnLimits) -> Part {
        let wish = left(&self.own(limits), &self.record.spent);
        let reservation = purse.reserve_at_most(&wish.stricter(&shared(&purse.rest(), self.sharers)));
        let budget = in_all(reservation.budget(), &self.record.spent);
        Part { reservation: Some(reservation), budget }
    }

    fn of_its_own(&self, budget: Budget, wish: &Budget) -> Result<Part, Short> {
        match none_of(wish) {
            Some(kind) if !self.has_begun => Err(Short::Spent(kind)),
            _ => Ok(Part { reservation: None, budget }),
        }
    }

    /// What the run may spend in all, whatever the run above has left now.
    fn own(&self, limits: &SpawnLimits) -> Budget {
        let own = match self.spec.budget.wall_ms {
            Some(_) => self.spec.budget,
            None => self.spec.budget.wall_time(limits.wall_time),
        };
        // What there was when it was asked for is all there is, also where the run above is not at work.
        own.stricter(&self.record.budget)
    }
}

impl Part {
    /// Gives back what was not spent.
    pub(super) fn settle(&mut self, spent: Spent) {
        if let Some(mut reservation) = self.reservation.take() {
            reservation.record(spent);
        }
    }
}

/// Divides what is left among those who share it; where there is something, each gets something.
fn shared(rest: &Budget, sharers: u64) -> Budget {
    let mut share = rest.divided(sharers);
    for (share, rest) in [
        (&mut share.turns, rest.turns),
        (&mut share.calls, rest.calls),
        (&mut share.tokens, rest.tokens),
        (&mut share.cost_nanos, rest.cost_nanos),
    ] {
        *share = share.map(|share| share.max(rest.unwrap_or_default().min(1)));
    }
    share
}

/// The first kind of which there is nothing.
fn none_of(budget: &Budget) -> Option<BudgetKind> {
    BudgetKind::ALL.iter().copied().find(|kind| budget.limit(*kind) == Some(0))
}

pub(super) fn left(budget: &Budget, spent: &Spent) -> Budget {
    each(budget, spent, u64::saturating_sub)
}

fn in_all(part: &Budget, spent: &Spent) -> Budget {
    each(part, spent, u64::saturating_add)
}

fn each(budget: &Budget, spent: &Spent, change: impl Fn(u64, u64) -> u64) -> Budget {
    let mut budget = *budget;
    for (limit, kind) in [
        (&mut budget.turns, BudgetKind::Turns),
        (&mut budget.calls, BudgetKind::Calls),
        (&mut budget.tokens, BudgetKind::Tokens),
        (&mut budget.wall_ms, BudgetKind::WallTime),
        (&mut budget.cost_nanos, BudgetKind::Cost),
    ] {
        *limit = limit.map(|limit| change(limit, spent.of(kind)));
    }
    budget
}
