use super::source::Offer;
use crate::registry::Entry;
use crate::{OfferedTools, RefusedTool, RegistryError};
use haft_core::ToolName;
use std::collections::HashMap;
use std::sync::Arc;

/// Holds what a source gave, as far as it can be used.
#[derive(Default)]
pub(super) struct Admitted {
    pub(super) tools: Vec<AdmittedTool>,
    /// Second names, each with the tool it stands for.
    pub(super) aliases: Vec<(ToolName, ToolName)>,
    pub(super) refused: Vec<RefusedTool>,
}

pub(super) struct AdmittedTool {
    /// Its place among the tools as they were offered.
    pub(super) position: usize,
    /// As the source gave it, so that the next refresh knows it again.
    offered: Arc<Entry>,
    /// As the catalog has it.
    pub(super) entry: Arc<Entry>,
}

impl Admitted {
    /// Takes in what was offered, and keeps of what was there before what did not change.
    ///
    /// Compiles the schemas that are new and runs the tools' own code, so it belongs on a thread that may block.
    pub(super) fn of(offered: OfferedTools, prefix: Option<&str>, most: usize, before: &Self) -> Self {
        let known: HashMap<&str, &AdmittedTool> =
            before.tools.iter().map(|tool| (tool.offered.spec.name().as_str(), tool)).collect();
        let mut admitted = Self::default();
        let mut take = |position, entry: Result<Arc<Entry>, RegistryError>| match entry {
            Ok(offered) => admitted.tools.push(named(position, offered, prefix, &known)),
            Err(error) => admitted.refused.push(RefusedTool::new(position, error)),
        };
        let count = match offered.0 {
            Offer::Tools(tools) => {
                let count = tools.len();
                for (position, tool) in tools.into_iter().take(most).enumerate() {
                    let known = |name: &str| known.get(name).map(|tool| &tool.offered);
                    take(position, Entry::renewed(tool, known));
                }
                count
            }
            Offer::Registry(registry) => {
                for (position, entry) in registry.entries().iter().take(most).enumerate() {
                    take(position, Ok(Arc::clone(entry)));
                }
                if prefix.is_none() {
                    admitted.aliases = registry
                        .aliases()
                        .map(|(alias, entry)| (alias.clone(), entry.spec.name().clone()))
                        .collect();
                    admitted.aliases.sort();
                }
                registry.len()
            }
        };
        if count > most {
            admitted.refused.push(RefusedTool::new(most, RegistryError::TooMany { count, most }));
        }
        admitted
    }
}

fn named(
    position: usize,
    offered: Arc<Entry>,
    prefix: Option<&str>,
    known: &HashMap<&str, &AdmittedTool>,
) -> AdmittedTool {
    let before = known.get(offered.spec.name().as_str()).filter(|tool| Arc::ptr_eq(&tool.offered, &offered));
    let entry = match (before, prefix) {
        (Some(before), _) => Arc::clone(&before.entry),
        (None, Some(prefix)) => {
            offered.renamed(ToolName::project(&format!("{prefix}__{}", offered.spec.name())))
        }
        (None, None) => Arc::clone(&offered),
    };
    // Estimated here, where time may be taken; it is kept with the tool.
    entry.tokens();
    AdmittedTool { position, offered, entry }
}

#[cfg(test)]
mod tests {
    use super::Admitted;
    use crate::{Accesses, CallContext, OfferedTools, Tool, tool_fn};
    use haft_core::{Schema, ToolError, ToolSpec};
    use schemars::JsonSchema;
    use serde::Deserialize;
    use serde_json::json;
    use std::sync::Arc;

    #[derive(Deserialize, JsonSchema)]
    struct Nothing {}

    /// Makes a tool whose schema is of its own, so that a compiled one cannot be another's.
    fn tool(name: &str, description: &str, most: usize) -> Arc<dyn Tool> {
        let schema = Schema::new(json!({ "properties": { "a": { "maxLength": most } } })).unwrap();
        let tool = tool_fn(name, "", Accesses::none(), |_: Nothing, _: CallContext| async {
            Ok::<_, ToolError>("done")
        });
        let tool = tool.unwrap();
        Arc::new(tool.map_spec(|spec| ToolSpec::new(spec.name().clone(), description, schema)))
    }

    fn admit(
        tools: impl IntoIterator<Item = Arc<dyn Tool>>,
        prefix: Option<&str>,
        before: &Admitted,
    ) -> Admitted {
        Admitted::of(OfferedTools::from_iter(tools), prefix, 20_000, before)
    }

    /// Counts the tools of which the entry, and of which only the validator, is still the one from before.
    fn kept(before: &Admitted, after: &Admitted) -> (usize, usize) {
        let pairs = || before.tools.iter().zip(&after.tools);
        (
            pairs().filter(|(one, other)| Arc::ptr_eq(&one.entry, &other.entry)).count(),
            pairs().filter(|(one, other)| Arc::ptr_eq(&one.entry.validator, &other.entry.validator)).count(),
        )
    }

    #[test]
    fn one_changed_tool_of_ten_thousand_costs_one_compilation() {
        let of = |changed: usize| {
            (0..10_000).map(move |number| {
                let most = if number == changed { 0 } else { number + 1 };
                tool(&format!("tool_{number:05}"), "Does it.", most)
            })
        };
        let first = admit(of(usize::MAX), None, &Admitted::default());
        // The tools are made anew, as a server does that is asked again.
        let second = admit(of(5), None, &first);
        assert_eq!(kept(&first, &second), (0, 9_999));
    }

    #[test]
    fn what_is_the_same_stays_the_same() {
        let (a, b) = (tool("a", "A.", 1), tool("b", "B.", 2));
        for prefix in [None, Some("s")] {
            let first = admit([Arc::clone(&a), Arc::clone(&b)], prefix, &Admitted::default());
            let second = admit([Arc::clone(&a), Arc::clone(&b)], prefix, &first);
            assert_eq!(kept(&first, &second), (2, 2));
            let third = admit([Arc::clone(&a), tool("b", "Another B.", 2)], prefix, &second);
            assert_eq!(kept(&second, &third), (1, 2));
        }
    }
}
