use crate::paint::ASKS;
use std::env;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tokio::process::Command;
use tokio::time::timeout;

/// How long it is waited whether a browser can be started.
const PATIENCE: Duration = Duration::from_secs(5);

/// Has the desktop open a file; where it cannot, says so: the path was printed before.
pub(super) async fn open(file: &Path) {
    if let Err(why) = try_open(file).await {
        errln!("{ASKS}note{ASKS:#}: the page is not opened, since {why}; open the file in a browser");
    }
}

async fn try_open(file: &Path) -> Result<(), String> {
    let is_set = |name| env::var_os(name).is_some_and(|value| !value.is_empty());
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    if !cfg!(target_os = "macos") && !["DISPLAY", "WAYLAND_DISPLAY"].into_iter().any(is_set) {
        return Err("there is no desktop here".to_owned());
    }
    let mut command = Command::new(program);
    command.arg(file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match timeout(PATIENCE, command.status()).await {
        Ok(Err(error)) => Err(format!("`{program}` cannot be started: {error}")),
        Ok(Ok(status)) if !status.success() => Err(format!("`{program}` ended with {status}")),
        // Some stay for as long as the browser does.
        Ok(Ok(_)) | Err(_) => Ok(()),
    }
}
