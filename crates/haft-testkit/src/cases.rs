//! Markdown pages that are tests of tools and their reference at once.
//!
//! A page is what a person reads to learn how a tool behaves, and each of its examples is run. [`check`] runs all pages
//! of a directory.
//!
//! # How a page is written
//!
//! A `#` title and prose, then one `##` heading for each case, with prose and blocks. A block is fenced with three or
//! more backticks at the start of the line; the words after them say what it is:
//!
//! | block | what it is |
//! |---|---|
//! | `file PATH [FLAG …]` | a file of the tree, its lines |
//! | `dir PATH` | a directory; the block is empty |
//! | `link PATH TARGET` | a symbolic link; the block is empty |
//! | `call NAME` | a call, its arguments as JSON |
//! | `reply STATUS` | how the call before it ends (a [`ReplyStatus`](haft_core::ReplyStatus) as it is printed) and exactly the text the model gets |
//! | `after PATH [FLAG …]` | a file as it is after the call before it; `absent` where there is none |
//! | `text` | part of the prose |
//!
//! Every line of a file ends in a line feed, and a block without lines is an empty file. The flags change that:
//! `no-newline` (the last line has no end), `crlf` (lines end in CR LF), `hex` (bytes as pairs of digits, in any
//! lines), and for `file` also `executable`. A reply's text ends without a line feed; if it has one, an empty line shows it.
//!
//! Each case starts with a tree of its own, made of the blocks before the first `##` and those before its first call. Its
//! calls are run in order, each with its reply and then the files after it. What a tool says must therefore be the same
//! every time: a page has no way to leave out a part of a text.
//!
//! A block that is none of these, or stands where it means nothing, fails the test with the file and line.
//!
//! # Accepting a change
//!
//! With the environment variable `UPDATE_EXPECT` set, `reply` and `after` blocks that differ are rewritten in place and
//! missing replies are added; everything else keeps its bytes. Review the change like code.
//!
//! # Example
//!
//! ````text
//! # count_words
//!
//! Counts the words of a file.
//!
//! ## Counts across lines
//!
//! ```file notes.txt
//! one two
//! three
//! ```
//!
//! ```call count_words
//! {"path": "notes.txt"}
//! ```
//!
//! ```reply ok
//! 3
//! ```
//! ````

mod content;
mod failure;
mod page;
mod run;
mod scan;

use crate::Tree;
use failure::{Failure, mended};
use haft_tools_core::ToolRegistry;
use page::Page;
use std::fs;
use std::path::{Path, PathBuf};

/// Runs every page (`*.md`) of a directory against the tools made for each case's tree.
///
/// The directory is relative to where the test runs, which for cargo is the package: `tests/cases`. A reply that names
/// the tree's host path fails whatever the page says. Call it from an ordinary test: it brings a runtime of its own.
///
/// ```no_run
/// // There is no such directory where this example runs.
/// use haft_tools_core::ToolRegistry;
///
/// haft_testkit::cases::check("tests/cases", |tree| {
///     let _workdir = tree.workdir();
///     ToolRegistry::new()
/// });
/// ```
///
/// # Panics
///
/// When a page is malformed, a case does not give what its page says, or there is no page at all; the message names
/// the page, the line and the case and shows the difference.
pub fn check(directory: impl AsRef<Path>, tools: impl Fn(&Tree) -> ToolRegistry) {
    let mode = if std::env::var_os("UPDATE_EXPECT").is_some() { Mode::Update } else { Mode::Compare };
    if let Err(report) = check_pages(directory.as_ref(), mode, &tools) {
        panic!("{report}");
    }
}

/// Says what to do with what is not as a page says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Compare,
    Update,
}

fn check_pages(directory: &Path, mode: Mode, tools: &dyn Fn(&Tree) -> ToolRegistry) -> Result<(), String> {
    let mut reports = Vec::new();
    for path in pages(directory)? {
        if let Err(report) = check_page(&path, mode, tools) {
            reports.push(report);
        }
    }
    if reports.is_empty() { Ok(()) } else { Err(reports.join("\n")) }
}

fn pages(directory: &Path) -> Result<Vec<PathBuf>, String> {
    let failed = |error| format!("cannot list the pages of `{}`: {error}", directory.display());
    let mut pages = Vec::new();
    for entry in fs::read_dir(directory).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|extension| extension == "md") {
            pages.push(path);
        }
    }
    pages.sort();
    if pages.is_empty() {
        return Err(format!("`{}` has no page (`*.md`) to check", directory.display()));
    }
    Ok(pages)
}

fn check_page(path: &Path, mode: Mode, tools: &dyn Fn(&Tree) -> ToolRegistry) -> Result<(), String> {
    let shown = path.display();
    let text =
        fs::read_to_string(path).map_err(|error| format!("cannot read the page `{shown}`: {error}"))?;
    let page = Page::parse(&text)
        .map_err(|malformed| format!("{shown}:{}: {}\n", malformed.line, malformed.reason))?;
    let mut failures = run::run(&page, tools).map_err(|error| format!("{shown}: {error}"))?;
    if mode == Mode::Update {
        let (mendable, rest): (Vec<Failure>, Vec<Failure>) =
            failures.into_iter().partition(|failure| failure.mend.is_some());
        failures = rest;
        if !mendable.is_empty() {
            let text = mended(&text, mendable.into_iter().filter_map(|failure| failure.mend).collect());
            fs::write(path, text).map_err(|error| format!("cannot rewrite the page `{shown}`: {error}"))?;
        }
    }
    if failures.is_empty() {
        return Ok(());
    }
    let mendable = failures.iter().any(|failure| failure.mend.is_some());
    let mut report: String = failures.iter().map(|failure| failure.report(&shown)).collect();
    if mendable {
        report.push_str(
            "If this is as it should be, run the test with UPDATE_EXPECT=1 and review the change.\n",
        );
    }
    Err(report)
}

#[cfg(test)]
mod tests;
