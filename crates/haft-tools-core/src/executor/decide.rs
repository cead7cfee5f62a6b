use super::Refusal;
use crate::executor::frame::Frame;
use crate::permission::ModeSet;
use crate::registry::Entry;
use crate::{Accesses, Prepared};
use haft_core::{Decision, ReplyStatus};

/// Holds a prepared call that may run.
///
/// Made by [`decide`] for an allowed call and by the approve stage for one that a mode or a person lets run, and by nothing
/// else; the run stage takes nothing else.
pub(super) struct Authorized {
    prepared: Prepared,
    by: Authority,
}

/// Says who lets a call run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Authority {
    Policy,
    Person,
}

impl Authorized {
    /// Vouches that the policy allows this prepared call in the modes in which it was decided.
    pub(super) fn by_policy(prepared: Prepared) -> Self {
        Self { prepared, by: Authority::Policy }
    }

    /// Vouches that a person approved exactly this prepared call.
    pub(super) fn by_approval(prepared: Prepared) -> Self {
        Self { prepared, by: Authority::Person }
    }

    /// Tells what is vouched for, to renew it when the call itself has been used up.
    pub(super) fn terms(&self) -> Terms {
        Terms { accesses: self.accesses().clone(), by: self.by }
    }

    pub(super) fn prepared(&self) -> &Prepared {
        &self.prepared
    }

    pub(super) fn accesses(&self) -> &Accesses {
        self.prepared.accesses()
    }

    pub(super) fn into_prepared(self) -> Prepared {
        self.prepared
    }
}

/// Says what a call was let run for.
pub(super) struct Terms {
    accesses: Accesses,
    by: Authority,
}

impl Terms {
    /// Vouches for the same call prepared again; gives it back if it has to be decided again.
    ///
    /// The policy decided each access on its own, so it has decided every part of them, too. A person approved exactly
    /// what they were shown.
    pub(super) fn renew(&self, again: Prepared) -> Result<Authorized, Prepared> {
        let (before, now) = (&self.accesses, again.accesses());
        let holds = match self.by {
            Authority::Person => now == before,
            Authority::Policy => {
                now.is_empty() == before.is_empty()
                    && now.iter().all(|access| before.iter().any(|known| known == access))
            }
        };
        if holds { Ok(Authorized { prepared: again, by: self.by }) } else { Err(again) }
    }
}

/// Says what the policy makes of a prepared call, with the rule behind it.
pub(super) enum Decided {
    Allowed(Authorized),
    /// No rule speaks of all of it, and the mode lets it run, unless people have said that it is never to be done.
    ByMode(Prepared),
    Asked(Prepared),
}

impl Decided {
    pub(super) fn accesses(&self) -> &Accesses {
        match self {
            Self::Allowed(authorized) => authorized.accesses(),
            Self::ByMode(prepared) | Self::Asked(prepared) => prepared.accesses(),
        }
    }

    pub(super) fn into_prepared(self) -> Prepared {
        match self {
            Self::Allowed(authorized) => authorized.into_prepared(),
            Self::ByMode(prepared) | Self::Asked(prepared) => prepared,
        }
    }
}

/// Decides by the policy whether a prepared call may run in these modes; hands every decision to `tell` with its reason.
pub(super) fn decide(
    frame: &Frame,
    modes: ModeSet,
    entry: &Entry,
    prepared: Prepared,
    tell: impl FnOnce(Decision, &dyn Fn() -> String),
) -> Result<Decided, Refusal> {
    let verdict = frame.decide(modes, &entry.spec, prepared.accesses());
    tell(verdict.decision(), &|| verdict.to_string());
    match verdict.decision() {
        Decision::Allow if verdict.mode().is_some() => Ok(Decided::ByMode(prepared)),
        Decision::Allow => Ok(Decided::Allowed(Authorized::by_policy(prepared))),
        Decision::Ask => Ok(Decided::Asked(prepared)),
        Decision::Deny => Err(Refusal::new(
            ReplyStatus::Denied,
            format!(
                "`{}` is not permitted to do this ({verdict}); do not try it again, find another way or say what you \
                 would need",
                entry.name()
            ),
        )),
    }
}
