use super::ToolRegistry;
use crate::nearest::listed;
use crate::panicked::{apart, discard};
use crate::{Accesses, CallScope, Limits};
use haft_core::ToolSpec;
use serde_json::Value;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Holds what a call would touch, which was found out without running it.
///
/// ```
/// # mod house { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doctests/house.rs")); }
/// use haft_tools_core::CallScope;
/// use serde_json::json;
///
/// # let registry = house::registry()?;
/// let declared = registry.declare("greet", json!({}), &CallScope::new("run-1".parse()?))?;
/// assert_eq!((declared.tool.name().as_str(), declared.accesses.is_empty()), ("greet", true));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DeclaredCall<'a> {
    /// The tool that the call names, also by an alias.
    pub tool: &'a ToolSpec,
    /// What running the call would touch.
    pub accesses: Accesses,
    /// The arguments as the tool would get them, mended where the schema says how.
    pub input: Value,
}

/// Says why it cannot be told what a call would touch.
///
/// ```
/// # mod house { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doctests/house.rs")); }
/// use haft_tools_core::{CallScope, DeclareError};
/// use serde_json::json;
///
/// # let registry = house::registry()?;
/// let error = registry.declare("great", json!({}), &CallScope::new("run-1".parse()?)).unwrap_err();
/// assert!(matches!(error, DeclareError::Unknown { near, .. } if near == ["greet"]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DeclareError {
    /// There is no tool of the name.
    #[error("there is no tool `{name}`{}", instead(near))]
    Unknown {
        /// The name.
        name: String,
        /// The names that are most like it, the likest first.
        near: Vec<String>,
    },
    /// The arguments do not fit the tool's schema.
    #[error("{reason}")]
    Input {
        /// What does not fit, and where.
        reason: String,
    },
    /// The tool cannot prepare the call.
    #[error("`{tool}` cannot prepare the call: {reason}")]
    Unprepared {
        /// The tool.
        tool: String,
        /// What it said.
        reason: String,
    },
}

fn instead(near: &[String]) -> String {
    match near {
        [] => String::new(),
        near => format!("; did you mean {}?", listed(near.iter().map(String::as_str), "or")),
    }
}

impl ToolRegistry {
    /// Finds out what a call would touch, as an executor does before it decides, and runs nothing.
    ///
    /// The arguments are validated and mended as for a call, within the size of [`Limits::default`]; where an executor has others,
    /// [`declare_within`](Self::declare_within) says what it would. Preparing may look at names in the world, such as whether a file
    /// is there, and changes nothing.
    ///
    /// ```
    /// use haft_core::ToolError;
    /// use haft_tools_core::{Accesses, CallContext, CallScope, ToolRegistry, tool_fn};
    /// use serde_json::json;
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Nothing {}
    ///
    /// let ping = tool_fn("ping", "Answers.", Accesses::none(), |_: Nothing, _: CallContext| async {
    ///     Ok::<_, ToolError>("pong")
    /// })?;
    /// let registry = ToolRegistry::new().with(ping)?;
    /// let scope = CallScope::new("run-1".parse()?);
    /// assert!(registry.declare("ping", json!({}), &scope)?.accesses.is_empty());
    /// let error = registry.declare("pong", json!({}), &scope).unwrap_err();
    /// assert_eq!(error.to_string(), "there is no tool `pong`; did you mean `ping`?");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When there is no such tool, the arguments do not fit it, or the tool cannot prepare the call.
    pub fn declare(
        &self,
        name: &str,
        input: Value,
        scope: &CallScope,
    ) -> Result<DeclaredCall<'_>, DeclareError> {
        self.declare_within(&Limits::default(), name, input, scope)
    }

    /// As [`declare`](Self::declare), where the executor that would run the call has these limits.
    ///
    /// ```
    /// # mod house { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doctests/house.rs")); }
    /// use haft_tools_core::{CallScope, DeclareError, Limits};
    /// use serde_json::json;
    ///
    /// # let registry = house::registry()?;
    /// let (scope, input) = (CallScope::new("run-1".parse()?), json!({ "much": "text" }));
    /// let small = Limits { input_bytes: 4, ..Limits::default() };
    /// let declared = registry.declare_within(&small, "greet", input, &scope);
    /// assert!(matches!(declared, Err(DeclareError::Input { .. })));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`declare`](Self::declare), and when the arguments are larger than these limits let them be.
    pub fn declare_within(
        &self,
        limits: &Limits,
        name: &str,
        input: Value,
        scope: &CallScope,
    ) -> Result<DeclaredCall<'_>, DeclareError> {
        let Some(entry) = self.entry(name) else {
            let near = self.nearest(name).into_iter().map(str::to_owned).collect();
            return Err(DeclareError::Unknown { name: name.to_owned(), near });
        };
        let unprepared = |reason: &str| DeclareError::Unprepared {
            tool: entry.name().to_owned(),
            reason: reason.to_owned(),
        };
        let mended = entry
            .validator
            .accept(entry.name(), &input, entry.repairs, limits.input_bytes)
            .map_err(|reason| DeclareError::Input { reason })?;
        let input = mended.map_or(input, |mended| mended.value);
        // The tool is only used again through a shared reference, as it would be by another call at the same time.
        match catch_unwind(AssertUnwindSafe(|| entry.tool.prepare(&input, scope))) {
            Ok(Ok(prepared)) => {
                let accesses = prepared.accesses().clone();
                Ok(DeclaredCall { tool: &entry.spec, accesses, input })
            }
            Ok(Err(error)) => {
                let refused = unprepared(error.message());
                apart(|| drop(error));
                Err(refused)
            }
            Err(payload) => {
                discard(payload);
                Err(unprepared("it broke while preparing it"))
            }
        }
    }
}
