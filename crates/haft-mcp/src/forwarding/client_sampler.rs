use super::{answer_of, client, lacks};
use crate::client::read_block;
use crate::server::Block;
use crate::{Ability, AskKind, CallingClient, Sampled, SampledStop, Sampler, SamplingRequest};
use async_trait::async_trait;
use haft_core::{Content, Message, ToolError};
use haft_tools_core::CallContext;
use serde_json::{Map, Value, json};

/// The most bytes of the name of a model.
const MOST_NAME_BYTES: usize = 200;

/// Has the turns that servers want be taken by the client whose call they work on.
///
/// It is what [`McpServersBuilder::sampler`](crate::McpServersBuilder::sampler) is given by a host that serves clients. A turn
/// is still permitted like any call; a client that takes no turns is not asked, and the server is told why.
///
/// ```
/// use haft_mcp::{ClientSampler, McpServers, Sampler as _};
/// use haft_tools_core::{CallContext, CallScope};
///
/// let sampler = ClientSampler::new();
/// // This call came from no client that has a model.
/// let cx = CallContext::detached("c1".parse()?, CallScope::new("run-1".parse()?));
/// assert!(sampler.check(&cx).is_err());
/// let servers = McpServers::builder().sampler(sampler).build()?;
/// # let _ = servers;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ClientSampler;

impl ClientSampler {
    /// Has them be taken by whichever client calls.
    pub fn new() -> Self {
        Self
    }
}

#[async_trait]
impl Sampler for ClientSampler {
    fn check(&self, cx: &CallContext) -> Result<(), ToolError> {
        able(cx).map(drop)
    }

    async fn sample(&self, request: SamplingRequest, cx: &CallContext) -> Result<Sampled, ToolError> {
        let answer = answer_of(able(cx)?, AskKind::Sample(params(&request))).await?;
        read(answer)
    }
}

fn able(cx: &CallContext) -> Result<&CallingClient, ToolError> {
    let Some(client) = client(cx) else {
        return Err(ToolError::failed(
            "this call came from no client, so there is no model to ask; go on without it",
        ));
    };
    client.caller().can.sampling.then_some(client).ok_or_else(|| lacks(Ability::Sampling))
}

/// Writes the params of `sampling/createMessage`; nothing else of the server's is passed on.
fn params(request: &SamplingRequest) -> Value {
    let messages: Vec<Value> = request.messages.iter().map(message).collect();
    let mut params = Map::new();
    params.insert("messages".to_owned(), messages.into());
    params.insert("maxTokens".to_owned(), request.max_tokens.into());
    if let Some(system) = &request.system {
        params.insert("systemPrompt".to_owned(), system.as_str().into());
    }
    if let Some(temperature) = request.temperature {
        params.insert("temperature".to_owned(), temperature.into());
    }
    if !request.stop_sequences.is_empty() {
        params.insert("stopSequences".to_owned(), request.stop_sequences.clone().into());
    }
    params.into()
}

fn message(message: &Message) -> Value {
    let (role, mut blocks): (_, Vec<Block>) = match message {
        Message::User { content } => ("user", content.iter().cloned().map(Block::from).collect()),
        message => ("assistant", vec![Block::text(message.assistant_text())]),
    };
    // The older revisions know one part a message alone.
    let content = if blocks.len() == 1 { json!(blocks.remove(0)) } else { json!(blocks) };
    json!({ "role": role, "content": content })
}

/// Reads a client's answer; anything may stand in it.
fn read(mut answer: Value) -> Result<Sampled, ToolError> {
    let parts = match answer.get_mut("content").map(Value::take) {
        Some(Value::Array(parts)) => parts,
        Some(part) => vec![part],
        None => Vec::new(),
    };
    let text = |part| match read_block(part) {
        Ok(Content::Text { text }) => Ok(text),
        _ => Err(ToolError::failed(
            "the client's model answered with something other than text; go on without it",
        )),
    };
    let texts = parts.into_iter().map(text).collect::<Result<Vec<String>, _>>()?;
    let model = answer.get("model").and_then(Value::as_str).unwrap_or("unknown");
    let model = &model[..model.floor_char_boundary(MOST_NAME_BYTES)];
    let stop = match answer.get("stopReason").and_then(Value::as_str) {
        Some("maxTokens") => SampledStop::MaxTokens,
        Some("stopSequence") => SampledStop::StopSequence,
        _ => SampledStop::EndTurn,
    };
    Ok(Sampled::new(texts.join("\n"), model).stop(stop))
}
