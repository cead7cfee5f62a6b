//! The tool `outline`.

mod attacks;
mod bounds;
mod languages;
mod property;
mod specs;

use crate::call_of;
use haft_core::ToolReply;
use haft_testkit::Tree;
use haft_tool_search::{Outline, SearchOptions};
use haft_tools_core::{Tool, ToolRegistry};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

fn registry(tree: &Tree) -> ToolRegistry {
    // What a busy machine takes is not what is looked at.
    registry_with(tree, SearchOptions::default().timeout(Duration::from_mins(10)))
}

fn registry_with(tree: &Tree, options: SearchOptions) -> ToolRegistry {
    let tool: Arc<dyn Tool> = Arc::new(Outline::new(tree.workdir()).options(options));
    ToolRegistry::of([tool]).unwrap()
}

fn call(tree: &Tree, input: Value) -> ToolReply {
    call_of(&registry(tree), "outline", input)
}

fn text(tree: &Tree, input: Value) -> String {
    call(tree, input).output.to_text()
}

#[test]
fn the_reference_page_is_right() {
    haft_testkit::cases::check("tests/cases-code", registry);
}
