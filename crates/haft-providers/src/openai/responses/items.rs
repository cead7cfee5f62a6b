//! A transcript as items of OpenAI's Responses API.

use crate::kept::{Kept, Wire, arguments};
use crate::names::{NameRule, written_id};
use crate::piece::{Piece, Takes, joined, pieces};
use haft_core::{AssistantPart, Content, Message, ToolReply};
use serde_json::{Value, json};

/// Writes a message as items.
pub(super) fn add(message: &Message, takes: Takes, items: &mut Vec<Value>) {
    match message {
        Message::User { content } => {
            items.push(json!({ "type": "message", "role": "user", "content": contents(content, takes) }));
        }
        Message::Assistant { parts } => assistant(parts, items),
        Message::Tool { replies } => items.extend(replies.iter().map(|reply| output(reply, takes))),
        // A message of a kind that is not known here has nothing that could be read out of it.
        other => items.push(json!({
            "type": "message",
            "role": "user",
            "content": [input_text(&format!("[a message that cannot be shown: {other:?}]"))],
        })),
    }
}

fn assistant(parts: &[AssistantPart], items: &mut Vec<Value>) {
    let before = items.len();
    let mut phase = None;
    for part in parts {
        match part {
            AssistantPart::Text { text } if text.is_empty() => {}
            AssistantPart::Text { text } => items.push(said(text, phase.take())),
            AssistantPart::Reasoning { text, provider_data } => {
                match Wire::OpenAiResponses.read(text, provider_data) {
                    Kept::Block(item) => items.push(item.into()),
                    Kept::Foreign(note) => items.push(said(&note, None)),
                    Kept::About(mut about) => phase = about.remove("phase"),
                    Kept::Nothing => {}
                }
            }
            AssistantPart::ToolCall { call } => items.push(json!({
                "type": "function_call",
                "call_id": written_id(call.id.as_str()),
                "name": NameRule::Any.written(&call.name),
                "arguments": arguments(&call.input).to_string(),
            })),
            other => items.push(said(&format!("[a part that cannot be shown: {other:?}]"), None)),
        }
    }
    if items.len() == before {
        items.push(said("[nothing]", None));
    }
}

fn said(text: &str, phase: Option<Value>) -> Value {
    let mut item = json!({
        "type": "message",
        "role": "assistant",
        "content": text,
    });
    if let Some(phase) = phase {
        item["phase"] = phase;
    }
    item
}

fn output(reply: &ToolReply, takes: Takes) -> Value {
    let mut pieces = pieces(&reply.output.content, takes);
    if !reply.status.is_ok() {
        pieces.insert(0, Piece::Text(format!("[{}]", reply.status)));
    }
    let output: Value = if pieces.iter().all(Piece::is_text) {
        joined(&pieces).into()
    } else {
        pieces.iter().map(part).collect()
    };
    json!({
        "type": "function_call_output", "call_id": written_id(reply.call_id.as_str()), "output": output,
    })
}

fn contents(contents: &[Content], takes: Takes) -> Value {
    pieces(contents, takes).iter().map(part).collect()
}

fn part(piece: &Piece<'_>) -> Value {
    match piece {
        Piece::Text(text) => input_text(text),
        Piece::Image { mime_type, data } => json!({
            "type": "input_image",
            "detail": "auto",
            "image_url": format!("data:{mime_type};base64,{}", data.to_base64()),
        }),
        Piece::Pdf { name, data } => json!({
            "type": "input_file",
            "filename": name,
            "file_data": format!("data:application/pdf;base64,{}", data.to_base64()),
        }),
        sound @ Piece::Sound { .. } => input_text(&format!("[{}: not shown]", sound.name())),
    }
}

fn input_text(text: &str) -> Value {
    json!({ "type": "input_text", "text": text })
}
