use async_trait::async_trait;
use haft_core::{Schema, ToolError, ToolOutput, ToolSpec};
use haft_tools_core::{Accesses, Action, CallContext, CallScope, Prepared, Preview, Tool};
use serde_json::Value;
use std::pin::Pin;
use std::sync::Arc;

type Running = Pin<Box<dyn Future<Output = Result<ToolOutput, ToolError>> + Send>>;

/// Is a tool whose schema is written down as it is.
pub(crate) struct FixtureTool {
    spec: ToolSpec,
    run: Arc<dyn Fn(Value, CallContext) -> Running + Send + Sync>,
}

impl FixtureTool {
    /// # Panics
    ///
    /// When the name is not one, or the schema not that of an object.
    pub(crate) fn new<F>(
        name: &str,
        description: &str,
        schema: Value,
        run: impl Fn(Value, CallContext) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<ToolOutput, ToolError>> + Send + 'static,
    {
        let name = name.parse().expect("the name of a tool");
        let schema = Schema::new(schema).expect("the schema of an object");
        let spec = ToolSpec::new(name, description, schema);
        Self { spec, run: Arc::new(move |input, cx| Box::pin(run(input, cx))) }
    }
}

impl Tool for FixtureTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare(&self, input: &Value, _scope: &CallScope) -> Result<Prepared, ToolError> {
        Ok(Prepared::new(Accesses::none(), Call { run: self.run.clone(), input: input.clone() }))
    }
}

struct Call {
    run: Arc<dyn Fn(Value, CallContext) -> Running + Send + Sync>,
    input: Value,
}

#[async_trait]
impl Action for Call {
    async fn preview(&self) -> Preview {
        Preview::Text("calls a tool of the suite".to_owned())
    }

    async fn run(self: Box<Self>, cx: CallContext) -> Result<ToolOutput, ToolError> {
        (self.run)(self.input, cx).await
    }
}
