use std::io::Write as _;

use haft_core::{CallId, Content, Origin, ReplyStatus, RunId, ToolOutput};
use haft_tools_core::{Access, LayerAnswer, LayerCall};
use serde::Serialize;
use serde_json::Value;

use crate::command_hook::HookPoint;
use crate::head::Head;

/// The version of what hooks are told.
const VERSION: u32 = 1;

/// How much of an output's text, and of its data, a hook is told, in bytes each.
const MOST_OUTPUT: usize = 1024 * 1024;

/// Is what a hook is told.
#[derive(Debug, Serialize)]
struct Request<'a> {
    version: u32,
    when: HookPoint,
    call_id: &'a CallId,
    run: &'a RunId,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_run: Option<&'a RunId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<&'a str>,
    tool: Tool<'a>,
    input: &'a Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    accesses: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<ReplyStatus>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<Output<'a>>,
}

#[derive(Debug, Serialize)]
struct Tool<'a> {
    name: &'a str,
    title: &'a str,
    origin: &'a Origin,
}

#[derive(Debug, Serialize)]
struct Output<'a> {
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    omitted_text_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    structured: Option<&'a Value>,
}

/// Writes what a hook is told before a call; the input is another one where an earlier hook replaced it.
pub(crate) fn before(call: &LayerCall<'_>, replaced: Option<&Value>) -> Vec<u8> {
    let mut request = Request::of(HookPoint::Before, call);
    if let Some(input) = replaced {
        request.input = input;
        request.accesses = None;
    }
    request.into_bytes()
}

/// Writes what a hook is told after a call.
pub(crate) fn after(call: &LayerCall<'_>, answer: &LayerAnswer) -> Vec<u8> {
    let mut request = Request::of(HookPoint::After, call);
    request.status = Some(answer.status);
    request.output = Some(Output::of(&answer.output));
    request.into_bytes()
}

impl<'a> Request<'a> {
    fn of(when: HookPoint, call: &LayerCall<'a>) -> Self {
        let LayerCall { call, spec, scope, accesses, .. } = *call;
        Self {
            version: VERSION,
            when,
            call_id: &call.id,
            run: scope.run(),
            parent_run: scope.parent_run(),
            agent: scope.agent(),
            tool: Tool { name: spec.name().as_str(), title: spec.title(), origin: spec.origin() },
            input: &call.input,
            accesses: Some(accesses.iter().map(Access::to_string).collect()),
            status: None,
            output: None,
        }
    }

    fn into_bytes(self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec(&self).expect("text and JSON values can be written as JSON");
        bytes.push(b'\n');
        bytes
    }
}

impl<'a> Output<'a> {
    fn of(output: &'a ToolOutput) -> Self {
        let mut head = Head::new(MOST_OUTPUT);
        for (index, part) in output.content.iter().enumerate() {
            if index > 0 {
                head.push(b"\n");
            }
            push_part(&mut head, part);
        }
        let text = head.cut_to_text();
        let omitted_text_bytes = Some(head.omitted_bytes()).filter(|bytes| *bytes > 0);
        let is_short = |value: &&Value| size_bytes(value) <= MOST_OUTPUT as u64;
        Self { text, omitted_text_bytes, structured: output.structured.as_ref().filter(is_short) }
    }
}

/// Adds what of a part can be read as text, as [`ToolOutput::to_text`] has it, without making the whole of it first.
fn push_part(head: &mut Head, part: &Content) {
    match part {
        Content::Text { text } | Content::Resource { text: Some(text), .. } => head.push(text.as_bytes()),
        Content::Json { value } => push_json(head, value),
        Content::Image { data, mime_type } => push_note(head, "image", mime_type, data.as_bytes().len()),
        Content::Audio { data, mime_type } => push_note(head, "audio", mime_type, data.as_bytes().len()),
        Content::Resource { uri, .. } | Content::ResourceLink { uri, .. } => head.push(uri.as_bytes()),
        _ => {}
    }
}

fn push_note(head: &mut Head, kind: &str, mime_type: &str, bytes: usize) {
    // Writing to a head cannot fail.
    let _ = write!(head, "[{kind} {mime_type}, {bytes} bytes]");
}

fn push_json(head: &mut Head, value: &Value) {
    // Neither a value nor a head can fail here.
    let _ = serde_json::to_writer(head, value);
}

/// Counts the bytes of a value written compactly, without keeping them.
fn size_bytes(value: &Value) -> u64 {
    let mut head = Head::new(0);
    push_json(&mut head, value);
    head.omitted_bytes()
}
