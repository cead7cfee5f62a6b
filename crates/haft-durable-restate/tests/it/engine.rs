//! The real server, on loopback.

use crate::clock;
use base64::Engine as _;
use haft_durable::Routes;
use haft_durable_restate::{Error, RestateExecutor, register};
use haft_http::{AddressPolicy, Exchange, HttpClient};
use haft_testkit::free_port;
use serde_json::{Value, json};
use std::fs::File;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use url::Url;

/// How long anything may take that is waited for.
pub(crate) const PATIENCE: Duration = Duration::from_mins(3);

const PAUSE: Duration = Duration::from_millis(20);

/// Is a server with a directory of its own; dropped, it is ended.
pub(crate) struct Engine {
    child: Child,
    node: Node,
}

/// Says how a server is started.
struct Node {
    directory: TempDir,
    name: String,
    ingress: u16,
    admin: u16,
    fabric: u16,
    /// The ports of all nodes of its cluster; nothing if it stands alone.
    cluster: Vec<u16>,
    is_signing: bool,
}

impl Engine {
    pub(crate) async fn start() -> Self {
        let node = Node::new("node-0".to_owned(), free_port(), Vec::new());
        let mut engine = Self { child: node.spawn(), node };
        engine.answers().await;
        engine
    }

    /// Starts a server that signs its requests, and gives the key by which they are known.
    pub(crate) async fn signing() -> (Self, String) {
        let mut node = Node::new("node-0".to_owned(), free_port(), Vec::new());
        node.is_signing = true;
        std::fs::write(node.key(), private_key()).unwrap();
        let mut engine = Self { child: node.spawn(), node };
        engine.answers().await;
        let log = engine.log();
        let key = log.split_whitespace().find_map(|word| word.trim_matches('"').strip_prefix("publickeyv1_"));
        (engine, format!("publickeyv1_{}", key.unwrap()))
    }

    /// Starts so many servers that keep everything on two of them.
    pub(crate) async fn cluster(size: usize) -> Vec<Self> {
        let ports: Vec<u16> = (0..size).map(|_| free_port()).collect();
        let node = |(number, port): (usize, &u16)| Node::new(format!("node-{number}"), *port, ports.clone());
        let nodes: Vec<Node> = ports.iter().enumerate().map(node).collect();
        let mut engines: Vec<Self> =
            nodes.into_iter().map(|node| Self { child: node.spawn(), node }).collect();
        for engine in &mut engines {
            engine.answers().await;
        }
        engines
    }

    /// Ends the server as if its machine had lost its power.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) async fn start_again(&mut self) {
        self.start_again_ahead(Duration::ZERO).await;
    }

    /// Starts the server with its wall clock so far ahead of this process's.
    pub(crate) async fn start_again_ahead(&mut self, ahead: Duration) {
        self.child = self.node.spawn();
        clock::advance(self.child.id(), ahead);
        self.answers().await;
    }

    /// Tells what time the server has, in seconds since the epoch.
    pub(crate) async fn time(&self) -> u64 {
        let rows = self.query("SELECT CAST(to_unixtime(now()) AS BIGINT) AS now").await;
        rows[0]["now"].as_u64().unwrap()
    }

    pub(crate) fn ingress(&self) -> Url {
        url(self.node.ingress)
    }

    pub(crate) fn admin(&self) -> Url {
        url(self.node.admin)
    }

    /// Tells the server of a worker at a port.
    pub(crate) async fn knows(&self, worker: u16) {
        self.learns_of(worker).await.unwrap();
    }

    pub(crate) async fn learns_of(&self, worker: u16) -> Result<(), Error> {
        register(&http(), &self.admin(), &url(worker)).await
    }

    pub(crate) fn executor(&self, pool: &str) -> RestateExecutor {
        executor(&self.ingress(), pool)
    }

    /// Has the server itself cancel a workflow, as an operator does.
    pub(crate) async fn cancels(&self, pool: &str, key: &str) {
        let sql = format!(
            "SELECT id FROM sys_invocation WHERE target_service_name = '{pool}' AND target_service_key = '{key}' AND \
             target_handler_name = 'run'"
        );
        let rows = self.query(&sql).await;
        let address = format!("{}invocations/{}/cancel", self.admin(), rows[0]["id"].as_str().unwrap());
        let request = http::Request::patch(address).body(bytes::Bytes::new()).unwrap();
        let answer = http().send(request, Exchange::default()).await.unwrap();
        assert!(answer.status().is_success(), "{}", answer.status());
    }

    /// Waits until this handler of so many workflows is waited for.
    pub(crate) async fn is_asked(&self, handler: &str, times: usize) {
        let sql = format!(
            "SELECT id FROM sys_invocation WHERE target_handler_name = '{handler}' AND status <> 'completed'"
        );
        let start = Instant::now();
        while self.query(&sql).await.len() < times {
            assert!(start.elapsed() < PATIENCE, "nobody asks for `{handler}`");
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Gives what the server knows of a service, such as for how long it keeps its calls.
    pub(crate) async fn service(&self, name: &str) -> Value {
        let address = format!("{}services/{name}", self.admin());
        let request = http::Request::get(address).body(bytes::Bytes::new()).unwrap();
        let answer = http().send(request, Exchange::default()).await.unwrap();
        assert!(answer.status().is_success(), "{}", answer.status());
        serde_json::from_slice(&answer.into_body().bytes().await.unwrap()).unwrap()
    }

    /// Names the promises that the server keeps of calls with this id.
    pub(crate) async fn promises(&self, call: &str) -> Vec<String> {
        let sql = format!("SELECT key FROM sys_promise WHERE service_key LIKE '%/{call}'");
        let rows = self.query(&sql).await;
        rows.iter().map(|row| row["key"].as_str().unwrap().to_owned()).collect()
    }

    async fn query(&self, sql: &str) -> Vec<Value> {
        let request = http::Request::post(format!("{}query", self.admin()))
            .header(http::header::CONTENT_TYPE, "application/json")
            .header(http::header::ACCEPT, "application/json")
            .body(bytes::Bytes::from(json!({ "query": sql }).to_string()))
            .unwrap();
        let answer = http().send(request, Exchange::default()).await.unwrap();
        let body = answer.into_body().bytes().await.unwrap();
        let said: Value = serde_json::from_slice(&body).unwrap();
        said["rows"].as_array().unwrap().clone()
    }

    async fn answers(&mut self) {
        let paths =
            [format!("{}health", url(self.node.admin)), format!("{}restate/health", url(self.node.ingress))];
        let start = Instant::now();
        for path in paths {
            while !is_well(&path).await {
                if let Some(status) = self.child.try_wait().unwrap() {
                    panic!("the server has ended ({status}): {}", self.log());
                }
                assert!(start.elapsed() < PATIENCE, "the server does not answer: {}", self.log());
                tokio::time::sleep(PAUSE).await;
            }
        }
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.node.directory.path().join("log")).unwrap_or_default()
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // One that has ended by itself is not there any more.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn executor(ingress: &Url, pool: &str) -> RestateExecutor {
    RestateExecutor::new(ingress, http(), Routes::to(pool.parse().unwrap())).unwrap()
}

pub(crate) fn http() -> HttpClient {
    HttpClient::new(AddressPolicy::public().loopback()).unwrap()
}

pub(crate) fn url(port: u16) -> Url {
    format!("http://127.0.0.1:{port}/").parse().unwrap()
}

async fn is_well(path: &str) -> bool {
    let request = http::Request::get(path).body(bytes::Bytes::new()).unwrap();
    http().send(request, Exchange::default()).await.is_ok_and(|answer| answer.status().is_success())
}

impl Node {
    fn new(name: String, fabric: u16, cluster: Vec<u16>) -> Self {
        let directory = TempDir::new().unwrap();
        Self { directory, name, ingress: free_port(), admin: free_port(), fabric, cluster, is_signing: false }
    }

    fn key(&self) -> PathBuf {
        self.directory.path().join("key.pem")
    }

    fn spawn(&self) -> Child {
        let log = File::options().create(true).append(true).open(self.directory.path().join("log")).unwrap();
        let mut command = Command::new(program());
        command
            .args(["--bind-ip", "127.0.0.1", "--listen-mode", "tcp", "--no-logo"])
            .args([
                "--log-disable-ansi-codes",
                "true",
                "--cluster-name",
                "haft",
                "--default-num-partitions",
                "4",
            ])
            .arg("--base-dir")
            .arg(self.directory.path().join("data"))
            .args(["--node-name", &self.name, "--bind-port", &self.fabric.to_string()])
            .env("RESTATE_INGRESS__BIND_PORT", self.ingress.to_string())
            .env("RESTATE_ADMIN__BIND_PORT", self.admin.to_string())
            .env("RESTATE_DISABLE_TELEMETRY", "true")
            // It leaves directories there.
            .env("TMPDIR", self.directory.path())
            .env("DO_NOT_TRACK", "1");
        if let Some(first) = self.cluster.first() {
            let all: Vec<String> = self.cluster.iter().map(|port| format!("\"{}\"", url(*port))).collect();
            command
                .args(["--auto-provision", if self.fabric == *first { "true" } else { "false" }])
                .env("RESTATE_DEFAULT_REPLICATION", "2")
                .env("RESTATE_METADATA_CLIENT__ADDRESSES", format!("[{}]", all.join(",")));
        }
        if self.is_signing {
            command.env("RESTATE_REQUEST_IDENTITY_PRIVATE_KEY_PEM_FILE", self.key());
        }
        command.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log).spawn().unwrap()
    }
}

/// Makes a key of Ed25519, as RFC 8410 writes one.
fn private_key() -> String {
    let mut der = vec![0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];
    der.extend((0..32).map(|_| fastrand::u8(..)));
    let text = base64::engine::general_purpose::STANDARD.encode(der);
    format!("-----BEGIN PRIVATE KEY-----\n{text}\n-----END PRIVATE KEY-----\n")
}

fn program() -> PathBuf {
    let architecture = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
    let system = if cfg!(target_os = "macos") { "darwin" } else { "linux" };
    let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    root.join("target/restate/node_modules/@restatedev")
        .join(format!("restate-server-{system}-{architecture}/bin/restate-server"))
}
