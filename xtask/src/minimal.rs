//! `cargo xtask minimal`: the lowest version that a manifest asks for of each dependency is enough.
//!
//! Cargo chooses the highest versions, so a bound that is too low is not noticed here and breaks whoever has to stay with it. A
//! copy of the repository is resolved with the lowest versions of what is named in its manifests, and checked; what those need
//! themselves stays as high as usual, since its bounds are not ours to mend.

use std::path::Path;

use anyhow::{Context as _, bail};

use crate::step::{Failure, Outcome, StepResult};
use crate::together;
use crate::workspace::Workspace;

/// Where the copy is, and what is compiled of it, below the root.
const COPY: &str = "target/minimal/copy";
const BUILT: &str = "target/minimal/built";

const REPAIR: &str = "Raise the version of what does not compile or cannot be chosen in [workspace.dependencies], to the lowest \
                      one that has what is used of it.";

/// Cargo chooses the lowest versions only where what is not stable is let be used.
const UNSTABLE: (&str, &str) = ("RUSTC_BOOTSTRAP", "1");

/// Copies what is under version control, resolves it anew and checks it.
pub(crate) fn run(workspace: &Workspace) -> StepResult {
    let features = together::step_features(workspace)?;
    copy(workspace).map_err(|error| Failure::from_error(&error, "Make room below target/ for the copy."))?;
    let manifest = format!("{COPY}/Cargo.toml");
    workspace.cargo_with(
        &[UNSTABLE],
        &["update", "--quiet", "-Z", "direct-minimal-versions", "--manifest-path", &manifest],
        REPAIR,
    )?;
    let built = workspace.root().join(BUILT);
    let built = built.to_string_lossy();
    let check = ["check", "--workspace", "--locked", "--manifest-path", &manifest, "--features", &features];
    workspace.cargo_with(&[("CARGO_TARGET_DIR", &built)], &check, REPAIR)?;
    Ok(Outcome::Done)
}

fn copy(workspace: &Workspace) -> anyhow::Result<()> {
    let root = workspace.root();
    let to = root.join(COPY);
    if to.exists() {
        std::fs::remove_dir_all(&to).with_context(|| format!("cannot empty {COPY}"))?;
    }
    let listed = workspace.capture("git", &["ls-files", "-z"])?;
    let listed = String::from_utf8(listed).context("a file under version control has no name in UTF-8")?;
    for file in names(&listed) {
        copy_file(&root.join(file), &to.join(file)).with_context(|| format!("cannot copy {file}"))?;
    }
    if !to.join("Cargo.toml").is_file() {
        bail!("there is no Cargo.toml under version control");
    }
    Ok(())
}

fn names(listed: &str) -> impl Iterator<Item = &str> {
    listed.split('\0').filter(|name| !name.is_empty())
}

/// Copies a file, or what a link leads to; what was removed and not committed yet is passed by.
fn copy_file(from: &Path, to: &Path) -> std::io::Result<()> {
    if !from.is_file() {
        return Ok(());
    }
    if let Some(folder) = to.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::copy(from, to).map(drop)
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn names_are_divided_by_null() {
        assert_eq!(names("a b\0c/d\n\0").collect::<Vec<_>>(), ["a b", "c/d\n"]);
        assert_eq!(names("").count(), 0);
    }
}
