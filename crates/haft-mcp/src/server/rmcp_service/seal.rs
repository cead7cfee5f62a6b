use crate::server::calls::random;
use crate::server::round::{Binding, Round, Seal};
use haft_core::Digest;
use rmcp::model::{RequestStateCodec, SealOptions};
use std::time::Duration;

/// For how long a state counts.
const LIFETIME: Duration = Duration::from_mins(10);

/// The most bytes of a state that is looked at.
pub(crate) const MOST_STATE_BYTES: usize = 64 * 1024;

/// Seals rounds with a key by HMAC-SHA256: whoever has the key can open them, whichever instance it is.
pub(crate) struct HmacSeal(RequestStateCodec);

impl HmacSeal {
    /// Seals with a key that several instances may share.
    pub(crate) fn new(key: [u8; 32]) -> Self {
        Self(RequestStateCodec::new_unchecked(key))
    }

    /// Seals with a key that nobody else has: what another process sealed is not opened.
    pub(crate) fn of_this_process() -> Self {
        Self::new(random())
    }
}

impl Seal for HmacSeal {
    fn seal(&self, round: &Round, binding: &Binding<'_>) -> String {
        // Texts, numbers and names as keys are written without fail; what cannot be opened is asked again.
        let body = serde_json::to_vec(round).unwrap_or_default();
        let bound = bound(binding);
        self.0.seal_with(&body, &SealOptions::new().associated_data(&bound).ttl(LIFETIME))
    }

    fn open(&self, state: &str, binding: &Binding<'_>) -> Option<Round> {
        if state.len() > MOST_STATE_BYTES {
            return None;
        }
        let body = self.0.open_with(state, &bound(binding)).ok()?;
        serde_json::from_slice(&body).ok()
    }
}

/// Writes what a state is bound to so that no two bindings read the same.
fn bound(binding: &Binding<'_>) -> Vec<u8> {
    let Binding { principal, run, method, tool, input } = binding;
    let input = Digest::of(input);
    let parts = [
        b"haft/serve/1".as_slice(),
        principal.as_str().as_bytes(),
        run.as_str().as_bytes(),
        method.as_bytes(),
        tool.as_bytes(),
        input.as_bytes(),
    ];
    let sized = parts.into_iter().flat_map(|part| [&(part.len() as u64).to_le_bytes(), part].concat());
    sized.collect()
}

#[cfg(test)]
mod tests {
    use super::{HmacSeal, MOST_STATE_BYTES};
    use crate::Principal;
    use crate::server::round::{Binding, Round, Seal};
    use serde_json::{Value, json};

    fn round() -> Round {
        Round {
            number: 1,
            nonce: [7; 16],
            approval: None,
            asked: vec!["name".to_owned()],
            answers: [("a".to_owned(), json!({ "action": "accept" }))].into(),
            parked: None,
        }
    }

    /// Opens a state that was sealed for Ada's call of `t` in run `r` with `{}`.
    fn check(change: impl Fn(String) -> String, by: (&str, &str, &'static str, &str, Value)) -> bool {
        let seal = HmacSeal::new([1; 32]);
        let of = |(principal, run, method, tool, input): (&str, &str, &'static str, &str, Value)| {
            (Principal::new(principal), run.parse().unwrap(), method, tool.to_owned(), input)
        };
        let sealed_by = of(("ada", "r", "tools/call", "t", json!({})));
        let (principal, run, method, tool, input) = &sealed_by;
        let state = seal.seal(&round(), &Binding { principal, run, method, tool, input });
        let opened_by = of(by);
        let (principal, run, method, tool, input) = &opened_by;
        let opened = seal.open(&change(state), &Binding { principal, run, method, tool, input });
        opened.is_some_and(|opened| opened == round())
    }

    #[test]
    fn opens_for_the_very_same_request_alone() {
        let same = |state| state;
        assert!(check(same, ("ada", "r", "tools/call", "t", json!({}))));
        assert!(!check(same, ("bob", "r", "tools/call", "t", json!({}))));
        assert!(!check(same, ("ada", "s", "tools/call", "t", json!({}))));
        assert!(!check(same, ("ada", "r", "prompts/get", "t", json!({}))));
        assert!(!check(same, ("ada", "r", "tools/call", "u", json!({}))));
        assert!(!check(same, ("ada", "r", "tools/call", "t", json!({ "a": 1 }))));
        // What is moved from one part into the next is not the same.
        assert!(!check(same, ("adar", "r", "tools/call", "t", json!({}))));
    }

    #[test]
    fn opens_nothing_that_was_changed() {
        let check = |change: &dyn Fn(String) -> String| {
            assert!(!check(change, ("ada", "r", "tools/call", "t", json!({}))));
        };
        check(&|state| state[..state.len() - 1].to_owned());
        check(&|state| format!("{state}A"));
        check(&|_| "rs1.AAAA.AAAA".to_owned());
        check(&|_| "a".repeat(MOST_STATE_BYTES + 1));
        check(&|state| {
            let middle = state.len() / 2;
            let other = if state.as_bytes()[middle] == b'A' { "B" } else { "A" };
            format!("{}{other}{}", &state[..middle], &state[middle + 1..])
        });
    }

    #[test]
    fn opens_nothing_of_another_key() {
        let (principal, run, input) = (Principal::local(), "r".parse().unwrap(), json!({}));
        let binding =
            Binding { principal: &principal, run: &run, method: "tools/call", tool: "t", input: &input };
        let state = HmacSeal::of_this_process().seal(&round(), &binding);
        assert!(HmacSeal::of_this_process().open(&state, &binding).is_none());
    }
}
