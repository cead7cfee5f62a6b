mod account;
mod price;
mod purse;

pub use account::Account;
pub use price::{Price, Prices};
pub(crate) use purse::Collected;
pub use purse::{Purse, Reservation};

use haft_core::BudgetKind;
use serde::{Deserialize, Serialize};
use std::ops::AddAssign;
use std::time::Duration;

/// Says how much a run may spend; what is `None` is not limited.
///
/// ```
/// use haft_agent::Budget;
/// use std::time::Duration;
///
/// let budget = Budget::default().turns(40).tokens(500_000).wall_time(Duration::from_mins(10)).cost(1.50);
/// assert_eq!(budget.cost_nanos, Some(1_500_000_000));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Budget {
    /// Turns of the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turns: Option<u64>,
    /// Calls of tools; a call that is refused or skipped by its tool's executor counts, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<u64>,
    /// Tokens that the model reads and writes, those read from a cache included; estimated from bytes where the model does
    /// not say how many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Time in which the run is at work, in milliseconds; not while it waits for a person or is paused.
    ///
    /// A person who is asked while a call is executed, by an approver that answers in place, is waited for in this time: the
    /// time of a call stands still then, and that of the run does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall_ms: Option<u64>,
    /// Money, in billionths of what [`Prices`] are given in; by an estimate of the tokens where the model does not say them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_nanos: Option<u64>,
}

/// Counts what was spent.
///
/// ```
/// use haft_agent::Spent;
/// use haft_core::BudgetKind;
///
/// let mut spent = Spent::default();
/// spent.tokens = 1_200;
/// let mut all = spent;
/// all += spent;
/// assert_eq!((all.of(BudgetKind::Tokens), all.without(&spent)), (2_400, spent));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Spent {
    /// Turns of the model.
    pub turns: u64,
    /// Calls of tools.
    pub calls: u64,
    /// Tokens that the model read and wrote.
    pub tokens: u64,
    /// Time at work, in milliseconds.
    pub wall_ms: u64,
    /// Money, in billionths of what [`Prices`] are given in.
    pub cost_nanos: u64,
}

impl Budget {
    /// Limits the turns of the model.
    pub fn turns(mut self, turns: u64) -> Self {
        self.turns = Some(turns);
        self
    }

    /// Limits the calls of tools.
    pub fn calls(mut self, calls: u64) -> Self {
        self.calls = Some(calls);
        self
    }

    /// Limits the tokens that the model reads and writes.
    pub fn tokens(mut self, tokens: u64) -> Self {
        self.tokens = Some(tokens);
        self
    }

    /// Limits the time in which the run is at work.
    pub fn wall_time(mut self, time: Duration) -> Self {
        self.wall_ms = Some(u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
        self
    }

    /// Limits the money, in what [`Prices`] are given in; nothing where the amount is negative or no number.
    pub fn cost(mut self, amount: f64) -> Self {
        self.cost_nanos = Some(price::nanos(amount));
        self
    }

    /// The limit of one kind, in its own unit.
    pub fn limit(&self, kind: BudgetKind) -> Option<u64> {
        match kind {
            BudgetKind::Turns => self.turns,
            BudgetKind::Calls => self.calls,
            BudgetKind::Tokens => self.tokens,
            BudgetKind::WallTime => self.wall_ms,
            BudgetKind::Cost => self.cost_nanos,
            _ => None,
        }
    }

    /// Divides all limits but that of time by a number, rounding down, for those who share it.
    pub fn divided(&self, by: u64) -> Self {
        let divide = |limit: Option<u64>| limit.map(|limit| limit / by.max(1));
        Self {
            turns: divide(self.turns),
            calls: divide(self.calls),
            tokens: divide(self.tokens),
            wall_ms: self.wall_ms,
            cost_nanos: divide(self.cost_nanos),
        }
    }

    /// Takes the stricter limit of each kind.
    pub fn stricter(&self, other: &Self) -> Self {
        let stricter = |one: Option<u64>, other: Option<u64>| match (one, other) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        Self {
            turns: stricter(self.turns, other.turns),
            calls: stricter(self.calls, other.calls),
            tokens: stricter(self.tokens, other.tokens),
            wall_ms: stricter(self.wall_ms, other.wall_ms),
            cost_nanos: stricter(self.cost_nanos, other.cost_nanos),
        }
    }
}

impl Spent {
    /// How much of one kind was spent, in its own unit.
    pub fn of(&self, kind: BudgetKind) -> u64 {
        match kind {
            BudgetKind::Turns => self.turns,
            BudgetKind::Calls => self.calls,
            BudgetKind::Tokens => self.tokens,
            BudgetKind::WallTime => self.wall_ms,
            BudgetKind::Cost => self.cost_nanos,
            _ => 0,
        }
    }

    /// Takes away as much of each kind, down to nothing.
    #[must_use]
    pub fn without(&self, other: &Self) -> Self {
        Self {
            turns: self.turns.saturating_sub(other.turns),
            calls: self.calls.saturating_sub(other.calls),
            tokens: self.tokens.saturating_sub(other.tokens),
            wall_ms: self.wall_ms.saturating_sub(other.wall_ms),
            cost_nanos: self.cost_nanos.saturating_sub(other.cost_nanos),
        }
    }
}

impl AddAssign for Spent {
    fn add_assign(&mut self, other: Self) {
        self.turns = self.turns.saturating_add(other.turns);
        self.calls = self.calls.saturating_add(other.calls);
        self.tokens = self.tokens.saturating_add(other.tokens);
        self.wall_ms = self.wall_ms.saturating_add(other.wall_ms);
        self.cost_nanos = self.cost_nanos.saturating_add(other.cost_nanos);
    }
}
