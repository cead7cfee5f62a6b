//! nginx, for the steps that put it before servers: the one that is installed, or the one of Debian's archive.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context as _;

use crate::packages::run_in;
use crate::step::StepResult;
use crate::tool::missing;
use crate::workspace::Workspace;

/// Where what comes from the archive is put; nothing is fetched once it is there.
const FOLDER: &str = "target/nginx";

/// How whoever reads it makes it possible to have it.
const INSTALL: &str = "Install nginx, or let apt-get reach Debian's archive once.";

/// Says which nginx to run, else what becomes of the step: a person may do without it, the build host may not.
pub(crate) fn program(workspace: &Workspace) -> Result<PathBuf, StepResult> {
    let installed = PathBuf::from("nginx");
    if runs(&installed) {
        return Ok(installed);
    }
    let folder = workspace.root().join(FOLDER);
    let fetched = folder.join("usr/sbin/nginx");
    if runs(&fetched) {
        return Ok(fetched);
    }
    let problem = match fetch(&folder) {
        Ok(()) if runs(&fetched) => return Ok(fetched),
        Ok(()) => "the nginx of Debian's archive does not run here".to_owned(),
        Err(error) => format!("nginx is not installed, and cannot be fetched: {error:#}"),
    };
    Err(missing(workspace.on_ci(), &problem, INSTALL))
}

fn runs(program: &Path) -> bool {
    let mut command = Command::new(program);
    command.arg("-v").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Unpacks the package, of which only the program is used; it needs no rights and changes nothing elsewhere.
fn fetch(folder: &Path) -> anyhow::Result<()> {
    if folder.exists() {
        std::fs::remove_dir_all(folder).with_context(|| format!("cannot empty {FOLDER}"))?;
    }
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {FOLDER}"))?;
    let download = || run_in(folder, Command::new("apt-get").args(["download", "--quiet=2", "nginx"]));
    // A fresh image knows no packages before it has asked for them.
    download().or_else(|_| {
        run_in(folder, Command::new("apt-get").args(["update", "--quiet=2"])).and_then(|()| download())
    })?;
    for file in std::fs::read_dir(folder).with_context(|| format!("cannot read {FOLDER}"))? {
        let path = file?.path();
        if path.extension().is_some_and(|extension| extension == "deb") {
            run_in(folder, Command::new("dpkg").arg("-x").arg(&path).arg("."))?;
        }
    }
    Ok(())
}
