use super::sampling::{Sampler, SamplingRequest};
use super::{BAD_PARAMS, INTERNAL, MOST_REASON_BYTES, REJECTED, refused};
use crate::ServerName;
use crate::client::session::AskRefused;
use crate::shown::line;
use async_trait::async_trait;
use haft_core::{Exposure, Origin, ReplyStatus, Schema, ToolCall, ToolError, ToolName, ToolOutput, ToolSpec};
use haft_tools_core::{Access, Action, CallContext, CallScope, Prepared, Preview, Resource, Scheme, Tool};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The scheme of what is done in the name of a server.
const MCP: Scheme = Scheme::new("mcp");

/// What a turn of a model is called among the tools of a server.
const METHOD: &str = "sampling/createMessage";

/// Takes a model's turn for a server as a call like any other: a rule permits it, or a person does, who sees all of it.
///
/// No model is told of it, and rules with a wildcard leave it out: `call(@server/sampling/createMessage)` speaks of it.
pub(crate) struct SamplingTool {
    spec: ToolSpec,
    server: ServerName,
    sampler: Arc<dyn Sampler>,
}

impl SamplingTool {
    pub(crate) fn new(server: ServerName, sampler: Arc<dyn Sampler>) -> Self {
        let input = Schema::new(json!({ "type": "object" })).unwrap_or_else(|_| Schema::empty());
        let origin = Origin::Mcp { server: server.to_string(), tool: METHOD.to_owned() };
        let description = "Takes a turn of the model for an MCP server that asks for it; only servers ask.";
        let spec = ToolSpec::new(tool_name(&server), description, input)
            .with_origin(origin)
            .with_exposure(Exposure::Hidden)
            .explicit_only();
        Self { spec, server, sampler }
    }
}

fn tool_name(server: &ServerName) -> ToolName {
    ToolName::project(&format!("{server}__{METHOD}"))
}

impl Tool for SamplingTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare(&self, input: &Value, _scope: &CallScope) -> Result<Prepared, ToolError> {
        let request = SamplingRequest::read(&self.server, input).map_err(ToolError::invalid_input)?;
        let access = Access::call(Resource::exact(MCP, format!("{}/{METHOD}", self.server)));
        Ok(Prepared::new(access.unordered(), Turn { request, sampler: Arc::clone(&self.sampler) }))
    }
}

struct Turn {
    request: SamplingRequest,
    sampler: Arc<dyn Sampler>,
}

#[async_trait]
impl Action for Turn {
    async fn preview(&self) -> Preview {
        Preview::Text(self.request.to_preview())
    }

    async fn run(self: Box<Self>, cx: CallContext) -> Result<ToolOutput, ToolError> {
        let sampled = self.sampler.sample(self.request, &cx).await?;
        Ok(ToolOutput::text(sampled.text.clone()).with_structured(sampled.to_result()))
    }
}

/// Has the turn taken in the name of the call that the server works on.
pub(super) async fn answer(
    server: &ServerName,
    params: Value,
    call: &CallContext,
) -> Result<Value, AskRefused> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    SamplingRequest::read(server, &params).map_err(|reason| refused(BAD_PARAMS, reason))?;
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let id =
        format!("mcp-sampling-{number}").parse().map_err(|_| refused(INTERNAL, "there is no id for it"))?;
    let reply = call.call(ToolCall::new(id, tool_name(server).as_str(), params)).await;
    match (reply.status, reply.output.structured.clone()) {
        (ReplyStatus::Ok, Some(result)) => Ok(result),
        (ReplyStatus::Denied, _) => Err(refused(REJECTED, "the user does not allow it")),
        _ => Err(refused(
            INTERNAL,
            format!("there is no answer: {}", line(&reply.output.to_text(), MOST_REASON_BYTES)),
        )),
    }
}
