//! Output for programs.

use anyhow::Result;
use serde::Serialize;
use std::io::{self, ErrorKind, Write as _};

/// Prints one value as JSON, over several lines.
pub(crate) fn print_json(value: &impl Serialize) -> Result<()> {
    // The members of every object stand in one order, whatever the type's is.
    anstream::println!("{}", serde_json::to_string_pretty(&serde_json::to_value(value)?)?);
    Ok(())
}

/// Prints one value as a line of JSON.
pub(crate) fn print_json_line(value: &impl Serialize) -> Result<()> {
    anstream::println!("{}", serde_json::to_value(value)?);
    Ok(())
}

/// Writes a text to standard output as it is, whatever reads it.
pub(crate) fn print_as_it_is(text: &[u8]) -> io::Result<()> {
    let mut output = io::stdout().lock();
    match output.write_all(text).and_then(|()| output.flush()) {
        // Whoever reads it has read enough.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}
