use super::found::{Found, FoundEntry, Inside};
use super::gather::{Counted, count};
use super::sieve::Sieve;
use crate::blocking::go_on;
use crate::words::{Count, Shown, counted, joined, size};
use haft_core::ToolError;
use haft_workdir::{EntryKind, ResolveError, Workdir, WorkdirPath};
use std::fmt::Write as _;
use tokio_util::sync::CancellationToken;

/// Writes a listing: the directory, its tree, and what is not shown.
pub(super) fn render(
    workdir: &Workdir,
    found: &Found,
    sieve: &Sieve,
    stop: &CancellationToken,
) -> Result<String, ToolError> {
    let mut text = format!("{}/", Shown::new(found.start.as_str()));
    for entry in found.entries.iter().filter(|entry| entry.is_shown) {
        go_on(stop)?;
        let name = Shown::new(entry.path.file_name().unwrap_or_default());
        // Writing to a string cannot fail.
        let _ = write!(text, "\n{:indent$}{name}", "", indent = entry.level * 2);
        let _ = match entry.kind {
            EntryKind::File => write!(text, "{}", file(workdir, &entry.path)),
            EntryKind::Directory => write!(text, "/{}", directory(workdir, found, entry, sieve)),
            EntryKind::Symlink => write!(text, "{}", link(workdir, &entry.path)),
            other @ EntryKind::Other(_) => write!(text, "  ({other})"),
        };
    }
    if found.entries.is_empty() {
        text.push_str("  (no entries to show)");
    }
    for note in notes(found) {
        let _ = write!(text, "\n[{note}]");
    }
    Ok(text)
}

fn file(workdir: &Workdir, path: &WorkdirPath) -> String {
    match workdir.metadata(path) {
        Ok(metadata) => format!("  {}", size(metadata.size())),
        // It was removed or replaced since the walk met it.
        Err(_) => "  (gone)".to_owned(),
    }
}

/// Says how many entries a directory has, where they are not all shown.
fn directory(workdir: &Workdir, found: &Found, entry: &FoundEntry, sieve: &Sieve) -> String {
    match entry.inside {
        Inside::Unreadable => "  (cannot be listed)".to_owned(),
        Inside::Listed { entries, shown } if entries > 0 => {
            let more = if found.ended_early { "+" } else { "" };
            match shown {
                0 => format!("  ({}{more} {})", Count(entries), noun(entries)),
                _ if shown < entries => {
                    format!("  ({}{more} entries, {} shown)", Count(entries), Count(shown))
                }
                _ => String::new(),
            }
        }
        Inside::Listed { .. } | Inside::Unknown => match count(workdir, &entry.path, found.options, sieve) {
            None => "  (cannot be listed)".to_owned(),
            Some(Counted { entries: 0, skipped, .. }) => match skipped.hidden + skipped.ignored {
                0 => "  (empty)".to_owned(),
                left_out => format!("  ({} hidden or ignored)", Count(left_out)),
            },
            Some(Counted { entries, is_all, .. }) => {
                let entries = entries as u64;
                format!("  ({}{} {})", Count(entries), if is_all { "" } else { "+" }, noun(entries))
            }
        },
    }
}

fn noun(entries: u64) -> &'static str {
    if entries == 1 { "entry" } else { "entries" }
}

/// Says where a symbolic link leads.
fn link(workdir: &Workdir, path: &WorkdirPath) -> String {
    match workdir.resolve(path.as_str()) {
        Ok(target) => {
            let is_directory = workdir.kind(&target).is_ok_and(|kind| kind == EntryKind::Directory);
            format!(" -> {}{}", Shown::new(target.as_str()), if is_directory { "/" } else { "" })
        }
        Err(ResolveError::LinkOutside { .. }) => "  (link, leads out of the working directory)".to_owned(),
        Err(ResolveError::DanglingLink { .. }) => "  (link, leads nowhere)".to_owned(),
        Err(_) => "  (link, cannot be followed)".to_owned(),
    }
}

/// Counts what is not shown, and says how to see it.
fn notes(found: &Found) -> Vec<String> {
    let mut notes = Vec::new();
    let (shown, all) = (found.shown(), found.entries.len());
    if shown < all || found.ended_early {
        notes.push(format!(
            "{} of {}{} entries shown; list a directory by itself to see more",
            Count(shown as u64),
            if found.ended_early { "more than " } else { "" },
            Count(all as u64)
        ));
    }
    let mut left_out = Vec::new();
    let mut options = Vec::new();
    if found.skipped.hidden > 0 {
        left_out.push(format!("{} hidden", Count(found.skipped.hidden)));
        options.push("`hidden`".to_owned());
    }
    if found.skipped.ignored > 0 {
        left_out.push(format!("{} ignored", Count(found.skipped.ignored)));
        options.push("`ignored`".to_owned());
    }
    if !left_out.is_empty() {
        notes.push(format!(
            "left out: {}; set {} to see them",
            joined(&left_out, "and"),
            joined(&options, "or")
        ));
    }
    if found.skipped.held_back > 0 {
        let entries = counted(found.skipped.held_back, "entry", "entries");
        notes.push(format!("left out: {entries} that the policy denies"));
    }
    if found.skipped.not_unicode > 0 {
        notes.push(format!(
            "left out: {} that is not UTF-8",
            counted(found.skipped.not_unicode, "name", "names")
        ));
    }
    notes
}
