//! Nothing of a transcript is lost on its way to a service.

use crate::server::{Answer, Server};
use crate::wire::{ALL, take_turn};
use haft_core::{AssistantPart, Content, ErrorKind, Message, ReplyStatus, ToolCall, ToolOutput, ToolReply};
use haft_model::ModelRequest;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

/// A word that is nowhere else, so that it can be looked for.
fn word(number: &mut u32) -> String {
    *number += 1;
    format!("w{number:05}w")
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Text,
    Json,
    Image,
    OddImage,
    Audio,
    Pdf,
    Binary,
    TextResource,
    EmptyResource,
    Link,
}

/// Makes a content that holds a word, and gives what must be seen of it.
fn content(kind: Kind, number: &mut u32) -> (Content, String) {
    let word = word(number);
    let resource = |mime_type: &str, text: Option<String>, data: Option<Vec<u8>>| Content::Resource {
        uri: format!("file:///{word}"),
        mime_type: Some(mime_type.into()),
        text,
        data: data.map(Into::into),
    };
    let base64 = haft_core::Blob::from(word.clone().into_bytes()).to_base64();
    match kind {
        Kind::Text => (Content::text(word.clone()), word),
        Kind::Json => (Content::json(json!({ "w": word })), word),
        Kind::Image => (Content::image(word.into_bytes(), "image/png"), base64),
        Kind::OddImage => (Content::image(vec![1], format!("image/{word}")), word),
        Kind::Audio => (Content::audio(vec![1], format!("audio/{word}")), word),
        Kind::Pdf => (resource("application/pdf", None, Some(word.clone().into_bytes())), word),
        Kind::Binary => (resource("application/zip", None, Some(vec![1])), word),
        Kind::TextResource => {
            (resource("text/plain", Some(format!("in {word}")), None), format!("in {word}"))
        }
        Kind::EmptyResource => (resource("text/plain", None, None), word),
        Kind::Link => (
            Content::ResourceLink { uri: "u:u".into(), name: word.clone(), mime_type: None, size: None },
            word,
        ),
    }
}

fn kind() -> impl Strategy<Value = Kind> {
    use Kind::{Audio, Binary, EmptyResource, Image, Json, Link, OddImage, Pdf, Text, TextResource};
    prop::sample::select(vec![
        Text,
        Json,
        Image,
        OddImage,
        Audio,
        Pdf,
        Binary,
        TextResource,
        EmptyResource,
        Link,
    ])
}

/// What an assistant says: text, reasoning with or without data of some provider, calls with arguments that fit or not.
#[derive(Debug, Clone)]
enum Said {
    Text,
    Reasoning(Value),
    Call(bool, Vec<Kind>),
}

fn said() -> impl Strategy<Value = Said> {
    let data = prop::sample::select(vec![
        json!(null),
        json!({ "wire": "anthropic_messages", "block": { "type": "thinking", "signature": "s" } }),
        json!({ "wire": "openai_responses", "block": { "type": "other" } }),
        json!({ "wire": "openai_chat", "block": { "reasoning_content": null } }),
        json!({ "wire": "openai_chat", "block": { "reasoning": null } }),
        json!({ "wire": "of a host's own" }),
        json!("odd"),
    ]);
    prop_oneof![
        Just(Said::Text),
        data.prop_map(Said::Reasoning),
        (any::<bool>(), vec(kind(), 0..4)).prop_map(|(fits, reply)| Said::Call(fits, reply)),
    ]
}

/// Builds a transcript, and lists what must be found in every request that is made of it.
fn transcript(turns: &[(Vec<Kind>, Vec<Said>)]) -> (Vec<Message>, Vec<String>) {
    let (mut number, mut messages, mut expected) = (0, Vec::new(), Vec::new());
    for (user, assistant) in turns {
        let mut contents = Vec::new();
        for kind in user {
            let (content, seen) = content(*kind, &mut number);
            contents.push(content);
            expected.push(seen);
        }
        messages.push(Message::User { content: contents });
        let (mut parts, mut replies) = (Vec::new(), Vec::new());
        for said in assistant {
            let word = word(&mut number);
            match said {
                Said::Text => parts.push(AssistantPart::Text { text: word.clone() }),
                Said::Reasoning(data) if data["wire"] == "openai_responses" => {
                    // What it wants back is in the data, which holds the text, too.
                    let data =
                        json!({ "wire": data["wire"], "block": { "type": "reasoning", "text": word } });
                    parts.push(AssistantPart::Reasoning { text: word.clone(), provider_data: data });
                }
                Said::Reasoning(data) => {
                    parts.push(AssistantPart::Reasoning { text: word.clone(), provider_data: data.clone() });
                }
                Said::Call(fits, kinds) => {
                    let input = if *fits { json!({ "w": word }) } else { json!(format!("{{{word}")) };
                    let call = ToolCall::new(format!("call {number}").parse().unwrap(), "a tool", input);
                    let mut output = Vec::new();
                    for kind in kinds {
                        let (content, seen) = content(*kind, &mut number);
                        output.push(content);
                        expected.push(seen);
                    }
                    let status =
                        if *fits { ReplyStatus::Ok } else { ReplyStatus::Error(ErrorKind::InvalidInput) };
                    let output = ToolOutput::new(output);
                    replies.push(ToolReply::new(call.id.clone(), call.name.as_str(), status, output));
                    parts.push(AssistantPart::ToolCall { call });
                }
            }
            expected.push(word);
        }
        messages.push(Message::Assistant { parts });
        if !replies.is_empty() {
            messages.push(Message::Tool { replies });
        }
    }
    messages.push(Message::user("Go on."));
    (messages, expected)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever a transcript holds, each wire format carries all of it, or says that it is there.
    #[test]
    fn nothing_of_a_transcript_is_dropped(turns in vec((vec(kind(), 0..5), vec(said(), 0..6)), 1..4)) {
        let (messages, expected) = transcript(&turns);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            for wire in ALL {
                let mut server = Server::start([Answer::events(wire.transcript("text"))]).await;
                let model = wire.model(server.address);
                take_turn(&*model, ModelRequest::new(messages.clone())).await.1.unwrap();
                let body = server.requests().remove(0).body;
                for seen in &expected {
                    assert!(body.contains(seen.as_str()), "{wire:?} lost {seen}: {body}");
                }
            }
        });
    }
}
