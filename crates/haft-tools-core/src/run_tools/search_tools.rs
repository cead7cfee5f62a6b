use super::{Inner, Loading, RunTools};
use crate::nearest::listed;
use crate::outline::{one_line, origins, outline};
use crate::registry::Entry;
use crate::{
    Access, Action, CallContext, CallScope, Prepared, Resource, Scheme, Tool, input_schema, parse_input,
};
use async_trait::async_trait;
use haft_core::{Exposure, Origin, ToolError, ToolHints, ToolName, ToolOutput, ToolSpec};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::sync::{Arc, Weak};

/// The scheme of the lists of tools that runs have.
const TOOLS: Scheme = Scheme::new("tools");

/// The name of the tool that finds other tools.
pub(crate) const SEARCH_TOOLS: &str = "search_tools";

/// How many tools are found where the model does not say, and at most.
const LIMIT: usize = 5;
const MOST: usize = 20;

const DESCRIPTION: &str = "Finds tools that are not in your list and loads them, so that you can call them from then on. \
    Use it before you say that something cannot be done. Describe what you want to do in a few words, such as \
    `create github issue`; words are matched against the names, descriptions and parameters of the tools. To load tools \
    whose names you know, write `select:name1,name2`.";

#[derive(Deserialize, JsonSchema)]
struct Input {
    /// A few words on what the tool should do, or `select:` and names divided by commas.
    #[schemars(length(min = 1, max = 1000))]
    query: String,
    /// How many tools to load at most.
    #[serde(default = "limit")]
    #[schemars(range(min = 1, max = 20))]
    limit: usize,
}

fn limit() -> usize {
    LIMIT
}

/// Finds tools for the model of one run and puts them at the end of its list.
pub(super) struct SearchTools {
    spec: ToolSpec,
    run: Weak<Inner>,
}

impl SearchTools {
    pub(super) fn entry(run: Weak<Inner>) -> Arc<Entry> {
        let hints = ToolHints { read_only: true, idempotent: true, ..ToolHints::default() };
        let spec = ToolSpec::new(ToolName::project(SEARCH_TOOLS), DESCRIPTION, input_schema::<Input>())
            .with_title("Search tools")
            .with_origin(Origin::Builtin)
            .with_hints(hints);
        Entry::new(Arc::new(Self { spec, run })).expect("a derived schema compiles")
    }
}

impl Tool for SearchTools {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare(&self, input: &Value, scope: &CallScope) -> Result<Prepared, ToolError> {
        let Input { query, limit } = parse_input(input)?;
        if query.trim().is_empty() {
            return Err(ToolError::invalid_input(
                "the query is empty; say in a few words what the tool should do, or write `select:` and a name",
            ));
        }
        let limit = limit.clamp(1, MOST);
        // Two searches of a run are ordered, since each appends to its list what it finds.
        let list = Access::call(Resource::exact(TOOLS, scope.run().as_str()));
        Ok(Prepared::new(list, Search { run: Weak::clone(&self.run), query, limit }))
    }
}

struct Search {
    run: Weak<Inner>,
    query: String,
    limit: usize,
}

#[async_trait]
impl Action for Search {
    async fn run(self: Box<Self>, _cx: CallContext) -> Result<ToolOutput, ToolError> {
        let Self { run, query, limit } = *self;
        let Some(run) = run.upgrade().map(RunTools) else {
            return Err(ToolError::failed(
                "the run is over, so nothing can be loaded for it; answer without this tool",
            ));
        };
        // The first search of many tools reads all of them.
        let searching = tokio::task::spawn_blocking(move || match query.trim().strip_prefix("select:") {
            Some(names) => run.select(names),
            None => run.find(&query, limit),
        });
        searching.await.map_err(|error| {
            ToolError::failed("the search failed; this is a fault of the host, so go on without it")
                .with_source(error)
        })
    }
}

impl RunTools {
    /// Loads tools by their names.
    fn select(&self, names: &str) -> ToolOutput {
        let mut names = names.split([',', ' ', '\n', '\t']).filter(|name| !name.is_empty());
        let wanted: Vec<&str> = names.by_ref().take(MOST).collect();
        let registry = self.registry();
        let (mut found, mut notes) = (Vec::new(), String::new());
        for (name, (spec, loading)) in wanted.iter().zip(self.load_each(wanted.iter().copied())) {
            if let Some(spec) = spec {
                found.push((spec, loading));
            } else {
                let mut near = registry.nearest(name);
                near.retain(|name| registry.get(name).is_some_and(|spec| !spec.is_explicit_only()));
                let advice = match near.as_slice() {
                    [] => "search for it in words instead".to_owned(),
                    near => format!("did you mean {}?", listed(near.iter().copied(), "or")),
                };
                let _ = writeln!(notes, "There is no tool `{}`; {advice}", one_line(name, 64));
            }
        }
        if names.next().is_some() {
            let _ = writeln!(notes, "Only the first {MOST} names were looked at; select the others again.");
        }
        if wanted.is_empty() {
            notes.push_str("No name follows `select:`; write `select:name1,name2`, or search in words.\n");
        }
        answer(&found, &notes)
    }

    /// Loads the tools that fit a query best.
    fn find(&self, query: &str, limit: usize) -> ToolOutput {
        let (base, registry) = {
            let state = self.state();
            (state.base.clone(), state.registry.clone())
        };
        let is_allowed = |entry: &Entry| {
            registry.entry(entry.name()).is_some_and(|own| Arc::ptr_eq(&own.spec, &entry.spec))
        };
        let names: Vec<ToolName> = base
            .search_within(query, limit, is_allowed)
            .into_iter()
            .map(|entry| entry.spec.name().clone())
            .collect();
        let loaded = self.load_each(names.iter().map(ToolName::as_str)).into_iter();
        let found: Vec<_> = loaded.filter_map(|(spec, loading)| Some((spec?, loading))).collect();
        let notes = if found.is_empty() { nothing(query, &registry) } else { String::new() };
        answer(&found, &notes)
    }
}

/// Says what was found, for the model and for the host.
fn answer(found: &[(Arc<ToolSpec>, Loading)], notes: &str) -> ToolOutput {
    let mut text = match found.len() {
        0 => String::new(),
        1 => "Found 1 tool; call it by its name.\n".to_owned(),
        count => format!("Found {count} tools; call them by their names.\n"),
    };
    for (spec, loading) in found {
        let state = if *loading == Loading::Loaded { "loaded" } else { "in your list already" };
        let _ = writeln!(text, "\n{} ({state})", spec.name());
        text.push_str(&outline(spec, None));
    }
    if !text.is_empty() && !notes.is_empty() {
        text.push('\n');
    }
    text.push_str(notes);
    let named = |wanted: Loading| -> Vec<&str> {
        let chosen = found.iter().filter(|(_, loading)| *loading == wanted);
        chosen.map(|(spec, _)| spec.name().as_str()).collect()
    };
    let details = json!({ "loaded": named(Loading::Loaded), "listed": named(Loading::Listed) });
    ToolOutput::text(text.trim_end()).with_details(details)
}

/// Says where tools are from, so that the next search can be a better one.
fn nothing(query: &str, registry: &crate::ToolRegistry) -> String {
    let visible = registry.iter().filter(|spec| {
        spec.exposure() != Exposure::Hidden
            && !spec.is_explicit_only()
            && spec.name().as_str() != SEARCH_TOOLS
    });
    format!(
        "No tool fits `{}`. Search again with other words for what the tool should do or what it works on, or go on \
         without it. There are tools of: {}.\n",
        one_line(query, 80),
        origins(visible)
    )
}
