//! The tools of the house: notes that can be read and written.

use haft::{Access, CallContext, Resource, Scheme, ToolError, ToolRegistry, tool_fn};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};

/// What rules call a note.
pub(crate) const NOTE: Scheme = Scheme::new("note");

pub(crate) type Notes = Arc<Mutex<BTreeMap<String, String>>>;

#[derive(Deserialize, JsonSchema)]
struct Read {
    /// The name of the note.
    name: String,
}

#[derive(Deserialize, JsonSchema)]
struct Write {
    /// The name of the note.
    name: String,
    /// What it is to say.
    text: String,
}

pub(crate) fn tools(notes: &Notes) -> Result<ToolRegistry, Box<dyn Error>> {
    let place = |name: &str| Resource::exact(NOTE, name);
    let kept = Arc::clone(notes);
    let read = tool_fn(
        "read_note",
        "Reads a note.",
        move |input: &Read| Ok(Access::read(place(&input.name)).into()),
        move |input: Read, _: CallContext| {
            let found = kept.lock().unwrap_or_else(PoisonError::into_inner).get(&input.name).cloned();
            let missing = || ToolError::not_found(format!("there is no note `{}`", input.name));
            let found = found.ok_or_else(missing);
            async move { found }
        },
    )?;
    let kept = Arc::clone(notes);
    let write = tool_fn(
        "write_note",
        "Writes a note.",
        move |input: &Write| Ok(Access::write(place(&input.name)).into()),
        move |input: Write, _: CallContext| {
            let written = format!("`{}` is written", input.name);
            kept.lock().unwrap_or_else(PoisonError::into_inner).insert(input.name, input.text);
            async move { Ok::<_, ToolError>(written) }
        },
    )?;
    Ok(ToolRegistry::new().with(read)?.with(write)?)
}
