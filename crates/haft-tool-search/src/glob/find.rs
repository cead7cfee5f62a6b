use super::Request;
use super::input::Order;
use crate::left_out::{LeftOut, left_out};
use crate::start::refused;
use crate::watch::Watch;
use haft_core::ToolError;
use haft_workdir::{EntryKind, Skipped, WalkEntry, WalkOptions, Workdir, WorkdirPath};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::SystemTime;

/// How many paths that nearly match are named.
const NEAR_MAX: usize = 3;

/// What a search found.
#[derive(Debug, Default)]
pub(super) struct Findings {
    /// The first paths, in the order asked for, up to the limit.
    pub(super) paths: Vec<WorkdirPath>,
    /// How many paths match.
    pub(super) total: u64,
    /// How many entries were looked at.
    pub(super) looked_at: u64,
    pub(super) skipped: Skipped,
    /// When nothing matches, what nearly does.
    pub(super) near: Vec<Near>,
    /// When nothing matches, what would if it were not left out.
    pub(super) overlooked: Option<LeftOut>,
}

/// Something that does not match but may have been meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Near {
    pub(super) path: WorkdirPath,
    pub(super) is_directory: bool,
}

/// Finds what the request asks for.
pub(super) fn find(request: &Request, watch: &dyn Watch) -> Result<Findings, ToolError> {
    let Request { workdir, start, pattern, .. } = request;
    let options = WalkOptions::default().hidden(request.hidden).ignored(request.no_ignore);
    let mut walk = workdir.walk(start, options).map_err(refused)?;
    let mut findings = Findings::default();
    let mut first = First::new(request);
    for entry in &mut walk {
        watch.check()?;
        // What could not be listed is counted by the walk.
        let Ok(entry) = entry else { continue };
        findings.looked_at += 1;
        watch.looked_at(findings.looked_at);
        let Some(relative) = entry.path().relative_to(start) else { continue };
        if pattern.matches(relative)
            && let Some(found) = wanted(request, &entry)
        {
            findings.total += 1;
            first.add(found);
        } else if findings.total == 0
            && findings.near.len() < NEAR_MAX
            && matches!(entry.kind(), EntryKind::File | EntryKind::Directory)
            && pattern.nearly_matches(relative)
        {
            let is_directory = entry.kind() == EntryKind::Directory;
            findings.near.push(Near { path: entry.into_path(), is_directory });
        }
    }
    findings.skipped = walk.skipped();
    findings.paths = first.into_paths();
    if findings.total > 0 {
        findings.near.clear();
    } else {
        findings.overlooked = overlooked(request, findings.skipped, watch)?;
        if findings.near.is_empty() {
            findings.near = near_directories(request);
        }
    }
    Ok(findings)
}

/// An entry that is of the kind asked for.
struct Match {
    path: WorkdirPath,
    /// When it last changed; only looked up where the order is by that.
    modified: Option<SystemTime>,
}

/// Takes an entry of the kind asked for. A symbolic link is taken for what it leads to, if that is inside the same root.
fn wanted(request: &Request, entry: &WalkEntry) -> Option<Match> {
    let wanted = if request.pattern.wants_directories() { EntryKind::Directory } else { EntryKind::File };
    let target = match entry.kind() {
        EntryKind::Symlink => {
            let target = request.workdir.resolve(entry.path().as_str()).ok()?;
            // What is in another root is not declared to be looked at.
            Some(target).filter(|target| target.is_absolute() == request.start.is_absolute())?
        }
        kind if kind == wanted => entry.path().clone(),
        _ => return None,
    };
    let modified = if entry.kind() == EntryKind::Symlink || request.order == Order::Modified {
        let metadata = request.workdir.metadata(&target).ok()?;
        if metadata.kind() != wanted {
            return None;
        }
        metadata.modified()
    } else {
        None
    };
    Some(Match { path: entry.path().clone(), modified })
}

/// The first matches in the order asked for; it never holds more than the limit.
enum First {
    ByPath {
        paths: Vec<WorkdirPath>,
        limit: usize,
    },
    /// The one to be given up first is the one changed longest ago, and of those the one with the last path.
    ByTime {
        heap: BinaryHeap<(Reverse<Option<SystemTime>>, WorkdirPath)>,
        limit: usize,
    },
}

impl First {
    fn new(request: &Request) -> Self {
        let limit = request.limit;
        match request.order {
            Order::Path => Self::ByPath { paths: Vec::new(), limit },
            Order::Modified => Self::ByTime { heap: BinaryHeap::new(), limit },
        }
    }

    fn add(&mut self, found: Match) {
        match self {
            Self::ByPath { paths, limit } if paths.len() < *limit => paths.push(found.path),
            Self::ByPath { .. } => {}
            Self::ByTime { heap, limit } => {
                heap.push((Reverse(found.modified), found.path));
                if heap.len() > *limit {
                    heap.pop();
                }
            }
        }
    }

    fn into_paths(self) -> Vec<WorkdirPath> {
        match self {
            Self::ByPath { paths, .. } => paths,
            Self::ByTime { heap, .. } => heap.into_sorted_vec().into_iter().map(|(_, path)| path).collect(),
        }
    }
}

/// Looks for a match among what was left out because it is hidden or ignored; bounded, so it may miss one.
fn overlooked(request: &Request, skipped: Skipped, watch: &dyn Watch) -> Result<Option<LeftOut>, ToolError> {
    if skipped.hidden + skipped.ignored == 0 {
        return Ok(None);
    }
    let Ok(entries) = left_out(&request.workdir, &request.start, request.hidden, request.no_ignore) else {
        return Ok(None);
    };
    let wanted = if request.pattern.wants_directories() { EntryKind::Directory } else { EntryKind::File };
    for entry in entries {
        watch.check()?;
        let relative = entry.path.relative_to(&request.start);
        if entry.kind == wanted && relative.is_some_and(|path| request.pattern.matches(path)) {
            return Ok(Some(entry));
        }
    }
    Ok(None)
}

/// Finds what the directories that the pattern starts with were probably meant to be, where they do not exist.
fn near_directories(request: &Request) -> Vec<Near> {
    let Request { workdir, start, text, .. } = request;
    let is_plain = |name: &&str| !name.contains(['*', '?', '[', ']', '{', '}', '\\']);
    let names = text.split('/').filter(|name| !matches!(*name, "" | ".")).take_while(is_plain);
    let literal = names.fold(start.clone(), |path, name| path.join_file_name(name).unwrap_or(path));
    let near = existing_near(workdir, &literal);
    // Only what is below the start is declared; if that is gone meanwhile, the names are from above it.
    near.into_iter()
        .filter(|(path, _)| path.starts_with(start))
        .map(|(path, is_directory)| Near { path, is_directory })
        .collect()
}

fn existing_near(workdir: &Workdir, path: &WorkdirPath) -> Vec<(WorkdirPath, bool)> {
    let near = workdir.near_names(path).into_iter();
    near.map(|path| {
        let is_directory = workdir.kind(&path).is_ok_and(|kind| kind == EntryKind::Directory);
        (path, is_directory)
    })
    .collect()
}

#[cfg(test)]
mod tests;
