use super::{ALL, rules, schema};
use haft_core::ToolSpec;
use haft_model::Dialect;
use serde::Deserialize;
use serde_json::Value;
use std::path::Path;

/// One function definition as it is used.
#[derive(Deserialize)]
struct Definition {
    schema: Value,
    name: String,
}

/// Reads the definitions, where they are there: they are no part of the repository.
#[expect(clippy::print_stdout, reason = "a reader of the log must see that nothing was checked")]
fn definitions() -> Option<Vec<Definition>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/schema/calls-dev.jsonl");
    let Ok(text) = std::fs::read_to_string(path) else {
        println!("skipped: there is no corpus of definitions beside the workspace");
        return None;
    };
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

#[test]
fn real_definitions_are_projected_by_the_rules_and_most_can_be_strict() {
    let Some(definitions) = definitions() else { return };
    let mut not_strict = Vec::new();
    for Definition { schema: original, name } in &definitions {
        let original = schema(original.clone());
        let before = not_strict.len();
        for dialect in ALL {
            match dialect.project(&original) {
                Ok(projection) => rules::check(dialect, &projection.schema),
                Err(error) => not_strict.push((name.as_str(), error.to_string())),
            }
        }
        let spec = ToolSpec::new("t".parse().unwrap(), "", original);
        let is_strict = &Dialect::OpenAiStrict.tool(&spec)["function"]["strict"];
        assert_eq!(*is_strict, not_strict.len() == before, "{name}");
    }
    let refused = [
        ("random_forest.train", "`/properties/data` takes values of any type"),
        ("reverse_input", "`/properties/input_value` takes values of any type"),
        ("requests.get", "`/properties/params` takes properties of any name"),
    ];
    let refused = refused.map(|(name, reason)| (name, format!("the schema cannot be strict: {reason}")));
    assert_eq!((definitions.len(), not_strict), (439, refused.into()));
}
