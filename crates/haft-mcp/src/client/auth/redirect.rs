use std::io;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

const PATH: &str = "/callback";

/// How long a browser may take to say what it wants, and how much of it is read, in bytes.
const ASKING: Duration = Duration::from_secs(5);
const MOST_HEAD: usize = 16 * 1024;

/// Is where a browser comes back to from a login: a port of this machine that listens for as long as the login may take.
#[derive(Debug)]
pub(crate) struct Redirect {
    listener: TcpListener,
    port: u16,
}

/// Is a browser that waits for its page.
#[derive(Debug)]
pub(crate) struct Visit {
    stream: TcpStream,
    /// The whole address that it asked for; it holds the code of the login.
    pub(crate) url: String,
}

impl Redirect {
    /// Listens at the port that was used before if that is free, and at any other if not.
    pub(crate) async fn listen(before: Option<u16>) -> io::Result<Self> {
        let listener = match before {
            Some(port) => match TcpListener::bind(("127.0.0.1", port)).await {
                Ok(listener) => listener,
                Err(_) => TcpListener::bind(("127.0.0.1", 0)).await?,
            },
            None => TcpListener::bind(("127.0.0.1", 0)).await?,
        };
        let port = listener.local_addr()?.port();
        Ok(Self { listener, port })
    }

    /// Listens at this port and no other.
    pub(crate) async fn listen_at(port: u16) -> io::Result<Self> {
        Ok(Self { listener: TcpListener::bind(("127.0.0.1", port)).await?, port })
    }

    /// The address that the authorization server is told.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}{PATH}", self.port)
    }

    /// The port of an address that was told before.
    pub(crate) fn port_of(url: &str) -> Option<u16> {
        url.strip_prefix("http://127.0.0.1:")?.strip_suffix(PATH)?.parse().ok()
    }

    /// Waits for a browser that comes back; whatever else asks is turned away.
    ///
    /// # Cancel safety
    ///
    /// A browser that has not said what it wants yet is turned away.
    pub(crate) async fn visit(&self) -> io::Result<Visit> {
        loop {
            let (mut stream, _) = self.listener.accept().await?;
            let Ok(Some(target)) = timeout(ASKING, target(&mut stream)).await else { continue };
            let path = target.split('?').next().unwrap_or_default();
            if path == PATH {
                let url = format!("http://127.0.0.1:{}{target}", self.port);
                return Ok(Visit { stream, url });
            }
            respond(stream, "404 Not Found", "There is nothing here.").await;
        }
    }
}

impl Visit {
    /// Shows a page that says how it went.
    pub(crate) async fn answer(self, went_well: bool, text: &str) {
        respond(self.stream, if went_well { "200 OK" } else { "400 Bad Request" }, text).await;
    }
}

/// What is asked for, if it is asked in a way that is understood.
async fn target(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        if head.len() > MOST_HEAD || stream.read_buf(&mut head).await.ok()? == 0 {
            return None;
        }
    }
    let line = String::from_utf8(head.split(|byte| *byte == b'\r').next()?.to_vec()).ok()?;
    let mut words = line.split(' ');
    match (words.next(), words.next()) {
        (Some("GET"), Some(target)) if target.starts_with('/') => Some(target.to_owned()),
        _ => None,
    }
}

async fn respond(mut stream: TcpStream, status: &str, text: &str) {
    let page = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: {}\r\n\
         cache-control: no-store\r\nreferrer-policy: no-referrer\r\nconnection: close\r\n\r\n{text}",
        text.len()
    );
    // A browser that does not wait for its page misses nothing else.
    let _ = timeout(ASKING, async {
        stream.write_all(page.as_bytes()).await?;
        stream.shutdown().await
    })
    .await;
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn ask(url: &str, request: &str) -> String {
        let address = url.strip_prefix("http://").unwrap().split('/').next().unwrap();
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut page = String::new();
        stream.read_to_string(&mut page).await.unwrap();
        page
    }

    #[tokio::test]
    async fn gives_where_a_browser_comes_back_to_and_turns_others_away() {
        let redirect = Redirect::listen(None).await.unwrap();
        let url = redirect.url();
        assert_eq!(Redirect::port_of(&url), Some(redirect.port));
        let browser = async {
            let favicon = ask(&url, "GET /favicon.ico HTTP/1.1\r\n\r\n").await;
            assert!(favicon.starts_with("HTTP/1.1 404 Not Found\r\n"), "{favicon}");
            assert_eq!(ask(&url, "POST /callback HTTP/1.1\r\n\r\n").await, "");
            ask(&url, "GET /callback?code=c&state=s HTTP/1.1\r\nhost: x\r\n\r\n").await
        };
        let host = async {
            let visit = redirect.visit().await.unwrap();
            let asked = visit.url.clone();
            visit.answer(true, "done").await;
            asked
        };
        let (page, asked) = tokio::join!(browser, host);
        assert_eq!(asked, format!("{url}?code=c&state=s"));
        assert!(page.starts_with("HTTP/1.1 200 OK\r\n") && page.ends_with("\r\n\r\ndone"), "{page}");
    }

    #[tokio::test]
    async fn listens_where_it_did_before_if_nobody_else_does() {
        let first = Redirect::listen(None).await.unwrap();
        let port = first.port;
        assert_ne!(Redirect::listen(Some(port)).await.unwrap().port, port);
        drop(first);
        assert_eq!(Redirect::listen(Some(port)).await.unwrap().port, port);
    }
}
