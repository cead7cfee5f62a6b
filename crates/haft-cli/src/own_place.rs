//! Places of their own that agents work in.

use crate::config::Configuration;
use crate::own_tools;
use crate::user_directories::UserDirectories;
use haft::subagents::Worktrees;
use haft::tools_core::PendingCall;
use haft::{ToolRegistry, Workdir};
use std::iter;
use std::path::PathBuf;

/// Finds the place in which the run of a call works, where it or one above it has one of its own.
pub(crate) fn of(pending: &PendingCall) -> Option<PathBuf> {
    if pending.above.is_empty() {
        return None;
    }
    let places = UserDirectories::from_environment().places().ok()??;
    let above = pending.above.iter().map(|above| &above.run);
    iter::once(&pending.run).chain(above).find_map(|run| Worktrees::find_in(&places, run))
}

/// Gathers the tools that work in the place of a call's run, where it has one and its call is of one of them.
pub(crate) fn tools(pending: &PendingCall) -> Option<ToolRegistry> {
    let workdir = Workdir::open(of(pending)?).ok()?;
    let catalog = Configuration::read(&workdir).ok()?.catalog().ok()?;
    let tools = own_tools::registry(&workdir, &catalog).ok()?;
    tools.get(&pending.call.name).is_some().then_some(tools)
}
