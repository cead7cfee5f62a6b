//! `cargo xtask prism`: prism, which serves real OpenAPI documents, takes the requests that haft-openapi makes of them.
//!
//! It is a package of npm in the version that stands here and is put below `target/` once, as the documents are; nothing is
//! fetched afterwards. What it rejects without reason is said in `crates/haft-openapi/examples/judged/faults.json`.

use std::fs::File;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

use crate::built::Built;
use crate::corpus;
use crate::packages::Packages;
use crate::step::{Failure, Outcome, StepResult};
use crate::workspace::Workspace;

const REPAIR: &str = "Make haft-openapi send what the document says, or say in crates/haft-openapi/examples/judged/faults.json \
                      why prism is wrong.";

/// The newest version that the Node.js of the build host runs.
const PACKAGES: Packages = Packages {
    folder: "target/openapi/prism",
    programs: &["npm", "node"],
    npm: &["@stoplight/prism-cli@5.14.2"],
    runs_scripts: false,
    pypi: &[],
    install: "Install Node.js 20 or later with npm, and let npm reach its registry once.",
};

/// The documents below the packages of the corpus, each with how many of its operations are tried.
const DOCUMENTS: [(&str, Option<usize>); 8] = [
    ("@readme/oas-examples/3.0/json/petstore.json", None),
    ("@readme/oas-examples/3.1/json/petstore.json", None),
    ("@readme/oas-examples/3.0/json/parameters-common.json", None),
    ("@readme/oas-examples/3.0/json/parameters-cookies.json", None),
    ("@readme/oas-examples/3.0/json/parameters-extreme.json", None),
    ("@readme/oas-examples/3.0/json/parameters-style.json", None),
    ("@readme/oas-examples/3.1/json/parameters-style.json", None),
    ("@octokit/openapi/generated/api.github.com.json", Some(300)),
];

/// How long prism may take to read a document; it takes 10 to 20 s for the largest of them.
const START: Duration = Duration::from_mins(3);

/// How long is waited between two looks.
const PAUSE: Duration = Duration::from_millis(100);

/// Installs what is not there, and has every document judged.
pub(crate) fn run(workspace: &Workspace) -> StepResult {
    let folder = match PACKAGES.installed(workspace) {
        Ok(folder) => folder,
        Err(missing) => return missing,
    };
    let documents = match corpus::EXAMPLES.installed(workspace) {
        Ok(documents) => documents.join("node_modules"),
        Err(missing) => return missing,
    };
    let built = Built::all(workspace).map_err(|error| Failure::from_error(&error, REPAIR))?;
    let program = built.example("judged").map_err(|error| Failure::from_error(&error, REPAIR))?;
    let mut has_failed = false;
    for (document, most) in DOCUMENTS {
        let document = documents.join(document);
        // All of them are judged, so that everything that is wrong is said at once.
        has_failed |= judge(workspace, program, &folder, &document, most)?;
    }
    if has_failed { Err(Failure::new("a request is rejected", REPAIR)) } else { Ok(Outcome::Done) }
}

/// Has a document judged; tells whether something is wrong.
fn judge(
    workspace: &Workspace,
    program: &str,
    folder: &Path,
    document: &Path,
    most: Option<usize>,
) -> Result<bool, Failure> {
    let failed = |error: anyhow::Error| Failure::from_error(&error, REPAIR);
    let judge = Judge::start(folder, document).map_err(failed)?;
    let server = format!("http://{}", judge.address);
    let document = document.to_string_lossy();
    let most = most.map(|most| most.to_string());
    let mut arguments = vec![&*document, &server];
    arguments.extend(most.as_deref());
    Ok(workspace.run(program, &arguments, REPAIR).is_err())
}

/// Is a prism that serves a document; dropped, it is ended.
struct Judge {
    child: Child,
    address: SocketAddr,
}

impl Judge {
    fn start(folder: &Path, document: &Path) -> anyhow::Result<Self> {
        let address = free_address()?;
        let log: PathBuf = folder.join("prism.log");
        let out = File::create(&log).with_context(|| format!("cannot make {}", log.display()))?;
        let mut command = Command::new("node");
        command
            .arg(folder.join("node_modules/@stoplight/prism-cli/dist/index.js"))
            .args(["mock", "--errors", "--host"])
            .arg(address.ip().to_string())
            .arg("--port")
            .arg(address.port().to_string())
            .arg(document)
            // With `production` it would be several processes, of which the first one is ended only.
            .env("NODE_ENV", "development")
            .stdin(Stdio::null())
            .stderr(out.try_clone().context("cannot keep what prism says")?)
            .stdout(out);
        let child = command.spawn().context("cannot start `node`")?;
        let mut judge = Self { child, address };
        judge.wait_until_it_answers().with_context(|| {
            format!("prism does not serve {}; {} has what it says", document.display(), log.display())
        })?;
        Ok(judge)
    }

    fn wait_until_it_answers(&mut self) -> anyhow::Result<()> {
        let start = Instant::now();
        while start.elapsed() < START {
            if TcpStream::connect_timeout(&self.address, PAUSE).is_ok() {
                return Ok(());
            }
            if let Some(status) = self.child.try_wait().context("cannot look after it")? {
                bail!("it has ended ({status})");
            }
            std::thread::sleep(PAUSE);
        }
        bail!("it does not answer within {} s", START.as_secs())
    }
}

impl Drop for Judge {
    fn drop(&mut self) {
        // One that has ended by itself is not there any more.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Finds a port that nobody listens at.
fn free_address() -> anyhow::Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("cannot find a free port")?;
    listener.local_addr().context("cannot find a free port")
}
