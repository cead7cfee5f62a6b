//! What goes over the wire.

use crate::fixture::{GEMINI, GROQ, KEY, OLLAMA, model, parts};
use crate::server::{Answer, Server};
use crate::turns::{take_turn, told};
use expect_test::{ExpectFile, expect, expect_file};
use haft_core::{
    AssistantPart, Content, ErrorKind, Message, ReplyStatus, Schema, ToolCall, ToolOutput, ToolReply,
    ToolSpec,
};
use haft_model::ModelRequest;
use haft_providers::{GenaiModel, ToolChoice};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::sync::Arc;

fn call(id: &str, name: &str, input: Value) -> AssistantPart {
    AssistantPart::ToolCall { call: ToolCall::new(id.parse().unwrap(), name, input) }
}

fn answered(id: &str, status: ReplyStatus, content: Vec<Content>) -> ToolReply {
    ToolReply::new(id.parse().unwrap(), "read_file", status, ToolOutput::new(content))
}

fn transcript() -> Vec<Message> {
    let foreign = json!({ "wire": "anthropic_messages", "block": { "type": "thinking", "signature": "s" } });
    vec![
        Message::User {
            content: vec![
                Content::text("What is on this picture?"),
                Content::image(b"png".to_vec(), "image/png"),
                Content::audio(b"wav".to_vec(), "audio/wav"),
            ],
        },
        Message::Assistant {
            parts: vec![
                AssistantPart::Reasoning { text: "Of another provider.".into(), provider_data: foreign },
                AssistantPart::Text { text: "I look.".into() },
                call("toolu_01", "3d_view", json!({ "path": "a" })),
                call("call.with.dots", "no such tool", json!("{\"path\": cut")),
            ],
        },
        Message::Tool {
            replies: vec![
                answered(
                    "toolu_01",
                    ReplyStatus::Ok,
                    vec![Content::text("a"), Content::image(b"gif".to_vec(), "image/gif")],
                ),
                answered(
                    "call.with.dots",
                    ReplyStatus::Error(ErrorKind::NotFound),
                    vec![Content::text("there is none")],
                ),
            ],
        },
        Message::user("And?"),
    ]
}

fn tools() -> Arc<[Arc<ToolSpec>]> {
    let schema = json!({ "type": "object", "properties": { "path": { "type": "string", "minLength": 1 } }, "required": ["path"] });
    let tool = ToolSpec::new("3d_view".parse().unwrap(), "Reads a file.", Schema::new(schema).unwrap());
    Arc::new([Arc::new(tool)])
}

/// Takes a turn, and gives what was sent for it.
async fn sent(
    adapter: &str,
    answer: &str,
    set: impl FnOnce(GenaiModel) -> GenaiModel,
    request: ModelRequest,
) -> String {
    let mut server = Server::start([Answer::events(answer)]).await;
    let (_, turn) = take_turn(&set(model(adapter, server.address)), request).await;
    turn.unwrap();
    let request = server.requests().remove(0);
    let text = request
        .head
        .replace(&server.address.to_string(), "ADDRESS")
        .replace(KEY, "KEY")
        .replace("\r\n", "\n");
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("content-length")).collect();
    let mut body: Value = serde_json::from_str(&request.body).unwrap();
    body.sort_all_objects();
    format!("{}\n{body:#}\n", lines.join("\n"))
}

async fn check(adapter: &str, answer: &str, expected: ExpectFile) {
    let request = ModelRequest::new(transcript()).system("Be brief.").tools(tools()).max_output_tokens(100);
    let set = |model: GenaiModel| {
        let model =
            model.tool_choice(ToolChoice::Required).stop_sequences(["END"]).reasoning_effort("low").unwrap();
        model.extra("top_k", json!(3))
    };
    expected.assert_eq(&sent(adapter, answer, set, request).await);
}

#[tokio::test]
async fn a_transcript_with_everything_is_sent_to_gemini() {
    check("gemini", GEMINI, expect_file!["requests/gemini.http"]).await;
}

#[tokio::test]
async fn a_transcript_with_everything_is_sent_to_ollama() {
    check("ollama", OLLAMA, expect_file!["requests/ollama.http"]).await;
}

#[tokio::test]
async fn a_transcript_with_everything_is_sent_as_a_chat() {
    check("groq", GROQ, expect_file!["requests/groq.http"]).await;
}

#[tokio::test]
async fn what_a_model_thought_goes_back_to_its_own_adapter_alone() {
    let server = Server::start([Answer::events(GEMINI)]).await;
    let asked = Message::user("Go on.");
    let (_, turn) = take_turn(&model("gemini", server.address), ModelRequest::new([asked.clone()])).await;
    let replies = parts(turn.as_ref().unwrap()).iter().filter_map(|part| match part {
        AssistantPart::ToolCall { call } => {
            Some(answered(call.id.as_str(), ReplyStatus::Ok, vec![Content::text("ok")]))
        }
        _ => None,
    });
    let replies = Message::Tool { replies: replies.collect() };
    let messages = [asked, turn.as_ref().unwrap().message.clone(), replies];
    let again = sent("gemini", GEMINI, |model| model, ModelRequest::new(messages.clone())).await;
    assert!(again.contains("c2lnbmVk"), "{again}");
    assert!(!again.contains("[earlier reasoning"), "{again}");
    let elsewhere = sent("groq", GROQ, |model| model, ModelRequest::new(messages)).await;
    assert!(!elsewhere.contains("c2lnbmVk"), "{elsewhere}");
    assert!(elsewhere.contains("[earlier reasoning]\\nI wonder.\\n[end of reasoning]"), "{elsewhere}");
}

#[tokio::test]
async fn calls_have_ids_of_their_own_in_every_turn() {
    let server = Server::start([Answer::events(GEMINI)]).await;
    let model = model("gemini", server.address);
    let mut messages = vec![Message::user("Go on.")];
    let mut ids = HashSet::new();
    for _ in 0..3 {
        let (_, turn) = take_turn(&model, ModelRequest::new(messages.clone())).await;
        let turn = turn.unwrap();
        for call in turn.message.tool_calls() {
            assert!(ids.insert(call.id.clone()), "{}", call.id);
        }
        let reply = |call: &ToolCall| answered(call.id.as_str(), ReplyStatus::Ok, vec![Content::text("ok")]);
        let replies = turn.message.tool_calls().map(reply).collect();
        messages.extend([turn.message.clone(), Message::Tool { replies }]);
    }
    assert_eq!(ids.len(), 6);
}

#[tokio::test]
async fn no_adapter_drops_anything_of_a_transcript() {
    let needles = ["asked-1", "said-2", "given-3", "given-4", "found-5", "missing-6", "asked-7", "told-8"];
    let messages = [
        Message::user("asked-1"),
        Message::Assistant {
            parts: vec![
                AssistantPart::Text { text: "said-2".into() },
                call("c1", "read_file", json!({ "path": "given-3" })),
                call("c2", "read_file", json!({ "path": "given-4" })),
            ],
        },
        Message::Tool {
            replies: vec![
                answered("c1", ReplyStatus::Ok, vec![Content::text("found-5")]),
                answered("c2", ReplyStatus::Error(ErrorKind::NotFound), vec![Content::text("missing-6")]),
            ],
        },
        Message::user("asked-7"),
    ];
    let mut refused = Vec::new();
    for adapter in GenaiModel::adapters().filter(|adapter| !["zai", "baidu"].contains(adapter)) {
        let mut server = Server::start([Answer::new(400, "", "")]).await;
        let request = ModelRequest::new(messages.clone()).system("told-8");
        let (_, turn) = take_turn(&model(adapter, server.address), request).await;
        let error = turn.unwrap_err();
        // What an adapter cannot say it may refuse, but not leave out.
        let Some(heard) = server.requests().pop() else {
            refused.push(format!("{adapter}: {}", told(&error)));
            continue;
        };
        let lost: Vec<&str> = needles.into_iter().filter(|needle| !heard.body.contains(needle)).collect();
        assert!(lost.is_empty(), "{adapter} drops {lost:?}: {}", heard.body);
    }
    expect![[r#"
        cohere: the model's provider refused the request: its adapter cannot express the request: Content type not supported for model 'test-model (adapter: Cohere)'.\nCause: Only MessageContent::Text supported for this model (for now); choose another adapter or model
        vertex: the model's provider refused the request: its adapter cannot express the request: Adapter 'Vertex' does not support feature 'model 'test-model' (unknown Vertex AI publisher)'; choose another adapter or model"#]].assert_eq(&refused.join("\n"));
}
