use haft_macros::tool;

/// Counts words.
#[tool]
async fn nothing_said() {}

/// Counts words.
#[tool(read_only)]
async fn only_a_hint() {}

/// Counts words.
#[tool(accesses)]
async fn without_a_value() {}

/// Counts words.
#[tool(accesses = |path| Access::read(file(path)))]
async fn by_a_closure() {}

/// Counts words.
#[tool(accesses = )]
async fn of_nothing() {}

/// Counts words.
#[tool(accesses = , read_only)]
async fn of_a_comma() {}

/// Counts words.
#[tool(accesses = file path)]
async fn of_words() {}

fn main() {}
