#![expect(unused_variables, reason = "nothing is done with what is refused")]

use haft_macros::tool;

#[tool(accesses = none)]
async fn the_function() {}

/// Counts words.
#[tool(accesses = none)]
async fn its_arguments(
    text: String,
    ///
    prefix: String,
    #[default(1)] min_letters: usize,
) {
}

/// # Errors
///
/// Nothing is left for the model.
#[tool(accesses = none)]
async fn for_programmers_alone() {}

#[tool]
async fn all_at_once(text: String) {}

fn main() {}
