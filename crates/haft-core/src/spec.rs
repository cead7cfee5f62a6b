use crate::{Digest, Origin, Schema, ToolName};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Describes a tool: what a model is told of it, and what the host knows besides.
///
/// ```
/// use haft_core::{Origin, Schema, ToolSpec};
///
/// let spec = ToolSpec::new("now".parse()?, "Tells the time.", Schema::empty()).with_title("Clock");
/// assert_eq!(spec.title(), "Clock");
/// assert_eq!(spec.origin(), &Origin::Host);
/// # Ok::<(), haft_core::NameError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    name: ToolName,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    description: String,
    input_schema: Schema,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    output_schema: Option<Schema>,
    #[serde(default)]
    hints: ToolHints,
    #[serde(default)]
    origin: Origin,
    #[serde(default)]
    exposure: Exposure,
    #[serde(default)]
    explicit: bool,
}

impl ToolSpec {
    /// Describes a tool of the host's that is shown to the model and claims nothing by hints.
    pub fn new(name: ToolName, description: impl Into<String>, input_schema: Schema) -> Self {
        Self {
            name,
            title: None,
            description: description.into(),
            input_schema,
            output_schema: None,
            hints: ToolHints::default(),
            origin: Origin::Host,
            exposure: Exposure::Direct,
            explicit: false,
        }
    }

    /// Sets the name for people.
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets the schema of the structured output.
    pub fn with_output_schema(mut self, schema: Schema) -> Self {
        self.output_schema = Some(schema);
        self
    }

    /// Sets what the tool says of its own behaviour.
    pub fn with_hints(mut self, hints: ToolHints) -> Self {
        self.hints = hints;
        self
    }

    /// Sets where the tool comes from.
    pub fn with_origin(mut self, origin: Origin) -> Self {
        self.origin = origin;
        self
    }

    /// Sets whether and how the model learns of the tool.
    pub fn with_exposure(mut self, exposure: Exposure) -> Self {
        self.exposure = exposure;
        self
    }

    /// Keeps the tool outside wildcards: only a selector that names it chooses it.
    pub fn explicit_only(mut self) -> Self {
        self.explicit = true;
        self
    }

    /// Gives the tool another name; its origin stays.
    pub fn renamed(mut self, name: ToolName) -> Self {
        self.name = name;
        self
    }

    /// The name by which the model calls the tool.
    pub fn name(&self) -> &ToolName {
        &self.name
    }

    /// The name for people; the tool's name where none was set.
    pub fn title(&self) -> &str {
        self.title.as_deref().unwrap_or(self.name.as_str())
    }

    /// What the model is told of the tool.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// The schema of the arguments.
    pub fn input_schema(&self) -> &Schema {
        &self.input_schema
    }

    /// The schema of the structured output, if the tool has one.
    pub fn output_schema(&self) -> Option<&Schema> {
        self.output_schema.as_ref()
    }

    /// What the tool says of its own behaviour; never a reason to permit anything.
    pub fn hints(&self) -> ToolHints {
        self.hints
    }

    /// Where the tool comes from.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Whether and how the model learns of the tool.
    pub fn exposure(&self) -> Exposure {
        self.exposure
    }

    /// Whether wildcards pass the tool by.
    pub fn is_explicit_only(&self) -> bool {
        self.explicit
    }

    /// Digests everything a model sees of the tool and where it comes from.
    ///
    /// An approval is bound to this, so that a remote tool which changes under its old name is another tool. Costs a
    /// copy of the specification as JSON and a SHA-256 over it.
    pub fn version(&self) -> Digest {
        Digest::of(&json!({
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "input_schema": self.input_schema,
            "output_schema": self.output_schema,
            "hints": self.hints,
            "origin": self.origin,
        }))
    }
}

/// Tells people and models how a tool behaves, in the tool's own words.
///
/// Hints inform; they are never trusted for a permission. `Default` claims nothing.
///
/// ```
/// use haft_core::ToolHints;
///
/// let looks = ToolHints { read_only: true, idempotent: true, ..ToolHints::default() };
/// assert!(looks.read_only && !looks.destructive);
/// ```
#[expect(clippy::struct_excessive_bools, reason = "five independent claims, each named where it is set")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolHints {
    /// It changes nothing.
    pub read_only: bool,
    /// What it changes may not be got back.
    pub destructive: bool,
    /// Calling it twice with the same arguments is the same as calling it once.
    pub idempotent: bool,
    /// It reaches things outside the host, such as the web.
    pub open_world: bool,
    /// It sends updates while it runs.
    pub streaming: bool,
}

/// Says whether and how a model learns of a tool.
///
/// ```
/// use haft_core::{Exposure, Schema, ToolSpec};
///
/// let spec = ToolSpec::new("read_file".parse()?, "Reads a file.", Schema::empty());
/// assert_eq!(spec.exposure(), Exposure::Direct);
/// assert_eq!(spec.with_exposure(Exposure::Deferred).exposure(), Exposure::Deferred);
/// # Ok::<(), haft_core::NameError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Exposure {
    /// It is in the list that every turn starts with.
    #[default]
    Direct,
    /// It can be found by searching for it.
    Deferred,
    /// It can only be called by the host or by another tool.
    Hidden,
}
