use crate::typed::typed_spec;
use crate::{Accesses, Action, CallContext, CallScope, Prepared, Tool, TypedOutput, parse_input};
use async_trait::async_trait;
use haft_core::{NameError, ToolError, ToolOutput, ToolSpec};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// Makes a tool of a function.
///
/// `accesses` says what running touches: an [`Accesses`] where that is always the same, or a function of the input.
/// The input's and the output's schemas are derived; see [`TypedOutput`] for what becomes of a result.
///
/// ```
/// use haft_core::ToolError;
/// use haft_tools_core::{Accesses, CallContext, Tool as _, tool_fn};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Input {
///     /// The text to count.
///     text: String,
/// }
///
/// let tool = tool_fn("count_words", "Counts words.", Accesses::none(), |input: Input, _cx: CallContext| async move {
///     Ok::<_, ToolError>(input.text.split_whitespace().count())
/// })?;
/// assert_eq!(tool.spec().description(), "Counts words.");
/// # Ok::<(), haft_core::NameError>(())
/// ```
///
/// # Errors
///
/// When the name is not a tool name.
///
/// # Panics
///
/// When the input type is not described as an object.
pub fn tool_fn<I, O, D, F, Fut>(
    name: &str,
    description: &str,
    accesses: D,
    run: F,
) -> Result<ToolFn<I, D, F>, NameError>
where
    I: DeserializeOwned + JsonSchema + Send + Sync + 'static,
    O: TypedOutput + 'static,
    D: DeclareAccesses<I>,
    F: Fn(I, CallContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<O, ToolError>> + Send + 'static,
{
    let spec = typed_spec::<I, O>(name.parse()?, description.to_owned());
    Ok(ToolFn { spec, accesses, run: Arc::new(run), input: PhantomData })
}

/// Declares what running with an input will touch: an [`Accesses`] or a function of the input.
///
/// ```
/// use haft_core::ToolError;
/// use haft_tools_core::{Access, Accesses, CallScope, DeclareAccesses, Resource, Scheme};
///
/// let touched = |title: &String| {
///     Ok::<_, ToolError>(Accesses::from(Access::read(Resource::exact(Scheme::new("note"), title.as_str()))))
/// };
/// let scope = CallScope::new("run-1".parse()?);
/// let accesses = touched.declare(&"plan".to_owned(), &scope)?;
/// assert_eq!(accesses.iter().map(Access::to_string).collect::<Vec<_>>(), ["read note:plan"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait DeclareAccesses<I>: Send + Sync + 'static {
    /// Declares the accesses for this input.
    ///
    /// # Errors
    ///
    /// When the input names something that cannot be resolved; the text goes to the model.
    fn declare(&self, input: &I, scope: &CallScope) -> Result<Accesses, ToolError>;
}

impl<I> DeclareAccesses<I> for Accesses {
    fn declare(&self, _input: &I, _scope: &CallScope) -> Result<Accesses, ToolError> {
        Ok(self.clone())
    }
}

impl<I, F> DeclareAccesses<I> for F
where
    F: Fn(&I) -> Result<Accesses, ToolError> + Send + Sync + 'static,
{
    fn declare(&self, input: &I, _scope: &CallScope) -> Result<Accesses, ToolError> {
        self(input)
    }
}

/// Is the tool that [`tool_fn`] makes.
///
/// ```
/// use haft_core::{ToolError, ToolHints};
/// use haft_tools_core::{Accesses, CallContext, Tool as _, tool_fn};
///
/// # #[derive(serde::Deserialize, schemars::JsonSchema)]
/// # struct Input {}
/// let greet = tool_fn("greet", "Greets.", Accesses::none(), |_: Input, _: CallContext| async {
///     Ok::<_, ToolError>("Good morning.")
/// })?
/// .map_spec(|spec| spec.with_hints(ToolHints { read_only: true, ..ToolHints::default() }));
/// assert!(greet.spec().hints().read_only);
/// # Ok::<(), haft_core::NameError>(())
/// ```
pub struct ToolFn<I, D, F> {
    spec: ToolSpec,
    accesses: D,
    run: Arc<F>,
    input: PhantomData<fn(I)>,
}

impl<I, D, F> ToolFn<I, D, F> {
    /// Changes the specification, for what [`tool_fn`] does not ask for, such as hints.
    pub fn map_spec(mut self, change: impl FnOnce(ToolSpec) -> ToolSpec) -> Self {
        self.spec = change(self.spec);
        self
    }
}

impl<I, D, F> fmt::Debug for ToolFn<I, D, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolFn").field("spec", &self.spec).finish_non_exhaustive()
    }
}

impl<I, O, D, F, Fut> Tool for ToolFn<I, D, F>
where
    I: DeserializeOwned + JsonSchema + Send + Sync + 'static,
    O: TypedOutput + 'static,
    D: DeclareAccesses<I>,
    F: Fn(I, CallContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<O, ToolError>> + Send + 'static,
{
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare(&self, input: &Value, scope: &CallScope) -> Result<Prepared, ToolError> {
        let input: I = parse_input(input)?;
        let accesses = self.accesses.declare(&input, scope)?;
        Ok(Prepared::new(accesses, FnAction { run: Arc::clone(&self.run), input }))
    }
}

struct FnAction<I, F> {
    run: Arc<F>,
    input: I,
}

#[async_trait]
impl<I, O, F, Fut> Action for FnAction<I, F>
where
    I: Send + Sync,
    O: TypedOutput,
    F: Fn(I, CallContext) -> Fut + Send + Sync,
    Fut: Future<Output = Result<O, ToolError>> + Send,
{
    async fn run(self: Box<Self>, cx: CallContext) -> Result<ToolOutput, ToolError> {
        let Self { run, input } = *self;
        run(input, cx).await?.into_output()
    }
}
