//! A transcript as OpenAI's Chat Completions API takes it.

use super::{OpenAiChatModel, TokenLimit};
use crate::function::function;
use crate::kept::{Kept, Wire, add_extra, arguments};
use crate::names::{NameRule, written_id};
use crate::openai::tools::choice;
use crate::piece::{Piece, Takes, joined, pieces, reply_text};
use haft_core::{AssistantPart, Content, Message, ToolReply};
use haft_model::ModelRequest;
use serde_json::{Map, Value, json};

/// What an extra member does not replace; a reader reads one choice.
const FIXED: [&str; 5] = ["messages", "model", "n", "stream", "tools"];

/// Writes a request.
pub(super) fn body(model: &OpenAiChatModel, request: &ModelRequest) -> Value {
    let mut body = Map::new();
    body.insert("model".into(), json!(model.capabilities.name));
    body.insert("stream".into(), json!(true));
    body.insert("stream_options".into(), json!({ "include_usage": true }));
    let mut messages = Vec::new();
    if let Some(system) = request.system.as_deref().filter(|system| !system.is_empty()) {
        messages.push(json!({ "role": "system", "content": system }));
    }
    let takes = Takes { images: model.capabilities.images, documents: model.documents, sounds: model.sounds };
    for message in request.messages.iter() {
        add(message, takes, model.name_rule(), &mut messages);
    }
    body.insert("messages".into(), messages.into());
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| {
            json!({ "type": "function", "function": function(model.dialect, model.name_rule(), tool) })
        });
        body.insert("tools".into(), tools.collect());
        let named = |name: &str| json!({ "type": "function", "function": { "name": name } });
        if let Some(choice) = choice(model.tool_choice.of(request), model.name_rule(), named) {
            body.insert("tool_choice".into(), choice);
        }
        if !model.capabilities.parallel_tool_calls {
            body.insert("parallel_tool_calls".into(), json!(false));
        }
    }
    if let Some(tokens) = request.max_output_tokens {
        let member = match model.token_limit {
            TokenLimit::MaxCompletionTokens => "max_completion_tokens",
            TokenLimit::MaxTokens => "max_tokens",
        };
        body.insert(member.into(), json!(tokens));
    }
    if let Some(temperature) = request.temperature {
        body.insert("temperature".into(), json!(temperature));
    }
    if !model.stop_sequences.is_empty() {
        body.insert("stop".into(), json!(model.stop_sequences));
    }
    if let Some(effort) = &model.reasoning_effort {
        body.insert("reasoning_effort".into(), json!(effort));
    }
    add_extra(&mut body, &model.extra, &FIXED);
    body.into()
}

fn add(message: &Message, takes: Takes, rule: NameRule, messages: &mut Vec<Value>) {
    match message {
        Message::User { content } => add_user(user_content(content, takes), messages),
        Message::Assistant { parts } => messages.push(assistant(parts, rule)),
        Message::Tool { replies } => {
            let mut shown = Vec::new();
            messages.extend(replies.iter().map(|reply| result(reply, takes, &mut shown)));
            if !shown.is_empty() {
                add_user(shown.into(), messages);
            }
        }
        // A message of a kind that is not known here has nothing that could be read out of it.
        other => add_user(format!("[a message that cannot be shown: {other:?}]").into(), messages),
    }
}

/// Adds what a person says; what follows something of theirs goes on with it, since the templates of many models that
/// services run take no two messages of theirs in a row.
fn add_user(content: Value, messages: &mut Vec<Value>) {
    let last = messages.last_mut().filter(|last| last["role"] == "user");
    let Some(last) = last else {
        messages.push(json!({ "role": "user", "content": content }));
        return;
    };
    let before = last["content"].take();
    last["content"] = match (before, content) {
        (Value::String(before), Value::String(after)) => format!("{before}\n\n{after}").into(),
        (before, after) => {
            let parts = [before, after].into_iter().flat_map(|content| match content {
                Value::Array(parts) => parts,
                text => vec![json!({ "type": "text", "text": text })],
            });
            parts.collect()
        }
    };
}

/// Writes what a person says: as one text if it is all text, which every service takes.
fn user_content(contents: &[Content], takes: Takes) -> Value {
    let pieces = pieces(contents, takes);
    if pieces.iter().all(Piece::is_text) {
        return joined(&pieces).into();
    }
    pieces.iter().map(part).collect()
}

fn part(piece: &Piece<'_>) -> Value {
    match piece {
        Piece::Text(text) => json!({ "type": "text", "text": text }),
        Piece::Image { mime_type, data } => json!({
            "type": "image_url",
            "image_url": { "url": format!("data:{mime_type};base64,{}", data.to_base64()) },
        }),
        Piece::Pdf { name, data } => json!({
            "type": "file",
            "file": {
                "filename": name,
                "file_data": format!("data:application/pdf;base64,{}", data.to_base64()),
            },
        }),
        Piece::Sound { format, data } => json!({
            "type": "input_audio", "input_audio": { "data": data.to_base64(), "format": format },
        }),
    }
}

/// Writes the reply to a call; what is no text goes to `shown`, with a word on whose it is.
fn result(reply: &ToolReply, takes: Takes, shown: &mut Vec<Value>) -> Value {
    let text = reply_text(reply, takes, |whose, piece| {
        shown.extend([json!({ "type": "text", "text": whose }), part(&piece)]);
    });
    json!({ "role": "tool", "tool_call_id": written_id(reply.call_id.as_str()), "content": text })
}

fn assistant(parts: &[AssistantPart], rule: NameRule) -> Value {
    let mut message = Map::new();
    message.insert("role".into(), json!("assistant"));
    let (mut texts, mut calls) = (Vec::new(), Vec::new());
    for part in parts {
        match part {
            AssistantPart::Text { text } => texts.push(text.clone()),
            AssistantPart::Reasoning { text, provider_data } => {
                match Wire::OpenAiChat.read(text, provider_data) {
                    Kept::Block(block) => reasoning(text, block, &mut message),
                    Kept::Foreign(note) => texts.push(note),
                    Kept::About(_) | Kept::Nothing => {}
                }
            }
            AssistantPart::ToolCall { call } => calls.push(json!({
                "id": written_id(call.id.as_str()),
                "type": "function",
                "function": {
                    "name": rule.written(&call.name),
                    "arguments": arguments(&call.input).to_string(),
                },
            })),
            other => texts.push(format!("[a part that cannot be shown: {other:?}]")),
        }
    }
    for part in parts {
        if let AssistantPart::Reasoning { text, provider_data } = part
            && let Kept::About(about) = Wire::OpenAiChat.read(text, provider_data)
        {
            attach(&about, &mut calls);
        }
    }
    let content = match (texts.is_empty(), calls.is_empty()) {
        (true, true) => json!("[nothing]"),
        (true, false) => Value::Null,
        (false, _) => json!(texts.join("\n\n")),
    };
    message.insert("content".into(), content);
    if !calls.is_empty() {
        message.insert("tool_calls".into(), calls.into());
    }
    message.into()
}

/// Gives reasoning back in the members it came in.
fn reasoning(text: &str, block: Map<String, Value>, message: &mut Map<String, Value>) {
    for (member, value) in block {
        match (message.get_mut(&member), value) {
            (Some(Value::Array(all)), Value::Array(mut more)) => all.append(&mut more),
            (Some(Value::String(all)), _) => all.push_str(text),
            // What came as text is in the part itself.
            (_, Value::Null) => {
                message.insert(member, json!(text));
            }
            (_, value) => {
                message.insert(member, value);
            }
        }
    }
}

/// Gives a call back what came with it.
fn attach(about: &Map<String, Value>, calls: &mut [Value]) {
    let Some(id) = about.get("call").and_then(Value::as_str).map(written_id) else { return };
    let call = calls.iter_mut().find(|call| call["id"] == *id);
    if let (Some(Value::Object(call)), Some(content)) = (call, about.get("extra_content")) {
        call.insert("extra_content".into(), content.clone());
    }
}
