use haft_macros::tool;

/// Counts words.
#[tool(acceses = none)]
async fn misspelt() {}

/// Counts words.
#[tool(accesses = none, title = "A", title = "B")]
async fn twice() {}

/// Counts words.
#[tool(accesses = none, read_only, destructive)]
async fn contradicting() {}

/// Counts words.
#[tool(accesses = none, read_only = true)]
async fn hint_with_a_value() {}

/// Counts words.
#[tool(accesses = none, exposure = lazy)]
async fn exposed() {}

/// Counts words.
#[tool(accesses = none, name = "count words")]
async fn named() {}

/// Counts words.
#[tool(accesses = none, name = "")]
async fn unnamed() {}

/// Counts words.
#[tool(accesses = none, title = Title)]
async fn titled() {}

/// Counts words.
#[tool(accesses = none)]
async fn zähle() {}

/// Counts words.
#[tool("Counts words.")]
async fn described() {}

fn main() {}
