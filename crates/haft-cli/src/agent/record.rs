use crate::exit::UsageError;
use crate::paint::ASKS;
use crate::timeline::visible;
use anyhow::{Context as _, Result, ensure};
use haft::tools_core::Redactor;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Says where what a model says is written, and what becomes of what is there.
pub(crate) enum Record {
    /// A file that is not there yet, or holds nothing; any, if that is forced.
    Anew { path: PathBuf, force: bool },
    /// The file that a run has written so many turns to, with those below it.
    GoesOn { path: PathBuf, turns: Turns },
}

/// Says how many turns runs have taken that go on.
#[derive(Debug, Clone, Default)]
pub(crate) struct Turns {
    pub(crate) own: u32,
    /// Those of runs below, by their names in the session.
    pub(crate) below: BTreeMap<String, u32>,
}

impl Record {
    /// Opens the file; a record that cannot go on is no reason for its run not to.
    pub(super) fn open(self, redactor: &Redactor) -> Result<Option<Redacting>> {
        let file = match self {
            Self::Anew { path, force } => create(&path, force)?,
            Self::GoesOn { path, turns } => match cut(&path, &turns) {
                Ok(file) => file,
                Err(error) => {
                    let (path, error) = (path.display().to_string(), format!("{error:#}"));
                    errln!(
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
            "the record `{shown}` is there already; name another file, or write over it with `--force`"
        );
        return Err(UsageError(message).into());
    }
    OpenOptions::new().write(true).create(true).truncate(true).open(path).with_context(cannot)
}

/// Opens a record behind the turns that its runs know of: one that was written as the process ended is asked for anew.
fn cut(path: &Path, turns: &Turns) -> Result<File> {
    let file = OpenOptions::new().read(true).write(true).open(path)?;
    let mut lines = BufReader::new(&file);
    let (mut kept, mut found) = (String::new(), BTreeMap::<String, u32>::new());
    let mut is_behind = false;
    let mut line = String::new();
    loop {
        line.clear();
        lines.read_line(&mut line)?;
        if !line.ends_with('\n') {
            break;
        }
        let stays = if line.trim().is_empty() {
            true
        } else {
            let turn: Value = serde_json::from_str(&line).context("it is not a session")?;
            // The turns of runs below stand between.
            let run = turn["run"].as_str().unwrap_or_default();
            let most = if run.is_empty() { Some(turns.own) } else { turns.below.get(run).copied() };
            let taken = found.entry(run.to_owned()).or_default();
            // Of a run that is not known any more it is only known where its turns stand.
            let stays = most.map_or(!is_behind, |most| *taken < most);
            *taken += u32::from(stays);
            is_behind |= run.is_empty() && !stays;
            stays
        };
        if stays {
            kept.push_str(&line);
        }
    }
    let found = found.get("").copied().unwrap_or_default();
    ensure!(found == turns.own, "it has {found} turns where the run has taken {}", turns.own);
    // What is there stays there until all of it is written, beside it and where a link to it leads.
    let path = fs::canonicalize(path)?;
    let mut cut = NamedTempFile::new_in(path.parent().unwrap_or(Path::new("/")))?;
    cut.write_all(kept.as_bytes())?;
    cut.as_file().set_permissions(file.metadata()?.permissions())?;
    Ok(cut.persist(&path)?)
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
        check_with(record, &Turns { own: turns, ..Turns::default() }, expected);
    }

    fn check_with(record: &str, turns: &Turns, expected: Result<&str, &str>) {
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
        check("no\n", 1, Err("it is not a session"));
    }

    #[cfg(unix)]
    #[test]
    fn a_record_goes_on_where_its_link_leads_and_nowhere_else() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};

        let line = "{\"text\":\"a\"}\n";
        let tree = Tree::new().file("kept/record.jsonl", &format!("{line}{line}")).file("other", "of others");
        let at = |name: &str| tree.path().join(name);
        let record = at("kept/record.jsonl");
        fs::set_permissions(&record, fs::Permissions::from_mode(0o640)).unwrap();
        symlink("kept/record.jsonl", at("link.jsonl")).unwrap();
        // Whoever knows how the name of a new file is made could have it written elsewhere.
        symlink("../other", at("kept/record.jsonl.new")).unwrap();
        symlink("other", at("link.jsonl.new")).unwrap();

        drop(cut(&at("link.jsonl"), &Turns { own: 1, ..Turns::default() }).unwrap());
        assert_eq!(
            (tree.read("kept/record.jsonl").as_str(), tree.read("other").as_str()),
            (line, "of others")
        );
        assert!(fs::symlink_metadata(at("link.jsonl")).unwrap().is_symlink());
        assert_eq!(fs::metadata(&record).unwrap().permissions().mode() & 0o777, 0o640);
    }

    #[test]
    fn turns_of_runs_below_stay_with_the_turn_that_began_them() {
        let lines = "{\"text\":\"a\"}\n{\"run\":\"c1/0\",\"text\":\"x\"}\n";
        check(&format!("{lines}{{\"text\":\"b\"}}\n"), 1, Ok(&format!("{lines}new\n")));
    }

    #[test]
    fn a_turn_of_a_run_below_that_is_asked_for_anew_is_not_there_twice() {
        let begin = "{\"text\":\"a\"}\n{\"run\":\"c1/0\",\"text\":\"x\"}\n";
        let other = "{\"run\":\"c1/1\",\"text\":\"z\"}\n";
        let below = BTreeMap::from([("c1/0".to_owned(), 1), ("c1/1".to_owned(), 1)]);
        check_with(
            &format!("{begin}{{\"run\":\"c1/0\",\"text\":\"y\"}}\n{other}"),
            &Turns { own: 1, below },
            Ok(&format!("{begin}{other}new\n")),
        );
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
