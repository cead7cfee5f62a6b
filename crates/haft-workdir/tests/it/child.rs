//! Another process: this test binary, started again to do one thing.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use haft_workdir::{Existing, Workdir};

use crate::fixture::path;

const TASK: &str = "HAFT_WORKDIR_TEST_TASK";
const ROOT: &str = "HAFT_WORKDIR_TEST_ROOT";

/// The test that is the other process.
const NAME: &str = "child::does_its_task";

/// The user and the group that own nothing.
#[cfg(target_os = "linux")]
pub(crate) const NOBODY: u32 = 65534;

/// How often the other process counts.
pub(crate) const COUNTS: usize = 100;

/// What the other process writes, and in the place of what.
pub(crate) fn contents(task: &str) -> (Vec<u8>, Vec<u8>) {
    let (old, new) = match task {
        "write longer" => (10_000, 30_000),
        "write shorter" => (30_000, 10_000),
        _ => (0, 0),
    };
    (vec![b'o'; old], vec![b'n'; new])
}

/// A process that waits to be told to begin.
pub(crate) struct Other {
    pub(crate) process: Child,
    pub(crate) output: BufReader<ChildStdout>,
}

/// The command that starts this binary again; after it says the number of its thread, it waits for a line.
pub(crate) fn command(task: &str, root: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", NAME, "--ignored", "--nocapture", "--test-threads=1"]);
    command.env(TASK, task).env(ROOT, root);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command
}

impl Other {
    pub(crate) fn start(mut command: Command) -> Self {
        let mut process = command.spawn().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        Self { process, output }
    }

    /// Waits for a line that begins so, and gives the rest of it.
    pub(crate) fn line(&mut self, beginning: &str) -> String {
        let mut line = String::new();
        loop {
            line.clear();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "the other process ended early");
            // Whoever runs the tests may have written the name of the test in front.
            if let Some((_, rest)) = line.split_once(beginning) {
                return rest.trim().to_owned();
            }
        }
    }

    pub(crate) fn begin(&mut self) {
        self.process.stdin.as_mut().unwrap().write_all(b"begin\n").unwrap();
    }
}

#[test]
#[ignore = "it is run by others, as a process of its own"]
fn does_its_task() {
    let (Ok(task), Some(root)) = (std::env::var(TASK), std::env::var_os(ROOT)) else { return };
    let workdir = Workdir::open(&root).unwrap();
    let file = path(&workdir, "dir/file");
    let say = |text: &str| {
        let mut output = std::io::stdout();
        output.write_all(text.as_bytes()).unwrap();
        output.flush().unwrap();
    };
    say(&format!("thread:{}\n", thread_number()));
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
    match task.as_str() {
        "count" => (0..COUNTS).for_each(|_| count(&workdir, "dir/file")),
        #[cfg(target_os = "linux")]
        "write as nobody" => {
            nix::unistd::setgroups(&[]).unwrap();
            nix::unistd::setgid(NOBODY.into()).unwrap();
            nix::unistd::setuid(NOBODY.into()).unwrap();
            let said = match workdir.write_atomic(&file, b"new", Existing::Replace) {
                Ok(written) => format!("{written:?}"),
                Err(error) => error.model_text(),
            };
            say(&format!("said:{said}\n"));
        }
        "look" => {
            let since = Workdir::open(&root).unwrap();
            for (when, workdir) in [("before", &workdir), ("since", &since)] {
                let [file, linked] = ["dir/file", "link/file"].map(|text| path(workdir, text));
                let read = String::from_utf8(workdir.read(&file, 100).unwrap()).unwrap();
                let new = path(workdir, "new");
                workdir.write_atomic(&new, b"", Existing::Replace).unwrap();
                let out = workdir.resolve("out/secret").map_or("refused", |_| "followed");
                say(&format!("opened {when}:{file} {linked} {read} {new} out is {out}\n"));
            }
        }
        "fill" => {
            let large = vec![b'x'; 1 << 20];
            for name in ["dir/file", "dir/linked", "dir/new"] {
                let error =
                    workdir.write_atomic(&path(&workdir, name), &large, Existing::Replace).unwrap_err();
                say(&format!("refused:{}\n", error.model_text()));
            }
        }
        task => {
            let (_, new) = contents(task);
            workdir.write_atomic(&file, &new, Existing::Replace).unwrap();
        }
    }
}

#[cfg(target_os = "linux")]
fn thread_number() -> i32 {
    rustix::thread::gettid().as_raw_nonzero().get()
}

#[cfg(not(target_os = "linux"))]
fn thread_number() -> i32 {
    0
}

/// Adds one to the number in a file.
pub(crate) fn count(workdir: &Workdir, text: &str) {
    let file = path(workdir, text);
    let _lock = workdir.lock([&file]).unwrap();
    let old = workdir.read(&file, 100).unwrap();
    let number: u64 = std::str::from_utf8(&old).unwrap().parse().unwrap();
    workdir.replace_parts(&file, &old, &[(number + 1).to_string().as_bytes()]).unwrap();
}

/// Reads the number that has been counted to.
pub(crate) fn counted(file: &Path) -> usize {
    fs::read_to_string(file).unwrap().parse().unwrap()
}
