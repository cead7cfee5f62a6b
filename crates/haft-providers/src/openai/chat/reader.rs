//! The chunks of an answer of OpenAI's Chat Completions API.

use crate::asking::Reader;
use crate::calls::identified;
use crate::complaint::Fault;
use crate::held::Held;
use crate::kept::Wire;
use crate::names::Aliases;
use crate::turn::{Deltas, Flow};
use haft_core::{CallId, StopReason, Usage, Visible};
use haft_model::{Delta, ModelError, ProtocolError};
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// What the last event says.
const END: &str = "[DONE]";

/// What a call counts as in addition, in bytes, so that many that say nothing are bounded as well.
const CALL_BYTES: usize = 1024;

/// The members in which services put reasoning that can be read.
const REASONING: [&str; 2] = ["reasoning_content", "reasoning"];

/// Reads one completion.
pub(super) struct ChunkReader {
    aliases: Aliases,
    turn: usize,
    /// The calls, in the order in which they began.
    calls: Vec<Call>,
    /// Which call the service's number stands for now.
    numbers: HashMap<u64, usize>,
    /// What is to be given back of the reasoning that is being read; empty where none is.
    reasoning: Map<String, Value>,
    kept: Held,
    has_refusal: bool,
    stop: Option<Ending>,
}

/// A call that has begun, as far as it is known.
#[derive(Default)]
struct Call {
    id: String,
    name: String,
    arguments: String,
    extra_content: Option<Value>,
    started: Option<CallId>,
}

enum Ending {
    Whole,
    /// It says that it makes calls.
    Calls,
    Cut(StopReason),
}

impl ChunkReader {
    pub(super) fn new(aliases: Aliases, turn: usize) -> Self {
        Self {
            aliases,
            turn,
            calls: Vec::new(),
            numbers: HashMap::new(),
            reasoning: Map::new(),
            kept: Held::default(),
            has_refusal: false,
            stop: None,
        }
    }

    fn choice(&mut self, choice: &Value, out: &mut Deltas<'_>) -> Result<(), Fault> {
        if choice["index"].as_u64().is_some_and(|index| index > 0) {
            return Err(Fault::unreadable("it has more than one choice, and one was asked for"));
        }
        let delta = &choice["delta"];
        self.reasoning(delta, out)?;
        match &delta["content"] {
            Value::String(text) if !text.is_empty() => {
                self.end_reasoning(out);
                out.text(text);
            }
            Value::Array(parts) => self.parts(parts, out),
            _ => {}
        }
        if let Some(text) = delta["refusal"].as_str().filter(|text| !text.is_empty()) {
            self.end_reasoning(out);
            self.has_refusal = true;
            out.text(text);
        }
        if !delta["function_call"].is_null() {
            let what = "it calls a function in a form that is no longer in use (`function_call`); choose a service that \
                        makes `tool_calls`";
            return Err(Fault::malformed(what.to_owned()));
        }
        if let Some(calls) = delta["tool_calls"].as_array() {
            for call in calls {
                self.call(call, out)?;
            }
        }
        if let Some(reason) = choice["finish_reason"].as_str().filter(|reason| !reason.is_empty()) {
            self.stop = Some(match reason {
                "stop" | "eos" | "eos_token" | "stop_sequence" | "end_turn" => Ending::Whole,
                "tool_calls" | "function_call" => Ending::Calls,
                // Mistral's word for a turn that does not fit the model.
                "length" | "model_length" => Ending::Cut(StopReason::MaxTokens),
                // DeepSeek's word for a service that broke off.
                "insufficient_system_resource" => {
                    return Err(Fault::passing(ModelError::unavailable(
                        "the service has no room for the turn",
                    )));
                }
                "content_filter" => Ending::Cut(StopReason::Refused),
                _ => return Err(out.unknown_stop(reason)),
            });
        }
        Ok(())
    }

    /// Reads content that is a list, as of Mistral's reasoning models; what is not known is told by a note.
    fn parts(&mut self, parts: &[Value], out: &mut Deltas<'_>) {
        for part in parts {
            if !part["text"].is_string() && !part["thinking"].is_array() {
                self.end_reasoning(out);
                let kind: String = part["type"].as_str().unwrap_or("unnamed").chars().take(64).collect();
                out.text(&format!("[a part of the answer that cannot be shown: {}]", Visible::line(&kind)));
            }
            if let Some(text) = part["text"].as_str().filter(|text| !text.is_empty()) {
                self.end_reasoning(out);
                out.text(text);
            }
            for thought in part["thinking"].as_array().into_iter().flatten() {
                out.reasoning(thought["text"].as_str().unwrap_or_default());
            }
        }
    }

    fn reasoning(&mut self, delta: &Value, out: &mut Deltas<'_>) -> Result<(), Fault> {
        let text = REASONING.iter().find_map(|member| {
            let text = delta[*member].as_str().filter(|text| !text.is_empty())?;
            Some((*member, text))
        });
        if let Some((member, text)) = text {
            self.reasoning.insert(member.to_owned(), Value::Null);
            out.reasoning(text);
        }
        if let Some(details) = delta["reasoning_details"].as_array().filter(|details| !details.is_empty()) {
            self.kept.add(details.iter().map(|detail| detail.to_string().len()).sum())?;
            let all = self.reasoning.entry("reasoning_details").or_insert_with(|| json!([]));
            if let Value::Array(all) = all {
                all.extend(details.iter().cloned());
            }
        }
        Ok(())
    }

    /// Ends a block of reasoning with what is to be given back of it.
    fn end_reasoning(&mut self, out: &mut Deltas<'_>) {
        if !self.reasoning.is_empty() {
            let block = std::mem::take(&mut self.reasoning);
            out.kept(Wire::OpenAiChat.block(block.into()));
        }
    }

    fn call(&mut self, piece: &Value, out: &mut Deltas<'_>) -> Result<(), Fault> {
        self.end_reasoning(out);
        let number = piece["index"].as_u64().unwrap_or(0);
        let id = piece["id"].as_str().unwrap_or_default();
        let name = piece["function"]["name"].as_str().unwrap_or_default();
        let position = match self.numbers.get(&number) {
            // Some services give every call the same number, and tell them apart by the id alone.
            Some(position) if id.is_empty() || name.is_empty() || self.calls[*position].id == id => *position,
            _ => {
                self.kept.add(CALL_BYTES)?;
                self.calls.push(Call::default());
                self.numbers.insert(number, self.calls.len() - 1);
                self.calls.len() - 1
            }
        };
        let fragment = match &piece["function"]["arguments"] {
            Value::String(fragment) => fragment.clone(),
            whole @ Value::Object(_) => whole.to_string(),
            _ => String::new(),
        };
        if self.calls[position].started.is_none() {
            self.kept.add(id.len() + name.len() + fragment.len())?;
        }
        let index = u32::try_from(position).map_err(|_| Fault::unreadable("it makes too many calls"))?;
        if !piece["extra_content"].is_null() {
            self.kept.add(piece["extra_content"].to_string().len())?;
        }
        let call = &mut self.calls[position];
        if !piece["extra_content"].is_null() {
            call.extra_content = Some(piece["extra_content"].clone());
        }
        if call.started.is_none() {
            if call.id.is_empty() {
                id.clone_into(&mut call.id);
            }
            call.name.push_str(name);
            call.arguments.push_str(&fragment);
            if call.name.is_empty() {
                return Ok(());
            }
            let id = identified(Some(&call.id), self.turn, index)?;
            call.started = Some(id.clone());
            out.push(Delta::ToolCallStart { index, id, name: self.aliases.read(&call.name) });
            let fragment = std::mem::take(&mut call.arguments);
            if !fragment.is_empty() {
                out.push(Delta::ToolCallArguments { index, fragment });
            }
        } else if !fragment.is_empty() {
            out.push(Delta::ToolCallArguments { index, fragment });
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Deltas<'_>) -> Result<Flow, Fault> {
        self.end_reasoning(out);
        for call in &self.calls {
            let Some(id) = &call.started else { return Err(Fault::unreadable("a call has no name")) };
            if let Some(content) = &call.extra_content {
                out.kept(Wire::OpenAiChat.about(json!({ "call": id, "extra_content": content })));
            }
        }
        out.push(Delta::Stop(match self.stop {
            None => return Err(Fault::passing(ModelError::Truncated)),
            Some(Ending::Cut(stop)) => stop,
            Some(Ending::Whole | Ending::Calls) if self.has_refusal => StopReason::Refused,
            Some(Ending::Whole | Ending::Calls) if !self.calls.is_empty() => StopReason::ToolCalls,
            Some(Ending::Calls) => return Err(Fault::last(ProtocolError::NoCalls)),
            Some(Ending::Whole) => StopReason::EndTurn,
        }));
        Ok(Flow::Over)
    }
}

impl Reader for ChunkReader {
    fn read(&mut self, data: &str, out: &mut Deltas<'_>) -> Result<Flow, Fault> {
        if data.trim() == END {
            return self.end(out);
        }
        let chunk: Value =
            serde_json::from_str(data).map_err(|_| Fault::unreadable("an event is not JSON"))?;
        if !chunk["error"].is_null() {
            return Err(out.complain(&chunk));
        }
        if !chunk.is_object() {
            return Err(Fault::unreadable("an event is not an object"));
        }
        for choice in chunk["choices"].as_array().into_iter().flatten() {
            self.choice(choice, out)?;
        }
        if let Some(usage) = usage(&chunk["usage"]) {
            out.push(Delta::Usage(usage));
        }
        Ok(Flow::On)
    }
}

fn usage(usage: &Value) -> Option<Usage> {
    let count = |value: &Value| value.as_u64();
    let cached = count(&usage["prompt_tokens_details"]["cached_tokens"]);
    Some(Usage {
        input: count(&usage["prompt_tokens"])?,
        output: count(&usage["completion_tokens"]).unwrap_or(0),
        // DeepSeek's member for the same.
        cache_read: cached.or_else(|| count(&usage["prompt_cache_hit_tokens"])).unwrap_or(0),
        cache_write: count(&usage["prompt_tokens_details"]["cache_write_tokens"]).unwrap_or(0),
    })
}
