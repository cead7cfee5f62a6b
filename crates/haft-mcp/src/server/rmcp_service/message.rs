//! Writes what is plain data as the protocol's messages, and reads what clients answer.

use crate::server::ask::{Ask, AskKind, ClientAskError};
use crate::server::caller::{Abilities, Ability};
use crate::server::catalog::ServedTool;
use crate::server::content::{Block, Body, CallAnswer, Document, ReadPart, ServedResource, ServedTemplate};
use crate::server::line::Fault;
use crate::server::offers::ServedPrompt;
use rmcp::model::{
    AudioContent, CallToolResult, ClientCapabilities, ClientResult, ContentBlock, EmbeddedResource,
    ErrorCode, ErrorData, ImageContent, InputRequest, InputRequiredResult, JsonObject, MetaObject, Prompt,
    PromptArgument, PromptMessage, Resource, ResourceContents, ResourceTemplate, Role, Tool, ToolAnnotations,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Where a document says how it goes on.
const NEXT: &str = "haft/next";

pub(super) fn tool(served: &ServedTool) -> Tool {
    let description = served.description.clone();
    let mut tool = Tool::new(served.name.to_string(), description, object(served.input_schema.as_value()));
    tool.title.clone_from(&served.title);
    tool.output_schema = served.output_schema.as_ref().map(|schema| object(schema.as_value()));
    let hints = served.annotations;
    let annotations = ToolAnnotations::from_raw(
        None,
        hints.read_only_hint,
        hints.destructive_hint,
        hints.idempotent_hint,
        hints.open_world_hint,
    );
    tool.annotations = Some(annotations).filter(|annotations| *annotations != ToolAnnotations::default());
    tool
}

fn object(value: &Value) -> Arc<JsonObject> {
    Arc::new(value.as_object().cloned().unwrap_or_default())
}

pub(super) fn prompt(served: &ServedPrompt) -> Prompt {
    let arguments = served.arguments.iter().map(|served| {
        let mut argument = PromptArgument::new(&served.name).with_required(served.required);
        argument.description.clone_from(&served.description);
        argument
    });
    let arguments: Vec<PromptArgument> = arguments.collect();
    let arguments = Some(arguments).filter(|arguments| !arguments.is_empty());
    let mut prompt = Prompt::new(served.name.clone(), served.description.clone(), arguments);
    prompt.title.clone_from(&served.title);
    prompt
}

pub(super) fn prompt_message(served: crate::PromptMessage) -> PromptMessage {
    let role = match served.role {
        crate::PromptRole::User => Role::User,
        crate::PromptRole::Assistant => Role::Assistant,
    };
    PromptMessage::new(role, block(Block::from(served.content)))
}

pub(super) fn resource(served: &ServedResource) -> Resource {
    let mut resource = Resource::new(served.uri.clone(), served.name.clone());
    resource.mime_type.clone_from(&served.mime_type);
    resource.size = served.size;
    resource
}

pub(super) fn template(served: &ServedTemplate) -> ResourceTemplate {
    let mut template = ResourceTemplate::new(served.uri_template.clone(), served.name.clone());
    template.title.clone_from(&served.title);
    template.description.clone_from(&served.description);
    template.mime_type.clone_from(&served.mime_type);
    template
}

pub(super) fn read_part(part: ReadPart) -> ResourceContents {
    let contents = contents(part.document);
    match part.next {
        Some(next) => {
            let mut meta = MetaObject::new();
            meta.0.insert(NEXT.to_owned(), next.into());
            contents.with_meta(meta)
        }
        None => contents,
    }
}

fn contents(document: Document) -> ResourceContents {
    let Document { uri, mime_type, body } = document;
    match body {
        Body::Text(text) => ResourceContents::TextResourceContents { uri, mime_type, text, meta: None },
        Body::Blob(blob) => {
            ResourceContents::BlobResourceContents { uri, mime_type, blob: blob.to_base64(), meta: None }
        }
    }
}

fn block(block: Block) -> ContentBlock {
    match block {
        Block::Text { text } => ContentBlock::text(text),
        Block::Image { data, mime_type } => {
            ContentBlock::Image(ImageContent::new(data.to_base64(), mime_type))
        }
        Block::Audio { data, mime_type } => {
            ContentBlock::Audio(AudioContent::new(data.to_base64(), mime_type))
        }
        Block::Resource { resource } => ContentBlock::Resource(EmbeddedResource::new(contents(resource))),
        Block::ResourceLink { uri, name, description, mime_type, size } => {
            let mut link = Resource::new(uri, name);
            link.description = description;
            link.mime_type = mime_type;
            link.size = size;
            ContentBlock::ResourceLink(link)
        }
    }
}

pub(super) fn result(answer: CallAnswer) -> CallToolResult {
    let blocks = answer.blocks.into_iter().map(block).collect();
    let mut result =
        if answer.is_error { CallToolResult::error(blocks) } else { CallToolResult::success(blocks) };
    result.structured_content = answer.structured;
    result
}

pub(super) fn error(fault: Fault) -> ErrorData {
    ErrorData::new(ErrorCode(fault.code), fault.message, fault.data)
}

/// Writes a question as the request that asks it.
pub(super) fn question(ask: &Ask) -> (&'static str, Option<Value>) {
    match &ask.kind {
        AskKind::Form { message, schema } => {
            let params = json!({ "mode": "form", "message": message, "requestedSchema": schema });
            ("elicitation/create", Some(params))
        }
        AskKind::Address { message, url } => {
            let id = crate::server::calls::random::<16>().map(|byte| format!("{byte:02x}")).concat();
            let params = json!({ "mode": "url", "message": message, "url": url, "elicitationId": id });
            ("elicitation/create", Some(params))
        }
        AskKind::Sample(params) => ("sampling/createMessage", Some(params.clone())),
        AskKind::Roots => ("roots/list", None),
    }
}

/// Writes questions as what the client has to answer before it asks again.
pub(super) fn input_required(asks: &[Ask], state: Option<String>) -> Result<InputRequiredResult, ErrorData> {
    let mut requests = BTreeMap::new();
    for ask in asks {
        let (method, params) = question(ask);
        let mut request = json!({ "method": method });
        if let Some(params) = params {
            request["params"] = params;
        }
        if let AskKind::Address { .. } = ask.kind {
            // The newer era has no such name.
            if let Some(params) = request["params"].as_object_mut() {
                params.remove("elicitationId");
            }
        }
        let request: InputRequest = serde_json::from_value(request).map_err(|error| {
            let text = format!("the question `{}` cannot be put: {error}", ask.key);
            ErrorData::internal_error(crate::shown::line(&text, 500), None)
        })?;
        requests.insert(ask.key.clone(), request);
    }
    let requests = Some(requests).filter(|requests| !requests.is_empty());
    Ok(InputRequiredResult::new(requests, state))
}

/// Reads what a client answered to a question of ours.
pub(super) fn client_value(result: ClientResult) -> Result<Value, ClientAskError> {
    serde_json::to_value(result).map_err(|error| ClientAskError::Broken(error.to_string()))
}

/// Reads what a client says of itself.
pub(super) fn abilities(capabilities: &ClientCapabilities) -> Abilities {
    let elicitation = capabilities.elicitation.as_ref();
    Abilities {
        // A client of the first revision that has forms names no kind of them.
        forms: elicitation.is_some_and(|kinds| kinds.form.is_some() || kinds.url.is_none()),
        addresses: elicitation.is_some_and(|kinds| kinds.url.is_some()),
        sampling: capabilities.sampling.is_some(),
        roots: capabilities.roots.is_some(),
        tasks: capabilities.supports_tasks(),
    }
}

/// Writes what a client would have to be able to do.
pub(super) fn missing(ability: Ability) -> ErrorData {
    let wanted = match ability {
        Ability::Forms => json!({ "elicitation": { "form": {} } }),
        Ability::Addresses => json!({ "elicitation": { "url": {} } }),
        Ability::Sampling => json!({ "sampling": {} }),
        Ability::Roots => json!({ "roots": {} }),
        Ability::Tasks => json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } }),
    };
    ErrorData::new(
        ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY,
        "the client cannot be asked what this needs",
        Some(json!({ "requiredCapabilities": wanted })),
    )
}

/// Says the same to a client of the older era, as the result of a call.
pub(super) fn unable(ability: Ability) -> CallToolResult {
    let what = match ability {
        Ability::Forms => "show a form (`elicitation`)",
        Ability::Addresses => "open an address (`elicitation.url`)",
        Ability::Sampling => "take a turn of a model (`sampling`)",
        Ability::Roots => "name its roots (`roots`)",
        Ability::Tasks => "take a task for an answer",
    };
    let text = format!("this needs a client that can {what}; go on without it, or use another client");
    CallToolResult::error(vec![ContentBlock::text(text)])
}
