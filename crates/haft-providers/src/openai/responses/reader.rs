//! The events of an answer of OpenAI's Responses API.

use crate::asking::Reader;
use crate::calls::identified;
use crate::complaint::Fault;
use crate::kept::Wire;
use crate::names::Aliases;
use crate::turn::{Deltas, Flow};
use haft_core::{StopReason, Usage};
use haft_model::{Delta, ModelError};
use serde_json::{Value, json};
use std::collections::HashMap;

/// How many items an answer may have, so that many that say nothing are bounded as well.
const MOST_ITEMS: usize = 10_000;

/// Reads one response.
pub(super) struct ResponseReader {
    aliases: Aliases,
    turn: usize,
    open: HashMap<u64, Item>,
    items: usize,
    calls: u32,
    has_refusal: bool,
}

/// An item that has begun; whether any piece of it came.
enum Item {
    Call { call: u32, has_pieces: bool },
    Message { has_pieces: bool },
    Reasoning { has_pieces: bool },
    Other,
}

impl ResponseReader {
    pub(super) fn new(aliases: Aliases, turn: usize) -> Self {
        Self { aliases, turn, open: HashMap::new(), items: 0, calls: 0, has_refusal: false }
    }

    fn begin_item(&mut self, index: u64, item: &Value, out: &mut Deltas<'_>) -> Result<(), Fault> {
        self.items += 1;
        if self.items > MOST_ITEMS {
            return Err(Fault::unreadable(format!("it has more than {MOST_ITEMS} items")));
        }
        let begun = match item["type"].as_str() {
            Some("function_call") => {
                let call = self.calls;
                self.calls += 1;
                let name = self.aliases.read(item["name"].as_str().unwrap_or_default());
                let id = identified(item["call_id"].as_str(), self.turn, call)?;
                out.push(Delta::ToolCallStart { index: call, id, name });
                Item::Call { call, has_pieces: false }
            }
            Some("message") => {
                if let Some(phase) = item["phase"].as_str() {
                    out.kept(Wire::OpenAiResponses.about(json!({ "phase": phase })));
                }
                Item::Message { has_pieces: false }
            }
            Some("reasoning") => Item::Reasoning { has_pieces: false },
            Some(_) => Item::Other,
            None => return Err(Fault::unreadable("an item has no type")),
        };
        match self.open.insert(index, begun) {
            Some(_) => Err(Fault::unreadable(format!("item number {index} was started twice"))),
            None => Ok(()),
        }
    }

    fn go_on(&mut self, kind: &str, index: u64, event: &Value, out: &mut Deltas<'_>) -> Result<(), Fault> {
        let unknown = || Fault::unreadable(format!("a piece of item number {index}, which was not started"));
        let item = self.open.get_mut(&index).ok_or_else(unknown)?;
        let piece = event["delta"].as_str().unwrap_or_default();
        match (kind, item) {
            ("response.output_text.delta", Item::Message { has_pieces }) => {
                *has_pieces = true;
                out.text(piece);
            }
            ("response.refusal.delta", Item::Message { has_pieces }) => {
                *has_pieces = true;
                self.has_refusal = true;
                out.text(piece);
            }
            ("response.function_call_arguments.delta", Item::Call { call, has_pieces }) => {
                *has_pieces = true;
                if !piece.is_empty() {
                    out.push(Delta::ToolCallArguments { index: *call, fragment: piece.to_owned() });
                }
            }
            (
                "response.reasoning_summary_text.delta" | "response.reasoning_text.delta",
                Item::Reasoning { has_pieces },
            ) => {
                *has_pieces = true;
                out.reasoning(piece);
            }
            ("response.reasoning_summary_part.added", Item::Reasoning { has_pieces: true }) => {
                out.reasoning("\n\n");
            }
            ("response.reasoning_summary_part.added", Item::Reasoning { .. }) | (_, Item::Other) => {}
            _ => {
                return Err(Fault::unreadable(format!(
                    "a piece of item number {index} is of another item's kind"
                )));
            }
        }
        Ok(())
    }

    fn end_item(&mut self, index: u64, item: &Value, out: &mut Deltas<'_>) -> Result<(), Fault> {
        match self.open.remove(&index) {
            None => return Err(Fault::unreadable(format!("item number {index} ended and was not started"))),
            Some(Item::Call { call, has_pieces: false }) => {
                let fragment = item["arguments"].as_str().unwrap_or_default().to_owned();
                if !fragment.is_empty() {
                    out.push(Delta::ToolCallArguments { index: call, fragment });
                }
            }
            Some(Item::Message { has_pieces: false }) => {
                for part in item["content"].as_array().into_iter().flatten() {
                    self.has_refusal |= part["type"] == "refusal";
                    out.text(part["text"].as_str().or(part["refusal"].as_str()).unwrap_or_default());
                }
            }
            Some(Item::Call { .. } | Item::Message { .. }) => {}
            Some(Item::Reasoning { has_pieces }) => {
                if !has_pieces {
                    for part in item["summary"].as_array().into_iter().flatten() {
                        out.reasoning(part["text"].as_str().unwrap_or_default());
                    }
                }
                out.kept(Wire::OpenAiResponses.block(item.clone()));
            }
            Some(Item::Other) => out.kept(Wire::OpenAiResponses.block(item.clone())),
        }
        Ok(())
    }

    fn end(&self, response: &Value, stop: Option<StopReason>, out: &mut Deltas<'_>) -> Result<Flow, Fault> {
        if let Some(usage) = usage(&response["usage"]) {
            out.push(Delta::Usage(usage));
        }
        // Where the turn was cut off, its last item may be.
        let stop = match stop {
            Some(stop) => stop,
            None if !self.open.is_empty() => return Err(Fault::passing(ModelError::Truncated)),
            None if self.has_refusal => StopReason::Refused,
            None if self.calls > 0 => StopReason::ToolCalls,
            None => StopReason::EndTurn,
        };
        out.push(Delta::Stop(stop));
        Ok(Flow::Over)
    }
}

impl Reader for ResponseReader {
    fn read(&mut self, data: &str, out: &mut Deltas<'_>) -> Result<Flow, Fault> {
        // Some services end their answer like those of the other API.
        if data.trim() == "[DONE]" {
            return Ok(Flow::On);
        }
        let event: Value =
            serde_json::from_str(data).map_err(|_| Fault::unreadable("an event is not JSON"))?;
        let index =
            || event["output_index"].as_u64().ok_or_else(|| Fault::unreadable("an item has no number"));
        let response = &event["response"];
        match event["type"].as_str().unwrap_or_default() {
            "error" => return Err(out.complain(&event)),
            "response.failed" => return Err(out.complain(response)),
            "response.completed" => return self.end(response, None, out),
            "response.incomplete" => {
                let reason = response["incomplete_details"]["reason"].as_str().unwrap_or_default();
                let stop = match reason {
                    "max_output_tokens" | "max_tokens" => StopReason::MaxTokens,
                    "content_filter" => StopReason::Refused,
                    _ => return Err(out.unknown_stop(reason)),
                };
                return self.end(response, Some(stop), out);
            }
            "response.output_item.added" => self.begin_item(index()?, &event["item"], out)?,
            "response.output_item.done" => self.end_item(index()?, &event["item"], out)?,
            kind @ ("response.output_text.delta"
            | "response.refusal.delta"
            | "response.function_call_arguments.delta"
            | "response.reasoning_summary_part.added"
            | "response.reasoning_summary_text.delta"
            | "response.reasoning_text.delta") => self.go_on(kind, index()?, &event, out)?,
            "" if !event["error"].is_null() => return Err(out.complain(&event)),
            "" => return Err(Fault::unreadable("an event has no type")),
            // What is left repeats what came in pieces, or is of a kind that was added later.
            _ => {}
        }
        Ok(Flow::On)
    }
}

fn usage(usage: &Value) -> Option<Usage> {
    Some(Usage {
        input: usage["input_tokens"].as_u64()?,
        output: usage["output_tokens"].as_u64().unwrap_or(0),
        cache_read: usage["input_tokens_details"]["cached_tokens"].as_u64().unwrap_or(0),
        cache_write: usage["input_tokens_details"]["cache_write_tokens"].as_u64().unwrap_or(0),
    })
}
