use super::schema::make_visible;
use super::{MOST_NAME_BYTES, tool_name};
use crate::client::pages::size;
use crate::client::server::{NoticeKind, ServerNotice};
use crate::client::trust::{ListedTool, Verdict};
use crate::shown::{is_hiding, line, shown};
use crate::{QuarantinedTool, ServerName};
use haft_core::{Digest, Origin, Schema, ToolHints, ToolName, ToolSpec};
use haft_tools_core::CompiledSchema;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The most bytes of the name that a server gives a tool.
const MOST_FOREIGN_BYTES: usize = 1_024;

/// The most bytes of a tool's title.
const MOST_TITLE_BYTES: usize = 200;

/// The most bytes of a description that a model is told.
const MOST_DESCRIPTION_BYTES: usize = 16 << 10;

/// The most bytes of everything a server says of one tool.
const MOST_TOOL_BYTES: usize = 1 << 20;

/// The most bytes of why a tool is left out.
const MOST_REASON_BYTES: usize = 300;

/// The members of a tool that a model or a person is told.
const TOLD: [&str; 6] = ["name", "title", "description", "inputSchema", "outputSchema", "annotations"];

/// Is a tool of a server, with what is made of it once for all its calls.
#[derive(Debug)]
pub(crate) struct Definition {
    /// What a model is told: nothing of the server's own words until they are accepted.
    pub(crate) spec: ToolSpec,
    /// What the server says.
    said: ToolSpec,
    /// The name the server gives it.
    pub(crate) foreign: String,
    /// Identifies everything the server says of it.
    pub(crate) digest: Digest,
    /// What its structured output is checked against.
    pub(crate) output: Option<Arc<CompiledSchema>>,
    pub(crate) tasks: TaskSupport,
    pub(crate) verdict: Verdict,
    /// Everything the server says of it, to be shown to a person; kept as long as it is not accepted.
    waits: Option<Arc<Value>>,
    /// What a person should know of it, each in a sentence about the tool.
    flags: Vec<(NoticeKind, String)>,
}

/// Says whether calls of a tool are made as tasks, in the era in which the client decides that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum TaskSupport {
    /// They need not be.
    #[default]
    Free,
    /// They must be.
    Required,
}

/// Is a tool that could be read.
pub(super) struct Decoded {
    made: Made,
    pub(super) listed: ListedTool,
}

enum Made {
    /// From what the server says now.
    Anew(Box<Definition>),
    /// Before, from the same.
    Before(Arc<Definition>),
}

/// Says why a tool was left out.
pub(super) struct Skipped {
    name: Option<String>,
    reason: String,
}

impl Decoded {
    /// Reads one item of a list of tools.
    pub(super) fn of<'a>(
        server: &ServerName,
        item: Value,
        known: impl FnOnce(&Digest) -> Option<&'a Arc<Definition>>,
    ) -> Result<Self, Skipped> {
        let bytes = size(&item);
        let Value::Object(mut members) = item else { return Err(Skipped::new(None, "it is not an object")) };
        let foreign = match members.get("name") {
            Some(Value::String(name)) => name.clone(),
            Some(_) => return Err(Skipped::new(None, "its name is not text")),
            None => return Err(Skipped::new(None, "it has no name")),
        };
        let skip = |reason: &str| Skipped::new(Some(&foreign), reason);
        if foreign.is_empty() {
            return Err(skip("its name is empty"));
        }
        if foreign.len() > MOST_FOREIGN_BYTES {
            return Err(skip(&format!("its name has more than {MOST_FOREIGN_BYTES} bytes")));
        }
        if bytes > MOST_TOOL_BYTES {
            return Err(skip(&format!("what is said of it has more than {MOST_TOOL_BYTES} bytes")));
        }
        let execution = members.remove("execution");
        members.retain(|name, _| TOLD.contains(&&**name));
        let definition = Value::Object(members);
        // How a call is made belongs to what is known, though not to what is accepted.
        let tasks = task_support(execution.as_ref());
        let digest = Digest::of(&definition);
        let listed = ListedTool { name: foreign.clone(), digest, definition };
        if let Some(known) = known(&digest).filter(|known| known.tasks == tasks) {
            return Ok(Self { made: Made::Before(Arc::clone(known)), listed });
        }
        let made = make(server, &listed, tasks).map_err(|reason| skip(&reason))?;
        Ok(Self { made: Made::Anew(Box::new(made)), listed })
    }

    /// The name the tool has here.
    pub(super) fn name(&self) -> &ToolName {
        match &self.made {
            Made::Anew(tool) => tool.spec.name(),
            Made::Before(tool) => tool.spec.name(),
        }
    }

    pub(super) fn judged(self, verdict: Verdict) -> Arc<Definition> {
        let definition = self.listed.definition;
        match self.made {
            Made::Anew(tool) => Arc::new(tool.judged(verdict, definition)),
            Made::Before(tool) if tool.verdict == verdict => tool,
            Made::Before(tool) => Arc::new(tool.copy().judged(verdict, definition)),
        }
    }
}

impl Definition {
    /// Says what a person should know of the tool.
    pub(super) fn notices(&self) -> impl Iterator<Item = ServerNotice> {
        let quarantine = match &self.verdict {
            Verdict::Trusted => None,
            Verdict::Quarantined { why } => {
                Some((NoticeKind::Quarantined, format!("it cannot be called: {why}")))
            }
        };
        let tool = line(&self.foreign, MOST_NAME_BYTES);
        let all: Vec<_> = self.flags.iter().cloned().chain(quarantine).collect();
        all.into_iter().map(move |(kind, text)| ServerNotice { kind, tool: Some(tool.clone()), text })
    }

    /// Says of it what a person needs who is to accept it; nothing if it may be called.
    pub(crate) fn quarantined(&self) -> Option<QuarantinedTool> {
        let Verdict::Quarantined { why } = &self.verdict else { return None };
        let definition = Arc::clone(self.waits.as_ref()?);
        Some(QuarantinedTool {
            name: self.foreign.clone(),
            digest: self.digest,
            definition,
            why: why.clone(),
        })
    }

    fn judged(self, verdict: Verdict, definition: Value) -> Self {
        let (spec, waits) = match &verdict {
            Verdict::Trusted => (self.said.clone(), None),
            Verdict::Quarantined { .. } => (concealed(&self.said), Some(Arc::new(definition))),
        };
        Self { spec, verdict, waits, ..self }
    }

    fn copy(&self) -> Self {
        Self {
            spec: self.spec.clone(),
            said: self.said.clone(),
            foreign: self.foreign.clone(),
            digest: self.digest,
            output: self.output.clone(),
            tasks: self.tasks,
            verdict: self.verdict.clone(),
            waits: self.waits.clone(),
            flags: self.flags.clone(),
        }
    }
}

/// Says of a tool only that it is there, since what its server says of it is what has to be accepted.
fn concealed(said: &ToolSpec) -> ToolSpec {
    let description = "This tool cannot be called until the user has accepted what its server says of it.";
    // With any arguments, a call is told that the tool waits, and not that they do not fit.
    let any = json!({ "type": "object", "additionalProperties": true });
    let input = Schema::new(any).unwrap_or_else(|_| Schema::empty());
    ToolSpec::new(said.name().clone(), description, input).with_origin(said.origin().clone())
}

impl Skipped {
    fn new(name: Option<&str>, reason: &str) -> Self {
        let name = name.map(|name| line(name, MOST_NAME_BYTES));
        Self { name, reason: line(reason, MOST_REASON_BYTES) }
    }

    pub(super) fn panicked() -> Self {
        Self::new(None, "reading it broke")
    }

    pub(super) fn notice(self, position: usize) -> ServerNotice {
        let Self { name, reason } = self;
        let text = match name {
            Some(_) => format!("it was left out: {reason}"),
            None => format!("the tool at place {position} of its list was left out: {reason}"),
        };
        ServerNotice { kind: NoticeKind::LeftOut, tool: name, text }
    }
}

/// Makes a tool of what a server says of it, or says why that cannot be done.
fn make(server: &ServerName, listed: &ListedTool, tasks: TaskSupport) -> Result<Definition, String> {
    let mut flags = Vec::new();
    let mut flag = |kind: NoticeKind, text: &str| flags.push((kind, line(text, MOST_REASON_BYTES)));
    let said = |name: &str| listed.definition.get(name);
    let mut text_of = |name: &str| match said(name) {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(text.as_str()),
        Some(_) => {
            flag(NoticeKind::Odd, &format!("its {name} is not text, and not told"));
            None
        }
    };
    let (title, description) = (text_of("title"), text_of("description").unwrap_or_default());
    let mut input = said("inputSchema").cloned().ok_or("it has no input schema")?;
    let mut output_schema = said("outputSchema").filter(|schema| !schema.is_null()).cloned();
    let output = match output_schema.clone().map(CompiledSchema::compile) {
        Some(Ok(schema)) => Some(Arc::new(schema)),
        Some(Err(reason)) => {
            output_schema = None;
            flag(
                NoticeKind::Odd,
                &format!("its output is not checked, since its schema cannot be used: {reason}"),
            );
            None
        }
        None => None,
    };
    for (part, hides) in [
        ("name", is_hiding(&listed.name)),
        ("title", title.is_some_and(is_hiding)),
        ("description", is_hiding(description)),
        ("input schema", make_visible(&mut input)),
        ("output schema", output_schema.as_mut().is_some_and(make_visible)),
    ] {
        if hides {
            flag(
                NoticeKind::Hidden,
                &format!("its {part} holds characters that cannot be seen or that turn others around"),
            );
        }
    }
    if description.len() > MOST_DESCRIPTION_BYTES {
        flag(NoticeKind::Odd, &format!("its description was cut: it has {} bytes", description.len()));
    }
    let input = Schema::new(input).map_err(|error| format!("its input schema cannot be used: {error}"))?;
    let annotations = said("annotations").and_then(Value::as_object);
    let title = title.or_else(|| annotations?.get("title")?.as_str()).filter(|title| !title.is_empty());
    let origin = Origin::Mcp { server: server.to_string(), tool: listed.name.clone() };
    let mut spec =
        ToolSpec::new(tool_name(server, &listed.name), shown(description, MOST_DESCRIPTION_BYTES), input)
            .with_origin(origin)
            .with_hints(hints(annotations));
    if let Some(title) = title {
        spec = spec.with_title(line(title, MOST_TITLE_BYTES));
    }
    // A specification can only speak of objects; what else an output may be is checked all the same.
    let of_objects = output_schema.filter(|schema| schema.get("type").is_some_and(|kind| kind == "object"));
    if let Some(schema) = of_objects.and_then(|schema| Schema::new(schema).ok()) {
        spec = spec.with_output_schema(schema);
    }
    let (foreign, digest) = (listed.name.clone(), listed.digest);
    let said = spec.clone();
    let verdict = Verdict::Trusted;
    Ok(Definition { spec, said, foreign, digest, output, tasks, verdict, waits: None, flags })
}

/// Takes what a tool says of its own behaviour; what it does not say is not claimed.
fn hints(annotations: Option<&Map<String, Value>>) -> ToolHints {
    let says = |name: &str| annotations.and_then(|said| said.get(name)) == Some(&Value::Bool(true));
    ToolHints {
        read_only: says("readOnlyHint"),
        destructive: says("destructiveHint"),
        idempotent: says("idempotentHint"),
        open_world: says("openWorldHint"),
        streaming: false,
    }
}

fn task_support(execution: Option<&Value>) -> TaskSupport {
    match execution.and_then(|execution| execution.get("taskSupport")).and_then(Value::as_str) {
        Some("required") => TaskSupport::Required,
        _ => TaskSupport::Free,
    }
}
