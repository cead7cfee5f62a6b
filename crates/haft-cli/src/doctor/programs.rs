use super::Finding;
use crate::own_tools;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::AsyncReadExt as _;
use tokio::process::Command;
use tokio::time::timeout;

/// How long a program may take to tell its version.
const TIME: Duration = Duration::from_secs(3);

/// The most bytes that are read of what it tells.
const MOST_BYTES: u64 = 4096;

/// Looks for the programs that haft's own tools use.
pub(super) async fn look() -> Vec<Finding> {
    let (bash, git) = tokio::join!(version("bash"), version("git"));
    vec![
        match bash {
            Ok(version) => Finding::ok("bash", version),
            Err(why) => Finding::error("bash", format!("{why}, so the tool `bash` cannot work"))
                .next("install bash, and see that its directory is in PATH"),
        },
        match git {
            Ok(version) => Finding::ok("git", version),
            Err(why) => {
                Finding::warning("git", format!("{why}, so agents cannot have working trees of their own"))
                    .next("install git, and see that its directory is in PATH")
            }
        },
    ]
}

/// Asks a program for its version, or says why that cannot be had.
async fn version(program: &str) -> Result<String, String> {
    let path = own_tools::environment()
        .find_program(program)
        .ok_or_else(|| format!("there is no `{program}` in PATH"))?;
    match timeout(TIME, first_line(&path)).await {
        Ok(Some(line)) => Ok(line),
        Ok(None) => Err(format!("`{}` does not tell its version", path.display())),
        Err(_) => Err(format!("`{}` did not answer within {} s", path.display(), TIME.as_secs())),
    }
}

async fn first_line(path: &Path) -> Option<String> {
    let mut command = Command::new(path);
    command
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    let mut child = command.spawn().ok()?;
    let mut told = Vec::new();
    child.stdout.take()?.take(MOST_BYTES).read_to_end(&mut told).await.ok()?;
    // What it says without being well is no version.
    let is_well = child.wait().await.ok()?.success();
    let line = String::from_utf8_lossy(&told).lines().next().map(str::trim).unwrap_or_default().to_owned();
    (is_well && !line.is_empty()).then_some(line)
}
