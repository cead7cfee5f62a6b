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

/// Sets aside what a run may spend: its agent's budget, as far as it is there and not spent, and no more than its share.
pub(super) fn reserve(
    purse: Option<&Purse>,
    spec: &AgentSpec,
    limits: &SpawnLimits,
    record: &ChildRecord,
    sharers: u64,
) -> Result<Part, BudgetKind> {
    let spent = &record.spent;
    let own = match spec.budget.wall_ms {
        Some(_) => spec.budget,
        None => spec.budget.wall_time(limits.wall_time),
    };
    // What was set aside when it began is all there is, also where the run above is not at work.
    let own = own.within(&record.budget);
    let wish = left(&own, spent);
    let Some(purse) = purse else { return Ok(Part { reservation: None, budget: own }) };
    let reservation = purse.reserve(&wish.within(&shared(&purse.rest(), sharers)))?;
    let budget = in_all(reservation.budget(), spent);
    Ok(Part { reservation: Some(reservation), budget })
}

impl Part {
    /// Gives back what was not spent.
    pub(super) fn settle(&mut self, spent: Spent) {
        if let Some(reservation) = &mut self.reservation {
            reservation.record(spent);
        }
        self.reservation = None;
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

fn left(budget: &Budget, spent: &Spent) -> Budget {
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
