//! What a package holds, and how much.

use std::path::Path;

use anyhow::Context as _;

/// The most bytes of a package's files together; the largest is half of that.
const MOST_BYTES: u64 = 2 * 1024 * 1024;

/// What a user of a crate has no use for: tests with their trees, and benchmarks.
const LEFT_OUT: [&str; 2] = ["tests/", "benches/"];

/// What has to go along with every copy.
const LICENCES: [&str; 2] = ["LICENSE-APACHE", "LICENSE-MIT"];

/// What `cargo package --list` says of a package.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Contents {
    pub(super) files: usize,
    pub(super) bytes: u64,
    /// Files that should not be there.
    unwanted: Vec<String>,
    /// Files that should be there.
    missing: Vec<&'static str>,
}

impl Contents {
    /// Looks at the files that are listed; those that cargo itself makes are in no folder.
    pub(super) fn of(folder: &Path, listed: &str) -> anyhow::Result<Self> {
        let mut bytes = 0;
        for file in listed.lines() {
            match std::fs::metadata(folder.join(file)) {
                Ok(found) => bytes += found.len(),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(error).with_context(|| format!("cannot look at {file}")),
            }
        }
        let is_unwanted = |file: &&str| LEFT_OUT.iter().any(|folder| file.starts_with(folder));
        Ok(Self {
            files: listed.lines().count(),
            bytes,
            unwanted: listed.lines().filter(is_unwanted).map(str::to_owned).collect(),
            missing: LICENCES
                .into_iter()
                .filter(|wanted| listed.lines().all(|file| file != *wanted))
                .collect(),
        })
    }

    /// Says what a package should not hold, or should.
    pub(super) fn problems(&self, name: &str) -> Vec<String> {
        let mut problems: Vec<String> =
            self.missing.iter().map(|file| format!("{name}: `{file}` is not in its package")).collect();
        if let Some(first) = self.unwanted.first() {
            let count = self.unwanted.len();
            problems.push(format!(
                "{name}: `{first}` is in its package, one of {count} that nobody needs there; see `exclude`"
            ));
        }
        if self.bytes > MOST_BYTES {
            problems.push(format!(
                "{name}: its package holds {} bytes, and {MOST_BYTES} are the most",
                self.bytes
            ));
        }
        problems
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Contents, MOST_BYTES};

    fn contents(listed: &str) -> Contents {
        Contents::of(Path::new(env!("CARGO_MANIFEST_DIR")), listed).unwrap()
    }

    #[test]
    fn counts_what_is_there_and_passes_by_what_cargo_makes() {
        let size = std::fs::metadata(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml")).unwrap().len();
        let contents =
            contents("Cargo.toml\nCargo.toml.orig\n.cargo_vcs_info.json\nLICENSE-APACHE\nLICENSE-MIT\n");
        assert_eq!((contents.files, contents.bytes), (5, size));
        assert_eq!(contents.problems("a"), Vec::<String>::new());
    }

    #[test]
    fn names_what_is_too_much_and_what_is_missing() {
        let mut contents = contents("src/lib.rs\ntests/it/main.rs\nbenches/x.rs\nLICENSE-MIT\n");
        contents.bytes = MOST_BYTES + 1;
        assert_eq!(
            contents.problems("a"),
            [
                "a: `LICENSE-APACHE` is not in its package",
                "a: `tests/it/main.rs` is in its package, one of 2 that nobody needs there; see `exclude`",
                "a: its package holds 2097153 bytes, and 2097152 are the most",
            ]
        );
    }
}
