//! nginx as `deploy/nginx.conf` says, on loopback.

use super::engine::{Engine, PATIENCE};
use haft_testkit::free_port;
use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Says where everything listens that has a name of its own in the file.
pub(crate) struct Ports {
    /// Where the engine has calls made.
    pub(crate) calls: u16,
    /// Where clients are served.
    pub(crate) clients: u16,
    /// Where workers tell how far calls have got.
    pub(crate) news: u16,
    pub(crate) workers: [u16; 3],
    pub(crate) servers: [u16; 2],
}

/// Is an nginx; dropped, it is ended.
pub(crate) struct Nginx {
    child: Child,
    _folder: TempDir,
}

impl Ports {
    pub(crate) fn new() -> Self {
        Self {
            calls: free_port(),
            clients: free_port(),
            news: free_port(),
            workers: [(); 3].map(|()| free_port()),
            servers: [(); 2].map(|()| free_port()),
        }
    }

    /// Puts these ports of this machine into the configuration. That names are asked for again, and how HTTP/2 is said, is newer than
    /// the nginx of some archives.
    fn fill(&self, configuration: &str, engine: u16, folder: &Path) -> String {
        let mut text = configuration.replace(" resolve;", ";").replace("http2 on;", "");
        let mut put = |name: String, port: u16, form: &str| {
            assert!(text.contains(&name), "deploy/nginx.conf does not say `{name}`");
            text = text.replace(&name, &form.replace("PORT", &port.to_string()));
        };
        for (number, port) in (1..).zip(self.workers) {
            put(format!("worker-{number}:9080"), port, "127.0.0.1:PORT");
        }
        for (number, port) in (1..).zip(self.servers) {
            put(format!("server-{number}:8765"), port, "127.0.0.1:PORT");
        }
        put("engine:8080".to_owned(), engine, "127.0.0.1:PORT");
        put("listen 9081;".to_owned(), self.news, "listen 127.0.0.1:PORT;");
        put("listen 9080;".to_owned(), self.calls, "listen 127.0.0.1:PORT http2;");
        put("listen 8766;".to_owned(), self.clients, "listen 127.0.0.1:PORT;");
        let shown = folder.display();
        text = text.replace("/tmp/nginx.pid", &format!("{shown}/nginx.pid"));
        let kept = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map(|what| format!("    {what}_temp_path {shown}/{what};\n"))
            .concat();
        text.replacen("http {\n", &format!("http {{\n{kept}"), 1)
    }
}

impl Nginx {
    /// Starts one before the engine, its workers and its servers.
    pub(crate) fn start(ports: &Ports, engine: &Engine) -> Self {
        let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        let folder = TempDir::new().unwrap();
        let configuration = std::fs::read_to_string(root.join("deploy/nginx.conf")).unwrap();
        let file = folder.path().join("nginx.conf");
        std::fs::write(&file, ports.fill(&configuration, engine.ingress_port(), folder.path())).unwrap();
        let start = |program: &Path| {
            let mut command = Command::new(program);
            command.args(["-e", "stderr", "-g", "daemon off;", "-p"]).arg(folder.path()).arg("-c").arg(&file);
            command.stdin(Stdio::null()).spawn()
        };
        let fetched = root.join("target/nginx/usr/sbin/nginx");
        let child = start(Path::new("nginx")).or_else(|_| start(&fetched)).expect("nginx is installed");
        let mut nginx = Self { child, _folder: folder };
        for port in [ports.calls, ports.clients, ports.news] {
            let began = Instant::now();
            while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
                assert!(nginx.child.try_wait().unwrap().is_none(), "nginx does not take deploy/nginx.conf");
                assert!(began.elapsed() < PATIENCE, "nginx does not listen");
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        nginx
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // Told so, it ends what it has started as well.
        let _ = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status();
        let _ = self.child.wait();
    }
}
