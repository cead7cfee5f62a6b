use super::block::{Body, Document};
use super::output_address::OutputAddress;
use super::output_reader;
use crate::ListedTemplate;
use crate::server::caller::Caller;
use crate::server::catalog::Pages;
use crate::server::line::Fault;
use crate::server::offers::Resources;
use crate::server::toolbox::{CallingClient, Toolset};
use haft_core::{Content, Visible};
use serde::Serialize;
use serde_json::json;
use std::collections::HashSet;

/// The codes of JSON-RPC for what a client asked wrongly, and for what the host is to blame for.
const INVALID_PARAMS: i32 = -32602;
const INTERNAL: i32 = -32603;

/// The most bytes of a text of the host's that says why something cannot be read.
const MOST_REASON_BYTES: usize = 1 << 10;

/// Is a document that clients are told of; its serde form is that of the protocol.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ServedResource {
    pub(crate) uri: String,
    pub(crate) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) mime_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) size: Option<u64>,
}

/// Is a family of documents that clients are told of; its serde form is that of the protocol.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ServedTemplate {
    pub(crate) uri_template: String,
    pub(crate) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) mime_type: Option<String>,
}

/// Is a document, or a part of one, as it was read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ReadPart {
    pub(crate) document: Document,
    /// Where it goes on, if it does: for `_meta`, as `haft/next`.
    pub(crate) next: Option<String>,
}

/// Lists the documents that a caller is offered, in the host's order; of two that have one address the first.
///
/// What was cut of outputs is not listed: whoever may read it was given its address.
pub(crate) fn resources(host: Option<&dyn Resources>, caller: &Caller) -> Pages<ServedResource> {
    let mut uris = HashSet::new();
    let offered = host.map(|host| host.list(caller)).unwrap_or_default();
    let links = offered.into_iter().filter_map(|content| match content {
        Content::ResourceLink { uri, name, mime_type, size } => {
            Some(ServedResource { uri, name, mime_type, size })
        }
        _ => None,
    });
    let listed = links.filter(|resource| uris.insert(resource.uri.clone())).collect();
    Pages::of(listed, written)
}

/// Lists the families of documents that a caller is offered, and that of what was cut of outputs.
pub(crate) fn templates(
    host: Option<&dyn Resources>,
    caller: &Caller,
    toolset: &Toolset,
) -> Pages<ServedTemplate> {
    let outputs = toolset.outputs.is_some().then(|| ServedTemplate {
        uri_template: "haft-output://{run}/{output}{?lines,bytes}".to_owned(),
        name: "What was cut of a result".to_owned(),
        title: None,
        description: Some(
            "The whole of a result that was too large, or a part: `lines=1-200` counts from 1, `bytes=0-65535` from 0."
                .to_owned(),
        ),
        mime_type: Some("text/plain".to_owned()),
    });
    let offered = host.map(|host| host.templates(caller)).unwrap_or_default();
    let offered = offered.into_iter().map(|offered| {
        let ListedTemplate { uri_template, name, title, description, mime_type } = offered;
        ServedTemplate { uri_template, name, title, description, mime_type }
    });
    Pages::of(offered.chain(outputs).collect(), written)
}

/// Reads a document of the host's, or what was cut of an output of the caller's own run.
///
/// # Cancel safety
///
/// As the host's; reading outputs changes nothing.
pub(crate) async fn read(
    uri: &str,
    toolset: &Toolset,
    host: Option<&dyn Resources>,
    client: &CallingClient,
) -> Result<Vec<ReadPart>, Fault> {
    let fault = |code: i32, message: String| Fault { code, message, data: Some(json!({ "uri": uri })) };
    if OutputAddress::is_one(uri) {
        let read = output_reader::read(uri, &toolset.scope, toolset.outputs.as_deref()).await;
        let part = read.map_err(|unread| {
            let code = if unread == output_reader::Unread::Failed { INTERNAL } else { INVALID_PARAMS };
            fault(code, unread.to_string())
        })?;
        let document =
            Document { uri: part.uri, mime_type: Some("text/plain".to_owned()), body: Body::Text(part.text) };
        return Ok(vec![ReadPart { document, next: part.next }]);
    }
    let read = match host {
        Some(host) => host.read(uri, client).await,
        None => Ok(None),
    };
    match read {
        Ok(Some(contents)) => Ok(contents.into_iter().filter_map(|content| document(uri, content)).collect()),
        Ok(None) => Err(fault(INVALID_PARAMS, "there is no such resource".to_owned())),
        Err(reason) => {
            let reason = &reason[..reason.floor_char_boundary(MOST_REASON_BYTES)];
            Err(fault(INTERNAL, Visible::new(reason).to_string()))
        }
    }
}

/// Makes a document of what a host gave for an address; a link is none.
fn document(uri: &str, content: Content) -> Option<ReadPart> {
    let (uri, mime_type, body) = match content {
        Content::Text { text } => (uri.to_owned(), Some("text/plain".to_owned()), Body::Text(text)),
        Content::Json { value } => {
            (uri.to_owned(), Some("application/json".to_owned()), Body::Text(value.to_string()))
        }
        Content::Image { data, mime_type } | Content::Audio { data, mime_type } => {
            (uri.to_owned(), Some(mime_type), Body::Blob(data))
        }
        Content::Resource { uri, mime_type, text, data } => (uri, mime_type, Body::of(text, data)),
        _ => return None,
    };
    Some(ReadPart { document: Document { uri, mime_type, body }, next: None })
}

fn written(listed: &impl Serialize) -> String {
    // It is made of texts and numbers, which can always be written.
    serde_json::to_string(listed).unwrap_or_default()
}
