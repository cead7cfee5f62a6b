//! A transcript as Anthropic's Messages API takes it.

use super::{AnthropicModel, CacheLifetime, Thinking};
use crate::ToolChoice;
use crate::kept::{Kept, Wire, add_extra, arguments};
use crate::names::{NameRule, written_id};
use crate::piece::{Piece, Takes, pieces};
use haft_core::{AssistantPart, Content, Message, ToolReply};
use haft_model::{Dialect, ModelRequest};
use serde_json::{Map, Value, json};

/// What an extra member does not replace.
const FIXED: [&str; 5] = ["messages", "model", "stream", "system", "tools"];

/// How many of the last messages of the person or the tools are cached: this one's and the one before, whose cache is read.
const CACHED_MESSAGES: usize = 2;

/// Writes a request.
pub(super) fn body(model: &AnthropicModel, request: &ModelRequest) -> Value {
    let mut body = Map::new();
    body.insert("model".into(), json!(model.capabilities.name));
    body.insert("stream".into(), json!(true));
    body.insert("max_tokens".into(), json!(request.max_output_tokens.unwrap_or(model.max_tokens)));
    let mark = mark(model.cache);
    if let Some(system) = request.system.as_deref().filter(|system| !system.trim().is_empty()) {
        let mut block = json!({ "type": "text", "text": system });
        mark_block(&mut block, mark.as_ref());
        body.insert("system".into(), json!([block]));
    }
    let takes =
        Takes { images: model.capabilities.images, documents: model.capabilities.images, sounds: false };
    let mut messages = messages(&request.messages, takes);
    let cached = messages.iter_mut().rev().filter(|(role, _)| *role == USER).take(CACHED_MESSAGES);
    for (_, blocks) in cached {
        if let Some(block) = blocks.last_mut() {
            mark_block(block, mark.as_ref());
        }
    }
    let messages = messages.into_iter().map(|(role, content)| json!({ "role": role, "content": content }));
    body.insert("messages".into(), messages.collect());
    if !request.tools.is_empty() {
        let mut tools: Vec<Value> = request.tools.iter().map(|tool| Dialect::Anthropic.tool(tool)).collect();
        if let Some(last) = tools.last_mut() {
            mark_block(last, mark.as_ref());
        }
        body.insert("tools".into(), tools.into());
        let choice = model.tool_choice.of(request);
        if let Some(choice) = tool_choice(choice, model.capabilities.parallel_tool_calls) {
            body.insert("tool_choice".into(), choice);
        }
    }
    if let Some(temperature) = request.temperature {
        body.insert("temperature".into(), json!(temperature));
    }
    if !model.stop_sequences.is_empty() {
        body.insert("stop_sequences".into(), json!(model.stop_sequences));
    }
    match model.thinking {
        Thinking::Unsaid => {}
        Thinking::Off => {
            body.insert("thinking".into(), json!({ "type": "disabled" }));
        }
        Thinking::Adaptive => {
            body.insert("thinking".into(), json!({ "type": "adaptive" }));
        }
        Thinking::Budget(tokens) => {
            body.insert("thinking".into(), json!({ "type": "enabled", "budget_tokens": tokens }));
        }
    }
    if let Some(effort) = &model.effort {
        body.insert("output_config".into(), json!({ "effort": effort }));
    }
    add_extra(&mut body, &model.extra, &FIXED);
    body.into()
}

fn mark(cache: CacheLifetime) -> Option<Value> {
    match cache {
        CacheLifetime::Off => None,
        CacheLifetime::FiveMinutes => Some(json!({ "type": "ephemeral" })),
        CacheLifetime::OneHour => Some(json!({ "type": "ephemeral", "ttl": "1h" })),
    }
}

/// Ends what is cached with a block.
fn mark_block(block: &mut Value, mark: Option<&Value>) {
    if let (Value::Object(block), Some(mark)) = (block, mark) {
        block.insert("cache_control".into(), mark.clone());
    }
}

fn tool_choice(choice: &ToolChoice, is_parallel: bool) -> Option<Value> {
    let mut choice = match choice {
        ToolChoice::Auto if is_parallel => return None,
        ToolChoice::Auto => json!({ "type": "auto" }),
        ToolChoice::None => return Some(json!({ "type": "none" })),
        ToolChoice::Required => json!({ "type": "any" }),
        ToolChoice::Tool(name) => json!({ "type": "tool", "name": name }),
    };
    if !is_parallel {
        choice["disable_parallel_tool_use"] = json!(true);
    }
    Some(choice)
}

const USER: &str = "user";
const ASSISTANT: &str = "assistant";

/// Writes the messages; those of one role that follow each other are one.
fn messages(messages: &[impl AsRef<Message>], takes: Takes) -> Vec<(&'static str, Vec<Value>)> {
    let mut written: Vec<(&'static str, Vec<Value>)> = Vec::new();
    for message in messages {
        let (role, mut blocks) = match message.as_ref() {
            Message::User { content } => (USER, contents(content, takes)),
            Message::Tool { replies } => {
                let mut after = Vec::new();
                let mut blocks: Vec<Value> =
                    replies.iter().map(|reply| result(reply, takes, &mut after)).collect();
                blocks.append(&mut after);
                (USER, blocks)
            }
            Message::Assistant { parts } => (ASSISTANT, parts.iter().filter_map(part).collect()),
            // A message of a kind that is not known here has nothing that could be read out of it.
            other => (USER, vec![text(&format!("[a message that cannot be shown: {other:?}]"))]),
        };
        if blocks.is_empty() {
            blocks.push(text("[nothing]"));
        }
        match written.last_mut() {
            Some((last, all)) if *last == role => all.append(&mut blocks),
            _ => written.push((role, blocks)),
        }
    }
    written
}

fn part(part: &AssistantPart) -> Option<Value> {
    match part {
        // The service refuses a block of text that has nothing in it.
        AssistantPart::Text { text } if text.trim().is_empty() => None,
        AssistantPart::Text { text: written } => Some(text(written)),
        AssistantPart::Reasoning { text: written, provider_data } => {
            match Wire::AnthropicMessages.read(written, provider_data) {
                Kept::Block(mut block) => {
                    if block.get("type").is_some_and(|kind| kind == "thinking") {
                        block.insert("thinking".into(), json!(written));
                    }
                    Some(block.into())
                }
                Kept::Foreign(note) => Some(text(&note)),
                Kept::About(_) | Kept::Nothing => None,
            }
        }
        AssistantPart::ToolCall { call } => Some(json!({
            "type": "tool_use",
            "id": written_id(call.id.as_str()),
            "name": NameRule::Any.written(&call.name),
            "input": arguments(&call.input),
        })),
        other => Some(text(&format!("[a part that cannot be shown: {other:?}]"))),
    }
}

/// Writes the reply to a call; what it cannot hold goes to `after`, with a word on whose it is.
fn result(reply: &ToolReply, takes: Takes, after: &mut Vec<Value>) -> Value {
    let id = written_id(reply.call_id.as_str());
    if reply.status.is_ok() {
        let content = contents(&reply.output.content, takes);
        return json!({ "type": "tool_result", "tool_use_id": id, "content": content });
    }
    // What a failed call says has to be text, and some of it.
    let mut content = Vec::new();
    for piece in pieces(&reply.output.content, takes) {
        if piece.is_text() {
            content.extend(self::content(piece));
        } else {
            content.push(text(&format!("[{}: shown after the replies]", piece.name())));
            after.push(text(&format!("[{} of the reply to {id}]", piece.name())));
            after.extend(self::content(piece));
        }
    }
    if content.is_empty() {
        content.push(text(&format!("[{}]", reply.status)));
    }
    json!({ "type": "tool_result", "tool_use_id": id, "content": content, "is_error": true })
}

fn contents(contents: &[Content], takes: Takes) -> Vec<Value> {
    pieces(contents, takes).into_iter().filter_map(content).collect()
}

fn content(piece: Piece<'_>) -> Option<Value> {
    match piece {
        Piece::Text(written) if written.trim().is_empty() => None,
        Piece::Text(written) => Some(text(&written)),
        Piece::Image { mime_type, data } => Some(json!({
            "type": "image",
            "source": { "type": "base64", "media_type": mime_type, "data": data.to_base64() },
        })),
        Piece::Pdf { name, data } => Some(json!({
            "type": "document",
            "title": name,
            "source": { "type": "base64", "media_type": "application/pdf", "data": data.to_base64() },
        })),
        sound @ Piece::Sound { .. } => Some(text(&format!("[{}: not shown]", sound.name()))),
    }
}

fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}
