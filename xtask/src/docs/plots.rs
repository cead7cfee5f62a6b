//! The plots of `docs/performance.md`.

use anyhow::Context as _;
use serde_json::{Map, Value};

use crate::workspace::Workspace;

/// What `cargo xtask bench scaling` printed.
const POINTS: &str = "docs/performance/scaling.csv";

/// Has a program draw them, and gives each with its path; none where nothing was measured.
pub(super) fn all(workspace: &Workspace, pages: &str) -> anyhow::Result<Vec<(String, String)>> {
    if !workspace.root().join(POINTS).is_file() {
        return Ok(Vec::new());
    }
    let drawn: Map<String, Value> = serde_json::from_slice(&workspace.capture(pages, &["plots", POINTS])?)?;
    let plot = |(name, plot): (String, Value)| {
        let plot = plot.as_str().with_context(|| format!("the plot `{name}` is not a text"))?;
        Ok((format!("docs/performance/{name}.svg"), plot.to_owned()))
    };
    drawn.into_iter().map(plot).collect()
}
