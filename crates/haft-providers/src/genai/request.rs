//! A transcript as the crate `genai` takes it.

use super::back::Back;
use super::{GenaiModel, RULE};
use crate::ToolChoice;
use crate::function::function;
use crate::kept::{Kept, arguments};
use crate::names::written_id;
use crate::piece::{Piece, Takes, pieces, reply_text};
use genai::adapter::AdapterKind;
use genai::chat::{
    ChatMessage, ChatOptions, ChatRequest, ContentPart, MessageContent, Tool, ToolCall, ToolChoice as Choice,
    ToolResponse,
};
use haft_core::{AssistantPart, CallId, Content, Message, ToolReply};
use haft_model::ModelRequest;
use serde_json::Value;
use std::collections::HashMap;

/// Writes what is said.
pub(super) fn chat(model: &GenaiModel, request: &ModelRequest) -> ChatRequest {
    let takes = Takes { images: model.capabilities.images, documents: model.documents, sounds: false };
    let mut called = HashMap::new();
    let mut messages = Vec::new();
    for message in request.messages.iter() {
        match &**message {
            Message::User { content } => messages.push(ChatMessage::user(said(content, takes))),
            Message::Assistant { parts } => {
                called.extend(message.tool_calls().map(|call| (&call.id, RULE.written(&call.name))));
                messages.push(ChatMessage::assistant(assistant(parts, model.adapter.as_lower_str())));
            }
            Message::Tool { replies } => {
                let mut shown = Vec::new();
                let name_of = |id: &CallId| called.get(id).map(ToString::to_string);
                let responses = replies.iter().map(|reply| {
                    let response = result(reply, takes, &mut shown);
                    match name_of(&reply.call_id) {
                        Some(name) => response.with_fn_name(name),
                        None => response,
                    }
                });
                let responses: Vec<_> = responses.collect();
                if takes_all_replies_at_once(model.adapter) {
                    messages.push(ChatMessage::from(responses));
                } else {
                    messages.extend(responses.into_iter().map(ChatMessage::from));
                }
                if !shown.is_empty() {
                    messages.push(ChatMessage::user(MessageContent::from_parts(shown)));
                }
            }
            // A message of a kind that is not known here has nothing that could be read out of it.
            other => messages.push(ChatMessage::user(format!("[a message that cannot be shown: {other:?}]"))),
        }
    }
    let mut chat = ChatRequest::from_messages(messages);
    if let Some(system) = request.system.as_deref().filter(|system| !system.is_empty()) {
        chat = chat.with_system(system);
    }
    let tools = request.tools.iter().map(|tool| {
        let mut function = function(model.dialect, RULE, tool);
        let text = |value: Option<Value>| value.and_then(|value| value.as_str().map(str::to_owned));
        let mut offered = Tool::new(text(function.remove("name")).unwrap_or_default());
        offered.description = text(function.remove("description"));
        offered.schema = function.remove("parameters");
        offered
    });
    if request.tools.is_empty() { chat } else { chat.with_tools(tools) }
}

/// Whether a service wants the replies to all calls of a turn in one message; others are sent the last one alone by their
/// adapters then.
fn takes_all_replies_at_once(adapter: AdapterKind) -> bool {
    use AdapterKind::{Anthropic, BedrockApi, Gemini, GeminiIx, Vertex};
    matches!(adapter, Anthropic | BedrockApi | Gemini | GeminiIx | Vertex)
}

/// Says how the turn is to be taken.
pub(super) fn options(model: &GenaiModel, request: &ModelRequest) -> ChatOptions {
    let mut options = ChatOptions::default()
        .with_stream_header_timeout(model.patience.first_byte_timeout)
        .with_stream_read_timeout(model.patience.idle_timeout)
        .with_capture_usage(true)
        .with_capture_tool_calls(true)
        .with_capture_reasoning_content(true)
        .with_stop_sequences(model.stop_sequences.clone());
    options.temperature = request.temperature;
    options.max_tokens = request.max_output_tokens;
    options.tool_choice = match model.tool_choice.of(request) {
        _ if request.tools.is_empty() => None,
        ToolChoice::Auto => None,
        ToolChoice::Required => Some(Choice::Required),
        ToolChoice::None => Some(Choice::None),
        ToolChoice::Tool(name) => Some(Choice::tool(RULE.written(name.as_str()))),
    };
    options.reasoning_effort.clone_from(&model.reasoning_effort);
    if !model.extra.is_empty() {
        options.extra_body = Some(model.extra.clone().into());
    }
    options
}

fn said(contents: &[Content], takes: Takes) -> MessageContent {
    let mut parts = Vec::new();
    for piece in &pieces(contents, takes) {
        add(part(piece), "\n", &mut parts);
    }
    MessageContent::from_parts(parts)
}

/// Adds a part; text goes on with text before it, since some adapters write texts one right behind the other.
fn add(part: ContentPart, between: &str, parts: &mut Vec<ContentPart>) {
    match (parts.last_mut(), part) {
        (Some(ContentPart::Text(before)), ContentPart::Text(text)) => {
            before.push_str(between);
            before.push_str(&text);
        }
        (_, part) => parts.push(part),
    }
}

fn part(piece: &Piece<'_>) -> ContentPart {
    match piece {
        Piece::Text(text) => ContentPart::from_text(text),
        Piece::Image { mime_type, data } => {
            ContentPart::from_binary_base64(*mime_type, data.to_base64(), None)
        }
        Piece::Pdf { name, data } => {
            let name = Some(name.clone());
            ContentPart::from_binary_base64("application/pdf", data.to_base64(), name)
        }
        // No sounds are taken, so that each is a text already.
        Piece::Sound { .. } => ContentPart::from_text(format!("[{}]", piece.name())),
    }
}

/// Writes the reply to a call; what is no text goes to `shown`, with a word on whose it is.
fn result(reply: &ToolReply, takes: Takes, shown: &mut Vec<ContentPart>) -> ToolResponse {
    let text = reply_text(reply, takes, |whose, piece| {
        shown.extend([ContentPart::from_text(whose), part(&piece)]);
    });
    ToolResponse::new(written_id(reply.call_id.as_str()), text)
}

/// Writes what a model said, behind what its adapter wants back.
fn assistant(parts: &[AssistantPart], adapter: &str) -> MessageContent {
    let (mut back, mut rest) = (Vec::new(), Vec::new());
    let mut signatures = HashMap::new();
    // What a turn of this adapter has of reasoning is all in what it wants back.
    let own: Vec<Back> = parts.iter().filter_map(|part| Back::read(part, adapter)).collect();
    let is_own = !own.is_empty();
    for kept in own {
        back.extend(kept.parts);
        signatures.extend(kept.signatures);
    }
    for part in parts {
        match part {
            AssistantPart::Text { text } => add(ContentPart::from_text(text), "\n\n", &mut rest),
            AssistantPart::Reasoning { .. } if is_own => {}
            AssistantPart::Reasoning { text, provider_data } => {
                if let Kept::Foreign(note) = Kept::of_another(text, provider_data) {
                    add(ContentPart::from_text(note), "\n\n", &mut rest);
                }
            }
            AssistantPart::ToolCall { call } => rest.push(ContentPart::ToolCall(ToolCall {
                call_id: written_id(call.id.as_str()).into_owned(),
                fn_name: RULE.written(&call.name).into_owned(),
                fn_arguments: arguments(&call.input),
                thought_signatures: signatures.remove(call.id.as_str()),
            })),
            other => rest.push(ContentPart::from_text(format!("[a part that cannot be shown: {other:?}]"))),
        }
    }
    if rest.is_empty() {
        rest.push(ContentPart::from_text("[nothing]"));
    }
    back.extend(rest);
    MessageContent::from_parts(back)
}
