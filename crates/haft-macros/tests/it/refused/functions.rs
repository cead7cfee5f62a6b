#![expect(unused_variables, reason = "nothing is done with what is refused")]

use haft_macros::tool;

/// Counts words.
#[tool(accesses = none)]
fn waiting() {}

/// Counts words.
#[tool(accesses = none)]
async fn generic<T>(
    /// What to count.
    things: Vec<T>,
) {
}

/// Counts words.
#[tool(accesses = none)]
async fn with_a_lifetime<'a>(#[state] text: &'a String) {}

/// Counts words.
#[tool(accesses = none)]
async unsafe fn promising() {}

/// Counts words.
#[tool(accesses = none)]
async extern "C" fn called_from_c() {}

struct Counter;

impl Counter {
    /// Counts words.
    #[tool(accesses = none)]
    async fn method(&self) {}
}

/// Counts words.
#[tool(accesses = none)]
struct Words;

fn main() {}
