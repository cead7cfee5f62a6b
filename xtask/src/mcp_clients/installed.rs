use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};

use super::served::Directory;

/// What stands in the repository about each client.
const SCRIPTS: &str = "crates/haft-cli/tests/clients";

/// Is where all clients are.
pub(super) struct Installed {
    folder: PathBuf,
}

impl Installed {
    /// Puts the scripts of a checkout beside the packages.
    pub(super) fn below(root: &Path, folder: PathBuf) -> anyhow::Result<Self> {
        // Node.js looks for packages beside a script and above it.
        let scripts = folder.join("scripts");
        std::fs::create_dir_all(&scripts).with_context(|| format!("cannot make {}", scripts.display()))?;
        for script in
            std::fs::read_dir(root.join(SCRIPTS)).with_context(|| format!("cannot read {SCRIPTS}"))?
        {
            let script = script?;
            std::fs::copy(script.path(), scripts.join(script.file_name()))
                .with_context(|| format!("cannot copy {}", script.path().display()))?;
        }
        Ok(Self { folder })
    }

    /// Runs the Inspector without its window.
    pub(super) fn inspector(&self, directory: &Directory, arguments: &[&str]) -> anyhow::Result<()> {
        let inspector = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js";
        self.run(directory, "node_modules/.bin/node", inspector, arguments)
    }

    /// Runs a script that is one of npm's clients.
    pub(super) fn node(&self, directory: &Directory, script: &str, arguments: &[&str]) -> anyhow::Result<()> {
        self.run(directory, "node_modules/.bin/node", &format!("scripts/{script}"), arguments)
    }

    /// Runs a script that is one of `PyPI`'s clients, in the environment of that name.
    pub(super) fn python(
        &self,
        directory: &Directory,
        environment: &str,
        script: &str,
        arguments: &[&str],
    ) -> anyhow::Result<()> {
        let program = format!("{environment}/bin/python");
        self.run(directory, &program, &format!("scripts/{script}"), arguments)
    }

    /// Runs a program; what it says is of interest only if it fails.
    fn run(
        &self,
        directory: &Directory,
        program: &str,
        script: &str,
        arguments: &[&str],
    ) -> anyhow::Result<()> {
        let mut command = Command::new(self.folder.join(program));
        command.arg(self.folder.join(script)).args(arguments);
        directory.prepare(&mut command);
        let line = format!("{script} {}", arguments.join(" "));
        let output =
            command.stdin(Stdio::null()).output().with_context(|| format!("cannot start `{line}`"))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stdout);
            bail!("{said}{}\n`{line}` failed ({})", String::from_utf8_lossy(&output.stderr), output.status);
        }
        Ok(())
    }
}
