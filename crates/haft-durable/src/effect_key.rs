use crate::{CallKey, RoundKey};
use haft_tools_core::{CallContext, CallScope};
use std::fmt;

/// Names an effect, so that whoever keeps it can tell that it comes twice: `<call>:<round>`.
///
/// A tool gives it to the service that it changes, as an idempotency key. It is the same whenever the same round of the same
/// call is performed again, on any worker, and different for every other. A call that a running one makes has its caller's
/// key in front of its own.
///
/// ```
/// use haft_durable::EffectKey;
/// use haft_tools_core::{CallContext, CallScope};
///
/// let cx = CallContext::detached("c1".parse()?, CallScope::new("run-1".parse()?).with_turn(3));
/// assert_eq!(EffectKey::of(&cx).as_str(), "run-1/3/c1:0");
/// # Ok::<(), haft_core::IdError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct EffectKey(Box<str>);

/// Says in the scope of a call which round it is.
struct InRound(RoundKey);

impl EffectKey {
    /// Names the effect of a running call; without a durable engine that of its first round.
    ///
    /// A tool that has more than one effect adds to it which one it is.
    pub fn of(cx: &CallContext) -> Self {
        let own = CallKey::new(cx.scope(), cx.call_id().clone());
        Self(match cx.scope().extension::<InRound>() {
            None => RoundKey::new(own, 0).to_string().into(),
            Some(InRound(round)) if *round.call() == own => round.to_string().into(),
            Some(InRound(round)) => format!("{round}/{own}").into(),
        })
    }

    /// Borrows the name: visible ASCII characters.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Has the calls of a scope named by a round.
    pub(crate) fn in_round(scope: CallScope, round: RoundKey) -> CallScope {
        scope.with_extension(InRound(round))
    }
}

impl fmt::Display for EffectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_call_makes_has_its_key_in_front() {
        let scope = CallScope::new("r".parse().unwrap()).with_turn(1);
        let scope = EffectKey::in_round(scope, "r/1/c:2".parse().unwrap());
        let key = |scope: &CallScope, id: &str| {
            EffectKey::of(&CallContext::detached(id.parse().unwrap(), scope.clone())).to_string()
        };
        assert_eq!(key(&scope, "c"), "r/1/c:2");
        assert_eq!(key(&scope, "n"), "r/1/c:2/r/1/n");
        assert_eq!(key(&scope.child("s".parse().unwrap()), "c"), "r/1/c:2/s/-/c");
    }
}
