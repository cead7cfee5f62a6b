#![expect(unused_variables, reason = "nothing is done with what is refused")]

use haft_macros::tool;
use std::path::Path;

struct CallContext;

/// Counts words.
#[tool(accesses = none)]
async fn patterns(
    /// Where it stands.
    (line, column): (u32, u32),
    /// Nothing.
    _: String,
) {
}

/// Counts words.
#[tool(accesses = none)]
async fn borrowed(
    /// The text to count.
    text: &str,
    /// The texts to count.
    texts: &[String],
    /// The file to count.
    file: &Path,
    /// A number.
    number: &u32,
) {
}

/// Counts words.
#[tool(accesses = none)]
async fn of_any_type(
    /// The text to count.
    text: impl Into<String>,
) {
}

/// Counts words.
#[tool(accesses = none)]
async fn sometimes(
    /// The text to count.
    #[cfg(unix)]
    text: String,
) {
}

/// Counts words.
#[tool(accesses = none)]
async fn defaults(
    /// A number.
    #[default = 1]
    assigned: u32,
    /// A number.
    #[default(1)]
    #[default(2)]
    twice: u32,
    /// A number.
    #[default()]
    empty: u32,
) {
}

/// Counts words.
#[tool(accesses = none)]
async fn contexts(one: CallContext, #[context] other: &CallContext, #[context] #[default] third: CallContext) {}

fn main() {}
