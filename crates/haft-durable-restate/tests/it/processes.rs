//! Workers and people in processes of their own: this very program, told what to be.

use crate::agents::with_agents;
use crate::clock;
use crate::engine::executor;
use crate::tools::{Ledger, performer};
use haft_durable_restate::Worker;
use haft_testkit::free_port;
use haft_tools_core::{Approval, CallOutcome, PendingCall, Resumption, ToolExecutor as _};
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tokio::net::TcpListener;
use url::Url;

/// Says to a process what it is to be.
const ROLE: &str = "HAFT_TEST_ROLE";

/// Is a worker in a process of its own; dropped, it is ended.
pub(crate) struct WorkerProcess {
    child: Child,
    pub(crate) port: u16,
}

fn role(role: &Value, test: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "--nocapture", "--test-threads", "1", test])
        .env(ROLE, role.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

/// What this process is to be, if it is one of those.
fn own_role() -> Option<Value> {
    let role: Value = serde_json::from_str(&std::env::var(ROLE).ok()?).unwrap();
    clock::advance(std::process::id(), Duration::from_secs(role["ahead_s"].as_u64().unwrap_or_default()));
    Some(role)
}

impl WorkerProcess {
    pub(crate) async fn start(ledger: &Path) -> Self {
        Self::start_at(ledger, free_port()).await
    }

    /// Starts one where another was.
    pub(crate) async fn start_at(ledger: &Path, port: u16) -> Self {
        Self::start_ahead(ledger, port, Duration::ZERO).await
    }

    /// Starts one where another was, with its wall clock so far ahead of this process's.
    pub(crate) async fn start_ahead(ledger: &Path, port: u16, ahead: Duration) -> Self {
        Self::start_as(&json!({ "port": port, "ledger": ledger, "ahead_s": ahead.as_secs() }), port).await
    }

    /// Starts one that tells of its calls through an engine.
    pub(crate) async fn start_telling(ledger: &Path, ingress: &Url) -> Self {
        Self::start_telling_at(ledger, free_port(), ingress).await
    }

    /// Starts such a one where another was.
    pub(crate) async fn start_telling_at(ledger: &Path, port: u16, ingress: &Url) -> Self {
        Self::start_as(&json!({ "port": port, "ledger": ledger, "ingress": ingress.as_str() }), port).await
    }

    async fn start_as(told: &Value, port: u16) -> Self {
        let child = role(told, "processes::works");
        let worker = Self { child, port };
        while tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_err() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        worker
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Ends the worker as if its machine had lost its power.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Tells the worker to take no more calls, and waits until it has ended.
    pub(crate) async fn drain(mut self) {
        let told = Command::new("kill").args(["-INT", &self.child.id().to_string()]).status().unwrap();
        assert!(told.success());
        let ended = tokio::task::spawn_blocking(move || self.child.wait().unwrap()).await.unwrap();
        assert!(ended.success(), "{ended}");
    }

    /// How many bytes of memory the worker has.
    pub(crate) fn memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches("kB").trim().parse::<u64>().unwrap() * 1024
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Has a call approved by a process of its own, and gives what it got.
pub(crate) async fn decided_elsewhere(ingress: &Url, pending: &PendingCall, directory: &Path) -> CallOutcome {
    decided_ahead(ingress, pending, directory, Duration::ZERO).await.unwrap()
}

/// Has a call approved by a process whose wall clock is so far ahead of this one's; gives what it got, or why it was refused.
pub(crate) async fn decided_ahead(
    ingress: &Url,
    pending: &PendingCall,
    directory: &Path,
    ahead: Duration,
) -> Result<CallOutcome, String> {
    let said = directory.join("decided");
    let told = json!({
        "ingress": ingress.as_str(), "pending": pending, "said": said, "ahead_s": ahead.as_secs(),
    });
    let mut child = role(&told, "processes::decides");
    let ended = tokio::task::spawn_blocking(move || child.wait().unwrap()).await.unwrap();
    assert!(ended.success(), "{ended}");
    serde_json::from_slice(&std::fs::read(&said).unwrap()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "is a worker of other tests"]
async fn works() {
    let Some(role) = own_role() else { return };
    let ledger = Ledger::at(Path::new(role["ledger"].as_str().unwrap()));
    let port = u16::try_from(role["port"].as_u64().unwrap()).unwrap();
    let listener = TcpListener::bind(("127.0.0.1", port)).await.unwrap();
    let stop = async { tokio::signal::ctrl_c().await.unwrap() };
    let mut worker = Worker::new("tools".parse().unwrap(), performer(&ledger, None));
    if let Some(ingress) = role["ingress"].as_str() {
        worker = worker.updates_through(&executor(&ingress.parse().unwrap(), "tools"));
    }
    with_agents(worker, &ledger).serve(listener, stop).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "is a person of other tests"]
async fn decides() {
    let Some(role) = own_role() else { return };
    let pending: PendingCall = serde_json::from_value(role["pending"].clone()).unwrap();
    let executor = executor(&role["ingress"].as_str().unwrap().parse().unwrap(), "tools");
    let resumption = Resumption::new(pending.scope(), pending, Approval::Approve);
    let outcome = executor.resume(resumption).await.map_err(|refused| refused.to_string());
    std::fs::write(role["said"].as_str().unwrap(), serde_json::to_vec(&outcome).unwrap()).unwrap();
}
