//! Parts that tests have other processes play: this very program, started to run one test alone.

use crate::session::Session;
use crate::{killing, racing, session};
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead as _, BufReader, Lines, Write as _};
use std::path::PathBuf;
use std::process::{ChildStdin, ChildStdout, Command, Stdio};

/// The variable that says which part a process plays; it is only ever set for a process that is started.
const PART: &str = "HAFT_STORE_TEST_PART";

/// What stands before each line that a part says, beside what the test harness prints.
const SAYS: &str = "says: ";

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Part {
    /// Opens a database and keeps a grant, once it is told to.
    Open { path: PathBuf, rule: String },
    /// Claims so many calls, once it is told to, and says which it got.
    Claim { path: PathBuf, calls: usize },
    /// Writes until it is killed, and says what was acknowledged.
    Write { path: PathBuf, name: String },
    /// Takes a run and keeps it until it is killed.
    Take { path: PathBuf, run: String },
    /// Locks a database until it is killed.
    Lock { path: PathBuf },
    /// Opens a database that it may not write, and says what that gives.
    OpenReadOnly { path: PathBuf },
    /// Makes calls that have to wait, and ends, or stays until it is killed.
    Ask { session: Session, stays: bool },
    /// Changes files until it is killed at this step.
    #[cfg(all(unix, feature = "changes"))]
    Change { root: PathBuf, journal: PathBuf, steps: usize },
    /// Goes on with them.
    Answer { session: Session, until: session::Until },
}

#[test]
fn plays_its_part() {
    let Ok(part) = std::env::var(PART) else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        match serde_json::from_str(&part).unwrap() {
            Part::Open { path, rule } => racing::open(path, rule).await,
            Part::Claim { path, calls } => racing::claim(path, calls).await,
            Part::Write { path, name } => killing::write(path, name).await,
            Part::Take { path, run } => racing::take(path, run).await,
            Part::Lock { path } => crate::hostile::lock(path),
            Part::OpenReadOnly { path } => crate::hostile::open_read_only(&path),
            Part::Ask { session, stays } => session.ask_in_child(stays).await,
            #[cfg(all(unix, feature = "changes"))]
            Part::Change { root, journal, steps } => {
                crate::changes::change_until_killed(&root, &journal, steps);
            }
            Part::Answer { session, until } => session.answer_in_child(until).await,
        }
    });
}

/// Says a line to the test that started this process.
pub(crate) fn say(line: &str) {
    let mut out = io::stdout().lock();
    writeln!(out, "\n{SAYS}{line}").unwrap();
    out.flush().unwrap();
}

/// Waits until the test that started this process says so.
pub(crate) fn wait_for_start() {
    say("ready");
    io::stdin().lock().read_line(&mut String::new()).unwrap();
}

/// Stays until it is killed.
pub(crate) fn stay() -> ! {
    loop {
        std::thread::park();
    }
}

/// Is a process that plays a part; it is killed at the latest when this is dropped.
pub(crate) struct Child {
    process: std::process::Child,
    lines: Lines<BufReader<ChildStdout>>,
    stdin: ChildStdin,
}

impl Child {
    pub(crate) fn start(part: &Part) -> Self {
        Self::start_with(part, |_| {})
    }

    pub(crate) fn start_with(part: &Part, change: impl FnOnce(&mut Command)) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", "child::plays_its_part", "--nocapture"])
            .env(PART, serde_json::to_string(part).unwrap())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        change(&mut command);
        let mut process = command.spawn().unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let stdin = process.stdin.take().unwrap();
        Self { process, lines, stdin }
    }

    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    /// Waits for what it says next; `None` once it has ended.
    pub(crate) fn hear(&mut self) -> Option<String> {
        self.lines.by_ref().map(Result::unwrap).find_map(|line| line.strip_prefix(SAYS).map(str::to_owned))
    }

    /// Waits until it says so.
    pub(crate) fn expect(&mut self, line: &str) {
        assert_eq!(self.hear().as_deref(), Some(line));
    }

    pub(crate) fn go(&mut self) {
        self.stdin.write_all(b"go\n").unwrap();
    }

    /// Kills it, whatever it is doing; gives what it had said by then.
    pub(crate) fn kill(&mut self) -> Vec<String> {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        std::iter::from_fn(|| self.hear()).collect()
    }

    /// Waits until it has ended well; gives what it said.
    pub(crate) fn end(mut self) -> Vec<String> {
        let said = std::iter::from_fn(|| self.hear()).collect();
        assert!(self.process.wait().unwrap().success(), "{said:?}");
        said
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
