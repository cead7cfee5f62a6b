//! The events of an answer as the crate `genai` gives them.

use super::back::Back;
use super::fault;
use crate::calls::{identified, turn_number};
use crate::complaint::Fault;
use crate::names::Aliases;
use crate::turn::{Deltas, Flow, Source};
use futures_util::StreamExt as _;
use genai::adapter::AdapterKind;
use genai::chat::{
    ChatStream, ChatStreamEvent, ContentPart, StopReason as Reason, StreamEnd, ToolCall, Usage,
};
use haft_core::{CallId, Message, StopReason, Usage as Tokens};
use haft_model::{Delta, ModelError, ProtocolError};
use serde_json::Value;
use std::collections::HashSet;
use std::sync::Arc;

/// An answer that is being read.
pub(super) struct Answer {
    stream: ChatStream,
    adapter: AdapterKind,
    host: String,
    aliases: Aliases,
    ids: Ids,
}

/// Gives calls ids that no other call of the transcript has: some adapters make the same ones in every turn.
#[derive(Clone)]
pub(super) struct Ids {
    taken: HashSet<CallId>,
    turn: usize,
}

impl Ids {
    /// For the turn that answers these messages.
    pub(super) fn after(messages: &[Arc<Message>]) -> Self {
        let taken = messages.iter().flat_map(|message| message.tool_calls()).map(|call| call.id.clone());
        Self { taken: taken.collect(), turn: turn_number(messages) }
    }

    fn new_one(&mut self, given: &str, index: u32) -> Result<CallId, Fault> {
        let mut id = identified(Some(given), self.turn, index)?;
        if self.taken.contains(&id) {
            id = identified(None, self.turn, index)?;
        }
        self.taken.insert(id.clone());
        Ok(id)
    }
}

impl Answer {
    pub(super) fn new(
        stream: ChatStream,
        adapter: AdapterKind,
        host: &str,
        aliases: Aliases,
        ids: Ids,
    ) -> Self {
        Self { stream, adapter, host: host.to_owned(), aliases, ids }
    }

    fn end(&mut self, end: StreamEnd, out: &mut Deltas<'_>) -> Result<Flow, Fault> {
        // An adapter ends what breaks off as it ends what is whole, but then nobody has said why.
        let reason = end.captured_stop_reason.ok_or_else(|| Fault::passing(ModelError::Truncated))?;
        let mut back = Back::default();
        let mut calls = Vec::new();
        for part in end.captured_content.into_iter().flat_map(genai::chat::MessageContent::into_parts) {
            match part {
                ContentPart::ToolCall(call) => calls.push(call),
                ContentPart::ThoughtSignature(_)
                | ContentPart::ReasoningContent(_)
                | ContentPart::Custom(_) => back.parts.push(part),
                // What was said came as it was written.
                ContentPart::Text(_) | ContentPart::Binary(_) | ContentPart::ToolResponse(_) => {}
            }
        }
        let has_reasoning = back.parts.iter().any(|part| matches!(part, ContentPart::ReasoningContent(_)));
        if let Some(reasoning) =
            end.captured_reasoning_content.filter(|text| !text.is_empty() && !has_reasoning)
        {
            back.parts.push(ContentPart::ReasoningContent(reasoning));
        }
        let count = calls.len();
        let mut made = Vec::new();
        for (index, call) in (0..).zip(calls) {
            self.call(index, call, &mut back, &mut made)?;
        }
        if let Some(kept) = back.written(self.adapter.as_lower_str()) {
            out.kept(kept);
        }
        for delta in made {
            out.push(delta);
        }
        if let Some(usage) = end.captured_usage {
            out.push(Delta::Usage(tokens(&usage)));
        }
        out.push(Delta::Stop(match reason {
            Reason::MaxTokens(_) => StopReason::MaxTokens,
            Reason::ContentFilter(_) => StopReason::Refused,
            // Some services have one word for both.
            Reason::Completed(_) | Reason::StopSequence(_) | Reason::ToolCall(_) if count > 0 => {
                StopReason::ToolCalls
            }
            Reason::ToolCall(_) => return Err(Fault::last(ProtocolError::NoCalls)),
            Reason::Completed(_) | Reason::StopSequence(_) => StopReason::EndTurn,
            Reason::Other(reason) => return Err(out.unknown_stop(&reason)),
        }));
        Ok(Flow::Over)
    }

    fn call(
        &mut self,
        index: u32,
        call: ToolCall,
        back: &mut Back,
        made: &mut Vec<Delta>,
    ) -> Result<(), Fault> {
        if call.fn_name.is_empty() {
            return Err(Fault::unreadable("a call has no name"));
        }
        let id = self.ids.new_one(&call.call_id, index)?;
        if let Some(signatures) = call.thought_signatures.filter(|signatures| !signatures.is_empty()) {
            back.signatures.insert(id.to_string(), signatures);
        }
        made.push(Delta::ToolCallStart { index, id, name: self.aliases.read(&call.fn_name) });
        let fragment = match call.fn_arguments {
            // What was no JSON is told as it came.
            Value::String(text) => text,
            Value::Null => String::new(),
            value => value.to_string(),
        };
        if !fragment.is_empty() {
            made.push(Delta::ToolCallArguments { index, fragment });
        }
        Ok(())
    }
}

impl Source for Answer {
    async fn read(&mut self, out: &mut Deltas<'_>) -> Result<Flow, Fault> {
        match self.stream.next().await {
            None => return Err(Fault::passing(ModelError::Truncated)),
            Some(Err(error)) => return Err(fault::of(error, &self.host, out.redaction())),
            Some(Ok(ChatStreamEvent::Chunk(chunk))) => out.text(&chunk.content),
            Some(Ok(ChatStreamEvent::ReasoningChunk(chunk))) => out.reasoning(&chunk.content),
            Some(Ok(ChatStreamEvent::End(end))) => return self.end(end, out),
            // What these bring comes once more with the end, and whole.
            Some(Ok(
                ChatStreamEvent::Start
                | ChatStreamEvent::ThoughtSignatureChunk(_)
                | ChatStreamEvent::ToolCallChunk(_)
                | ChatStreamEvent::Heartbeat,
            )) => {}
        }
        Ok(Flow::On)
    }
}

fn tokens(usage: &Usage) -> Tokens {
    let count = |count: Option<i32>| count.and_then(|count| u64::try_from(count).ok()).unwrap_or_default();
    let of_prompt = usage.prompt_tokens_details.as_ref();
    Tokens {
        input: count(usage.prompt_tokens),
        output: count(usage.completion_tokens),
        cache_read: count(of_prompt.and_then(|details| details.cached_tokens)),
        cache_write: count(of_prompt.and_then(|details| details.cache_creation_tokens)),
    }
}
