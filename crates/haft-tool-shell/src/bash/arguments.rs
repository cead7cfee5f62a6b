use std::num::NonZeroU16;
use std::time::Duration;

use haft_core::{Schema, ToolError};
use haft_tools_core::input_schema;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::MOST_SECONDS;
use crate::jobs::{Readiness, Signs};
use crate::running;
use crate::screen::ScreenSize;
use crate::script::{Surroundings, Waiting};

/// How much a script can be given to read, in bytes.
const MOST_INPUT_BYTES: usize = 1024 * 1024;

/// How large a terminal can be, in characters.
const MOST_ROWS: u16 = 200;
const MOST_COLUMNS: u16 = 500;

/// How long a job is waited for until it is ready, at most.
const READY: Duration = Duration::from_mins(1);

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Arguments {
    /// The script. It may have several lines.
    pub(super) command: String,
    /// After how many seconds the script is stopped; what it printed until then is returned.
    #[serde(default = "default_seconds")]
    #[schemars(range(min = 1, max = MOST_SECONDS))]
    pub(super) timeout: u32,
    /// The directory to run the script in, relative to the working directory; if it is left out, the one in which your
    /// last script ended by `cd`.
    #[serde(default)]
    #[schemars(with = "String", skip_serializing_if = "Option::is_none")]
    pub(super) directory: Option<String>,
    /// What the script is for, in a few words; shown to the person who is asked whether it may run.
    #[serde(default)]
    pub(super) description: String,
    /// What the sandbox has to open beyond what the script itself says, such as `write ~/notes.md`, `read /srv/data` or
    /// `connect example.org:443`. The user is asked about it, so give it only after the sandbox has denied something.
    #[serde(default)]
    pub(super) access: Vec<String>,
    /// Whether the script runs on as a job; `timeout` does not count for it then.
    #[serde(default)]
    pub(super) background: bool,
    /// After how many seconds the script becomes a job if it has not ended.
    #[serde(default)]
    #[schemars(with = "u32", skip_serializing_if = "Option::is_none", range(min = 1, max = MOST_SECONDS))]
    pub(super) yield_after: Option<u32>,
    /// Waits, up to 60 seconds, until a job that is started in the background prints what this regular expression matches.
    #[serde(default)]
    #[schemars(with = "String", skip_serializing_if = "Option::is_none", length(min = 1, max = 2000))]
    pub(super) wait_for: Option<String>,
    /// Waits, up to 60 seconds, until a job that is started in the background serves on this port of 127.0.0.1 or `::1`.
    #[serde(default)]
    #[schemars(with = "u16", skip_serializing_if = "Option::is_none", range(min = 1))]
    pub(super) port: Option<u16>,
    /// What the script reads from its standard input, which is empty otherwise.
    #[serde(default)]
    pub(super) input: String,
    /// Whether a job that is started in the background can be written to with `job_write`.
    #[serde(default)]
    pub(super) stdin: bool,
    /// Whether a job that is started in the background has a terminal, for programs that need one; `job_poll` gives its
    /// screen, and `job_write` types.
    #[serde(default)]
    pub(super) pty: bool,
    /// How many rows the terminal has.
    #[serde(default = "rows")]
    #[schemars(range(min = 1, max = MOST_ROWS))]
    rows: NonZeroU16,
    /// How many columns the terminal has.
    #[serde(default = "columns")]
    #[schemars(range(min = 1, max = MOST_COLUMNS))]
    columns: NonZeroU16,
}

/// What is only said of jobs.
const OF_JOBS: [&str; 8] =
    ["background", "yield_after", "wait_for", "port", "stdin", "pty", "rows", "columns"];

/// The schema of the input; nothing can be asked of what is not there.
pub(crate) fn schema<T: JsonSchema>(surroundings: &Surroundings) -> Schema {
    let whole = input_schema::<T>();
    let mut value = whole.as_value().clone();
    if let Some(properties) = value.get_mut("properties").and_then(Value::as_object_mut) {
        if surroundings.sandbox.is_none() {
            properties.remove("access");
        }
        if surroundings.jobs.is_none() {
            for name in OF_JOBS {
                properties.remove(name);
            }
        }
    }
    Schema::new(value).unwrap_or(whole)
}

impl Arguments {
    /// How long the script is waited for.
    pub(super) fn waiting(&self) -> Result<Waiting, ToolError> {
        if !self.background {
            let of_background = [
                (self.wait_for.is_some(), "wait_for"),
                (self.port.is_some(), "port"),
                (self.stdin, "stdin"),
                (self.pty, "pty"),
            ];
            if let Some((_, name)) = of_background.iter().find(|(is_given, _)| *is_given) {
                return Err(ToolError::invalid_input(format!(
                    "`{name}` needs `background`; give both or neither"
                )));
            }
            return match self.yield_after {
                None => Ok(Waiting::Whole),
                Some(seconds) if (1..=MOST_SECONDS).contains(&seconds) => {
                    Ok(Waiting::Until(Duration::from_secs(seconds.into())))
                }
                Some(seconds) => Err(ToolError::invalid_input(format!(
                    "`yield_after` is {seconds} seconds; give 1 to {MOST_SECONDS}"
                ))),
            };
        }
        let pattern = self.wait_for.as_deref().map(Readiness::pattern).transpose()?;
        let signs = Signs { pattern, port: self.port };
        let is_given = signs.pattern.is_some() || signs.port.is_some();
        Ok(Waiting::Not { readiness: is_given.then_some(Readiness { signs, most: READY }) })
    }

    /// What the script reads.
    pub(super) fn reads(&mut self) -> Result<running::Input, ToolError> {
        if self.pty {
            if !self.input.is_empty() {
                return Err(ToolError::invalid_input(
                    "`input` is not a terminal; give `pty` alone, and type with `job_write`",
                ));
            }
            let (rows, columns) = (self.rows, self.columns);
            if rows.get() > MOST_ROWS || columns.get() > MOST_COLUMNS {
                return Err(ToolError::invalid_input(format!(
                    "a terminal has {MOST_ROWS} `rows` and {MOST_COLUMNS} `columns` at most; give fewer"
                )));
            }
            return Ok(running::Input::Terminal(ScreenSize { rows, columns }));
        }
        if !self.stdin {
            return given(&mut self.input);
        }
        if self.input.is_empty() {
            return Ok(running::Input::Open);
        }
        Err(ToolError::invalid_input(
            "`input` is given once, and `stdin` stays open for `job_write`; give one of them",
        ))
    }
}

/// Reads what is given to the standard input.
pub(crate) fn given(text: &mut String) -> Result<running::Input, ToolError> {
    if text.len() > MOST_INPUT_BYTES {
        return Err(ToolError::invalid_input(format!(
            "`input` has {} bytes, and {MOST_INPUT_BYTES} is the most there can be; put it into a file",
            text.len()
        )));
    }
    let text = std::mem::take(text);
    Ok(if text.is_empty() { running::Input::Empty } else { running::Input::Text(text.into()) })
}

fn rows() -> NonZeroU16 {
    const { NonZeroU16::new(24).expect("it is not 0") }
}

fn columns() -> NonZeroU16 {
    const { NonZeroU16::new(80).expect("it is not 0") }
}

pub(crate) fn default_seconds() -> u32 {
    120
}

pub(crate) fn default_directory() -> String {
    ".".to_owned()
}
