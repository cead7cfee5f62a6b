//! Which crate may name which dependency, so that a third party's types have one way in.

use super::Violation;
use crate::metadata::Package;

const ASK_THE_OWNER: &str = "use what that crate offers, or let it offer what is missing";
const LEAVE_IT_TO_THE_PROGRAM: &str =
    "return the library's own error type and leave the command line to the program";

/// A dependency, the only packages whose manifests may name it, and what every other one does instead.
const NAMED_BY: [(&str, &[&str], &str); 8] = [
    ("anyhow", &["haft-cli", "xtask"], LEAVE_IT_TO_THE_PROGRAM),
    ("clap", &["haft-cli"], LEAVE_IT_TO_THE_PROGRAM),
    ("genai", &["haft-providers"], ASK_THE_OWNER),
    ("openapiv3", &["haft-openapi"], ASK_THE_OWNER),
    ("reqwest", &["haft-http"], ASK_THE_OWNER),
    ("restate-sdk", &["haft-durable-restate"], ASK_THE_OWNER),
    ("rmcp", &["haft-mcp"], ASK_THE_OWNER),
    ("rusqlite", &["haft-store"], ASK_THE_OWNER),
];

/// Finds the dependencies, of any kind, that a package may not name. Examples stand for a user and may name any.
pub(super) fn violations(package: &Package) -> Vec<Violation> {
    if package.is_under("examples") {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (name, owners, repair) in NAMED_BY {
        let is_named = package.dependencies.iter().any(|dependency| dependency.name == name);
        if is_named && !owners.contains(&package.name.as_str()) {
            let fault = format!("{} → {name} is named outside {}", package.name, owners.join(" and "));
            found.push(Violation::new(package, fault, repair));
        }
    }
    found
}
