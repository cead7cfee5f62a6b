//! Shows a run: as a page that needs nothing but a browser, as data, or as a trace.

mod calls;
mod data;
mod find;
mod gather;
mod open;
mod page;
mod recorded;
mod trace;
mod transcript;

use crate::exit::{Exit, UsageError};
use crate::kept_state::KeptState;
use crate::paint::QUIET;
use anyhow::{Context as _, Result};
use clap::Args;
use data::Report;
use std::io::Write as _;
use std::path::{Path, PathBuf, absolute};
use tempfile::NamedTempFile;

#[derive(Debug, Args)]
pub(crate) struct ReportOptions {
    /// The run, or the beginning of its id; the latest by default
    pub(crate) run: Option<String>,
    /// Write it to this file; `-` for standard output
    #[arg(long, short, value_name = "FILE|-")]
    pub(crate) output: Option<PathBuf>,
    /// Open the page in the browser
    #[arg(long, conflicts_with_all = ["json", "trace"])]
    pub(crate) open: bool,
    /// Print the data as JSON
    #[arg(long, conflicts_with = "trace")]
    pub(crate) json: bool,
    /// Write a trace of Chrome's form
    #[arg(long)]
    pub(crate) trace: bool,
}

/// Writes what is kept of a run to a file, or to standard output.
pub(crate) async fn report(options: ReportOptions) -> Result<Exit> {
    let state = KeptState::from_environment()?;
    let store = state.existing()?.ok_or_else(find::nothing_kept)?;
    let run = find::find(store, options.run.as_deref()).await?;
    let report = gather::gather(store, &run).await?;
    let (text, name) = if options.json {
        (serde_json::to_string_pretty(&report)? + "\n", None)
    } else if options.trace {
        (trace::trace(&report)?, Some(format!("haft-trace-{run}.json")))
    } else {
        (page::page(&report)?, Some(format!("haft-report-{run}.html")))
    };
    let file = match (&options.output, name) {
        (Some(path), _) if path.as_os_str() == "-" => None,
        (Some(path), _) => Some(path.clone()),
        (None, name) => name.map(PathBuf::from),
    };
    let Some(file) = file else {
        return match std::io::stdout().write_all(text.as_bytes()) {
            // Whoever reads it has read enough.
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(Exit::Done),
            written => written.context("cannot write the report").map(|()| Exit::Done),
        };
    };
    write(&file, &text).with_context(|| {
        let shown = file.display();
        UsageError(format!("cannot write `{shown}`; name another file with --output, or `-`"))
    })?;
    let file = absolute(&file)?;
    anstream::println!("{}  {QUIET}{}{QUIET:#}", file.display(), holds(&report));
    if options.open {
        open::open(&file).await;
    }
    Ok(Exit::Done)
}

/// Writes a file of which nothing can be seen before all of it is there; others may not read it, as it may hold anything.
fn write(path: &Path, text: &str) -> std::io::Result<()> {
    if path.is_dir() {
        return Err(std::io::ErrorKind::IsADirectory.into());
    }
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let mut file = NamedTempFile::new_in(directory.unwrap_or(Path::new(".")))?;
    file.write_all(text.as_bytes())?;
    file.persist(path)?;
    Ok(())
}

/// Says in a few words what a report holds.
fn holds(report: &Report) -> String {
    let counted = |count: usize, noun: &str| format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
    match report.runs.len() {
        1 => counted(report.calls.len(), "call"),
        runs => format!("{} in {}", counted(report.calls.len(), "call"), counted(runs, "run")),
    }
}
