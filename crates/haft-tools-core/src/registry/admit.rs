use super::{Builder, CollisionPolicy, Entry, RegistryError, ToolRegistry};
use crate::Tool;
use std::sync::Arc;

/// Says which of the tools that were offered was left out, and why.
///
/// ```
/// use haft_core::ToolError;
/// use haft_tools_core::{Accesses, CallContext, Tool, ToolRegistry, tool_fn};
/// use std::sync::Arc;
///
/// # #[derive(serde::Deserialize, schemars::JsonSchema)]
/// # struct Input {}
/// let greet = || tool_fn("greet", "Greets.", Accesses::none(), |_: Input, _: CallContext| async {
///     Ok::<_, ToolError>("Good morning.")
/// });
/// let tools: [Arc<dyn Tool>; 2] = [Arc::new(greet()?), Arc::new(greet()?)];
/// let (registry, refused) = ToolRegistry::admit(tools);
/// assert_eq!((registry.names().count(), refused.len()), (1, 1));
/// # Ok::<(), haft_core::NameError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RefusedTool {
    /// Its place among the tools as they were offered, counted from 0.
    pub position: usize,
    /// Why it was left out.
    pub error: RegistryError,
}

impl RefusedTool {
    pub(crate) fn new(position: usize, error: RegistryError) -> Self {
        Self { position, error }
    }
}

impl ToolRegistry {
    /// Makes a registry of those tools that can be used, and says why the others were left out.
    ///
    /// Left out is a tool that panics when it describes itself, one whose schema does not compile, and one whose name an
    /// earlier tool has.
    ///
    /// ```
    /// use haft_core::{Schema, ToolError, ToolSpec};
    /// use haft_tools_core::{Accesses, CallContext, ToolRegistry, tool_fn};
    /// use serde_json::json;
    /// use std::sync::Arc;
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Nothing {}
    ///
    /// let ping = |name| tool_fn(name, "Answers.", Accesses::none(), |_: Nothing, _: CallContext| async {
    ///     Ok::<_, ToolError>("pong")
    /// });
    /// let broken = Schema::new(json!({ "required": "everything" }))?;
    /// let broken = ping("b")?.map_spec(|spec| ToolSpec::new(spec.name().clone(), "Answers.", broken));
    /// let (registry, refused) = ToolRegistry::admit([Arc::new(ping("a")?) as _, Arc::new(broken) as _]);
    /// assert_eq!(registry.names().collect::<Vec<_>>(), ["a"]);
    /// assert_eq!(refused[0].position, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn admit(tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> (Self, Vec<RefusedTool>) {
        let (mut builder, mut refused) = (Builder::default(), Vec::new());
        for (position, tool) in tools.into_iter().enumerate() {
            let added = Entry::new(tool).and_then(|entry| builder.add(entry, CollisionPolicy::Refuse));
            if let Err(error) = added {
                refused.push(RefusedTool::new(position, error));
            }
        }
        (builder.finish(), refused)
    }
}
