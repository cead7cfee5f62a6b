use super::sampling::{Sampled, SampledStop, Sampler, SamplingRequest};
use async_trait::async_trait;
use haft_core::{StopReason, ToolError};
use haft_model::{Model, ModelRequest, assemble};
use haft_tools_core::CallContext;
use std::sync::Arc;

/// Takes the turns that servers want with a model.
///
/// ```
/// use haft_mcp::{McpServers, ModelSampler};
/// use haft_model::{ScriptedModel, Session};
/// use std::sync::Arc;
///
/// let model = ScriptedModel::new(Session::parse(r#"{"text": "It rains."}"#, "rain.jsonl")?);
/// let servers = McpServers::builder().sampler(ModelSampler::new(Arc::new(model))).build()?;
/// # let _ = servers;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ModelSampler(Arc<dyn Model>);

impl ModelSampler {
    /// Takes them with this model.
    pub fn new(model: Arc<dyn Model>) -> Self {
        Self(model)
    }
}

#[async_trait]
impl Sampler for ModelSampler {
    async fn sample(&self, request: SamplingRequest, cx: &CallContext) -> Result<Sampled, ToolError> {
        let mut asked = ModelRequest::new(request.messages).max_output_tokens(request.max_tokens);
        if let Some(system) = request.system {
            asked = asked.system(system);
        }
        if let Some(temperature) = request.temperature {
            asked = asked.temperature(temperature);
        }
        let waits = cx.clone();
        let asked = asked.on_retry(move |error, pause| {
            let (pause, reason) = (pause.as_secs_f64(), error.reason());
            waits.progress(format!("the model is asked again in {pause:.1} s: {reason}"));
        });
        let failed =
            |error| ToolError::failed("the model gave no answer; go on without it").with_source(error);
        let stream = self.0.stream(asked, cx.cancellation().clone()).await.map_err(failed)?;
        let turn = assemble(stream, |_| {}).await.map_err(failed)?;
        let text = turn.message.assistant_text();
        let end = request.stop_sequences.iter().filter_map(|sequence| text.find(sequence.as_str())).min();
        let text = end.map_or(text.as_str(), |end| &text[..end]);
        let stop = match (end, turn.stop) {
            (Some(_), _) => SampledStop::StopSequence,
            (None, StopReason::MaxTokens) => SampledStop::MaxTokens,
            _ => SampledStop::EndTurn,
        };
        Ok(Sampled::new(text, self.0.capabilities().name.clone()).stop(stop))
    }
}

impl std::fmt::Debug for ModelSampler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ModelSampler").field(&self.0.capabilities().name).finish()
    }
}

#[cfg(test)]
mod tests;
