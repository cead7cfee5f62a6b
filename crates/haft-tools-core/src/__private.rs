//! What the code that `#[haft::tool]` writes stands on, so that it needs no crate but the one it is written for.

pub use crate::{Accesses, CallContext, CallScope, DeclareAccesses, RawOutput, Tool};
pub use {haft_core, schemars, serde};

use crate::{TypedOutput, tool_fn};
use haft_core::{ToolError, ToolSpec};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use std::fmt::Debug;

/// Makes a tool of a function whose name was checked when it was compiled.
///
/// # Panics
///
/// When the name is not a tool name after all, or the input type is not described as an object.
pub fn named_tool<I, O, D, F, Fut>(
    name: &str,
    description: &str,
    specify: impl FnOnce(ToolSpec) -> ToolSpec,
    accesses: D,
    run: F,
) -> impl Tool + Debug
where
    I: DeserializeOwned + JsonSchema + Send + Sync + 'static,
    O: TypedOutput + 'static,
    D: DeclareAccesses<I>,
    F: Fn(I, CallContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<O, ToolError>> + Send + 'static,
{
    tool_fn(name, description, accesses, run).expect("the attribute takes tool names only").map_spec(specify)
}
