use super::Refusal;
use crate::registry::Entry;
use crate::{Accesses, Policy, Prepared};
use haft_core::{Decision, ReplyStatus};

/// Holds a prepared call that may run.
///
/// Made by [`decide`] for an allowed call and by the approve stage for an approved one, and by nothing else; the run
/// stage takes nothing else.
pub(super) struct Authorized(Prepared);

impl Authorized {
    /// Vouches that a person approved exactly this prepared call.
    pub(super) fn by_approval(prepared: Prepared) -> Self {
        Self(prepared)
    }

    /// Vouches for the same call prepared again; gives it back if it touches something now that was not decided.
    pub(super) fn renew(self, again: Prepared) -> Result<Self, Prepared> {
        let decided = self.0.accesses();
        let known = again.accesses().iter().all(|access| decided.iter().any(|known| known == access));
        if known && again.accesses().is_empty() == decided.is_empty() { Ok(Self(again)) } else { Err(again) }
    }

    pub(super) fn accesses(&self) -> &Accesses {
        self.0.accesses()
    }

    pub(super) fn into_prepared(self) -> Prepared {
        self.0
    }
}

/// Says what the policy makes of a prepared call, with the rule behind it.
pub(super) enum Decided {
    Allowed(Authorized),
    Asked(Prepared),
}

impl Decided {
    pub(super) fn accesses(&self) -> &Accesses {
        match self {
            Self::Allowed(authorized) => authorized.accesses(),
            Self::Asked(prepared) => prepared.accesses(),
        }
    }

    pub(super) fn into_prepared(self) -> Prepared {
        match self {
            Self::Allowed(authorized) => authorized.into_prepared(),
            Self::Asked(prepared) => prepared,
        }
    }
}

/// Decides by the policy whether a prepared call may run; hands every decision to `tell` with its reason.
pub(super) fn decide(
    policy: &Policy,
    entry: &Entry,
    prepared: Prepared,
    tell: impl FnOnce(Decision, &dyn Fn() -> String),
) -> Result<Decided, Refusal> {
    let verdict = policy.decide(&entry.spec, prepared.accesses());
    tell(verdict.decision(), &|| verdict.to_string());
    match verdict.decision() {
        Decision::Allow => Ok(Decided::Allowed(Authorized(prepared))),
        Decision::Ask => Ok(Decided::Asked(prepared)),
        Decision::Deny => Err(Refusal::new(
            ReplyStatus::Denied,
            format!(
                "`{}` is not permitted to do this ({verdict}); do not try it again, find another way or say what you \
                 would need",
                entry.name
            ),
        )),
    }
}
