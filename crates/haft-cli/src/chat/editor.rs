use super::entered::{is_whole, joined};
use super::input::Came;
use crate::exit;
use crate::user_directories::UserDirectories;
use anyhow::{Context as _, Result};
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Cmd, Config, Context, Event, Helper, KeyCode, KeyEvent, Modifiers};
use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// How many messages are remembered.
const REMEMBERED: usize = 1000;

/// How the library begins a file in which messages of several lines stand.
const FORM: &[u8] = b"#V2\n";

/// Has a person write at a terminal, with what they wrote before at hand.
pub(super) struct Editor {
    /// Is away while a line is read.
    lines: Option<rustyline::Editor<Writing, FileHistory>>,
    history: Option<PathBuf>,
}

/// Knows what is being written.
#[derive(Default)]
struct Writing {
    /// Whether the line holds something.
    holds_text: AtomicBool,
}

impl Editor {
    pub(super) fn new() -> Result<Self> {
        let config = Config::builder()
            .max_history_size(REMEMBERED)?
            .history_ignore_space(true)
            .auto_add_history(false);
        let mut lines = rustyline::Editor::with_config(config.build()).context("cannot use the terminal")?;
        lines.set_helper(Some(Writing::default()));
        for key in [KeyEvent(KeyCode::Enter, Modifiers::ALT), KeyEvent(KeyCode::Char('J'), Modifiers::CTRL)] {
            lines.bind_sequence(Event::from(key), Cmd::Newline);
        }
        let history = match history() {
            Ok(history) => history,
            Err(error) => {
                exit::note(error.as_ref());
                None
            }
        };
        if let Some(path) = &history
            && let Err(error) = lines.load_history(path)
        {
            exit::note(&error);
        }
        Ok(Self { lines: Some(lines), history })
    }

    /// Waits until a message or a command was written.
    pub(super) async fn next(&mut self, prompt: &str) -> Result<Came> {
        let mut lines = self.lines.take().expect("it is given back after each line, or the chat ends");
        let prompt = prompt.to_owned();
        if let Some(writing) = lines.helper() {
            writing.holds_text.store(false, Ordering::Relaxed);
        }
        outln!();
        let (lines, read) = tokio::task::spawn_blocking(move || {
            let read = lines.readline(&prompt);
            (lines, read)
        })
        .await?;
        let lines = self.lines.insert(lines);
        match read {
            Ok(text) => {
                let text = joined(&text);
                // What stands in the history must not be of a terminal that is closed, or of a file that is full.
                if lines.add_history_entry(text.as_str()).unwrap_or(false)
                    && let Some(path) = &self.history
                    && let Err(error) = lines.append_history(path)
                {
                    exit::note(&error);
                    self.history = None;
                }
                Ok(Came::Text(text))
            }
            Err(ReadlineError::Interrupted) => {
                let held = lines.helper().is_some_and(|writing| writing.holds_text.load(Ordering::Relaxed));
                Ok(if held { Came::GivenUp } else { Came::End })
            }
            Err(ReadlineError::Eof) => Ok(Came::End),
            Err(error) => Err(error).context("cannot read from the terminal"),
        }
    }
}

/// The file of what was written before, which only its owner can read; none where nothing is remembered.
fn history() -> Result<Option<PathBuf>> {
    let user = UserDirectories::from_environment();
    let Ok(directory) = user.state() else { return Ok(None) };
    let path = directory.join("chat-history");
    let cannot = || format!("what is written here is not remembered: `{}` cannot be used", path.display());
    prepared(directory, &path).with_context(cannot)?;
    Ok(Some(path))
}

/// Makes the file if there is none, and has nobody but its owner read it.
fn prepared(directory: &Path, path: &Path) -> Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    match made {
        Ok(mut file) => file.write_all(FORM)?,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let metadata = path.symlink_metadata()?;
            anyhow::ensure!(metadata.is_file(), "it is not a regular file; look at it, and move it away");
            if metadata.permissions().mode() & 0o077 != 0 {
                fs::set_permissions(path, Permissions::from_mode(0o600))?;
            }
        }
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

impl Helper for Writing {}
impl Completer for Writing {
    type Candidate = String;
}
impl Highlighter for Writing {}

impl Hinter for Writing {
    type Hint = String;

    /// Gives none, and sees each change of what is written.
    fn hint(&self, line: &str, _: usize, _: &Context<'_>) -> Option<String> {
        self.holds_text.store(!line.is_empty(), Ordering::Relaxed);
        None
    }
}

impl Validator for Writing {
    fn validate(&self, written: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let whole = is_whole(written.input());
        Ok(if whole { ValidationResult::Valid(None) } else { ValidationResult::Incomplete })
    }
}
