//! `cargo xtask postgres`: what stores have to do is tried with a real `PostgreSQL` server, which is started for it and ended
//! afterwards.

use std::os::unix::fs::{DirBuilderExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};

use crate::packages::run_in;
use crate::step::{Failure, Outcome, StepResult};
use crate::together;
use crate::tool::missing;
use crate::workspace::Workspace;

const REPAIR: &str = "Correct haft-store or haft-cli, or say in their tests/it what has changed.";

/// Where Debian keeps the programs, below the number of the version.
const VERSIONS: &str = "/usr/lib/postgresql";

/// The modules whose tests need a server, or try it where there is one.
const TESTS: [&str; 8] =
    ["children::", "entries::", "grants::", "journal::", "pending::", "postgres::", "pruning::", "runs::"];

const INSTALL: &str = "Install the package `postgresql`, or put its `pg_ctl` and `initdb` into `PATH`.";

/// The user that the server runs as where root starts it, which it refuses to be.
const USER: &str = "postgres";

/// Starts a server, and runs the tests of stores with it.
pub(crate) fn run(workspace: &Workspace) -> StepResult {
    let Some(programs) = programs() else {
        return missing(workspace.on_ci(), "PostgreSQL is not installed", INSTALL);
    };
    let server = Server::start(programs).map_err(|error| Failure::from_error(&error, INSTALL))?;
    let features = together::step_features(workspace)?;
    let arguments = ["test", "--quiet", "--locked", "--workspace", "--features", &features, "--test", "it"];
    // Tests of the same names that need another server have a step of their own.
    let chosen = [&["--", "--include-ignored", "--skip", "with_engine::"], &TESTS[..]].concat();
    let arguments = [&arguments[..], &chosen].concat();
    workspace.cargo_with(&[("HAFT_TEST_POSTGRES", &server.url())], &arguments, REPAIR)?;
    Ok(Outcome::Done)
}

/// Finds the folder of the programs; the newest where there are several.
fn programs() -> Option<PathBuf> {
    let mut folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
    let versions = std::fs::read_dir(VERSIONS).into_iter().flatten().flatten();
    let mut versions: Vec<PathBuf> = versions.map(|version| version.path().join("bin")).collect();
    versions.sort();
    folders.extend(versions.into_iter().rev());
    folders.into_iter().find(|folder| folder.join("pg_ctl").is_file() && folder.join("initdb").is_file())
}

/// Is a server that is reached by a socket in a folder of its own; ended when it is dropped.
struct Server {
    programs: PathBuf,
    folder: PathBuf,
}

impl Server {
    fn start(programs: PathBuf) -> anyhow::Result<Self> {
        let folder = std::env::temp_dir().join(format!("haft-postgres-{}", std::process::id()));
        std::fs::DirBuilder::new()
            .mode(0o700)
            .create(&folder)
            .context("cannot make a folder for the server")?;
        if is_root()? {
            chown(&folder, Some(number_of(Some(USER))?), None)
                .context("cannot give the server its folder")?;
        }
        let server = Self { programs, folder };
        let data = server.data();
        server.call(
            "initdb",
            &["--auth=trust", "--username=haft", "--encoding=UTF8", "--no-sync", "-D", &data],
        )?;
        // What the tests keep need not outlive the machine.
        let options = format!("-k {} -c listen_addresses='' -c fsync=off", server.folder.display());
        let log = format!("{}/log", server.folder.display());
        server.call("pg_ctl", &["-D", &data, "-w", "-s", "-l", &log, "-o", &options, "start"])?;
        Ok(server)
    }

    fn data(&self) -> String {
        format!("{}/data", self.folder.display())
    }

    fn url(&self) -> String {
        format!("host={} user=haft dbname=postgres", self.folder.display())
    }

    /// Runs one of the programs, as a user that the server may be.
    fn call(&self, program: &str, arguments: &[&str]) -> anyhow::Result<()> {
        let program = self.programs.join(program);
        let mut command = if is_root()? {
            let mut command = Command::new("runuser");
            command.args(["-u", USER, "--"]).arg(program);
            command
        } else {
            Command::new(program)
        };
        run_in(Path::new("/"), command.args(arguments))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // What is left of it when that fails is in the folder for temporary things.
        let _ = self.call("pg_ctl", &["-D", &self.data(), "-w", "-s", "-m", "immediate", "stop"]);
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn is_root() -> anyhow::Result<bool> {
    Ok(number_of(None)? == 0)
}

/// The number of a user; that of whoever runs this where none is named.
fn number_of(user: Option<&str>) -> anyhow::Result<u32> {
    let output = Command::new("id").arg("-u").args(user).output().context("cannot run `id`")?;
    if !output.status.success() {
        bail!("there is no user `{USER}` for the server, which may not be root");
    }
    let number = String::from_utf8_lossy(&output.stdout);
    number.trim().parse().with_context(|| format!("`id -u` says {number:?}"))
}
