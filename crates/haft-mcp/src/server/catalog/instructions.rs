use super::serve_mode::ServeMode;
use crate::server::toolbox::Toolset;
use haft_core::Visible;

/// The most bytes of what a host says of its policy.
const MOST_BYTES: usize = 4 << 10;

const SEARCHING: &str = "Only three tools are listed, since there are many: find the one you need with `search_tools`, look at \
    its arguments with `describe_tool` where they are not clear, and call it with `call_tool`.";

/// Says what clients and their models should know of the tools and of what the policy allows.
pub(crate) fn instructions(mode: &ServeMode, toolset: &Toolset) -> Option<String> {
    let searching = (*mode == ServeMode::Search).then(|| SEARCHING.to_owned());
    let policy = toolset.instructions.as_deref().map(str::trim).filter(|text| !text.is_empty());
    let policy = policy.map(|whole| {
        let kept = &whole[..whole.floor_char_boundary(MOST_BYTES)];
        let dots = if kept.len() < whole.len() { "…" } else { "" };
        format!("{}{dots}", Visible::new(kept))
    });
    let parts: Vec<String> = searching.into_iter().chain(policy).collect();
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}
