//! Output for programs.

use anyhow::Result;
use serde::Serialize;

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
