//! Checks a call's arguments against the tool's schema, which is compiled once, and mends what can be mended.

mod bounds;
mod compiled;
mod hint;
mod plain;
mod repair;
mod sure;
mod violation;

pub(crate) use bounds::is_within;
pub use compiled::{CompileSchemaError, CompiledSchema, InvalidValueError};
pub(crate) use violation::cut;

use bounds::Unfit;
use haft_core::{Repair, Schema};
use jsonschema::{PatternOptions, Validator};
use plain::PlainObject;
use serde_json::Value;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

/// The most violations that are listed for the model; more would not help it and could be made to grow without bound.
const MOST_VIOLATIONS: usize = 12;

/// How often a `pattern` with look-around may backtrack, so that no schema can make a short text take seconds.
const BACKTRACK_LIMIT: usize = 100_000;

/// Checks arguments against one schema, which is compiled once.
pub(crate) struct InputValidator {
    schema: Schema,
    /// Compiled when it is first asked, where it is sure that it can be: most tools of a program that calls one are not called,
    /// and most arguments are recognised without it.
    validator: OnceLock<Result<Validator, String>>,
    longest_chain: usize,
    /// What recognises usual arguments at once, where the schema allows that.
    plain: Option<PlainObject>,
}

/// Holds arguments that were mended to fit the schema, and what was mended.
#[derive(Debug, PartialEq)]
pub(crate) struct Mended {
    pub(crate) value: Value,
    pub(crate) repairs: Vec<Repair>,
}

/// Tells whether a value fits a schema; if not, what is wrong with it.
pub(crate) fn check(schema: &Schema, value: &Value) -> Result<(), String> {
    let compiled = InputValidator::compile(schema)?;
    let validator = compiled.validator()?;
    if validator.is_valid(value) {
        return Ok(());
    }
    let violations = violation::violations(validator, schema.as_value(), value, MOST_VIOLATIONS);
    Err(violations.lines.join("; "))
}

/// Compiles a schema whose bounds are known, without ever fetching anything.
fn build(schema: &Value) -> Result<Validator, String> {
    jsonschema::options()
        .offline()
        .with_pattern_options(PatternOptions::fancy_regex().backtrack_limit(BACKTRACK_LIMIT))
        .build(schema)
        .map_err(|error| match error.instance_path().as_str() {
            "" => error.to_string(),
            place => format!("at `{place}`: {error}"),
        })
}

impl InputValidator {
    /// Compiles a schema without ever fetching anything, unless it surely can be; gives the reason where that cannot be done.
    pub(crate) fn compile(schema: &Schema) -> Result<Self, String> {
        let longest_chain = bounds::longest_chain(schema.as_value())?;
        let validator = if sure::is_surely_valid(schema.as_value()) {
            OnceLock::new()
        } else {
            OnceLock::from(Ok(build(schema.as_value())?))
        };
        let plain = PlainObject::of(schema.as_value());
        Ok(Self { schema: schema.clone(), validator, longest_chain, plain })
    }

    fn validator(&self) -> Result<&Validator, String> {
        // Nothing of an attempt that panicked is used again.
        let compile = || catch_unwind(AssertUnwindSafe(|| build(self.schema.as_value())));
        let compiled = self.validator.get_or_init(|| {
            // A model is told no more than that: why it broke is about this program.
            compile().unwrap_or_else(|_| Err("compiling it broke".to_owned()))
        });
        compiled.as_ref().map_err(Clone::clone)
    }

    /// Accepts arguments that fit, or that fit once repaired, and gives these; gives a text for the model otherwise.
    pub(crate) fn accept(
        &self,
        tool: &str,
        input: &Value,
        repairs: bool,
        most_bytes: usize,
    ) -> Result<Option<Mended>, String> {
        if self.plain.as_ref().is_some_and(|plain| plain.recognises(input, most_bytes)) {
            return Ok(None);
        }
        if let Err(unfit) = bounds::check_bounds(input, self.longest_chain, most_bytes) {
            return Err(match unfit {
                Unfit::TooDeep => format!(
                    "the arguments of `{tool}` are nested too deeply to be checked; call it again with flatter ones"
                ),
                Unfit::TooLarge => format!(
                    "the arguments of `{tool}` are larger than {most_bytes} bytes; send less at once, in several calls \
                     if need be"
                ),
            });
        }
        // What was not sure was compiled when the tool was registered.
        let validator = self.validator().map_err(|reason| {
            format!("the arguments of `{tool}` cannot be checked, since its schema cannot be compiled: {reason}; use another tool")
        })?;
        if validator.is_valid(input) {
            return Ok(None);
        }
        if repairs && let Some(mended) = repair::repair(validator, self.longest_chain, input) {
            return Ok(Some(mended));
        }
        Err(self.explain(validator, tool, input))
    }

    fn explain(&self, validator: &Validator, tool: &str, input: &Value) -> String {
        if let Value::String(text) = input
            && let Err(error) = serde_json::from_str::<Value>(text)
        {
            return format!(
                "the arguments of `{tool}` are not valid JSON: {error}; send them again as one JSON object"
            );
        }
        let mut text = format!("the arguments do not fit `{tool}`:");
        let violations = violation::violations(validator, self.schema.as_value(), input, MOST_VIOLATIONS);
        for line in &violations.lines {
            // Writing to a string cannot fail.
            let _ = write!(text, "\n- {line}");
        }
        if violations.more > 0 {
            let _ = write!(text, "\n- and {} more", violations.more);
        }
        text.push_str("\ncorrect them and call the tool again");
        text
    }
}

#[cfg(test)]
mod tests;
