#![expect(unused_variables, reason = "nothing is done with what is refused")]

use haft_macros::tool;

struct Db;

trait Store: Send + Sync {}

/// Counts words.
#[tool(accesses = none)]
async fn changed(#[state] db: &mut Db) {}

/// Counts words.
#[tool(accesses = none)]
async fn of_no_size(#[state] name: &str, #[state] store: &dyn Store, #[state] all: &[u8]) {}

/// Counts words.
#[tool(accesses = none)]
async fn given_by_two(#[state] #[default] number: u32, #[state(shared)] db: &Db) {}

/// Counts words.
#[tool(accesses = none)]
async fn patterned(#[state] (first, second): (u32, u32)) {}

fn main() {}
