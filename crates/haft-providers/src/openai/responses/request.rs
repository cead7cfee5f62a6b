//! The members of a request to OpenAI's Responses API.

use super::{OpenAiResponsesModel, items};
use crate::function::function;
use crate::kept::add_extra;
use crate::names::NameRule;
use crate::openai::tools::choice;
use crate::piece::Takes;
use haft_model::ModelRequest;
use serde_json::{Map, Value, json};

/// What an extra member does not replace.
const FIXED: [&str; 5] = ["input", "instructions", "model", "stream", "tools"];

/// Writes a request.
pub(super) fn body(model: &OpenAiResponsesModel, request: &ModelRequest) -> Value {
    let mut body = Map::new();
    body.insert("model".into(), json!(model.capabilities.name));
    body.insert("stream".into(), json!(true));
    body.insert("store".into(), json!(false));
    if let Some(system) = request.system.as_deref().filter(|system| !system.is_empty()) {
        body.insert("instructions".into(), json!(system));
    }
    let takes =
        Takes { images: model.capabilities.images, documents: model.capabilities.images, sounds: false };
    let mut input = Vec::new();
    for message in request.messages.iter() {
        items::add(message, takes, &mut input);
    }
    body.insert("input".into(), input.into());
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| {
            let mut function = function(model.dialect, NameRule::Any, tool);
            function.insert("type".into(), json!("function"));
            // What is left out means strict here.
            function.entry("strict").or_insert(json!(false));
            Value::Object(function)
        });
        body.insert("tools".into(), tools.collect());
        let named = |name: &str| json!({ "type": "function", "name": name });
        if let Some(choice) = choice(model.tool_choice.of(request), NameRule::Any, named) {
            body.insert("tool_choice".into(), choice);
        }
        if !model.capabilities.parallel_tool_calls {
            body.insert("parallel_tool_calls".into(), json!(false));
        }
    }
    if let Some(tokens) = request.max_output_tokens {
        body.insert("max_output_tokens".into(), json!(tokens));
    }
    if let Some(temperature) = request.temperature {
        body.insert("temperature".into(), json!(temperature));
    }
    let mut reasoning = Map::new();
    for (member, value) in [("effort", &model.reasoning_effort), ("summary", &model.reasoning_summary)] {
        if let Some(value) = value {
            reasoning.insert(member.into(), json!(value));
        }
    }
    if !reasoning.is_empty() {
        body.insert("reasoning".into(), reasoning.into());
    }
    if model.capabilities.reasoning {
        // Models that do not reason refuse this.
        body.insert("include".into(), json!(["reasoning.encrypted_content"]));
    }
    add_extra(&mut body, &model.extra, &FIXED);
    body.into()
}
