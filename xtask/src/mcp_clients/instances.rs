//! `cargo xtask mcp-instances`: two instances of `haft serve` behind nginx, as the reference says to configure it, go on when
//! one of them dies.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

use super::installed::Installed;
use super::served::{Directory, Served};
use super::{PACKAGES, built};
use crate::nginx;
use crate::step::{Failure, Outcome, StepResult};
use crate::workspace::Workspace;

const REPAIR: &str = "Correct what `haft serve` answers, the configuration in docs/reference/serve.md, or \
                      crates/haft-cli/tests/clients/instances.py.";

/// Where it is said how to configure nginx, and what stands for the addresses there.
const PAGE: &str = "docs/reference/serve.md";
const FRONT: &str = "127.0.0.1:8080";
const INSTANCES: [&str; 2] = ["127.0.0.1:8765", "127.0.0.1:8766"];

/// How long nginx may take until it listens.
const PATIENCE: Duration = Duration::from_secs(20);

/// Gets what is not there, and has a client work with both instances and with the one that is left.
pub(crate) fn run(workspace: &Workspace) -> StepResult {
    let nginx = match nginx::program(workspace) {
        Ok(nginx) => nginx,
        Err(missing) => return missing,
    };
    let folder = match PACKAGES.installed(workspace) {
        Ok(folder) => folder,
        Err(missing) => return missing,
    };
    let installed = Installed::below(workspace.root(), folder);
    let played = installed.and_then(|installed| play(workspace, &installed, &nginx));
    played.map_err(|error| Failure::from_error(&error, REPAIR))?;
    Ok(Outcome::Done)
}

fn play(workspace: &Workspace, installed: &Installed, nginx: &Path) -> anyhow::Result<()> {
    let program = built(workspace)?;
    let program = program.to_str().context("the path of `haft` is text")?;
    let page = std::fs::read_to_string(workspace.root().join(PAGE))
        .with_context(|| format!("cannot read {PAGE}"))?;
    // Both share the directory, the state in it and the key.
    let directory = Directory::new()?;
    let key = directory.private_file("key", &"5a".repeat(32))?;
    let key = key.to_str().context("the path of the key is text")?;
    let started = || Served::start_with(program, &directory, &["--state-key", key]);
    let served = [started()?, started()?];
    let balancer = Balancer::start(nginx, &directory, &page, &served)?;
    let log = balancer.log.to_str().context("the path of the log is text")?;
    let [first, second] = served.each_ref().map(|served| format!("{}={}", served.address(), served.id()));
    let arguments = [balancer.url.as_str(), log, &first, &second];
    installed.python(&directory, "sdk", "instances.py", &arguments)
}

/// Is an nginx; dropped, it is ended.
struct Balancer {
    child: Child,
    url: String,
    /// Says of each request which instance it went to.
    log: PathBuf,
}

impl Balancer {
    fn start(
        program: &Path,
        directory: &Directory,
        page: &str,
        served: &[Served; 2],
    ) -> anyhow::Result<Self> {
        let folder = directory.folder();
        let address = free_address()?;
        let mut said = fenced(page)?.replace(FRONT, &address);
        for (placeholder, served) in INSTANCES.iter().zip(served) {
            said = said.replace(placeholder, served.address());
        }
        let log = folder.join("nginx.log");
        let (file, shown) = (folder.join("nginx.conf"), folder.display());
        let text = format!(
            "daemon off;\nmaster_process off;\nerror_log stderr crit;\npid {shown}/nginx.pid;\nevents {{}}\nhttp {{\n\
             log_format which '$http_mcp_method $http_mcp_name $status $upstream_addr';\n\
             access_log {log} which;\n\
             client_body_temp_path {shown}/body;\nproxy_temp_path {shown}/proxy;\n\
             fastcgi_temp_path {shown}/fastcgi;\nuwsgi_temp_path {shown}/uwsgi;\nscgi_temp_path {shown}/scgi;\n\
             {said}\n}}\n",
            log = log.display(),
        );
        std::fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))?;
        let mut command = Command::new(program);
        command.arg("-p").arg(folder).arg("-c").arg(&file).args(["-e", "stderr"]).stdin(Stdio::null());
        let child = command.spawn().with_context(|| format!("cannot start `{}`", program.display()))?;
        let mut balancer = Self { child, url: format!("http://{address}/mcp"), log };
        balancer.listens(&address)?;
        Ok(balancer)
    }

    /// Waits until it listens.
    fn listens(&mut self, address: &str) -> anyhow::Result<()> {
        let start = Instant::now();
        while std::net::TcpStream::connect(address).is_err() {
            if let Some(status) = self.child.try_wait().context("cannot ask after nginx")? {
                bail!("nginx does not take the configuration of {PAGE} ({status})");
            }
            if start.elapsed() > PATIENCE {
                bail!("nginx does not listen at {address}");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }
}

impl Drop for Balancer {
    fn drop(&mut self) {
        // One that has ended by itself is not there any more.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Finds an address that nobody listens at; nginx cannot say which one it was given.
fn free_address() -> anyhow::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0").context("cannot find a free port")?;
    Ok(listener.local_addr().context("cannot find a free port")?.to_string())
}

/// Takes the configuration of nginx out of the page.
fn fenced(page: &str) -> anyhow::Result<String> {
    let rest = page.split_once("```nginx\n").map(|(_, rest)| rest);
    let text = rest.and_then(|rest| rest.split_once("```")).map(|(text, _)| text);
    let text = text.with_context(|| format!("{PAGE} holds no configuration of nginx"))?;
    for address in INSTANCES.iter().chain([&FRONT]) {
        if !text.contains(address) {
            bail!("the configuration of nginx in {PAGE} does not name {address}");
        }
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::fenced;

    #[test]
    fn the_page_says_how_to_configure_nginx() {
        let page =
            std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/reference/serve.md"));
        assert!(fenced(&page.unwrap()).unwrap().contains("proxy_next_upstream"));
        assert!(fenced("```nginx\nupstream haft {}\n```\n").is_err());
    }
}
