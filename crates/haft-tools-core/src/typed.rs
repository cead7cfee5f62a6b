use crate::{
    Accesses, Action, CallContext, CallScope, Prepared, Tool, TypedOutput, input_schema, parse_input,
};
use async_trait::async_trait;
use haft_core::{ToolError, ToolHints, ToolName, ToolOutput, ToolSpec};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::Arc;

/// Does something for a model with typed input and output; both schemas are derived, once.
///
/// Wrap it in [`Typed`] to register it. Doc comments of the input's fields become the descriptions the model reads.
///
/// ```
/// use async_trait::async_trait;
/// use haft_core::{ToolError, ToolName};
/// use haft_tools_core::{Accesses, CallContext, CallScope, Typed, TypedTool};
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
///
/// struct Add;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Terms {
///     /// The numbers to add.
///     terms: Vec<f64>,
/// }
///
/// #[derive(Serialize, JsonSchema)]
/// struct Sum {
///     sum: f64,
/// }
///
/// #[async_trait]
/// impl TypedTool for Add {
///     type Input = Terms;
///     type Output = Sum;
///
///     fn name(&self) -> ToolName {
///         ToolName::project("add")
///     }
///
///     fn description(&self) -> String {
///         "Adds numbers.".into()
///     }
///
///     fn accesses(&self, _input: &Terms, _scope: &CallScope) -> Result<Accesses, ToolError> {
///         Ok(Accesses::none())
///     }
///
///     async fn run(&self, input: Terms, _cx: CallContext) -> Result<Sum, ToolError> {
///         Ok(Sum { sum: input.terms.iter().sum() })
///     }
/// }
///
/// let tool = Typed::new(Add);
/// # use haft_tools_core::Tool as _;
/// assert!(tool.spec().output_schema().is_some());
/// ```
#[async_trait]
pub trait TypedTool: Send + Sync + 'static {
    /// The arguments.
    type Input: DeserializeOwned + JsonSchema + Send + Sync + 'static;
    /// The result: a string becomes text, anything else JSON with a schema; see [`TypedOutput`].
    type Output: TypedOutput;

    /// The name by which the model calls the tool.
    fn name(&self) -> ToolName;

    /// What the model is told of the tool.
    fn description(&self) -> String;

    /// What the tool says of its own behaviour; claims nothing by default.
    fn hints(&self) -> ToolHints {
        ToolHints::default()
    }

    /// Declares what running with this input will touch.
    ///
    /// # Errors
    ///
    /// When the input names something that cannot be resolved; the text goes to the model.
    fn accesses(&self, input: &Self::Input, scope: &CallScope) -> Result<Accesses, ToolError>;

    /// Runs the call.
    ///
    /// # Errors
    ///
    /// Whatever kept the call from doing what it was asked to; the text goes to the model.
    ///
    /// # Cancel safety
    ///
    /// The future is dropped when a call is abandoned, as [`Action::run`] says.
    async fn run(&self, input: Self::Input, cx: CallContext) -> Result<Self::Output, ToolError>;
}

/// Makes a [`Tool`] of a [`TypedTool`].
///
/// ```
/// use async_trait::async_trait;
/// use haft_core::{ToolError, ToolName};
/// use haft_tools_core::{Accesses, CallContext, CallScope, Tool as _, Typed, TypedTool};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Nothing {}
///
/// struct Version(&'static str);
///
/// #[async_trait]
/// impl TypedTool for Version {
///     type Input = Nothing;
///     type Output = String;
/// #
/// #   fn name(&self) -> ToolName { ToolName::project("version") }
/// #   fn description(&self) -> String { "Tells the version.".into() }
/// #   fn accesses(&self, _: &Nothing, _: &CallScope) -> Result<Accesses, ToolError> { Ok(Accesses::none()) }
///
///     async fn run(&self, _: Nothing, _: CallContext) -> Result<String, ToolError> {
///         Ok(self.0.to_owned())
///     }
/// }
///
/// let tool = Typed::new(Version("1.2.3")).map_spec(|spec| spec.with_title("Version"));
/// assert_eq!(tool.spec().title(), "Version");
/// ```
#[derive(Debug)]
pub struct Typed<T> {
    tool: Arc<T>,
    spec: ToolSpec,
}

impl<T: TypedTool> Typed<T> {
    /// Derives the schemas and wraps the tool.
    ///
    /// # Panics
    ///
    /// When the input type is not described as an object.
    pub fn new(tool: T) -> Self {
        let spec =
            typed_spec::<T::Input, T::Output>(tool.name(), tool.description()).with_hints(tool.hints());
        Self { tool: Arc::new(tool), spec }
    }

    /// Changes the specification, for what [`TypedTool`] does not ask for, such as the origin.
    pub fn map_spec(mut self, change: impl FnOnce(ToolSpec) -> ToolSpec) -> Self {
        self.spec = change(self.spec);
        self
    }
}

impl<T: TypedTool> Tool for Typed<T> {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare(&self, input: &Value, scope: &CallScope) -> Result<Prepared, ToolError> {
        let input: T::Input = parse_input(input)?;
        let accesses = self.tool.accesses(&input, scope)?;
        Ok(Prepared::new(accesses, TypedAction { tool: Arc::clone(&self.tool), input }))
    }
}

struct TypedAction<T: TypedTool> {
    tool: Arc<T>,
    input: T::Input,
}

#[async_trait]
impl<T: TypedTool> Action for TypedAction<T> {
    async fn run(self: Box<Self>, cx: CallContext) -> Result<ToolOutput, ToolError> {
        let Self { tool, input } = *self;
        tool.run(input, cx).await?.into_output()
    }
}

pub(crate) fn typed_spec<I: JsonSchema, O: TypedOutput>(name: ToolName, description: String) -> ToolSpec {
    let spec = ToolSpec::new(name, description, input_schema::<I>());
    match O::output_schema() {
        Some(schema) => spec.with_output_schema(schema),
        None => spec,
    }
}
