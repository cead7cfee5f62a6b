use super::block::Block;
use super::output_address::OutputAddress;
use haft_core::{Content, ToolReply, Truncation};
use haft_tools_core::CallScope;
use serde_json::Value;

const LEFT_OUT: &str = "[the tool has run, and its result as data is left out, since it is too large: it is reported as an \
    error only because of that; do not repeat the call, but read what is below]";

/// Is what a call is answered with.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CallAnswer {
    pub(crate) blocks: Vec<Block>,
    /// The result as data, an object: clients of the older era take no other.
    pub(crate) structured: Option<Value>,
    pub(crate) is_error: bool,
}

impl CallAnswer {
    /// Says what a client is given of a reply; `has_schema` where it was told of a schema of the result.
    ///
    /// The scope is that of the call: in it what was cut can be read. What a reply tells the host alone is never given; what
    /// was mended in the arguments is among its texts already.
    pub(crate) fn of(reply: ToolReply, has_schema: bool, scope: &CallScope) -> Self {
        let ToolReply { output, status, truncation, .. } = reply;
        let structured = output.structured.filter(|data| status.is_ok() && data.is_object());
        let says = |part: &Content| structured.as_ref().is_some_and(|data| is_mirror(part, data));
        let mirror = match &structured {
            Some(data) if !output.content.iter().any(says) => Some(Block::text(data.to_string())),
            _ => None,
        };
        let mut blocks: Vec<Block> = output.content.into_iter().map(Block::from).chain(mirror).collect();
        if blocks.is_empty() && !status.is_ok() {
            blocks.push(Block::text(format!("the call ended without a word: {status}")));
        }
        // A client that holds the result against its schema would throw all of it away.
        let is_amiss = status.is_ok() && has_schema && structured.is_none();
        if is_amiss {
            blocks.insert(0, Block::text(LEFT_OUT));
        }
        blocks.extend(truncation.and_then(|cut| link(&cut, scope)));
        Self { blocks, structured, is_error: is_amiss || !status.is_ok() }
    }
}

/// Leads to the whole of what was cut.
fn link(cut: &Truncation, scope: &CallScope) -> Option<Block> {
    let output = cut.output.clone()?;
    let name = output.to_string();
    let uri = OutputAddress::of(scope.run().clone(), output).to_string();
    let description =
        "The whole of what was cut; `?lines=1-200` or `?bytes=0-65535` behind the address gives a part.";
    Some(Block::ResourceLink {
        uri,
        name,
        description: Some(description.to_owned()),
        mime_type: Some("text/plain".to_owned()),
        size: Some(cut.total_bytes),
    })
}

/// Tells whether a part says the same as the data, for those who read no data.
fn is_mirror(part: &Content, data: &Value) -> bool {
    match part {
        Content::Json { value } => value == data,
        Content::Text { text } if text.trim_start().starts_with('{') => {
            serde_json::from_str::<Value>(text).is_ok_and(|value| value == *data)
        }
        _ => false,
    }
}
