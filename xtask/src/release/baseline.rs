//! `cargo xtask semver`: a release says by its version what it breaks.

use crate::step::{Failure, Outcome, StepResult};
use crate::tool::missing_tool;
use crate::workspace::Workspace;

/// What tags of releases begin with.
const TAGS: &str = "v[0-9]*";

const REPAIR: &str = "Keep what the lint above names, or raise the version so that it may go.";

/// Compares every published crate with what it was in the last release.
pub(crate) fn run(workspace: &Workspace) -> StepResult {
    const REACH: &str = "Make `git tag` work here, since it names the last release.";
    let tags =
        workspace.capture("git", &["tag", "--list", TAGS, "--merged", "HEAD", "--sort=-version:refname"]);
    let tags = tags.map_err(|error| Failure::from_error(&error, REACH))?;
    let Some(last) = newest(&String::from_utf8_lossy(&tags)).map(str::to_owned) else {
        return Ok(Outcome::Skipped(
            "nothing was released yet: no tag such as `v0.1.0` leads here".to_owned(),
        ));
    };
    if !workspace.has_cargo_tool("semver-checks") {
        return missing_tool(workspace.on_ci(), "cargo-semver-checks");
    }
    // The command is used by its command line, and is no library.
    let compare =
        ["semver-checks", "check-release", "--workspace", "--exclude", "haft-cli", "--baseline-rev", &last];
    workspace.cargo(&compare, REPAIR)?;
    Ok(Outcome::Done)
}

/// The first of the tags that is no preview of a release.
fn newest(tags: &str) -> Option<&str> {
    tags.lines().map(str::trim).find(|tag| !tag.is_empty() && !tag.contains('-'))
}

#[cfg(test)]
mod tests {
    use super::newest;

    #[test]
    fn compares_with_the_last_release_and_no_preview() {
        assert_eq!(newest("v0.2.0-rc.1\nv0.1.1\nv0.1.0\n"), Some("v0.1.1"));
        assert_eq!(newest("v1.0.0-rc.1\n"), None);
        assert_eq!(newest("\n"), None);
    }
}
