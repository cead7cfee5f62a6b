//! The client of all servers: it writes what is ready and reads no more than it has to.

use crate::Fault;
use crate::echo::{call, message, request};
use serde_json::json;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{ChildStdin, ChildStdout};

/// Is a connection over HTTP.
pub(crate) struct Web {
    stream: TcpStream,
    answer: Vec<u8>,
}

/// Is a connection over lines.
pub(crate) struct Lines {
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Web {
    pub(crate) fn connect(address: SocketAddr) -> Result<Self, Fault> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, answer: Vec::new() })
    }

    pub(crate) fn echo(&mut self, calls: u32) -> Result<(), Fault> {
        let request = request("tools/call", "mcp-name: echo\r\n", &call());
        for _ in 0..calls {
            self.ask(request.as_bytes())?;
        }
        if !contains(&self.answer, b"hello world") {
            return Err(String::from_utf8_lossy(&self.answer).into());
        }
        Ok(())
    }

    /// Lists all tools; gives the bytes of each page.
    pub(crate) fn list(&mut self, tools: usize) -> Result<Vec<usize>, Fault> {
        let (mut pages, mut cursor, mut seen) = (Vec::new(), None, 0);
        loop {
            let params = cursor.map_or_else(|| json!({}), |cursor: String| json!({ "cursor": cursor }));
            self.ask(request("tools/list", "", &message("tools/list", params)).as_bytes())?;
            pages.push(self.answer.len());
            seen += self.answer.windows(13).filter(|window| window == b"\"inputSchema\"").count();
            // The page is not taken apart: that would be most of the time.
            cursor = find(&self.answer, b"\"nextCursor\":\"").map(|at| {
                let rest = &self.answer[at + 14..];
                String::from_utf8_lossy(&rest[..find(rest, b"\"").unwrap_or(0)]).into_owned()
            });
            if cursor.is_none() {
                break;
            }
        }
        if seen == tools { Ok(pages) } else { Err(format!("{seen} tools of {tools}").into()) }
    }

    /// Has answers of these sizes sent.
    pub(crate) fn bytes(&mut self, sizes: &[usize]) -> Result<(), Fault> {
        for size in sizes {
            self.ask(format!("POST /{size} HTTP/1.1\r\n\r\n").as_bytes())?;
            // What the other side is looked through for.
            if find(&self.answer, b"\"nextCursor\":\"").is_some()
                || self.answer.windows(13).any(|window| window == b"\"inputSchema\"")
            {
                return Err("these are no bytes of nothing".into());
            }
        }
        Ok(())
    }

    /// Begins to listen for changes.
    pub(crate) fn listen(mut self) -> Result<TcpStream, Fault> {
        let body = message("subscriptions/listen", json!({ "notifications": { "toolsListChanged": true } }));
        self.stream.write_all(request("subscriptions/listen", "", &body).as_bytes())?;
        let mut head = [0; 2048];
        let read = self.stream.read(&mut head)?;
        if !head[..read].starts_with(b"HTTP/1.1 200") {
            return Err(String::from_utf8_lossy(&head[..read]).into());
        }
        Ok(self.stream)
    }

    fn ask(&mut self, request: &[u8]) -> Result<(), Fault> {
        self.stream.write_all(request)?;
        self.answer.clear();
        let mut piece = vec![0; 64 << 10];
        loop {
            let read = self.stream.read(&mut piece)?;
            if read == 0 {
                return Err("the connection ended".into());
            }
            self.answer.extend_from_slice(&piece[..read]);
            if is_whole(&self.answer) {
                return Ok(());
            }
        }
    }
}

/// Makes so many calls in all, over so many connections at once.
pub(crate) fn together(address: SocketAddr, at_once: u32, calls: u32) -> Result<(), Fault> {
    std::thread::scope(|scope| {
        let work = || Web::connect(address)?.echo(calls / at_once).map_err(|fault| fault.to_string().into());
        let all: Vec<_> = (0..at_once)
            .map(|_| scope.spawn(move || work().map_err(|fault: Fault| fault.to_string())))
            .collect();
        for each in all {
            each.join().map_err(|_| "a client failed")??;
        }
        Ok(())
    })
}

impl Lines {
    pub(crate) fn new(to: ChildStdin, from: ChildStdout) -> Self {
        Self { to, from: BufReader::new(from) }
    }

    /// Makes calls, so many of them at once.
    pub(crate) fn echo(&mut self, calls: u32, at_once: u32) -> Result<(), Fault> {
        let head = call().replace("\"id\":1", "\"id\":");
        let (before, after) = head.split_once("\"id\":").ok_or("no id")?;
        let lines: Vec<String> = (0..calls).map(|id| format!("{before}\"id\":{id}{after}\n")).collect();
        let mut next = lines.iter();
        let mut answer = String::new();
        for _ in 0..at_once {
            self.to.write_all(next.next().ok_or("no line")?.as_bytes())?;
        }
        for number in 0..calls {
            answer.clear();
            self.from.read_line(&mut answer)?;
            if !answer.contains("hello world") {
                return Err(answer.into());
            }
            if number + at_once < calls {
                self.to.write_all(next.next().ok_or("no line")?.as_bytes())?;
            }
        }
        Ok(())
    }
}

/// Answers each request with as many bytes as its path says.
pub(crate) fn serve_bytes() -> Result<(), Fault> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    announce(listener.local_addr()?)?;
    for stream in listener.incoming() {
        let mut stream = stream?;
        stream.set_nodelay(true)?;
        let mut answer = Vec::new();
        let mut request = [0; 1024];
        loop {
            let read = stream.read(&mut request)?;
            if read == 0 {
                break;
            }
            let path = String::from_utf8_lossy(&request[..read]);
            let size: usize = path.split(['/', ' ']).nth(2).unwrap_or_default().parse()?;
            if answer.len() < size {
                let body = "a".repeat(size);
                answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {size}\r\n\r\n{body}").into_bytes();
            }
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {size}\r\n\r\n");
            stream.write_all(head.as_bytes())?;
            stream.write_all(&answer[answer.len() - size..])?;
        }
    }
    Ok(())
}

/// Says where a server is.
pub(crate) fn announce(address: SocketAddr) -> Result<(), Fault> {
    let mut out = std::io::stdout();
    writeln!(out, "{address}")?;
    Ok(out.flush()?)
}

fn is_whole(answer: &[u8]) -> bool {
    let Some(end) = find(answer, b"\r\n\r\n") else { return false };
    let (head, body) = (&answer[..end], &answer[end + 4..]);
    match find(head, b"content-length: ") {
        Some(at) => {
            let length: Vec<u8> = head[at + 16..].iter().copied().take_while(u8::is_ascii_digit).collect();
            String::from_utf8_lossy(&length).parse() == Ok(body.len())
        }
        None => body.ends_with(b"0\r\n\r\n"),
    }
}

fn contains(all: &[u8], part: &[u8]) -> bool {
    find(all, part).is_some()
}

fn find(all: &[u8], part: &[u8]) -> Option<usize> {
    all.windows(part.len()).position(|window| window == part)
}
