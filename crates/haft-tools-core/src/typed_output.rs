use crate::input::output_schema;
use haft_core::{Content, Schema, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// Is what a typed tool gives: any value that serde writes and that has a schema, or a [`RawOutput`].
///
/// A string becomes text, an object JSON with structured data and a schema, and anything else JSON.
///
/// ```
/// use haft_tools_core::TypedOutput as _;
///
/// assert_eq!("three words".into_output()?.to_text(), "three words");
/// assert_eq!(vec![1, 2].into_output()?.to_text(), "[1,2]");
/// assert!(<Vec<u8>>::output_schema().is_none());
/// # Ok::<(), haft_core::ToolError>(())
/// ```
pub trait TypedOutput: Send {
    /// Derives the schema of the structured output; `None` where there is none.
    fn output_schema() -> Option<Schema>;

    /// Writes what the model reads.
    ///
    /// # Errors
    ///
    /// When the value cannot be written as JSON.
    fn into_output(self) -> Result<ToolOutput, ToolError>;
}

impl<T: Serialize + JsonSchema + Send> TypedOutput for T {
    fn output_schema() -> Option<Schema> {
        output_schema::<T>()
    }

    fn into_output(self) -> Result<ToolOutput, ToolError> {
        let value = serde_json::to_value(self).map_err(|error| {
            ToolError::failed(
                "the tool's result cannot be written as JSON; this is a fault of the tool, so try another way",
            )
            .with_source(error)
        })?;
        Ok(match value {
            Value::String(text) => ToolOutput::text(text),
            Value::Object(_) => ToolOutput::json(value),
            other => ToolOutput::new(vec![Content::json(other)]),
        })
    }
}

/// Holds an output that a typed tool made itself, such as an image, or a text beside details for the host.
///
/// ```
/// use haft_core::{ToolError, ToolOutput};
/// use haft_tools_core::{Accesses, CallContext, RawOutput, Tool as _, tool_fn};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Input {}
///
/// let tool = tool_fn("now", "Tells the time.", Accesses::none(), |_: Input, _: CallContext| async move {
///     Ok::<_, ToolError>(RawOutput::from(ToolOutput::text("noon").with_details(12.into())))
/// })?;
/// assert!(tool.spec().output_schema().is_none());
/// # Ok::<(), haft_core::NameError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct RawOutput(ToolOutput);

impl From<ToolOutput> for RawOutput {
    fn from(output: ToolOutput) -> Self {
        Self(output)
    }
}

impl TypedOutput for RawOutput {
    fn output_schema() -> Option<Schema> {
        None
    }

    fn into_output(self) -> Result<ToolOutput, ToolError> {
        Ok(self.0)
    }
}
