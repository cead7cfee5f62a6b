//! Shows a run: as a page that needs nothing but a browser, as data, or as a trace.

mod calls;
mod data;
mod find;
mod gather;
pub(crate) mod live;
mod open;
pub(crate) mod page;
mod recorded;
mod trace;
mod transcript;

pub(crate) use data::Report;

use crate::exit::{Exit, UsageError};
use crate::kept_state::KeptState;
use crate::paint::QUIET;
use crate::printed::print_as_it_is;
use crate::progress::Working;
use crate::timeline::visible;
use anyhow::Result;
use clap::Args;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf, absolute};
use tempfile::NamedTempFile;

#[derive(Debug, Args)]
pub(crate) struct ReportOptions {
    /// The run, or the beginning of its id; the latest by default
    pub(crate) run: Option<String>,
    /// Of the calls, show those of this id alone
    #[arg(long, value_name = "ID")]
    pub(crate) call: Option<String>,
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
    let is_stdout = options.output.as_ref().is_some_and(|path| path.as_os_str() == "-");
    if options.open && is_stdout {
        let message = "standard output cannot be opened in a browser; leave out `--open`, or name a file with `--output`";
        return Err(UsageError(message.to_owned()).into());
    }
    let state = KeptState::find().await?;
    let store = state.existing()?.ok_or_else(find::nothing_kept)?;
    let run = find::find(store, options.run.as_deref()).await?;
    let working = Working::on(format!("gathering what is kept of {run}"));
    let mut report = gather::gather(store, &run).await?;
    let mut of = run.to_string();
    if let Some(call) = &options.call {
        report.calls.retain(|known| known.id == *call);
        if report.calls.is_empty() {
            let message =
                format!("the run `{run}` has no call `{call}`; `haft report {run}` lists its calls");
            return Err(UsageError(message).into());
        }
        of = format!("{run}-{}", file_name(call));
    }
    let (text, name) = if options.json {
        (serde_json::to_string_pretty(&report)? + "\n", None)
    } else if options.trace {
        (trace::trace(&report)?, Some(format!("haft-trace-{of}.json")))
    } else {
        (page::page(&report)?, Some(format!("haft-report-{of}.html")))
    };
    drop(working);
    let file = match (&options.output, name) {
        _ if is_stdout => None,
        (Some(path), _) => Some(path.clone()),
        (None, name) => name.map(PathBuf::from),
    };
    let Some(file) = file else {
        print_as_it_is(text.as_bytes());
        return Ok(Exit::Done);
    };
    write(&file, &text).map_err(|error| {
        let is_users = matches!(
            error.kind(),
            ErrorKind::NotFound | ErrorKind::PermissionDenied | ErrorKind::IsADirectory
        );
        let message = format!("cannot write `{}`; name another file with `--output`, or `-`", file.display());
        let error = anyhow::Error::from(error);
        if is_users { error.context(UsageError(message)) } else { error.context(message) }
    })?;
    let file = absolute(&file)?;
    outln!("{}  {QUIET}{}{QUIET:#}", visible(&file.to_string_lossy()), holds(&report));
    if options.open {
        open::open(&file).await;
    }
    Ok(Exit::Done)
}

/// Makes a part of a file's name of what somebody else has named.
fn file_name(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    name.chars().take(64).map(plain).collect()
}

/// Writes a file of which nothing can be seen before all of it is there; others may not read it, as it may hold anything.
///
/// What is no file, as a pipe or a device, stays what it is, and is written to.
fn write(path: &Path, text: &str) -> std::io::Result<()> {
    match std::fs::metadata(path) {
        Ok(kept) if kept.is_dir() => return Err(ErrorKind::IsADirectory.into()),
        Ok(kept) if !kept.is_file() => {
            return OpenOptions::new().write(true).open(path)?.write_all(text.as_bytes());
        }
        _ => {}
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
