//! The events of an answer of Anthropic's Messages API.

use crate::asking::Reader;
use crate::calls::identified;
use crate::complaint::Fault;
use crate::held::Held;
use crate::kept::Wire;
use crate::names::Aliases;
use crate::turn::{Deltas, Flow};
use haft_core::{StopReason, Usage};
use haft_model::{Delta, ModelError, ProtocolError};
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// What a block counts as in addition, in bytes, so that many that say nothing are bounded as well.
const BLOCK_BYTES: usize = 1024;

/// Reads one message.
pub(super) struct MessageReader {
    aliases: Aliases,
    turn: usize,
    has_begun: bool,
    open: HashMap<u32, Block>,
    calls: u32,
    kept: Held,
    counts: Counts,
    stop: Option<StopReason>,
}

/// A block that has begun.
enum Block {
    Text,
    Call {
        call: u32,
        /// What the start said of the arguments, until a piece of them comes.
        whole: Option<Value>,
    },
    /// What is given back as it is, once it is whole: thinking without its text, and what is not known here.
    Kept {
        block: Map<String, Value>,
        json: String,
    },
}

/// What was counted, in the service's terms: its input is what is neither read from the cache nor written to it.
#[derive(Default)]
struct Counts {
    input: u64,
    output: u64,
    cache_read: u64,
    cache_write: u64,
}

impl MessageReader {
    pub(super) fn new(aliases: Aliases, turn: usize) -> Self {
        Self {
            aliases,
            turn,
            has_begun: false,
            open: HashMap::new(),
            calls: 0,
            kept: Held::default(),
            counts: Counts::default(),
            stop: None,
        }
    }

    fn begin_block(&mut self, index: u32, block: &Value, out: &mut Deltas<'_>) -> Result<(), Fault> {
        self.kept.add(BLOCK_BYTES)?;
        let opened = match block["type"].as_str() {
            Some("text") => {
                out.text(block["text"].as_str().unwrap_or_default());
                Block::Text
            }
            Some("thinking") => {
                out.reasoning(block["thinking"].as_str().unwrap_or_default());
                self.keep_block(block)?
            }
            Some("tool_use") => {
                let call = self.calls;
                self.calls += 1;
                let name = self.aliases.read(block["name"].as_str().unwrap_or_default());
                let id = identified(block["id"].as_str(), self.turn, call)?;
                out.push(Delta::ToolCallStart { index: call, id, name });
                let whole = block["input"].as_object().is_some_and(|input| !input.is_empty());
                if whole {
                    self.kept.add(block["input"].to_string().len())?;
                }
                Block::Call { call, whole: whole.then(|| block["input"].clone()) }
            }
            Some(_) => self.keep_block(block)?,
            None => return Err(Fault::unreadable("a block has no type")),
        };
        match self.open.insert(index, opened) {
            Some(_) => Err(Fault::unreadable(format!("block number {index} was started twice"))),
            None => Ok(()),
        }
    }

    fn keep_block(&mut self, block: &Value) -> Result<Block, Fault> {
        let Value::Object(members) = block else { return Err(Fault::unreadable("a block is not an object")) };
        self.kept.add(block.to_string().len())?;
        let mut block = members.clone();
        if block.get("type").is_some_and(|kind| kind == "thinking") {
            block.remove("thinking");
        }
        Ok(Block::Kept { block, json: String::new() })
    }

    fn go_on(&mut self, index: u32, delta: &Value, out: &mut Deltas<'_>) -> Result<(), Fault> {
        if matches!(self.open.get(&index), Some(Block::Kept { .. })) {
            self.kept.add(delta.to_string().len())?;
        }
        let unknown = || Fault::unreadable(format!("a piece of block number {index}, which was not started"));
        let block = self.open.get_mut(&index).ok_or_else(unknown)?;
        let text = |member: &str| delta[member].as_str().unwrap_or_default();
        match (block, delta["type"].as_str().unwrap_or_default()) {
            (Block::Text, "text_delta") => out.text(text("text")),
            (Block::Call { call, whole }, "input_json_delta") => {
                let fragment = text("partial_json").to_owned();
                if !fragment.is_empty() {
                    *whole = None;
                    out.push(Delta::ToolCallArguments { index: *call, fragment });
                }
            }
            (Block::Kept { .. }, "thinking_delta") => out.reasoning(text("thinking")),
            (Block::Kept { block, .. }, "signature_delta") => append(block, "signature", text("signature")),
            (Block::Kept { block, .. }, "text_delta") => append(block, "text", text("text")),
            (Block::Kept { json, .. }, "input_json_delta") => json.push_str(text("partial_json")),
            // Citations are asked for by nobody, and what is not known is no content that could be told.
            _ => tracing::debug!("a piece of a block is of an unknown kind"),
        }
        Ok(())
    }

    fn end_block(&mut self, index: u32, out: &mut Deltas<'_>) -> Result<(), Fault> {
        match self.open.remove(&index) {
            None => return Err(Fault::unreadable(format!("block number {index} ended and was not started"))),
            Some(Block::Call { call, whole: Some(input) }) => {
                out.push(Delta::ToolCallArguments { index: call, fragment: input.to_string() });
            }
            Some(Block::Kept { mut block, json }) => {
                if !json.is_empty() {
                    let input = serde_json::from_str(&json).unwrap_or(Value::String(json));
                    block.insert("input".into(), input);
                }
                out.kept(Wire::AnthropicMessages.block(block.into()));
            }
            Some(Block::Text | Block::Call { whole: None, .. }) => {}
        }
        Ok(())
    }

    fn count(&mut self, usage: &Value, out: &mut Deltas<'_>) {
        if !usage.is_object() {
            return;
        }
        let counts = &mut self.counts;
        for (member, count) in [
            ("input_tokens", &mut counts.input),
            ("output_tokens", &mut counts.output),
            ("cache_read_input_tokens", &mut counts.cache_read),
            ("cache_creation_input_tokens", &mut counts.cache_write),
        ] {
            // The counts only grow; a service that tells of one of them once says nothing of it later, or zero.
            *count = usage[member].as_u64().unwrap_or(0).max(*count);
        }
        let Counts { input, output, cache_read, cache_write } = *counts;
        let input = input.saturating_add(cache_read).saturating_add(cache_write);
        out.push(Delta::Usage(Usage { input, output, cache_read, cache_write }));
    }

    fn stopped(&mut self, reason: &str, out: &Deltas<'_>) -> Result<(), Fault> {
        self.stop = Some(match reason {
            "end_turn" | "stop_sequence" | "tool_use" if self.calls > 0 => StopReason::ToolCalls,
            "tool_use" => return Err(Fault::last(ProtocolError::NoCalls)),
            "end_turn" | "stop_sequence" => StopReason::EndTurn,
            "max_tokens" | "model_context_window_exceeded" => StopReason::MaxTokens,
            "refusal" => StopReason::Refused,
            "pause_turn" => {
                let reason = "it paused the turn (`pause_turn`), which only tools do that the provider runs itself; \
                              choose a service that runs none";
                return Err(Fault::last(ModelError::Refused { reason: reason.to_owned() }));
            }
            _ => return Err(out.unknown_stop(reason)),
        });
        Ok(())
    }

    fn end(&self, out: &mut Deltas<'_>) -> Result<Flow, Fault> {
        match self.stop {
            Some(stop) if self.open.is_empty() => {
                out.push(Delta::Stop(stop));
                Ok(Flow::Over)
            }
            _ => Err(Fault::passing(ModelError::Truncated)),
        }
    }
}

impl Reader for MessageReader {
    fn read(&mut self, data: &str, out: &mut Deltas<'_>) -> Result<Flow, Fault> {
        let event: Value =
            serde_json::from_str(data).map_err(|_| Fault::unreadable("an event is not JSON"))?;
        let kind = event["type"].as_str().unwrap_or_default();
        match kind {
            "ping" => return Ok(Flow::On),
            "error" => return Err(out.complain(&event)),
            "message_start" => {
                self.has_begun = true;
                self.count(&event["message"]["usage"], out);
                return Ok(Flow::On);
            }
            _ if !self.has_begun => return Err(Fault::unreadable("it does not begin with its start")),
            _ => {}
        }
        let index = || {
            let index = event["index"].as_u64().and_then(|index| u32::try_from(index).ok());
            index.ok_or_else(|| Fault::unreadable("a block has no number"))
        };
        match kind {
            "content_block_start" => self.begin_block(index()?, &event["content_block"], out)?,
            "content_block_delta" => self.go_on(index()?, &event["delta"], out)?,
            "content_block_stop" => self.end_block(index()?, out)?,
            "message_delta" => {
                self.count(&event["usage"], out);
                if let Some(reason) = event["delta"]["stop_reason"].as_str() {
                    self.stopped(reason, out)?;
                }
                // Nothing else says to a person why there is no answer.
                if let Some(why) = event["delta"]["stop_details"]["explanation"].as_str() {
                    out.text(&format!("\n[the provider refused: {why}]"));
                }
            }
            "message_stop" => return self.end(out),
            // The service may add kinds of events; those that are not known are to be passed over.
            _ => {}
        }
        Ok(Flow::On)
    }
}

fn append(block: &mut Map<String, Value>, member: &str, text: &str) {
    match block.get_mut(member) {
        Some(Value::String(whole)) => whole.push_str(text),
        _ => {
            block.insert(member.to_owned(), json!(text));
        }
    }
}
