//! What a newcomer finds first: everything at the root is there for a reason that is written down.

use super::Violation;

/// What lies at the root, each with a reader: whoever comes for the first time, cargo and its tools, or whoever checks a change.
const TOP_LEVEL: [&str; 17] = [
    ".cargo",
    ".ci",
    ".clippy.toml",
    ".gitignore",
    ".rustfmt.toml",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "crates",
    "deny.toml",
    "deploy",
    "docs",
    "examples",
    "fuzz",
    "xtask",
];

/// Finds what is at the root and was not meant to be, and what is missing, in the paths of all files that are kept.
pub(super) fn violations(paths: &str) -> Vec<Violation> {
    let mut there: Vec<&str> = paths.split('\0').filter_map(|path| path.split('/').next()).collect();
    there.retain(|name| !name.is_empty());
    there.sort_unstable();
    there.dedup();
    let unmeant = there.iter().filter(|name| !TOP_LEVEL.contains(name));
    let missing = TOP_LEVEL.iter().filter(|name| !there.contains(name));
    let of = |name: &str, fault: &str, repair: &str| Violation {
        manifest: name.to_owned(),
        fault: fault.to_owned(),
        repair: repair.to_owned(),
    };
    unmeant
        .map(|name| {
            of(
                name,
                "it is at the root",
                "put it where its readers look, or name it in xtask/src/layers/top_level.rs",
            )
        })
        .chain(missing.map(|name| {
            of(name, "it is not at the root", "put it back, or strike it from xtask/src/layers/top_level.rs")
        }))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{TOP_LEVEL, violations};

    #[test]
    fn what_is_at_the_root_is_what_was_meant() {
        let all = TOP_LEVEL.map(|name| format!("{name}/a\0")).concat();
        assert!(violations(&all).is_empty());
        let told: Vec<String> =
            violations(&format!("{all}notes.txt\0")).iter().map(ToString::to_string).collect();
        assert_eq!(told.len(), 1);
        assert!(told[0].starts_with("notes.txt: it is at the root; put it where its readers look"));
        let told = violations(&all.replace("fuzz/a\0", ""));
        assert_eq!(told[0].manifest, "fuzz");
    }
}
