use crate::{CallKey, ScopeError, ScopeRecord};
use haft_core::{Digest, Repair, ToolCall};
use haft_tools_core::{CallScope, HeldCall};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::json;

/// Asks an engine to make a call: plain data, and the same each time that the same call is asked for.
///
/// The serde form is versioned; one that another version wrote is refused by name.
///
/// A client that has died asks for the same again; one that asks for something else under its key is told apart:
///
/// ```
/// use haft_core::ToolCall;
/// use haft_durable::CallRequest;
/// use haft_tools_core::CallScope;
/// use serde_json::json;
///
/// let scope = CallScope::new("run-1".parse()?).with_turn(2);
/// let mail = |to: &str| -> Result<_, Box<dyn std::error::Error>> {
///     Ok(CallRequest::new(&scope, ToolCall::new("c1".parse()?, "send_mail", json!({ "to": to })))?)
/// };
/// let (first, other) = (mail("a@example.org")?, mail("b@example.org")?);
/// let sent = serde_json::to_string(&first)?;
/// assert_eq!(serde_json::from_str::<CallRequest>(&sent)?.digest(), first.digest());
/// assert_eq!(first.key(), other.key());
/// assert_ne!(first.digest(), other.digest());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallRequest {
    #[serde(deserialize_with = "known_version")]
    version: u32,
    key: CallKey,
    call: ToolCall,
    /// What was changed in the input before the call was held back, if it was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    repairs: Vec<Repair>,
    scope: ScopeRecord,
}

impl CallRequest {
    /// The version of the form that is written.
    pub const VERSION: u32 = 1;

    /// Asks for a call on behalf of a scope.
    ///
    /// # Errors
    ///
    /// When the scope [cannot be sent](ScopeRecord::of).
    pub fn new(scope: &CallScope, call: ToolCall) -> Result<Self, ScopeError> {
        Self::of_held(scope, HeldCall::new(call))
    }

    /// Asks for a call that was held back before.
    ///
    /// # Errors
    ///
    /// As for [`CallRequest::new`].
    pub fn of_held(scope: &CallScope, held: HeldCall) -> Result<Self, ScopeError> {
        let record = ScopeRecord::of(scope)?;
        let key = CallKey::new(scope, held.call.id.clone());
        Ok(Self { version: Self::VERSION, key, call: held.call, repairs: held.repairs, scope: record })
    }

    /// Names the call.
    pub fn key(&self) -> &CallKey {
        &self.key
    }

    /// The call.
    pub fn call(&self) -> &ToolCall {
        &self.call
    }

    /// On whose behalf it is made, without what its host had added.
    pub fn scope(&self) -> CallScope {
        self.scope.scope()
    }

    /// The call as one that is taken up, with what was changed in its input before.
    pub(crate) fn held(&self) -> HeldCall {
        let mut held = HeldCall::new(self.call.clone());
        held.repairs.clone_from(&self.repairs);
        held
    }

    /// Tells this request from another of the same key: whoever asks for another call under a key that is taken must not get
    /// the reply of the first.
    pub fn digest(&self) -> Digest {
        Digest::of(&json!((&self.key, &self.call.name, &self.call.input, &self.scope)))
    }
}

fn known_version<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    match u32::deserialize(deserializer)? {
        CallRequest::VERSION => Ok(CallRequest::VERSION),
        other => Err(serde::de::Error::custom(format!(
            "this request was written in version {other} of its form; this program reads version {}, so let workers and \
             clients of one version meet",
            CallRequest::VERSION
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(turn: u32, name: &str, input: serde_json::Value) -> CallRequest {
        let scope = CallScope::new("r".parse().unwrap()).with_turn(turn);
        CallRequest::new(&scope, ToolCall::new("c".parse().unwrap(), name, input)).unwrap()
    }

    #[test]
    fn another_call_has_another_digest() {
        let first = request(1, "a", json!({ "x": 1 }));
        assert_eq!(first.digest(), request(1, "a", json!({ "x": 1 })).digest());
        for other in [
            request(2, "a", json!({ "x": 1 })),
            request(1, "b", json!({ "x": 1 })),
            request(1, "a", json!({})),
        ] {
            assert_ne!(first.digest(), other.digest(), "{other:?}");
        }
    }

    #[test]
    fn one_of_another_version_is_refused_by_number() {
        let mut written = serde_json::to_value(request(1, "a", json!({}))).unwrap();
        assert_eq!(
            serde_json::from_value::<CallRequest>(written.clone()).unwrap(),
            request(1, "a", json!({}))
        );
        written["version"] = json!(2);
        let error = serde_json::from_value::<CallRequest>(written).unwrap_err().to_string();
        assert!(
            error.starts_with(
                "this request was written in version 2 of its form; this program reads version 1"
            ),
            "{error}"
        );
    }
}
