//! Adapters of several wire formats, each with a model that asks a server on this machine.

use crate::server::{Answer, Server};
use crate::turns::{quick, take_turn};
use haft_core::{AssistantPart, Message};
use haft_http::{AddressPolicy, HttpClient};
use haft_model::{Delta, ModelCapabilities, ModelError, ModelRequest, ModelTurn};
use haft_providers::{ApiKey, GenaiModel};
use std::net::SocketAddr;

pub(crate) const KEY: &str = "sk-test-Topsecret-0123456789";

/// Events, ending with the reason to stop.
pub(crate) const GEMINI: &str = r#"data: {"candidates":[{"content":{"role":"model","parts":[{"text":"I wonder.","thought":true}]}}],"usageMetadata":{"promptTokenCount":7}}

data: {"candidates":[{"content":{"role":"model","parts":[{"text":"Grüße. "}]}}],"usageMetadata":{"promptTokenCount":7}}

data: {"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"read_file","args":{"path":"a"}},"thoughtSignature":"c2lnbmVk"},{"functionCall":{"name":"read_file","args":{"path":"b"}}}]}}],"usageMetadata":{"promptTokenCount":7}}

data: {"candidates":[{"content":{"role":"model","parts":[{"text":""}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":7,"candidatesTokenCount":11,"totalTokenCount":18,"cachedContentTokenCount":3}}

"#;

/// Lines of JSON.
pub(crate) const OLLAMA: &str = r#"{"model":"m","message":{"role":"assistant","thinking":"I wonder."},"done":false}
{"model":"m","message":{"role":"assistant","content":"Grüße. "},"done":false}
{"model":"m","message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"read_file","arguments":{"path":"a"}}}]},"done":false}
{"model":"m","message":{"role":"assistant","content":""},"done_reason":"stop","done":true,"prompt_eval_count":7,"eval_count":11}
"#;

/// Chunks of two calls that are mixed, one with arguments that are no JSON.
pub(crate) const GROQ: &str = r#"data: {"choices":[{"index":0,"delta":{"role":"assistant","reasoning":"I wonder."}}]}

data: {"choices":[{"index":0,"delta":{"content":"Grüße. "}}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"read_file","arguments":"{\"path\":"}}]}}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"c2","type":"function","function":{"name":"read_file","arguments":"not "}}]}}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"a\"}"}}]}}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"function":{"arguments":"JSON"}}]}}]}

data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}],"x_groq":{"usage":{"prompt_tokens":7,"completion_tokens":11}},"usage":{"prompt_tokens":7,"completion_tokens":11,"total_tokens":18}}

data: [DONE]

"#;

/// An adapter and a whole answer of its service.
pub(crate) const WHOLE: [(&str, &str); 3] = [("gemini", GEMINI), ("ollama", OLLAMA), ("groq", GROQ)];

pub(crate) fn model(adapter: &str, address: SocketAddr) -> GenaiModel {
    let http = HttpClient::new(AddressPolicy::public().loopback()).unwrap();
    let capabilities = ModelCapabilities::new("test-model").images().parallel_tool_calls();
    let model = GenaiModel::new(http, adapter, capabilities).unwrap().patience(quick());
    model.key(ApiKey::new(KEY).unwrap()).base_url(&format!("http://{address}/v1/")).unwrap()
}

pub(crate) async fn ask(adapter: &str, answer: Answer) -> (Vec<Delta>, Result<ModelTurn, ModelError>) {
    let server = Server::start([answer]).await;
    take_turn(&model(adapter, server.address), ModelRequest::new([Message::user("Go on.")])).await
}

/// What a model said.
pub(crate) fn parts(turn: &ModelTurn) -> &[AssistantPart] {
    match &turn.message {
        Message::Assistant { parts } => parts,
        _ => &[],
    }
}
