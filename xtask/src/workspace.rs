//! The checkout a command works on and the child processes it starts there.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail, ensure};

use crate::step::Failure;

/// The checkout, and where this process runs.
#[derive(Debug)]
pub(crate) struct Workspace {
    root: PathBuf,
    cargo: OsString,
    on_ci: bool,
}

impl Workspace {
    /// Finds the workspace from what `cargo run` tells the programs it starts.
    pub(crate) fn find() -> anyhow::Result<Self> {
        let manifest = std::env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        let root = manifest.parent().context("the folder of xtask has no parent")?;
        ensure!(root.join("Cargo.toml").is_file(), "`{}` holds no Cargo.toml", root.display());
        Ok(Self {
            root: root.to_path_buf(),
            cargo: std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()),
            on_ci: std::env::var_os("CI").is_some_and(|value| value == "true" || value == "1"),
        })
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Tells whether this is the build host, where a missing tool is a failure.
    pub(crate) fn on_ci(&self) -> bool {
        self.on_ci
    }

    /// Tells whether `cargo <tool>` can be run.
    pub(crate) fn has_cargo_tool(&self, tool: &str) -> bool {
        let mut command = self.command(&self.cargo);
        command.args([tool, "--version"]).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    }

    /// Tells whether a program can be run.
    pub(crate) fn has_program(&self, program: &str) -> bool {
        let mut command = self.command(&program.into());
        command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    }

    /// Runs cargo with its output going straight to the terminal.
    ///
    /// # Errors
    /// Fails with the given repair when cargo cannot be started or reports a failure.
    pub(crate) fn cargo(&self, arguments: &[&str], repair: &str) -> Result<(), Failure> {
        self.cargo_with(&[], arguments, repair)
    }

    /// Like [`Workspace::cargo`], with variables added to the environment of the child.
    pub(crate) fn cargo_with(
        &self,
        variables: &[(&str, &str)],
        arguments: &[&str],
        repair: &str,
    ) -> Result<(), Failure> {
        let line = format!("cargo {}", arguments.join(" "));
        let shown: Vec<String> =
            variables.iter().map(|(name, value)| format!("{name}=\"{value}\" ")).collect();
        eprintln!("$ {}{line}", shown.concat());
        let mut command = self.command(&self.cargo);
        command.args(arguments).envs(variables.iter().copied());
        run(command, &line, repair)
    }

    /// Runs a program with its output going straight to the terminal.
    ///
    /// # Errors
    /// Fails with the given repair when it cannot be started or reports a failure.
    pub(crate) fn run(&self, program: &str, arguments: &[&str], repair: &str) -> Result<(), Failure> {
        let name = Path::new(program).file_name().unwrap_or_default().to_string_lossy();
        let line = format!("{name} {}", arguments.join(" "));
        eprintln!("$ {line}");
        let mut command = self.command(&program.into());
        command.args(arguments);
        run(command, &line, repair)
    }

    /// Runs a program and hands back what it wrote to its standard output.
    pub(crate) fn capture(&self, program: &str, arguments: &[&str]) -> anyhow::Result<Vec<u8>> {
        let line = format!("{program} {}", arguments.join(" "));
        let program = if program == "cargo" { self.cargo.clone() } else { program.into() };
        let mut command = self.command(&program);
        command.args(arguments).stderr(Stdio::inherit());
        let output = command.output().with_context(|| format!("cannot start `{line}`"))?;
        if !output.status.success() {
            bail!("`{line}` failed ({})", output.status);
        }
        Ok(output.stdout)
    }

    /// A child that works in the root and reads nothing, so that no step can wait for a person.
    fn command(&self, program: &OsString) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root).stdin(Stdio::null());
        command
    }
}

fn run(mut command: Command, line: &str, repair: &str) -> Result<(), Failure> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Failure::new(format!("`{line}` failed ({status})"), repair)),
        Err(error) => Err(Failure::new(format!("`{line}` cannot be started: {error}"), repair)),
    }
}
