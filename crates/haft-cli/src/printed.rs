//! What is written to the standard streams.

use crate::exit::{Exit, say_error};
use anyhow::Result;
use serde::Serialize;
use std::fmt;
use std::io::{self, ErrorKind, Write as _};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio_util::sync::CancellationToken;

/// Prints a line on standard output.
///
/// Unlike that of the standard library it does not panic where nothing can be written, which may be in the middle of a run;
/// [`finish`] has the command fail then.
macro_rules! outln {
    () => { $crate::printed::write_out(::std::format_args!("\n")) };
    ($($text:tt)*) => { $crate::printed::write_out(::std::format_args!("{}\n", ::std::format_args!($($text)*))) };
}

/// Prints on standard output, as `outln` does, and stays in the line.
macro_rules! out {
    ($($text:tt)*) => { $crate::printed::write_out(::std::format_args!($($text)*)) };
}

/// Prints a line on standard error, if that can be written.
macro_rules! errln {
    () => { $crate::printed::write_error(::std::format_args!("\n")) };
    ($($text:tt)*) => { $crate::printed::write_error(::std::format_args!("{}\n", ::std::format_args!($($text)*))) };
}

/// Says that nothing can be printed.
static CUT_OFF: LazyLock<CancellationToken> = LazyLock::new(CancellationToken::new);

/// Says that something is missing of what was printed, and that it was not the reader who wanted no more.
static IS_LOST: AtomicBool = AtomicBool::new(false);

/// Is cancelled when nothing can be printed any more: what tells of its course in this way had better end.
pub(crate) fn cut_off() -> &'static CancellationToken {
    &CUT_OFF
}

/// Gives what the command ended with, if all was printed.
pub(crate) fn finish(exit: Exit) -> Exit {
    note_failure(io::stdout().flush());
    if IS_LOST.load(Ordering::Relaxed) && exit == Exit::Done { Exit::Failed } else { exit }
}

pub(crate) fn write_out(text: fmt::Arguments<'_>) {
    note_failure(anstream::stdout().lock().write_fmt(text));
}

pub(crate) fn write_error(text: fmt::Arguments<'_>) {
    // There is no place left to say it.
    let _ = anstream::stderr().lock().write_fmt(text);
}

/// Prints one value as JSON, over several lines.
pub(crate) fn print_json(value: &impl Serialize) -> Result<()> {
    // The members of every object stand in one order, whatever the type's is.
    outln!("{}", serde_json::to_string_pretty(&serde_json::to_value(value)?)?);
    Ok(())
}

/// Prints one value as a line of JSON.
pub(crate) fn print_json_line(value: &impl Serialize) -> Result<()> {
    outln!("{}", serde_json::to_value(value)?);
    Ok(())
}

/// Writes a text to standard output as it is, whatever reads it.
pub(crate) fn print_as_it_is(text: &[u8]) {
    let mut output = io::stdout().lock();
    note_failure(output.write_all(text).and_then(|()| output.flush()));
}

/// Takes note of what could not be printed, and says so once.
pub(crate) fn note_failure(written: io::Result<()>) {
    // Whoever reads it may have read enough.
    let Some(error) = written.err().filter(|error| error.kind() != ErrorKind::BrokenPipe) else { return };
    if !IS_LOST.swap(true, Ordering::Relaxed) {
        say_error(&anyhow::Error::new(error).context("cannot write to standard output"));
    }
    CUT_OFF.cancel();
}
