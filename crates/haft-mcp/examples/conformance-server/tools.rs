use crate::Changing;
use crate::resources::{picture, text};
use crate::tool::FixtureTool;
use haft_core::{Blob, Content, ToolError, ToolOutput};
use haft_mcp::{Ability, Ask, AskKind, CallingClient, ClientAskError, LogLevel};
use haft_tools_core::{CallContext, RegistryError, Tool, ToolRegistry};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;

/// A sound without samples.
const WAV: &[u8] =
    b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0data\0\0\0\0";

const PAUSE: Duration = Duration::from_millis(50);

/// The suite's tools.
pub(crate) fn registry(changing: &Changing) -> Result<ToolRegistry, RegistryError> {
    let tools = contents()
        .into_iter()
        .chain(asking())
        .chain(rounds())
        .chain(changes(changing))
        .chain(crate::jobs::jobs());
    ToolRegistry::of(tools.map(|tool| Arc::new(tool) as Arc<dyn Tool>))
}

/// A tool that comes and goes.
pub(crate) fn dynamic(name: &str) -> impl Tool {
    FixtureTool::new(name, "Comes and goes.", nothing(), |_, _| async { Ok(ToolOutput::text("here")) })
}

pub(crate) fn nothing() -> Value {
    json!({ "type": "object", "properties": {} })
}

pub(crate) fn client(cx: &CallContext) -> Result<CallingClient, ToolError> {
    let client = cx.scope().extension::<CallingClient>().cloned();
    client.ok_or_else(|| ToolError::failed("nobody can be asked; call it through a client"))
}

fn gives(
    name: &str,
    description: &str,
    content: impl Fn() -> Vec<Content> + Send + Sync + 'static,
) -> FixtureTool {
    FixtureTool::new(name, description, nothing(), move |_, _| {
        let output = ToolOutput::new(content());
        async move { Ok(output) }
    })
}

fn contents() -> Vec<FixtureTool> {
    vec![
        gives("test_simple_text", "Gives a text.", || {
            vec![Content::text("This is a simple text response for testing.")]
        }),
        gives("test_image_content", "Gives a picture.", || vec![Content::image(picture(), "image/png")]),
        gives("test_audio_content", "Gives a sound.", || {
            vec![Content::audio(Blob::from(WAV.to_vec()), "audio/wav")]
        }),
        gives("test_embedded_resource", "Gives a resource.", || {
            vec![text("test://embedded-resource", "text/plain", "This is an embedded resource content.")]
        }),
        gives("test_multiple_content_types", "Gives several things.", || {
            vec![
                Content::text("Multiple content types test:"),
                Content::image(picture(), "image/png"),
                text("test://mixed-content-resource", "application/json", r#"{"test":"data","value":123}"#),
            ]
        }),
        FixtureTool::new("test_error_handling", "Fails.", nothing(), |_, _| async {
            Err(ToolError::failed("This tool intentionally returns an error for testing"))
        }),
        FixtureTool::new("test_tool_with_logging", "Logs.", nothing(), |_, cx| async move {
            let client = client(&cx)?;
            for line in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
                client.log(LogLevel::Info, "test", &json!(line));
                sleep(PAUSE).await;
            }
            Ok(ToolOutput::text("Tool with logging executed successfully"))
        }),
        FixtureTool::new("test_logging_tool", "Logs once.", nothing(), |_, cx| async move {
            client(&cx)?.log(LogLevel::Info, "test", &json!("This is a line of the log"));
            Ok(ToolOutput::text("Logged"))
        }),
        FixtureTool::new(
            "test_tool_with_progress",
            "Goes on in three steps.",
            nothing(),
            |_, cx| async move {
                for fraction in [0.0, 0.5, 1.0] {
                    cx.progress(fraction);
                    sleep(PAUSE).await;
                }
                Ok(ToolOutput::text("Tool with progress executed successfully"))
            },
        ),
        FixtureTool::new(
            "json_schema_2020_12_tool",
            "Tool with JSON Schema 2020-12 features",
            dialect(),
            |_, _| async { Ok(ToolOutput::text("JSON Schema 2020-12 tool called")) },
        ),
        FixtureTool::new(
            "test_custom_header",
            "Takes an argument that is a header, too.",
            header(),
            |input, _| async move { Ok(ToolOutput::text(format!("Region: {}", input["region"]))) },
        ),
    ]
}

/// What the tools do that ask a client of the older era.
fn asking() -> Vec<FixtureTool> {
    let text = |name: &str| json!({ "type": "object", "properties": { name: { "type": "string" } }, "required": [name] });
    let user = json!({
        "type": "object",
        "properties": { "username": { "type": "string" }, "email": { "type": "string" } },
        "required": ["username", "email"],
    });
    vec![
        FixtureTool::new("test_sampling", "Has a model answer.", text("prompt"), |input, cx| async move {
            let prompt = input["prompt"].as_str().unwrap_or_default();
            let answer = ask(&cx, "sample", sample(prompt, 100)).await?;
            Ok(ToolOutput::text(format!("LLM response: {}", said(&answer?))))
        }),
        FixtureTool::new("test_elicitation", "Asks who it is.", text("message"), move |input, cx| {
            let message = input["message"].as_str().unwrap_or_default().to_owned();
            let ask = form(&message, user.clone());
            async move { respond(&cx, ask).await }
        }),
        FixtureTool::new(
            "test_elicitation_sep1034_defaults",
            "Asks with defaults.",
            nothing(),
            |_, cx| async move { respond(&cx, form("Please review the values", defaults())).await },
        ),
        FixtureTool::new(
            "test_elicitation_sep1330_enums",
            "Asks to choose.",
            nothing(),
            |_, cx| async move { respond(&cx, form("Please choose", enums())).await },
        ),
    ]
}

/// What the tools do that ask a client of the newer era.
fn rounds() -> Vec<FixtureTool> {
    let asks = |name: &str, key: &'static str, kind: fn() -> AskKind, say: fn(&Value) -> String| {
        FixtureTool::new(name, "Asks, and says what was answered.", nothing(), move |_, cx| async move {
            let answer = ask(&cx, key, kind()).await?;
            Ok(ToolOutput::text(say(&answer?)))
        })
    };
    let greet: fn(&Value) -> String =
        |answer| format!("Hello, {}!", answer["name"].as_str().unwrap_or_default());
    vec![
        asks("test_input_required_result_elicitation", "user_name", name, greet),
        asks("test_input_required_result_sampling", "capital_question", capital, said),
        asks("test_input_required_result_list_roots", "client_roots", || AskKind::Roots, roots),
        asks("test_input_required_result_request_state", "confirm", confirm, |_| "state-ok".to_owned()),
        asks("test_input_required_result_tampered_state", "confirm", confirm, |_| "state-ok".to_owned()),
        asks("test_streaming_elicitation", "user_name", name, greet),
        FixtureTool::new(
            "test_input_required_result_multiple_inputs",
            "Asks three things.",
            nothing(),
            |_, cx| async move {
                let asks = vec![
                    Ask::new("user_name", name()),
                    Ask::new("greeting", sample("Write a greeting", 50)),
                    Ask::new("client_roots", AskKind::Roots),
                ];
                let answers = client(&cx)?.ask(asks).await;
                let [name, greeting, list] = answered(answers, ["user_name", "greeting", "client_roots"])?;
                Ok(ToolOutput::text(format!("{} {} {}", name["name"], said(&greeting), roots(&list))))
            },
        ),
        FixtureTool::new(
            "test_input_required_result_multi_round",
            "Asks twice.",
            nothing(),
            |_, cx| async move {
                let name = ask(&cx, "step1", name()).await??;
                let color = ask(&cx, "step2", form("What is your favourite colour?", one("color", "string")))
                    .await??;
                Ok(ToolOutput::text(format!("{} likes {}", name["name"], color["color"])))
            },
        ),
        FixtureTool::new(
            "test_input_required_result_capabilities",
            "Asks what can be asked.",
            nothing(),
            |_, cx| async move {
                let asks =
                    vec![Ask::new("user_name", name()), Ask::new("greeting", sample("Write a greeting", 50))];
                let answers = client(&cx)?.ask(asks).await;
                let keys: Vec<String> =
                    answers.into_iter().filter(|(_, answer)| answer.is_ok()).map(|(key, _)| key).collect();
                Ok(ToolOutput::text(format!("answered: {}", keys.join(", "))))
            },
        ),
        FixtureTool::new(
            "test_missing_capability",
            "Needs a model of the client's.",
            nothing(),
            |_, cx| async move {
                let client = client(&cx)?;
                if !client.caller().can.sampling {
                    client.needs(Ability::Sampling);
                }
                Ok(ToolOutput::text("The client has a model"))
            },
        ),
    ]
}

fn changes(changing: &Changing) -> Vec<FixtureTool> {
    let does = |name: &str, change: fn(&Changing)| {
        let changing = changing.clone();
        FixtureTool::new(name, "Changes a list.", nothing(), move |_, _| {
            change(&changing);
            async { Ok(ToolOutput::text("changed")) }
        })
    };
    vec![
        does("test_trigger_tool_change", Changing::change_tools),
        does("test_trigger_prompt_change", Changing::change_prompts),
    ]
}

pub(crate) async fn ask(
    cx: &CallContext,
    key: &str,
    kind: AskKind,
) -> Result<Result<Value, Refused>, ToolError> {
    let mut answers = client(cx)?.ask(vec![Ask::new(key, kind)]).await;
    Ok(answers.remove(key).unwrap_or(Err(ClientAskError::Cancelled)).map_err(Refused))
}

/// Is a question without an answer.
pub(crate) struct Refused(ClientAskError);

impl From<Refused> for ToolError {
    fn from(refused: Refused) -> Self {
        Self::failed(format!("{}; go on without it", refused.0))
    }
}

pub(crate) fn answered<const N: usize>(
    mut answers: BTreeMap<String, Result<Value, ClientAskError>>,
    keys: [&str; N],
) -> Result<[Value; N], ToolError> {
    let mut found = keys.map(|_| Value::Null);
    for (place, key) in found.iter_mut().zip(keys) {
        *place = answers.remove(key).unwrap_or(Err(ClientAskError::Cancelled)).map_err(Refused)?;
    }
    Ok(found)
}

/// Says what a person did with a form.
async fn respond(cx: &CallContext, kind: AskKind) -> Result<ToolOutput, ToolError> {
    let (action, content) = match ask(cx, "form", kind).await? {
        Ok(content) => ("accept", content),
        Err(Refused(ClientAskError::Declined)) => ("decline", json!({})),
        Err(Refused(ClientAskError::Cancelled)) => ("cancel", json!({})),
        Err(refused) => return Err(refused.into()),
    };
    Ok(ToolOutput::text(format!("User response: action={action}, content={content}")))
}

pub(crate) fn form(message: &str, schema: Value) -> AskKind {
    AskKind::Form { message: message.to_owned(), schema }
}

pub(crate) fn one(field: &str, kind: &str) -> Value {
    json!({ "type": "object", "properties": { field: { "type": kind } }, "required": [field] })
}

pub(crate) fn name() -> AskKind {
    form("What is your name?", one("name", "string"))
}

fn confirm() -> AskKind {
    form("Please confirm", one("ok", "boolean"))
}

fn capital() -> AskKind {
    sample("What is the capital of France?", 100)
}

fn sample(prompt: &str, most: u32) -> AskKind {
    let message = json!({ "role": "user", "content": { "type": "text", "text": prompt } });
    AskKind::Sample(json!({ "messages": [message], "maxTokens": most }))
}

fn said(answer: &Value) -> String {
    answer["content"]["text"].as_str().unwrap_or_default().to_owned()
}

fn roots(answer: &Value) -> String {
    let roots = answer["roots"].as_array().into_iter().flatten();
    roots.filter_map(|root| root["uri"].as_str()).collect::<Vec<_>>().join(", ")
}

fn defaults() -> Value {
    json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "description": "User name", "default": "John Doe" },
            "age": { "type": "integer", "description": "User age", "default": 30 },
            "score": { "type": "number", "description": "User score", "default": 95.5 },
            "status": {
                "type": "string",
                "description": "User status",
                "enum": ["active", "inactive", "pending"],
                "default": "active",
            },
            "verified": { "type": "boolean", "description": "Verification status", "default": true },
        },
        "required": [],
    })
}

fn enums() -> Value {
    let titled = json!([
        { "const": "value1", "title": "First Option" },
        { "const": "value2", "title": "Second Option" },
        { "const": "value3", "title": "Third Option" },
    ]);
    json!({
        "type": "object",
        "properties": {
            "untitledSingle": { "type": "string", "enum": ["option1", "option2", "option3"] },
            "titledSingle": { "type": "string", "oneOf": titled },
            "legacyEnum": {
                "type": "string",
                "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"],
            },
            "untitledMulti": { "type": "array", "items": { "type": "string", "enum": ["option1", "option2", "option3"] } },
            "titledMulti": { "type": "array", "items": { "anyOf": titled } },
        },
        "required": [],
    })
}

fn header() -> Value {
    json!({
        "type": "object",
        "properties": { "region": { "type": "string", "x-mcp-header": "Region" } },
        "required": ["region"],
    })
}

fn dialect() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": { "street": { "type": "string" }, "city": { "type": "string" } },
            },
        },
        "properties": {
            "name": { "type": "string" },
            "address": { "$ref": "#/$defs/address" },
            "contactMethod": { "type": "string", "enum": ["phone", "email"] },
            "phone": { "type": "string" },
            "email": { "type": "string" },
        },
        "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
        "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
        "then": { "required": ["phone"] },
        "else": { "required": ["email"] },
        "additionalProperties": false,
    })
}
