//! What goes over the wire, exactly.

use crate::server::{Answer, Server};
use crate::wire::{ALL, KEY, Wire, capabilities, quick, service, take_turn};
use expect_test::{Expect, ExpectFile, expect, expect_file};
use haft_core::{
    AssistantPart, Content, ErrorKind, Message, ReplyStatus, Schema, ToolCall, ToolName, ToolOutput,
    ToolReply, ToolSpec,
};
use haft_model::{Dialect, Model, ModelCapabilities, ModelRequest};
use haft_providers::{
    AnthropicModel, CacheLifetime, OpenAiChatModel, OpenAiResponsesModel, Thinking, TokenLimit, ToolChoice,
};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::Arc;

/// Sends a request and gives what came: the head and the body.
async fn sent(
    model: impl FnOnce(SocketAddr) -> Box<dyn Model>,
    wire: Wire,
    request: ModelRequest,
) -> (String, Value) {
    let mut server = Server::start([Answer::events(wire.transcript("text"))]).await;
    let (_, turn) = take_turn(&*model(server.address), request).await;
    turn.unwrap();
    let request = server.requests().remove(0);
    let head = request.head.replace(&server.address.to_string(), "ADDRESS").replace(KEY, "KEY");
    (head.replace("\r\n", "\n"), serde_json::from_str(&request.body).unwrap())
}

fn call(id: &str, name: &str, input: Value) -> AssistantPart {
    AssistantPart::ToolCall { call: ToolCall::new(id.parse().unwrap(), name, input) }
}

fn answered(id: &str, name: &str, status: ReplyStatus, content: Vec<Content>) -> ToolReply {
    ToolReply::new(id.parse().unwrap(), name, status, ToolOutput::new(content))
}

fn tools(names: &[&str]) -> Arc<[Arc<ToolSpec>]> {
    let schema = json!({
        "type": "object",
        "properties": { "path": { "type": "string", "minLength": 1 }, "limit": { "type": "integer" } },
        "required": ["path"],
    });
    let tool = |name: &&str| {
        Arc::new(ToolSpec::new(name.parse().unwrap(), "Reads a file.", Schema::new(schema.clone()).unwrap()))
    };
    names.iter().map(tool).collect()
}

fn pdf() -> Content {
    Content::Resource {
        uri: "file:///a.pdf".into(),
        mime_type: Some("application/pdf".into()),
        text: None,
        data: Some(b"pdf".to_vec().into()),
    }
}

/// A transcript with everything in it.
fn transcript() -> Vec<Message> {
    vec![
        Message::User {
            content: vec![
                Content::text("What is on this picture, and in the document?"),
                Content::image(b"png".to_vec(), "image/png"),
                pdf(),
                Content::audio(b"wav".to_vec(), "audio/wav"),
            ],
        },
        Message::Assistant {
            parts: vec![
                AssistantPart::Reasoning { text: "Of another provider.".into(), provider_data: Value::Null },
                AssistantPart::Text { text: "I look.".into() },
                call("toolu_01", "read_file", json!({ "path": "a" })),
                call("call.with.dots", "no such tool", json!("{\"path\": cut")),
            ],
        },
        Message::Tool {
            replies: vec![
                answered(
                    "toolu_01",
                    "read_file",
                    ReplyStatus::Ok,
                    vec![
                        Content::text("two parts"),
                        Content::image(b"gif".to_vec(), "image/gif"),
                        Content::json(json!({ "lines": 2 })),
                    ],
                ),
                answered(
                    "call.with.dots",
                    "no such tool",
                    ReplyStatus::Error(ErrorKind::UnknownTool),
                    vec![
                        Content::text("there is no tool `no such tool`; did you mean `read_file`?"),
                        Content::image(b"webp".to_vec(), "image/webp"),
                    ],
                ),
            ],
        },
        Message::user("Go on."),
    ]
}

async fn check_whole(wire: Wire, expected: &ExpectFile) {
    let request = ModelRequest::new(transcript())
        .system("You read files.")
        .tools(tools(&["read_file", "write_file"]))
        .max_output_tokens(1000)
        .temperature(0.5);
    let (head, body) = sent(|address| wire.model(address), wire, request).await;
    let lines: Vec<&str> = head.lines().filter(|line| !line.starts_with("content-length")).collect();
    expected.assert_eq(&format!("{}\n{body:#}\n", lines.join("\n")));
}

#[tokio::test]
async fn a_transcript_with_everything_is_sent_to_anthropic() {
    check_whole(Wire::Anthropic, &expect_file!["requests/anthropic.http"]).await;
}

#[tokio::test]
async fn a_transcript_with_everything_is_sent_as_a_chat() {
    check_whole(Wire::Chat, &expect_file!["requests/chat.http"]).await;
}

#[tokio::test]
async fn a_transcript_with_everything_is_sent_as_items() {
    check_whole(Wire::Responses, &expect_file!["requests/responses.http"]).await;
}

/// Compares the members of a request beside those that are always there.
async fn check_settings(
    model: impl FnOnce(SocketAddr) -> Box<dyn Model>,
    wire: Wire,
    request: ModelRequest,
    expected: &Expect,
) {
    let (_, mut body) = sent(model, wire, request).await;
    for member in ["messages", "input", "stream", "stream_options", "store", "include"] {
        body.as_object_mut().unwrap().remove(member);
    }
    expected.assert_eq(&body.to_string());
}

fn alone() -> ModelCapabilities {
    ModelCapabilities::new("m")
}

fn go_on() -> ModelRequest {
    ModelRequest::new([Message::user("Go on.")]).tools(tools(&["read"]))
}

#[tokio::test]
async fn settings_are_said_in_anthropics_words() {
    let model = |at| AnthropicModel::new(service(at), alone()).patience(quick()).cache(CacheLifetime::Off);
    let wire = Wire::Anthropic;
    check_settings(|at| Box::new(model(at)), wire, go_on(), &expect![[r#"{"max_tokens":16384,"model":"m","tool_choice":{"disable_parallel_tool_use":true,"type":"auto"},"tools":[{"description":"Reads a file.","input_schema":{"properties":{"limit":{"type":"integer"},"path":{"minLength":1,"type":"string"}},"required":["path"],"type":"object"},"name":"read"}]}"#]]).await;
    let name: ToolName = "read".parse().unwrap();
    let full = |at| {
        AnthropicModel::new(service(at), capabilities())
            .patience(quick())
            .cache(CacheLifetime::OneHour)
            .tool_choice(ToolChoice::Tool(name))
            .stop_sequences(["END"])
            .max_tokens(99)
            .thinking(Thinking::Budget(2048))
            .effort("low")
            .extra("metadata", json!({ "user_id": "u" }))
            .extra("stream", json!(false))
    };
    check_settings(|at| Box::new(full(at)), wire, go_on(), &expect![[r#"{"max_tokens":99,"metadata":{"user_id":"u"},"model":"test-model","output_config":{"effort":"low"},"stop_sequences":["END"],"thinking":{"budget_tokens":2048,"type":"enabled"},"tool_choice":{"name":"read","type":"tool"},"tools":[{"cache_control":{"ttl":"1h","type":"ephemeral"},"description":"Reads a file.","input_schema":{"properties":{"limit":{"type":"integer"},"path":{"minLength":1,"type":"string"}},"required":["path"],"type":"object"},"name":"read"}]}"#]]).await;
}

#[tokio::test]
async fn a_request_without_calls_has_its_tools_and_says_that_none_is_to_be_called() {
    for wire in ALL {
        let (_, with) = sent(|at| wire.model(at), wire, go_on()).await;
        let (_, without) = sent(|at| wire.model(at), wire, go_on().without_calls()).await;
        assert!(with["tools"].is_array());
        assert_eq!(with["tools"], without["tools"]);
        let none = if wire == Wire::Anthropic { json!({ "type": "none" }) } else { json!("none") };
        assert_eq!(without["tool_choice"], none, "{wire:?}");
    }
    // Also where the host has one called otherwise.
    let model = |at| -> Box<dyn Model> {
        Box::new(OpenAiChatModel::new(service(at), alone()).tool_choice(ToolChoice::Required))
    };
    let (_, body) = sent(model, Wire::Chat, go_on().without_calls()).await;
    assert_eq!(body["tool_choice"], "none");
}

#[tokio::test]
async fn a_host_says_which_version_is_spoken_and_what_is_asked_for() {
    let model = |address| -> Box<dyn Model> {
        let service = service(address).header("anthropic-version", "2026-10-21").unwrap();
        Box::new(AnthropicModel::new(service.query("api-version", "a&b"), alone()).patience(quick()))
    };
    let (head, _) = sent(model, Wire::Anthropic, go_on()).await;
    assert!(head.starts_with("POST /v1/messages?api-version=a%26b HTTP/1.1\n"), "{head}");
    let versions: Vec<&str> = head.lines().filter(|line| line.starts_with("anthropic-version")).collect();
    assert_eq!(versions, ["anthropic-version: 2026-10-21"]);
}

#[tokio::test]
async fn settings_are_said_in_the_words_of_chat_completions() {
    let model = |at| OpenAiChatModel::new(service(at), alone()).patience(quick());
    let wire = Wire::Chat;
    check_settings(|at| Box::new(model(at)), wire, go_on(), &expect![[r#"{"model":"m","parallel_tool_calls":false,"tools":[{"function":{"description":"Reads a file.","name":"read","parameters":{"properties":{"limit":{"type":"integer"},"path":{"minLength":1,"type":"string"}},"required":["path"],"type":"object"},"strict":false},"type":"function"}]}"#]]).await;
    let full = |at| {
        model(at)
            .token_limit(TokenLimit::MaxTokens)
            .tool_choice(ToolChoice::Required)
            .stop_sequences(["END"])
            .reasoning_effort("low")
            .dialect(Dialect::OpenAiStrict)
            .extra("service_tier", json!("flex"))
    };
    let request = go_on().max_output_tokens(7);
    check_settings(|at| Box::new(full(at)), wire, request, &expect![[r#"{"max_tokens":7,"model":"m","parallel_tool_calls":false,"reasoning_effort":"low","service_tier":"flex","stop":["END"],"tool_choice":"required","tools":[{"function":{"description":"Reads a file.","name":"read","parameters":{"additionalProperties":false,"properties":{"limit":{"type":["integer","null"]},"path":{"description":"(minLength: 1)","type":"string"}},"required":["limit","path"],"type":"object"},"strict":true},"type":"function"}]}"#]]).await;
}

#[tokio::test]
async fn names_that_gemini_does_not_take_are_written_otherwise() {
    let model =
        |at| OpenAiChatModel::new(service(at), capabilities()).patience(quick()).dialect(Dialect::Gemini);
    let request = ModelRequest::new([Message::user("Go on.")]).tools(tools(&["3d_view"]));
    check_settings(|at| Box::new(model(at)), Wire::Chat, request, &expect![[r#"{"model":"test-model","tools":[{"function":{"description":"Reads a file.","name":"t_3d_view__4887e81e6f37","parameters":{"properties":{"limit":{"type":"integer"},"path":{"minLength":1,"type":"string"}},"required":["path"],"type":"object"}},"type":"function"}]}"#]]).await;
}

#[tokio::test]
async fn settings_are_said_in_the_words_of_responses() {
    let model = |at| OpenAiResponsesModel::new(service(at), alone()).patience(quick());
    let wire = Wire::Responses;
    check_settings(|at| Box::new(model(at)), wire, go_on(), &expect![[r#"{"model":"m","parallel_tool_calls":false,"tools":[{"description":"Reads a file.","name":"read","parameters":{"properties":{"limit":{"type":"integer"},"path":{"minLength":1,"type":"string"}},"required":["path"],"type":"object"},"strict":false,"type":"function"}]}"#]]).await;
    let full = |at| {
        model(at)
            .tool_choice(ToolChoice::None)
            .reasoning_effort("low")
            .reasoning_summary("auto")
            .dialect(Dialect::OpenAiStrict)
            .extra("prompt_cache_key", json!("run-7"))
    };
    check_settings(|at| Box::new(full(at)), wire, go_on(), &expect![[r#"{"model":"m","parallel_tool_calls":false,"prompt_cache_key":"run-7","reasoning":{"effort":"low","summary":"auto"},"tool_choice":"none","tools":[{"description":"Reads a file.","name":"read","parameters":{"additionalProperties":false,"properties":{"limit":{"type":["integer","null"]},"path":{"description":"(minLength: 1)","type":"string"}},"required":["limit","path"],"type":"object"},"strict":true,"type":"function"}]}"#]]).await;
}

/// Takes a turn, and sends it back with the replies to its calls.
async fn sent_back(wire: Wire, transcript: &str) -> Value {
    let answers = [Answer::events(wire.transcript(transcript)), Answer::events(wire.transcript("text"))];
    let mut server = Server::start(answers).await;
    let model = wire.model(server.address);
    let mut messages = vec![Message::user("Go on.")];
    let (_, turn) = take_turn(&*model, ModelRequest::new(messages.clone())).await;
    let turn = turn.unwrap();
    let replies = turn.message.tool_calls().map(|call| {
        ToolReply::new(call.id.clone(), call.name.as_str(), ReplyStatus::Ok, ToolOutput::text("ok"))
    });
    let replies = replies.collect();
    messages.extend([turn.message, Message::Tool { replies }]);
    take_turn(&*model, ModelRequest::new(messages)).await.1.unwrap();
    let body: Value = serde_json::from_str(&server.requests()[1].body).unwrap();
    body.get("messages").or(body.get("input")).unwrap().clone()
}

#[tokio::test]
async fn what_a_model_said_is_given_back_word_for_word() {
    let lines = |messages: Value| {
        let lines: Vec<String> = messages.as_array().unwrap().iter().map(Value::to_string).collect();
        lines.join("\n") + "\n"
    };
    expect![[r#"
        {"content":[{"cache_control":{"type":"ephemeral"},"text":"Go on.","type":"text"}],"role":"user"}
        {"content":[{"signature":"EqQBCgIYAhIM1gbcDa9GJwZA2b3h","thinking":"Two files, both at once.","type":"thinking"},{"data":"EmwKAhgBEgy3va3pzix","type":"redacted_thinking"},{"text":"Grüße 👋, I read both.","type":"text"},{"id":"toolu_01","input":{"path":"src/lib.rs"},"name":"read_file","type":"tool_use"},{"id":"toolu_02","input":{"path":"ü.rs"},"name":"read_file","type":"tool_use"}],"role":"assistant"}
        {"content":[{"content":[{"text":"ok","type":"text"}],"tool_use_id":"toolu_01","type":"tool_result"},{"cache_control":{"type":"ephemeral"},"content":[{"text":"ok","type":"text"}],"tool_use_id":"toolu_02","type":"tool_result"}],"role":"user"}
    "#]].assert_eq(&lines(sent_back(Wire::Anthropic, "tools").await));
    expect![[r#"
        {"content":[{"cache_control":{"type":"ephemeral"},"text":"Go on.","type":"text"}],"role":"user"}
        {"content":[{"id":"srvtoolu_01","input":{"query":"haft"},"name":"web_search","type":"server_tool_use"},{"content":[{"encrypted_content":"Eo8DC","title":"Haft","type":"web_search_result","url":"https://example.org"}],"tool_use_id":"srvtoolu_01","type":"web_search_tool_result"},{"id":"toolu_03","input":{},"name":"list_files","type":"tool_use"},{"id":"toolu_04","input":{"pattern":"whole at the start"},"name":"grep","type":"tool_use"},{"id":"toolu_05","input":{"unparsed_arguments":"{\"pattern\": \"cut off by the lim"},"name":"grep","type":"tool_use"}],"role":"assistant"}
        {"content":[{"content":[{"text":"ok","type":"text"}],"tool_use_id":"toolu_03","type":"tool_result"},{"content":[{"text":"ok","type":"text"}],"tool_use_id":"toolu_04","type":"tool_result"},{"cache_control":{"type":"ephemeral"},"content":[{"text":"ok","type":"text"}],"tool_use_id":"toolu_05","type":"tool_result"}],"role":"user"}
    "#]].assert_eq(&lines(sent_back(Wire::Anthropic, "odd").await));
    expect![[r#"
        {"content":"Go on.","role":"user"}
        {"content":"I read them.","reasoning":"Two files, both at once.","reasoning_details":[{"format":"anthropic-claude-v1","index":0,"text":"Two files, ","type":"reasoning.text"},{"format":"anthropic-claude-v1","index":0,"text":"both at once.","type":"reasoning.text"},{"format":"anthropic-claude-v1","index":0,"signature":"EqQBCg","type":"reasoning.text"}],"role":"assistant","tool_calls":[{"extra_content":{"google":{"thought_signature":"CqkBAd"}},"function":{"arguments":"{\"path\":\"a\"}","name":"read_file"},"id":"call_1_0","type":"function"},{"function":{"arguments":"{\"unparsed_arguments\":\"not json\"}","name":"read_file"},"id":"function-call-2","type":"function"}]}
        {"content":"ok","role":"tool","tool_call_id":"call_1_0"}
        {"content":"ok","role":"tool","tool_call_id":"function-call-2"}
    "#]].assert_eq(&lines(sent_back(Wire::Chat, "reasoning").await));
    expect![[r#"
        {"content":"Go on.","role":"user"}
        {"content":"Done.","reasoning_content":"Thinking.","role":"assistant"}
    "#]]
    .assert_eq(&lines(sent_back(Wire::Chat, "deepseek").await));
    expect![[r#"
        {"content":[{"text":"Go on.","type":"input_text"}],"role":"user","type":"message"}
        {"encrypted_content":"gAAAAABoISQ24OyVRYbk","id":"rs_1","summary":[{"text":"Two files, both at once.","type":"summary_text"},{"text":"Then answer.","type":"summary_text"}],"type":"reasoning"}
        {"content":"Grüße 👋, I read both.","phase":"commentary","role":"assistant","type":"message"}
        {"arguments":"{\"path\":\"src/lib.rs\"}","call_id":"call_a","name":"read_file","type":"function_call"}
        {"arguments":"{\"path\":\"ü.rs\"}","call_id":"call_b","name":"read_file","type":"function_call"}
        {"call_id":"call_a","output":"ok","type":"function_call_output"}
        {"call_id":"call_b","output":"ok","type":"function_call_output"}
    "#]].assert_eq(&lines(sent_back(Wire::Responses, "tools").await));
}

#[tokio::test]
async fn reasoning_of_one_wire_format_becomes_text_on_another() {
    for wire in ALL {
        let other = if wire == Wire::Anthropic { Wire::Responses } else { Wire::Anthropic };
        let server = Server::start([Answer::events(other.transcript("tools"))]).await;
        let (_, turn) = take_turn(&*other.model(server.address), go_on()).await;
        let request = ModelRequest::new([Message::user("Go on."), turn.unwrap().message]);
        let (_, body) = sent(|address| wire.model(address), wire, request).await;
        let body = body.to_string();
        assert!(body.contains("[earlier reasoning]\\nTwo files, both at once."), "{wire:?}: {body}");
        assert!(!body.contains("signature") && !body.contains("gAAAA") && !body.contains("phase"), "{body}");
    }
}
