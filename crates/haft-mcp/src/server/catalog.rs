//! Which tools are served, under which names, in which pages, and what a call of one of them stands for.

mod instructions;
mod meta_tools;
mod pages;
mod resolved;
mod serve_mode;
mod served_tool;
mod served_tools;
mod shelf;

pub(crate) use instructions::instructions;
pub(crate) use pages::{Page, Pages};
pub(crate) use resolved::Resolved;
pub use serve_mode::{ServeMode, ServeModeError};
pub(crate) use served_tool::ServedTool;
pub(crate) use served_tools::ServedTools;
pub(crate) use shelf::Shelf;

#[cfg(test)]
mod tests;
