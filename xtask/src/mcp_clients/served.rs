use std::fs::OpenOptions;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::Context as _;

/// Counts the directories of this process.
static MADE: AtomicU32 = AtomicU32::new(0);

/// Is a directory to serve, with a home directory and a state of its own; dropped, all of it is removed.
pub(super) struct Directory {
    folder: PathBuf,
    project: PathBuf,
}

impl Directory {
    /// Makes one that holds a file to read.
    pub(super) fn new() -> anyhow::Result<Self> {
        let name = format!("haft-clients-{}-{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(name);
        let project = folder.join("project");
        for made in [&folder, &project, &folder.join("home")] {
            std::fs::create_dir(made).with_context(|| format!("cannot make `{}`", made.display()))?;
        }
        std::fs::write(project.join("notes.txt"), "three apples\n").context("cannot write the notes")?;
        Ok(Self { folder, project })
    }

    /// Where all of it is.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Writes a file beside what is served, that only its owner can read.
    pub(super) fn private_file(&self, name: &str, text: &str) -> anyhow::Result<PathBuf> {
        let path = self.folder.join(name);
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
        written.with_context(|| format!("cannot write `{}`", path.display()))?;
        Ok(path)
    }

    /// Has a program run in it, and know nothing of the person who runs this.
    pub(super) fn prepare(&self, command: &mut Command) {
        command
            .current_dir(&self.project)
            .env("HOME", self.folder.join("home"))
            .env("HAFT_STATE", self.folder.join("haft.db"))
            .env("RUST_BACKTRACE", "0");
        for name in ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"] {
            command.env_remove(name);
        }
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        // What is left is in a place that the machine empties.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Is a server that listens for HTTP; dropped, it is ended.
pub(super) struct Served {
    child: Child,
    url: String,
    /// Closed, it would have the server fail to say something.
    _said: BufReader<ChildStderr>,
}

impl Served {
    pub(super) fn start(program: &str, directory: &Directory) -> anyhow::Result<Self> {
        Self::start_with(program, directory, &[])
    }

    /// Starts one that is told more.
    pub(super) fn start_with(
        program: &str,
        directory: &Directory,
        arguments: &[&str],
    ) -> anyhow::Result<Self> {
        let mut command = Command::new(program);
        directory.prepare(&mut command);
        command
            .args(["serve", "--http", "127.0.0.1:0"])
            .args(arguments)
            .stdin(Stdio::null())
            .stderr(Stdio::piped());
        let mut child = command.spawn().with_context(|| format!("cannot start `{program}`"))?;
        let mut said = BufReader::new(child.stderr.take().context("what it says is read")?);
        let mut line = String::new();
        said.read_line(&mut line).context("cannot read where the server is")?;
        let mut served = Self { child, url: String::new(), _said: said };
        let url = line.trim_end().strip_prefix("Serving at ");
        url.with_context(|| format!("`{program}` does not say where it is: {line}"))?
            .clone_into(&mut served.url);
        Ok(served)
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// The address that it listens at, with the port.
    pub(super) fn address(&self) -> &str {
        self.url.trim_start_matches("http://").trim_end_matches("/mcp")
    }

    /// The id of its process.
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // One that has ended by itself is not there any more.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
