use crate::server::caller::Principal;
use serde::Serialize;
use std::fmt;
use std::io::Write;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

/// How many lines wait to be written at most.
const WAITING: usize = 4_096;

/// Is told of every request once it is over. Must not wait.
///
/// ```
/// use haft_mcp::{AccessEntry, AccessLog};
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// /// Counts what was refused.
/// #[derive(Default)]
/// struct Refused(AtomicU64);
///
/// impl AccessLog for Refused {
///     fn record(&self, entry: &AccessEntry) {
///         if entry.refused.is_some() {
///             self.0.fetch_add(1, Ordering::Relaxed);
///         }
///     }
/// }
/// # let _ = Refused::default();
/// ```
pub trait AccessLog: Send + Sync + 'static {
    /// Writes a request down.
    fn record(&self, entry: &AccessEntry);
}

/// Says of a request who sent it and what became of it; never what was in it, and no secret.
///
/// ```
/// use haft_mcp::AccessEntry;
///
/// /// Says in a line what a request was.
/// fn line(entry: &AccessEntry) -> String {
///     let who = entry.principal.as_ref().map_or("-", |principal| principal.as_str());
///     let what = entry.method.as_deref().unwrap_or(&entry.http);
///     format!("{who} {what} {} {} ms", entry.status.unwrap_or_default(), entry.ms)
/// }
/// # let _ = line;
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AccessEntry {
    /// When it came, in milliseconds since the Unix epoch.
    pub at_ms: u64,
    /// From which address; a proxy's, where there is one.
    pub peer: SocketAddr,
    /// Who sent it, if that was found out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub principal: Option<Principal>,
    /// The method of HTTP.
    pub http: String,
    /// The method of the protocol.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// The tool or prompt that it was about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Eight digits that are the same for the requests of a session, and from which its id cannot be found out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The status of the answer; none if the client was gone before there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// How long it took until the last byte was sent or the client was gone, in milliseconds.
    pub ms: u64,
    /// How many bytes the body of the answer had.
    pub bytes: u64,
    /// Why it was refused before the protocol saw it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

/// Writes one line of JSON for each request, on a thread of its own.
///
/// If lines come faster than they can be written, those that find no room are counted instead, and the next one that is
/// written has their number as `lost`. Dropping it writes what waits.
///
/// ```
/// use haft_mcp::{HttpConfig, JsonlAccessLog};
/// use std::sync::Arc;
///
/// let log = JsonlAccessLog::new(std::io::stderr())?;
/// let config = HttpConfig::new(([127, 0, 0, 1], 8080).into()).log(Arc::new(log));
/// # let _ = config;
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct JsonlAccessLog {
    lines: Option<SyncSender<Line>>,
    lost: AtomicU64,
    writer: Option<JoinHandle<()>>,
}

#[derive(Serialize)]
struct Line {
    #[serde(flatten)]
    entry: AccessEntry,
    #[serde(skip_serializing_if = "is_none")]
    lost: u64,
}

impl JsonlAccessLog {
    /// Writes to a file that is open, or to standard error. A write that fails is passed over.
    ///
    /// # Errors
    ///
    /// When no thread can be started.
    pub fn new(mut to: impl Write + Send + 'static) -> std::io::Result<Self> {
        let (lines, incoming) = sync_channel::<Line>(WAITING);
        let writer = thread::Builder::new().name("haft-access-log".into()).spawn(move || {
            for line in incoming {
                if let Ok(mut text) = serde_json::to_vec(&line) {
                    text.push(b'\n');
                    // Who serves cannot do anything about a full disk.
                    to.write_all(&text).and_then(|()| to.flush()).ok();
                }
            }
        })?;
        Ok(Self { lines: Some(lines), lost: AtomicU64::new(0), writer: Some(writer) })
    }
}

impl AccessLog for JsonlAccessLog {
    fn record(&self, entry: &AccessEntry) {
        let Some(lines) = &self.lines else { return };
        let lost = self.lost.swap(0, Ordering::Relaxed);
        if lines.try_send(Line { entry: entry.clone(), lost }).is_err() {
            self.lost.fetch_add(lost + 1, Ordering::Relaxed);
        }
    }
}

impl Drop for JsonlAccessLog {
    fn drop(&mut self) {
        self.lines = None;
        if let Some(writer) = self.writer.take() {
            writer.join().ok();
        }
    }
}

impl fmt::Debug for JsonlAccessLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JsonlAccessLog").field("lost", &self.lost).finish_non_exhaustive()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_none(count: &u64) -> bool {
    *count == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use std::sync::mpsc::{Receiver, channel};
    use std::sync::{Arc, Mutex};

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    /// Waits for its gate before each write.
    struct Stuck(Receiver<()>, Kept);

    impl Write for Stuck {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.recv().ok();
            self.1.write(bytes)
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn entry() -> AccessEntry {
        AccessEntry {
            at_ms: 1,
            peer: "127.0.0.1:9".parse().unwrap(),
            principal: Some(Principal::local()),
            http: "POST".into(),
            method: Some("tools/call".into()),
            tool: Some("a\nb".into()),
            session: None,
            status: Some(200),
            ms: 2,
            bytes: 3,
            refused: None,
        }
    }

    #[test]
    fn writes_a_line_for_each_request() {
        let kept = Kept::default();
        JsonlAccessLog::new(kept.clone()).unwrap().record(&entry());
        expect![[r#"
            {"at_ms":1,"peer":"127.0.0.1:9","principal":"local","http":"POST","method":"tools/call","tool":"a\nb","status":200,"ms":2,"bytes":3}
        "#]]
        .assert_eq(str::from_utf8(&kept.0.lock().unwrap()).unwrap());
    }

    #[test]
    fn does_not_wait_for_a_writer_that_is_stuck() {
        let (gate, kept) = (channel(), Kept::default());
        let log = JsonlAccessLog::new(Stuck(gate.1, kept.clone())).unwrap();
        let all = 3 * WAITING;
        for _ in 0..all {
            log.record(&entry());
        }
        drop(gate.0);
        while log.lost.load(Ordering::Relaxed) > 0 {
            log.record(&entry());
        }
        drop(log);
        let text = String::from_utf8(kept.0.lock().unwrap().clone()).unwrap();
        assert!(text.lines().count() > WAITING && text.contains("\"lost\":"));
    }
}
