//! The real server, on loopback.

use base64::Engine as _;
use haft_testkit::free_port;
use std::fs::File;
use std::net::{Ipv4Addr, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long anything may take that is waited for.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// Is a server with a directory of its own; dropped, it is ended.
pub(crate) struct Engine {
    child: Child,
    directory: TempDir,
    /// Where its key is, which it reads when it needs it.
    key: Option<TempDir>,
    pub(crate) ingress: String,
    pub(crate) admin: String,
}

impl Engine {
    pub(crate) fn start() -> Self {
        Self::with(&[])
    }

    /// Starts a server that signs its requests, and gives the key by which they are known.
    pub(crate) fn signing() -> (Self, String) {
        let key = TempDir::new().unwrap();
        let file = key.path().join("key.pem");
        std::fs::write(&file, private_key()).unwrap();
        let mut engine = Self::with(&[(
            "RESTATE_WORKER__INVOKER__REQUEST_IDENTITY_PRIVATE_KEY_PEM_FILE",
            file.to_str().unwrap(),
        )]);
        engine.key = Some(key);
        let start = Instant::now();
        let key = loop {
            let log = engine.log();
            let key =
                log.split_whitespace().find_map(|word| word.trim_matches('"').strip_prefix("publickeyv1_"));
            if let Some(key) = key {
                break format!("publickeyv1_{key}");
            }
            assert!(start.elapsed() < PATIENCE, "it says no key: {log}");
            std::thread::sleep(Duration::from_millis(20));
        };
        (engine, key)
    }

    fn with(variables: &[(&str, &str)]) -> Self {
        let directory = TempDir::new().unwrap();
        let [ingress, admin, fabric] = [(); 3].map(|()| free_port());
        let log = File::create(directory.path().join("log")).unwrap();
        let child = Command::new(program())
            .args(["--bind-ip", "127.0.0.1", "--listen-mode", "tcp", "--no-logo", "--node-name", "node-0"])
            .args(["--log-disable-ansi-codes", "true", "--default-num-partitions", "4"])
            .args(["--bind-port", &fabric.to_string(), "--base-dir"])
            .arg(directory.path().join("data"))
            .env("RESTATE_INGRESS__BIND_PORT", ingress.to_string())
            .env("RESTATE_ADMIN__BIND_PORT", admin.to_string())
            .env("RESTATE_DISABLE_TELEMETRY", "true")
            // It leaves directories there.
            .env("TMPDIR", directory.path())
            .env("DO_NOT_TRACK", "1")
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        let url = |port: u16| format!("http://127.0.0.1:{port}");
        let mut engine = Self { child, directory, key: None, ingress: url(ingress), admin: url(admin) };
        for port in [admin, ingress] {
            engine.listens(port);
        }
        engine
    }

    fn listens(&mut self, port: u16) {
        let start = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            assert!(self.child.try_wait().unwrap().is_none(), "the server has ended: {}", self.log());
            assert!(start.elapsed() < PATIENCE, "the server does not answer: {}", self.log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.directory.path().join("log")).unwrap_or_default()
    }

    pub(crate) fn ingress_port(&self) -> u16 {
        self.ingress.rsplit(':').next().unwrap().parse().unwrap()
    }

    /// How a command is told of it.
    pub(crate) fn arguments(&self) -> [&str; 4] {
        ["--restate", &self.ingress, "--admin", &self.admin]
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // One that has ended by itself is not there any more.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Makes a key of Ed25519, as RFC 8410 writes one.
fn private_key() -> String {
    let mut der = vec![0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];
    let mut secret = [0; 32];
    getrandom::fill(&mut secret).unwrap();
    der.extend(secret);
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
