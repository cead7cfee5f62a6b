//! What the two bare crates may pull in, directly or through anything they depend on.

use std::collections::{BTreeMap, VecDeque};

use super::Violation;
use crate::metadata::{Graph, Node, Package};

/// The crates whose users must not get a domain they did not ask for.
const BARE: [&str; 2] = ["haft-core", "haft-tools-core"];

/// The domains that stay out, each with the crates that would bring it in.
const BANNED: [(&str, &[&str]); 4] = [
    (
        "HTTP",
        &[
            "actix-web",
            "attohttpc",
            "axum",
            "curl",
            "h2",
            "h3",
            "hyper",
            "hyper-util",
            "isahc",
            "minreq",
            "quinn",
            "reqwest",
            "surf",
            "tonic",
            "tungstenite",
            "ureq",
            "warp",
        ],
    ),
    ("MCP", &["mcp-sdk", "rmcp", "rust-mcp-sdk"]),
    (
        "file walking",
        &[
            "cap-std",
            "glob",
            "globset",
            "globwalk",
            "grep",
            "grep-matcher",
            "grep-regex",
            "grep-searcher",
            "ignore",
            "jwalk",
            "notify",
            "wax",
            "walkdir",
        ],
    ),
    (
        "shell parsing",
        &[
            "brush-core",
            "brush-parser",
            "conch-parser",
            "process-wrap",
            "tree-sitter",
            "tree-sitter-bash",
            "yash-syntax",
        ],
    ),
];

/// Finds every banned crate that a bare crate reaches.
///
/// Cargo resolves the features of the whole workspace at once, so the graph can only be larger than what a user of
/// one crate gets: a crate that passes here passes for every user.
pub(super) fn violations(graph: &Graph) -> Vec<Violation> {
    let mut found = Vec::new();
    for name in BARE {
        let Some(package) = graph.package(name) else {
            found.push(Violation {
                manifest: "Cargo.toml".to_owned(),
                fault: format!("{name} is not a member, so nobody watches what it pulls in"),
                repair: "keep the name, or change it in xtask/src/layers/reach.rs too".to_owned(),
            });
            continue;
        };
        found.extend(banned_below(&graph.nodes, package));
    }
    found
}

/// Walks breadth first, so that the chain shown is the shortest one.
fn banned_below(nodes: &BTreeMap<String, Node>, package: &Package) -> Vec<Violation> {
    let mut parents: BTreeMap<&str, &str> = BTreeMap::new();
    let mut queue = VecDeque::from([package.id.as_str()]);
    let mut found = Vec::new();
    while let Some(id) = queue.pop_front() {
        let Some(node) = nodes.get(id) else { continue };
        if let Some(domain) = domain_of(&node.name) {
            found.push(Violation::new(
                package,
                format!("{} brings {domain} into a bare {}", chain(nodes, &parents, id), package.name),
                "drop the dependency or switch off the feature that needs it",
            ));
            // What lies below a banned crate goes away together with it.
            continue;
        }
        for next in &node.normal {
            if next != &package.id && !parents.contains_key(next.as_str()) {
                parents.insert(next, id);
                queue.push_back(next);
            }
        }
    }
    found
}

fn domain_of(name: &str) -> Option<&'static str> {
    BANNED.iter().find(|(_, crates)| crates.contains(&name)).map(|(domain, _)| *domain)
}

/// Writes how a package is reached, the bare crate first.
fn chain(nodes: &BTreeMap<String, Node>, parents: &BTreeMap<&str, &str>, id: &str) -> String {
    let ids = std::iter::successors(Some(id), |id| parents.get(id).copied());
    let mut names: Vec<&str> = ids.filter_map(|id| nodes.get(id)).map(|node| node.name.as_str()).collect();
    names.reverse();
    names.join(" → ")
}
