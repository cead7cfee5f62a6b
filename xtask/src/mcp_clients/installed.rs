use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};

use super::served::Directory;

/// Where the clients are.
const FOLDER: &str = "target/mcp-clients";

/// What stands in the repository about each client.
const SCRIPTS: &str = "crates/haft-cli/tests/clients";

/// The clients of npm, and a Node.js that is new enough for them.
const NPM: [&str; 4] = [
    "node@22",
    "@modelcontextprotocol/inspector@2.12.0",
    "@modelcontextprotocol/sdk@1.32.2",
    "@modelcontextprotocol/client@2.4.0",
];

/// Those of `PyPI`, each in an environment of its own, since they want different versions of the same packages.
const PYPI: [(&str, &str); 2] = [("sdk", "mcp==2.3.0"), ("fastmcp", "fastmcp==4.1.2")];

/// Is where all clients are.
pub(super) struct Installed {
    folder: PathBuf,
}

impl Installed {
    /// Installs the clients below a checkout unless they are there in these versions.
    pub(super) fn below(root: &Path) -> anyhow::Result<Self> {
        let folder = root.join(FOLDER);
        install(&folder)?;
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

/// Installs the packages unless they are there.
fn install(folder: &Path) -> anyhow::Result<()> {
    let (mark, wanted) = (folder.join("installed"), wanted());
    if std::fs::read_to_string(&mark).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    // What was begun, or is of other versions, would be mixed with these.
    if folder.exists() {
        std::fs::remove_dir_all(folder).with_context(|| format!("cannot empty {FOLDER}"))?;
    }
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {FOLDER}"))?;
    let mut npm = Command::new("npm");
    // With a prefix of its own it leaves the manifests of the folders above alone.
    npm.arg("install").arg("--prefix").arg(folder).args(["--no-audit", "--no-fund", "--loglevel=error"]);
    run_in(folder, npm.args(NPM))?;
    for (name, package) in PYPI {
        let environment = folder.join(name);
        run_in(folder, Command::new("python3").args(["-m", "venv"]).arg(&environment))?;
        let mut pip = Command::new(environment.join("bin/pip"));
        run_in(folder, pip.args(["install", "--quiet", "--disable-pip-version-check", package]))?;
    }
    std::fs::write(&mark, wanted).with_context(|| format!("cannot write {}", mark.display()))
}

/// Writes down what is installed.
fn wanted() -> String {
    let pypi = PYPI.iter().map(|(_, package)| package);
    NPM.iter().chain(pypi).copied().collect::<Vec<_>>().join("\n")
}

fn run_in(folder: &Path, command: &mut Command) -> anyhow::Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let status = command.current_dir(folder).stdin(Stdio::null()).status();
    let status = status.with_context(|| format!("cannot start `{name}`"))?;
    if !status.success() {
        bail!("`{name}` failed ({status})");
    }
    Ok(())
}
