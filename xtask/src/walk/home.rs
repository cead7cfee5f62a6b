//! An empty home directory, in which commands are run one after the other.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, PipeReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, ensure};

use super::stable::Stable;
use crate::built::Built;
use crate::workspace::Workspace;

const FOLDER: &str = "target/walk";

/// How long a command may take, in seconds.
const TIME: &str = "120";

/// What is left of the environment of whoever plays.
const KEPT: [&str; 3] = ["PATH", "LD_LIBRARY_PATH", "TMPDIR"];

/// Is a home with the programs of the workspace on its path; dropped, what still runs is ended and all of it is removed.
pub(super) struct Home {
    folder: PathBuf,
    /// Where the next command begins.
    place: PathBuf,
    path: String,
    stable: Stable,
    running: Vec<Running>,
}

/// Is a program that goes on behind the others.
struct Running {
    child: Child,
    /// Closed, it would have the program fail to say something.
    _said: BufReader<PipeReader>,
}

impl Home {
    pub(super) fn new(workspace: &Workspace, built: &Built, clients: Option<&Path>) -> anyhow::Result<Self> {
        let folder = workspace.root().join(FOLDER);
        if folder.exists() {
            std::fs::remove_dir_all(&folder).with_context(|| format!("cannot empty {FOLDER}"))?;
        }
        let (place, programs) = (folder.join("home"), folder.join("home/.cargo/bin"));
        std::fs::create_dir_all(&programs).with_context(|| format!("cannot make {FOLDER}"))?;
        for name in ["haft", "openapi-petstore"] {
            install(Path::new(built.command(name)?), &programs.join(name))?;
        }
        let examples = workspace.root().join("examples");
        std::os::unix::fs::symlink(&examples, folder.join("examples")).context("cannot link the examples")?;
        let clients = clients.map(|folder| format!("{}:", folder.display())).unwrap_or_default();
        let inherited = std::env::var("PATH").context("`PATH` is text")?;
        let path = format!("{}:{clients}{inherited}", programs.display());
        let stable = Stable::new(place.display().to_string())?;
        Ok(Self { folder, place, path, stable, running: Vec::new() })
    }

    /// Runs a command, and gives what the page shows of it.
    pub(super) fn run(&mut self, command: &str) -> anyhow::Result<String> {
        let real = self.stable.to_run(command);
        let printed = match real.strip_suffix('&') {
            Some(program) if !program.ends_with('&') => self.start(program)?,
            _ => self.finish(&real)?,
        };
        let mut shown = self.stable.shown(&printed);
        if !shown.is_empty() && !shown.ends_with('\n') {
            shown.push('\n');
        }
        Ok(shown)
    }

    /// Runs a command to its end, and notes where it has gone.
    fn finish(&mut self, command: &str) -> anyhow::Result<String> {
        let note = self.folder.join("place");
        let script = format!("exec 2>&1\n{command}\nended=$?; pwd > '{}'; exit $ended", note.display());
        let mut program = Command::new("timeout");
        program.args(["--kill-after=5", TIME, "bash", "-c", &script]);
        let output = self.prepare(&mut program).output().context("cannot start `timeout` and `bash`")?;
        let place = std::fs::read_to_string(&note)
            .with_context(|| format!("it has not come to its end within {TIME} s: `{command}`"))?;
        self.place = PathBuf::from(place.trim_end_matches('\n'));
        let mut printed = String::from_utf8_lossy(&output.stdout).into_owned();
        if let Some(code) = output.status.code().filter(|code| *code != 0) {
            if !printed.is_empty() && !printed.ends_with('\n') {
                printed.push('\n');
            }
            // Writing to a string cannot fail.
            let _ = writeln!(printed, "[exit {code}]");
        }
        std::fs::remove_file(&note).context("cannot forget where it was")?;
        Ok(printed)
    }

    /// Starts a program, and waits for the first line that it says.
    fn start(&mut self, command: &str) -> anyhow::Result<String> {
        let (reader, writer) = std::io::pipe().context("cannot make a pipe")?;
        let mut program = Command::new("bash");
        program.args(["-c", &format!("exec {command}")]);
        let errors = writer.try_clone().context("cannot make a pipe")?;
        self.prepare(&mut program).stdout(writer).stderr(errors);
        let child = program.spawn().context("cannot start `bash`")?;
        // What it holds of the pipe would keep the end of the program from being seen.
        drop(program);
        let mut said = BufReader::new(reader);
        let mut line = String::new();
        let read = said.read_line(&mut line);
        self.running.push(Running { child, _said: said });
        ensure!(read.context("cannot read what it says")? > 0, "`{command}` ends and says nothing");
        Ok(line)
    }

    /// Has a program know nothing of the person who plays, and nobody to ask.
    fn prepare<'a>(&self, program: &'a mut Command) -> &'a mut Command {
        program.env_clear().current_dir(&self.place).stdin(Stdio::null());
        for name in KEPT {
            if let Some(value) = std::env::var_os(name) {
                program.env(name, value);
            }
        }
        program.env("HOME", self.folder.join("home")).env("PATH", &self.path);
        program.env("EXAMPLES", self.folder.join("examples"));
        program.env("LANG", "C.UTF-8").env("TZ", "UTC").env("RUST_BACKTRACE", "0").env("COLUMNS", "100")
    }
}

/// Puts a program into a place of its own, since it tells others where it is.
fn install(program: &Path, place: &Path) -> anyhow::Result<()> {
    if std::fs::hard_link(program, place).is_ok() {
        return Ok(());
    }
    std::fs::copy(program, place).with_context(|| format!("cannot copy `{}`", program.display()))?;
    Ok(())
}

impl Drop for Home {
    fn drop(&mut self) {
        for running in &mut self.running {
            // One that has ended by itself is not there any more.
            let _ = running.child.kill();
            let _ = running.child.wait();
        }
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
