//! Where tests make their temporary files, and leave nothing behind.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::step::{Failure, Outcome, StepResult};

/// How many names are told at most.
const MOST_TOLD: usize = 20;

/// How names begin of what a `haft` leaves that ends late, on a machine that is busy, and the next one removes.
const REMOVED_BY_THE_NEXT: [&str; 2] = ["haft-outputs-", "haft-scratch-"];

/// How many names are tried that interrupted runs of other processes of this number have left.
const TRIES: u32 = 100;

/// Is the `TMPDIR` of tests; removed when this is dropped.
pub(crate) struct TestDirectory(PathBuf);

impl TestDirectory {
    /// Makes one that other users can look through, since some tests start programs as another.
    pub(crate) fn new() -> anyhow::Result<Self> {
        let mut number = 0;
        loop {
            // Sockets are made there, whose addresses may have 108 bytes on Linux and 104 on macOS.
            let path = std::env::temp_dir().join(format!("haft-xtask-{}-{number}", std::process::id()));
            match fs::create_dir(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) if error.kind() == ErrorKind::AlreadyExists && number < TRIES => number += 1,
                Err(error) => return Err(error).with_context(|| format!("cannot make `{}`", path.display())),
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Fails with the names of what is in it.
    pub(crate) fn check_empty(&self) -> StepResult {
        const REPAIR: &str = "Have the tests that left these remove what they make, and end or wait for what they start; \
             `TMPDIR` of a program that is killed can be the test's own directory.";
        let mut left = self.left().map_err(|error| {
            Failure::from_error(&error, "Have no test remove or close the directory that `TMPDIR` names.")
        })?;
        if left.is_empty() {
            return Ok(Outcome::Done);
        }
        left.sort();
        let count = left.len();
        left.truncate(MOST_TOLD);
        let more =
            if count > left.len() { format!("\n  and {} more", count - left.len()) } else { String::new() };
        Err(Failure::new(format!("tests left behind:\n  {}{more}", left.join("\n  ")), REPAIR))
    }

    /// Names what is left, and what is first in each directory of it, which tells more than a random name.
    fn left(&self) -> anyhow::Result<Vec<String>> {
        let reading = || format!("cannot read `{}`", self.0.display());
        let mut left = Vec::new();
        for entry in fs::read_dir(&self.0).with_context(reading)? {
            let entry = entry.with_context(reading)?;
            let mut name = entry.file_name().to_string_lossy().into_owned();
            if REMOVED_BY_THE_NEXT.iter().any(|start| name.starts_with(start)) {
                continue;
            }
            if let Some(Ok(first)) = fs::read_dir(entry.path()).ok().and_then(|mut within| within.next()) {
                name = format!("{name}/{}", first.file_name().to_string_lossy());
            }
            left.push(name);
        }
        Ok(left)
    }
}

impl Drop for TestDirectory {
    fn drop(&mut self) {
        // What cannot be removed was told already.
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::TestDirectory;
    use std::fs;

    #[test]
    fn what_is_left_is_named_and_goes_all_the_same() {
        let directory = TestDirectory::new().unwrap();
        fs::create_dir(directory.path().join("haft-outputs-0a1b2c3d-0123456789abcdef")).unwrap();
        assert!(directory.check_empty().is_ok());
        fs::create_dir_all(directory.path().join(".tmpAbC/notes")).unwrap();
        fs::create_dir(directory.path().join("empty")).unwrap();
        let failure = directory.check_empty().unwrap_err();
        assert_eq!(failure.problem, "tests left behind:\n  .tmpAbC/notes\n  empty");
        for number in 0..30 {
            fs::write(directory.path().join(format!("z{number:02}")), "").unwrap();
        }
        let failure = directory.check_empty().unwrap_err();
        assert!(failure.problem.ends_with("\n  z17\n  and 12 more"), "{}", failure.problem);
        let path = directory.path().to_owned();
        drop(directory);
        assert!(!path.exists());
    }
}
