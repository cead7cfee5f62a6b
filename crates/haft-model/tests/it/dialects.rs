//! What providers are told of a tool.

mod corpus;
mod hostile;
mod invariants;
mod rules;
mod snapshots;

use haft_core::Schema;
use haft_model::{Dialect, NotStrictError};
use haft_testkit::laid_out;
use serde_json::Value;
use std::fmt::Write as _;

const ALL: [Dialect; 4] = [Dialect::OpenAiStrict, Dialect::OpenAi, Dialect::Anthropic, Dialect::Gemini];

fn schema(schema: Value) -> Schema {
    Schema::new(schema).unwrap()
}

/// Projects, checks the dialect's own rules, and prints the schema and what was lost.
fn outline(dialect: Dialect, original: &Schema) -> String {
    match dialect.project(original) {
        Ok(projection) => {
            rules::check(dialect, &projection.schema);
            let mut text = format!("{}\n", laid_out(&projection.schema));
            for loss in &projection.losses {
                writeln!(text, "- {loss}").unwrap();
            }
            text
        }
        Err(error) => refusal(&error),
    }
}

fn refusal(error: &NotStrictError) -> String {
    format!("{error}\n")
}
