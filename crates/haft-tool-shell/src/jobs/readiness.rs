use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use haft_core::ToolError;
use regex::bytes::{Regex, RegexBuilder};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use super::Job;

/// How large a compiled regular expression may be, in bytes, as for `read_output`.
const PATTERN_BYTES: usize = 256 << 10;

/// How often a port is tried.
const TRY_AGAIN: Duration = Duration::from_millis(50);

/// How much of what is printed is looked through at once, in bytes, and how much of it again with what follows.
const WINDOW_BYTES: u64 = 64 * 1024;
const OVERLAP_BYTES: u64 = 4 * 1024;

/// Says by what a job is known to be ready.
#[derive(Debug, Clone)]
pub(crate) struct Readiness {
    pub(crate) signs: Signs,
    pub(crate) most: Duration,
}

/// What shows that a job is ready; the first of them.
#[derive(Debug, Clone)]
pub(crate) struct Signs {
    pub(crate) pattern: Option<Regex>,
    pub(crate) port: Option<u16>,
}

/// How waiting for a job has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Met {
    Ready,
    Over,
    NotInTime,
}

impl Readiness {
    /// Reads a regular expression.
    pub(crate) fn pattern(text: &str) -> Result<Regex, ToolError> {
        let built = RegexBuilder::new(text).size_limit(PATTERN_BYTES).multi_line(true).build();
        built.map_err(|error| {
            let why = error.to_string();
            let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ");
            ToolError::invalid_input(format!(
                "`wait_for` is not a regular expression: {why}; correct it, or escape the character, as in `\\(`"
            ))
        })
    }

    /// Refuses to wait for what is there before the job.
    pub(super) async fn check(&self) -> Result<(), ToolError> {
        match self.signs.port {
            Some(port) if answers(port).await => Err(ToolError::invalid_input(format!(
                "something serves on port {port} already, so that it cannot be told when the job is ready; end that, or \
                 use another port"
            ))),
            _ => Ok(()),
        }
    }

    /// Waits until a job is ready or has ended.
    pub(super) async fn wait(&self, job: &Job) -> Met {
        let Signs { pattern, port } = &self.signs;
        let signs = async {
            tokio::select! {
                biased;
                () = printed(job, pattern.as_ref()) => Met::Ready,
                () = served(*port) => Met::Ready,
                () = job.over() => Met::Over,
            }
        };
        match timeout(self.most, signs).await {
            // What it printed last may be the sign.
            Ok(Met::Over) if pattern.as_ref().is_some_and(|pattern| is_in(job, pattern, &mut 0)) => {
                Met::Ready
            }
            Ok(met) => met,
            Err(_) => Met::NotInTime,
        }
    }
}

/// Waits until something is printed in which a pattern matches.
async fn printed(job: &Job, pattern: Option<&Regex>) {
    let Some(pattern) = pattern else { return std::future::pending().await };
    let mut from = 0;
    loop {
        let grown = job.transcript().grown();
        if is_in(job, pattern, &mut from) {
            return;
        }
        grown.await;
    }
}

/// Looks for a pattern from a place on, and moves that.
fn is_in(job: &Job, pattern: &Regex, from: &mut u64) -> bool {
    let end = job.transcript().extent().bytes;
    while *from < end {
        // A window is small and was just written.
        let Ok(bytes) = job.transcript().read(*from..end.min(*from + WINDOW_BYTES)) else { return false };
        if pattern.is_match(&bytes) {
            return true;
        }
        let is_last = *from + bytes.len() as u64 >= end;
        let done = (bytes.len() as u64).saturating_sub(OVERLAP_BYTES);
        *from += done;
        if is_last || done == 0 {
            return false;
        }
    }
    false
}

/// Waits until something serves on a port of this machine.
async fn served(port: Option<u16>) {
    let Some(port) = port else { return std::future::pending().await };
    while !answers(port).await {
        sleep(TRY_AGAIN).await;
    }
}

/// Tells whether something accepts connections on a port of this machine.
async fn answers(port: u16) -> bool {
    let addresses =
        [SocketAddr::from((Ipv4Addr::LOCALHOST, port)), SocketAddr::from((Ipv6Addr::LOCALHOST, port))];
    for address in addresses {
        if matches!(timeout(Duration::from_secs(1), TcpStream::connect(address)).await, Ok(Ok(_))) {
            return true;
        }
    }
    false
}
