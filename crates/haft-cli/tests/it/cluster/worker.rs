//! `haft worker` as a process.

use super::engine::Engine;
use crate::haft;
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Lines};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};

/// Is a worker that takes calls; dropped, it is killed.
pub(crate) struct WorkerProcess {
    child: Child,
    said: Lines<BufReader<ChildStdout>>,
    pub(crate) ready: Value,
}

impl WorkerProcess {
    /// Starts a worker of a directory, of which the engine is told.
    pub(crate) fn start(directory: &Path, engine: &Engine, arguments: &[&str]) -> Self {
        Self::start_at(directory, engine, "127.0.0.1:0", arguments)
    }

    pub(crate) fn start_at(directory: &Path, engine: &Engine, listen: &str, arguments: &[&str]) -> Self {
        let mut command =
            haft(directory, &["worker", "--json", "--listen", listen, "--admin", &engine.admin]);
        command.args(arguments);
        Self::run(command)
    }

    /// Starts a worker of which no engine is told.
    pub(crate) fn alone(directory: &Path, arguments: &[&str]) -> Self {
        let mut command = haft(directory, &["worker", "--json", "--listen", "127.0.0.1:0"]);
        command.args(arguments);
        Self::run(command)
    }

    fn run(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap()).lines();
        let ready = said.next().expect("it says that it is ready").unwrap();
        let ready: Value = serde_json::from_str(&ready).unwrap();
        assert_eq!(ready["stage"], "ready", "{ready}");
        Self { child, said, ready }
    }

    /// Where it listens.
    pub(crate) fn listens(&self) -> &str {
        self.ready["address"].as_str().unwrap().strip_prefix("http://").unwrap()
    }

    pub(crate) fn tell(&self, signal: &str) {
        let told = Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap();
        assert!(told.success());
    }

    /// Ends it as if its machine had lost its power.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// The next line that it says.
    pub(crate) fn says(&mut self) -> Option<String> {
        self.said.next().map(Result::unwrap)
    }

    pub(crate) fn ends(&mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
