//! Packages of npm and `PyPI` that a step needs, in the versions that the step names: they are put below `target/` once, and
//! nothing is fetched afterwards.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};

use crate::step::StepResult;
use crate::tool::missing;
use crate::workspace::Workspace;

/// Says in the folder what is in it.
const MARK: &str = "packages";

/// Says which packages a step needs.
pub(crate) struct Packages {
    /// Where they are put, below the root; those of npm below `node_modules` there.
    pub(crate) folder: &'static str,
    /// The programs that have to be there, for installing and for the packages themselves.
    pub(crate) programs: &'static [&'static str],
    pub(crate) npm: &'static [&'static str],
    /// Whether those of npm may run what they bring for that, as Node.js itself has to.
    pub(crate) runs_scripts: bool,
    /// Those of `PyPI`, each list in an environment of its own of that name, since they want different versions of the same
    /// packages.
    pub(crate) pypi: &'static [(&'static str, &'static [&'static str])],
    /// How whoever reads it makes it possible to install them.
    pub(crate) install: &'static str,
}

impl Packages {
    /// Installs the packages unless they are there in these versions, and gives their folder; else what becomes of the step.
    pub(crate) fn installed(&self, workspace: &Workspace) -> Result<PathBuf, StepResult> {
        let lacking = |problem: &str| missing(workspace.on_ci(), problem, self.install);
        if let Some(program) = self.programs.iter().find(|program| !workspace.has_program(program)) {
            return Err(lacking(&format!("{program} is not installed")));
        }
        let folder = workspace.root().join(self.folder);
        match self.install(&folder) {
            Ok(()) => Ok(folder),
            Err(error) => Err(lacking(&format!("the packages cannot be installed: {error:#}"))),
        }
    }

    fn install(&self, folder: &Path) -> anyhow::Result<()> {
        let (mark, wanted) = (folder.join(MARK), self.wanted(folder));
        if std::fs::read_to_string(&mark).is_ok_and(|there| there == wanted) {
            return Ok(());
        }
        // What was begun, or is of other versions, would be mixed with these.
        if folder.exists() {
            std::fs::remove_dir_all(folder).with_context(|| format!("cannot empty {}", self.folder))?;
        }
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", self.folder))?;
        if !self.npm.is_empty() {
            let mut npm = Command::new("npm");
            // With a prefix of its own it leaves the manifests of the folders above alone.
            npm.arg("install").arg("--prefix").arg(folder);
            npm.args(["--no-audit", "--no-fund", "--loglevel=error"]);
            npm.args((!self.runs_scripts).then_some("--ignore-scripts")).args(self.npm);
            run_in(folder, &mut npm)?;
        }
        for (name, packages) in self.pypi {
            let environment = folder.join(name);
            run_in(folder, Command::new("python3").args(["-m", "venv"]).arg(&environment))?;
            let mut pip = Command::new(environment.join("bin/pip"));
            pip.args(["install", "--quiet", "--disable-pip-version-check"]).args(*packages);
            run_in(folder, &mut pip)?;
        }
        std::fs::write(&mark, wanted).with_context(|| format!("cannot write {}", mark.display()))
    }

    /// Writes down what is installed; where there are programs of `PyPI`, also in which folder, since they start by its name
    /// and no longer do where the checkout was moved.
    fn wanted(&self, folder: &Path) -> String {
        let pypi = self.pypi.iter().flat_map(|(_, packages)| *packages);
        let mut wanted = self.npm.iter().chain(pypi).copied().collect::<Vec<_>>().join("\n");
        if !self.pypi.is_empty() {
            wanted = format!("{wanted}\n{}", folder.display());
        }
        wanted
    }
}

/// Runs a program that reads nothing, with its output going straight to the terminal.
pub(crate) fn run_in(folder: &Path, command: &mut Command) -> anyhow::Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let status = command.current_dir(folder).stdin(Stdio::null()).status();
    let status = status.with_context(|| format!("cannot start `{name}`"))?;
    if !status.success() {
        bail!("`{name}` failed ({status})");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(pypi: &'static [(&'static str, &'static [&'static str])], folder: &str) -> String {
        let packages =
            Packages { folder: "f", programs: &[], npm: &["a@1"], runs_scripts: false, pypi, install: "" };
        packages.wanted(Path::new(folder))
    }

    #[test]
    fn a_moved_checkout_gets_its_programs_of_pypi_again() {
        let servers: &[(&str, &[&str])] = &[("servers", &["b==2"])];
        assert_eq!(wanted(servers, "/one/f"), wanted(servers, "/one/f"));
        assert_ne!(wanted(servers, "/one/f"), wanted(servers, "/two/f"));
        assert_eq!(wanted(&[], "/one/f"), "a@1");
        assert_eq!(wanted(&[], "/two/f"), "a@1");
    }
}
