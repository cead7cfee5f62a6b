use haft::tools_core::RegistryError;
use haft::{Access, Accesses, CallContext, Resource, Scheme, ToolError, ToolRegistry, tool_fn};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The kind of resource that notes are.
pub(crate) const NOTE: Scheme = Scheme::new("note");

/// Keeps notes in memory.
#[derive(Clone, Default)]
pub(crate) struct Notes(Arc<Mutex<BTreeMap<String, String>>>);

#[derive(Deserialize, JsonSchema)]
struct Read {
    /// The note's path, such as `drafts/shopping`.
    path: String,
}

#[derive(Deserialize, JsonSchema)]
struct Write {
    /// The note's path.
    path: String,
    /// What it is to say.
    text: String,
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

impl Notes {
    pub(crate) fn put(&self, path: &str, text: &str) {
        self.all().insert(path.to_owned(), text.to_owned());
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the tools over these notes.
    pub(crate) fn tools(&self) -> Result<ToolRegistry, RegistryError> {
        let notes = self.clone();
        let read = tool_fn(
            "read_note",
            "Reads a note.",
            |input: &Read| Ok(Access::read(note(&input.path)).into()),
            move |input: Read, _: CallContext| {
                let notes = notes.clone();
                async move {
                    println!("  (the store is asked for {})", input.path);
                    let text = notes.all().get(&input.path).cloned();
                    text.ok_or_else(|| ToolError::not_found("there is no such note; write it first"))
                }
            },
        )?;
        let notes = self.clone();
        let write = tool_fn(
            "write_note",
            "Writes a note, or replaces it.",
            |input: &Write| Ok(Access::write(note(&input.path)).into()),
            move |input: Write, _: CallContext| {
                let notes = notes.clone();
                async move {
                    notes.put(&input.path, &input.text);
                    Ok(format!("wrote {}", input.path))
                }
            },
        )?;
        let count = tool_fn(
            "count_notes",
            "Counts the notes, which takes a while.",
            Accesses::from(Access::read(Resource::subtree(NOTE, ""))),
            {
                let notes = self.clone();
                move |_: Nothing, cx: CallContext| {
                    let notes = notes.clone();
                    async move {
                        for (counted, path) in (1..).zip(notes.all().keys()) {
                            cx.update(|| format!("{counted}: {path}").into());
                        }
                        Ok(notes.all().len())
                    }
                }
            },
        )?;
        ToolRegistry::new().with(read)?.with(write)?.with(count)
    }
}

fn note(path: &str) -> Resource {
    Resource::exact(NOTE, path)
}
