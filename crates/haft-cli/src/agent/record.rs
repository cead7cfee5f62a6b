use crate::exit::UsageError;
use crate::paint::ASKS;
use crate::timeline::visible;
use anyhow::{Context as _, Result, ensure};
use haft::Redactor;
use serde_json::Value;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Seek as _, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Says where what a model says is written, and what becomes of what is there.
pub(crate) enum Record {
    /// A file that is not there yet, or holds nothing; any, if that is forced.
    Anew { path: PathBuf, force: bool },
    /// The file that a run has written so many turns to.
    GoesOn { path: PathBuf, turns: u32 },
}

impl Record {
    /// Opens the file; a record that cannot go on is no reason for its run not to.
    pub(super) fn open(self, redactor: &Redactor) -> Result<Option<Redacting>> {
        let file = match self {
            Self::Anew { path, force } => create(&path, force)?,
            Self::GoesOn { path, turns } => match cut(&path, turns) {
                Ok(file) => file,
                Err(error) => {
                    let (path, error) = (path.display().to_string(), format!("{error:#}"));
                    anstream::eprintln!(
                        "{ASKS}note{ASKS:#}: the record `{}` does not go on: {}",
                        visible(&path),
                        visible(&error)
                    );
                    return Ok(None);
                }
            },
        };
        Ok(Some(Redacting { file, redactor: redactor.clone() }))
    }
}

fn create(path: &Path, force: bool) -> Result<File> {
    let cannot = || {
        let shown = path.display();
        UsageError(format!("cannot write the record `{shown}`; name a file in a directory that is there"))
    };
    let is_taken = fs::metadata(path).is_ok_and(|found| found.len() > 0 || !found.is_file());
    if is_taken && !force {
        let shown = path.display();
        let message = format!(
            "the record `{shown}` is there already; name another file, or write over it with --force"
        );
        return Err(UsageError(message).into());
    }
    OpenOptions::new().write(true).create(true).truncate(true).open(path).with_context(cannot)
}

/// Opens a record behind the turns that its run knows of: one that was written as the process ended is asked for anew.
fn cut(path: &Path, turns: u32) -> Result<File> {
    let mut file = OpenOptions::new().read(true).write(true).open(path)?;
    let mut lines = BufReader::new(&file);
    let (mut end, mut found) = (0, 0);
    let mut line = String::new();
    loop {
        line.clear();
        let read = lines.read_line(&mut line)? as u64;
        if !line.ends_with('\n') {
            break;
        }
        if !line.trim().is_empty() {
            let turn: Value = serde_json::from_str(&line).context("it is no session")?;
            // The turns of runs below stand between.
            let is_own = turn["run"].as_str().unwrap_or_default().is_empty();
            if is_own && found == turns {
                break;
            }
            found += u32::from(is_own);
        }
        end += read;
    }
    ensure!(found == turns, "it has {found} turns where the run has taken {turns}");
    file.set_len(end)?;
    file.seek(SeekFrom::End(0))?;
    Ok(file)
}

/// Writes lines of JSON to a file without the secrets that are registered.
pub(super) struct Redacting {
    file: File,
    redactor: Redactor,
}

impl Write for Redacting {
    /// Takes a whole line, as a recording model writes it.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = std::str::from_utf8(line).map_err(io::Error::other)?;
        if self.redactor.redact(text) == text {
            self.file.write_all(line)?;
        } else {
            // A secret may be a number, which only stays JSON when all of it is replaced.
            let mut turn: Value = serde_json::from_str(text)?;
            self.redactor.redact_value(&mut turn);
            self.file.write_all(format!("{turn}\n").as_bytes())?;
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use haft_testkit::Tree;
    use std::io::Read as _;

    /// Opens a record behind some turns, writes one more, and gives what it holds.
    fn check(record: &str, turns: u32, expected: Result<&str, &str>) {
        let tree = Tree::new().file("record.jsonl", record);
        let path = tree.path().join("record.jsonl");
        let held = cut(&path, turns).map_err(|error| error.to_string()).map(|mut file| {
            file.write_all(b"new\n").unwrap();
            let mut held = String::new();
            File::open(&path).unwrap().read_to_string(&mut held).unwrap();
            held
        });
        assert_eq!(held.as_deref().map_err(String::as_str), expected);
    }

    #[test]
    fn a_record_goes_on_behind_the_turns_that_its_run_knows_of() {
        let (a, b) = ("{\"text\":\"a\"}\n", "{\"text\":\"b\"}\n");
        check(&format!("{a}{b}"), 1, Ok(&format!("{a}new\n")));
        check(&format!("{a}{b}"), 2, Ok(&format!("{a}{b}new\n")));
        check(&format!("{a}{{\"text\":\"b"), 1, Ok(&format!("{a}new\n")));
        check(a, 2, Err("it has 1 turns where the run has taken 2"));
        check("no\n", 1, Err("it is no session"));
    }

    #[test]
    fn turns_of_runs_below_stay_with_the_turn_that_began_them() {
        let lines = "{\"text\":\"a\"}\n{\"run\":\"c1/0\",\"text\":\"x\"}\n";
        check(&format!("{lines}{{\"text\":\"b\"}}\n"), 1, Ok(&format!("{lines}new\n")));
    }

    #[test]
    fn secrets_are_written_nowhere() {
        let tree = Tree::new();
        let path = tree.path().join("record.jsonl");
        let redactor = Redactor::new();
        redactor.add("hunter22").unwrap();
        let record = Record::Anew { path, force: false };
        let mut sink = record.open(&redactor).unwrap().unwrap();
        sink.write_all(b"{\"text\":\"it is hunter22\",\"calls\":[]}\n").unwrap();
        assert_eq!(tree.read("record.jsonl"), "{\"calls\":[],\"text\":\"it is [redacted]\"}\n");
    }
}
