use haft_core::{Origin, Schema, ToolHints, ToolName, ToolSpec, Visible};
use serde::Serialize;

/// The most characters of a served name: clients put up to 24 of their own before it, and models take 64.
pub(crate) const MOST_NAME: usize = 40;

/// Is a tool as clients are told of it; its serde form is that of the protocol.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ServedTool {
    pub(crate) name: ToolName,
    /// For people, where it is not the name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<String>,
    pub(crate) description: String,
    pub(crate) input_schema: Schema,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) output_schema: Option<Schema>,
    #[serde(skip_serializing_if = "Annotations::are_none")]
    pub(crate) annotations: Annotations,
}

/// Is what a tool says of its own behaviour; what it does not say is left to what the protocol takes for granted.
#[expect(clippy::struct_field_names, reason = "the names are the protocol's")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Annotations {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) read_only_hint: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) destructive_hint: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) idempotent_hint: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) open_world_hint: Option<bool>,
}

impl ServedTool {
    /// Describes a tool under the name that it is served by; what others wrote is shown whole, and says whose it is.
    pub(crate) fn of(spec: &ToolSpec) -> Self {
        let source = source(spec.origin());
        let shown = |text: &str| match source {
            Some(_) => Visible::new(text).to_string(),
            None => text.to_owned(),
        };
        let title = Some(spec.title()).filter(|title| *title != spec.name().as_str()).map(shown);
        let description = match source {
            Some(source) => format!("[{}] {}", Visible::line(source), shown(spec.description())),
            None => spec.description().to_owned(),
        };
        Self {
            name: spec.name().shortened(MOST_NAME),
            title,
            description,
            input_schema: spec.input_schema().clone(),
            output_schema: spec.output_schema().cloned(),
            annotations: Annotations::of(spec.hints(), spec.origin()),
        }
    }

    /// Writes the tool as the protocol has it.
    pub(crate) fn to_json(&self) -> String {
        // It is made of texts and JSON, which can always be written.
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl Annotations {
    fn of(hints: ToolHints, origin: &Origin) -> Self {
        let ToolHints { read_only, destructive, idempotent, open_world, .. } = hints;
        // What comes with haft says all there is to say; of others only what they claim is known.
        let said = |hint: bool| (hint || *origin == Origin::Builtin).then_some(hint);
        Self {
            read_only_hint: said(read_only),
            destructive_hint: said(destructive),
            idempotent_hint: said(idempotent),
            open_world_hint: said(open_world),
        }
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes the field by reference")]
    fn are_none(&self) -> bool {
        *self == Self::default()
    }
}

/// Names the server or document whose words a tool is described in, if it is not this host's.
pub(crate) fn source(origin: &Origin) -> Option<&str> {
    match origin {
        Origin::Mcp { server: name, .. } | Origin::OpenApi { document: name, .. } => Some(name),
        _ => None,
    }
}
