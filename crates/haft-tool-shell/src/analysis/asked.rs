//! What is asked for besides what a script says.

use super::Analysis;
use super::directory::Current;
use super::paths::Reach;
use crate::catalog::{Host, Word};
use crate::script::Surroundings;
use haft_tools_core::{Access, AccessMode};
use haft_workdir::WorkdirPath;
use std::path::Path;

/// Something that is asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Asked<'a> {
    Read(&'a str),
    Write(&'a str),
    Connect(&'a str, u16),
}

/// Declares what is asked for, as a script in this directory that names it would.
///
/// A directory is meant with all below it.
pub(crate) fn asked(
    asked: Asked<'_>,
    surroundings: &Surroundings,
    directory: &WorkdirPath,
) -> Result<Vec<Access>, String> {
    let mut analysis = Analysis::new(surroundings, Current::inside(directory));
    match asked {
        Asked::Read(path) => analysis.asked_path(AccessMode::Read, path),
        Asked::Write(path) => analysis.asked_path(AccessMode::Write, path),
        Asked::Connect(name, port) => analysis.host(&Host { name: Word::literal(name), port: Some(port) }),
    }
    match analysis.reasons.into_iter().next() {
        Some(reason) => Err(reason),
        None => Ok(analysis.accesses),
    }
}

impl Analysis<'_> {
    fn asked_path(&mut self, mode: AccessMode, path: &str) {
        let at_home =
            path.strip_prefix("~/").zip(self.home.as_deref()).map(|(below, home)| format!("{home}/{below}"));
        let path = at_home.as_deref().unwrap_or(path);
        let current = match &self.current {
            Current::Inside { path, .. } => self.surroundings.workdir.root_path().join(path),
            Current::Outside { path, .. } => Path::new(path).to_owned(),
            Current::Unknown => return self.opaque("the directory is not known"),
        };
        let reach = if current.join(path).is_dir() { Reach::Tree } else { Reach::Itself };
        self.path(mode, path, reach);
    }
}
