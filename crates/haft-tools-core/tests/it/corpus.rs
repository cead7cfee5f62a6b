use crate::fixture::{Probe, anything, reply};
use haft_tools_core::{LocalExecutor, ToolRegistry};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use serde::Deserialize;
use serde_json::Value;
use std::path::Path;

/// One function definition as it is used, with arguments that fit it.
#[derive(Deserialize)]
struct Definition {
    schema: Value,
    args: Vec<Value>,
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

fn executor(schema: &Value) -> LocalExecutor {
    let registry = ToolRegistry::new().with(Probe::new("t").schema(schema.clone())).unwrap();
    LocalExecutor::builder(registry).policy(anything()).build()
}

#[tokio::test]
async fn real_definitions_compile_and_their_arguments_fit_without_repair() {
    let Some(definitions) = definitions() else { return };
    let (mut accepted, mut exceptions) = (0, Vec::new());
    for Definition { schema, args, name } in &definitions {
        let executor = executor(schema);
        for input in args {
            let reply = reply(&executor, "t", input.clone()).await;
            let text = reply.output.to_text();
            if reply.status.is_ok() && reply.repairs.is_empty() {
                assert_eq!(text, input.to_string());
                accepted += 1;
            } else if let Some(repair) = reply.repairs.first() {
                exceptions.push((name.as_str(), format!("{}: {}", repair.pointer, repair.note)));
            } else {
                exceptions.push((name.as_str(), text.lines().nth(1).unwrap().to_owned()));
            }
        }
    }
    assert_eq!((definitions.len(), accepted), (439, 522));
    // In each of these it is the example that does not fit its own schema.
    let expected = [
        ("record", "- at the top: the property `acc_routing_start` is missing"),
        ("list_servers", r#"- at `/type`: "openai" is not "all", "postgres", "openapi" or "graphql""#),
        ("Flights_4_SearchOnewayFlight", "- at the top: the property `origin_airport` is missing"),
        ("Homes_2_FindHomeByArea", "- at `/in_unit_laundry`: true is not a string"),
        ("Homes_2_FindHomeByArea", "- at `/in_unit_laundry`: true is not a string"),
        ("detail_project", "/start_date: took null as absent"),
    ];
    assert_eq!(exceptions, expected.map(|(name, reason)| (name, reason.to_owned())));
}

/// Lists the places of all numbers, booleans, arrays and objects below the top.
fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    let mut inside = |key: &str, member: &Value| {
        let pointer = format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"));
        if !member.is_string() && !member.is_null() {
            found.push(pointer.clone());
        }
        places(member, &pointer, found);
    };
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(place, item)| inside(&place.to_string(), item));
        }
        Value::Object(members) => members.iter().for_each(|(key, member)| inside(key, member)),
        _ => {}
    }
}

#[test]
fn arguments_whose_values_were_sent_as_strings_are_repaired_to_what_they_were() {
    let Some(definitions) = definitions() else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let mut repaired = 0;
    let mut runner = TestRunner::deterministic();
    for Definition { schema, args, name } in &definitions {
        let executor = executor(schema);
        for input in args {
            let mut found = Vec::new();
            places(input, "", &mut found);
            let as_it_is = runtime.block_on(reply(&executor, "t", input.clone()));
            if found.is_empty() || !as_it_is.status.is_ok() || !as_it_is.repairs.is_empty() {
                continue;
            }
            let chosen = prop::sample::subsequence(found.clone(), 1..=found.len());
            for _ in 0..8 {
                let mut sent = input.clone();
                let chosen = chosen.new_tree(&mut runner).unwrap().current();
                // The innermost first, so that an outer one holds what was done to them.
                for pointer in chosen.iter().rev() {
                    let place = sent.pointer_mut(pointer).unwrap();
                    *place = Value::String(place.to_string());
                }
                let reply = runtime.block_on(reply(&executor, "t", sent.clone()));
                let got = reply.output.content[0].as_text().unwrap();
                assert_eq!(
                    (reply.repairs.is_empty(), got),
                    (false, input.to_string().as_str()),
                    "{name}: {sent}"
                );
                repaired += 1;
            }
        }
    }
    assert!(repaired > 2_000, "{repaired}");
}
