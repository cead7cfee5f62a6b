//! What the tests have in common: a server in a directory of its own, and a host that takes note of all it hears.

use crate::client::rmcp_session::{Opening, StdioDial};
use crate::client::session::{
    Ask, AskRefused, Counterpart, Dial as _, DialError, Fault, News, Request, Session, Watch,
};
use crate::{Era, MemoryEras, ServerConfig, ServerLimits, ServerProgram, Transport};
use async_trait::async_trait;
use haft_process::Environment;
use haft_tools_core::CallContext;
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tempfile::TempDir;
use tokio::time::{Instant, sleep, timeout};

/// How long something may take that should happen at once, on a machine that is busy.
pub(super) const SOON: Duration = Duration::from_mins(1);

/// Is a server's place, and the host that connects to it.
pub(super) struct Stage {
    directory: TempDir,
    pub(super) host: Arc<Host>,
    pub(super) dial: StdioDial,
}

/// Takes note of what is told, and answers what is asked.
#[derive(Debug, Default)]
pub(super) struct Host {
    news: Mutex<Vec<String>>,
    progress: Mutex<Vec<String>>,
}

/// The fixture's program.
pub(super) fn hostile_server() -> PathBuf {
    let this = std::env::current_exe().expect("the test knows where it is");
    let target = this.ancestors().nth(2).expect("it is in `deps`");
    let program = target.join("examples").join("hostile-server");
    assert!(program.exists(), "build the examples of this crate: cargo test does, or cargo build --examples");
    program
}

impl Stage {
    /// Makes a server with these arguments; the era has to be found out.
    pub(super) fn new(arguments: &[&str]) -> Self {
        Self::of(ServerProgram::new(hostile_server(), arguments))
    }

    /// Makes a server of a script for `sh`, in which `$0` is the fixture.
    pub(super) fn script(script: &str) -> Self {
        let fixture = hostile_server().into_os_string();
        Self::of(ServerProgram::new("sh", ["-c".into(), script.into(), fixture]))
    }

    fn of(mut program: ServerProgram) -> Self {
        let directory = TempDir::new().unwrap();
        program.directory = Some(directory.path().to_owned());
        let config = ServerConfig::new("stage".parse().unwrap(), Transport::Stdio(program.clone()));
        let opening = Opening::new(&config, Arc::new(MemoryEras::default()));
        let dial = StdioDial { program, environment: Environment::minimal(), opening };
        Self { directory, host: Arc::default(), dial }
    }

    pub(super) fn era(mut self, era: Era) -> Self {
        self.dial.opening.era = Some(era);
        self
    }

    pub(super) fn limits(mut self, change: impl FnOnce(&mut ServerLimits)) -> Self {
        change(&mut self.dial.opening.limits);
        self
    }

    pub(super) async fn dial(&self) -> Result<Arc<dyn Session>, DialError> {
        timeout(SOON * 2, self.dial.dial(self.host.clone())).await.expect("it opens or fails in time")
    }

    pub(super) async fn open(&self) -> Arc<dyn Session> {
        self.dial().await.expect("the connection opens")
    }

    /// Tells whether a process of the server is alive.
    pub(super) fn is_inhabited(&self) -> bool {
        let root = self.directory.path().canonicalize().expect("it is there");
        fs::read_dir("/proc").expect("processes can be listed").flatten().any(|process| {
            fs::read_link(process.path().join("cwd")).is_ok_and(|place| place.starts_with(&root))
        })
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Closes a connection and expects nothing of it to be left.
    pub(super) async fn close(&self, session: &Arc<dyn Session>) {
        timeout(SOON, session.close()).await.expect("it closes");
        assert!(session.farewell().is_some(), "it says goodbye");
        assert!(!self.is_inhabited(), "no process is left");
    }
}

impl Host {
    pub(super) fn news(&self) -> Vec<String> {
        self.news.lock().unwrap().clone()
    }

    pub(super) fn progress(&self) -> Vec<String> {
        self.progress.lock().unwrap().clone()
    }
}

#[async_trait]
impl Counterpart for Host {
    fn capabilities(&self) -> Value {
        json!({ "roots": {}, "elicitation": {} })
    }

    async fn answer(&self, ask: Ask, of: Option<Arc<dyn Watch>>) -> Result<Value, AskRefused> {
        match ask.method.as_str() {
            "roots/list" => Ok(json!({ "roots": [], "params": ask.params, "watched": of.is_some() })),
            "slow" => std::future::pending().await,
            method => Err(AskRefused { code: -32_601, message: format!("no {method} here") }),
        }
    }

    fn hear(&self, news: News) {
        self.news.lock().unwrap().push(format!("{news:?}"));
    }
}

/// Watches a request for the host.
pub(super) struct Watching(pub(super) Arc<Host>);

impl Watch for Watching {
    fn progress(&self, done: f64, total: Option<f64>, text: Option<&str>) {
        self.0.progress.lock().unwrap().push(format!("{done} of {total:?}: {text:?}"));
    }

    fn call(&self) -> Option<&CallContext> {
        None
    }
}

#[expect(clippy::needless_pass_by_value, reason = "calls read better with arguments written in place")]
pub(super) fn call(tool: &str, arguments: Value) -> Request {
    Request { method: "tools/call", params: json!({ "name": tool, "arguments": arguments }) }
}

/// Calls a tool and gives the text of its result.
pub(super) async fn text(session: &Arc<dyn Session>, tool: &str, arguments: Value) -> Result<String, Fault> {
    let result =
        timeout(SOON, session.request(call(tool, arguments), None)).await.expect("an answer in time")?;
    let text = result["content"][0]["text"].as_str();
    Ok(text.map_or_else(|| result.to_string(), str::to_owned))
}

/// Expects the connection to work.
pub(super) async fn works(session: &Arc<dyn Session>) {
    assert_eq!(text(session, "echo", json!({ "text": "hi" })).await.unwrap(), "hi");
}

pub(super) async fn until(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + SOON;
    while !is_so() {
        assert!(Instant::now() < deadline, "not so in time: {what}");
        sleep(Duration::from_millis(5)).await;
    }
}
