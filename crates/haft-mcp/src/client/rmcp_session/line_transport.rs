use super::local_fault::{self, SendFault};
use super::message;
use crate::client::link::{Found, Framed, TopLevel};
use crate::client::session::{Counterpart, Fault, News};
use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use std::future::{Future, ready};
use std::sync::Arc;
use tokio::task::yield_now;

/// How much of a message that cannot be read is shown, in bytes.
const MOST_SHOWN: usize = 200;

/// How many such messages are told of; a program that prints its log to the wrong place goes on for long.
const MOST_TOLD: u64 = 100;

/// After how many lines in a row that are no messages whoever else shares the task has a turn.
const PATIENCE: u32 = 32;

/// Carries messages as lines of JSON.
pub(super) struct LineTransport {
    framed: Framed,
    most: usize,
    counterpart: Arc<dyn Counterpart>,
    odd: u64,
}

impl LineTransport {
    /// Speaks over a connection whose lines have at most so many bytes; what cannot be read is told to the counterpart.
    pub(super) fn new(framed: Framed, most: usize, counterpart: Arc<dyn Counterpart>) -> Self {
        Self { framed, most, counterpart, odd: 0 }
    }

    fn tell(&mut self, text: impl FnOnce() -> String) {
        self.odd += 1;
        if self.odd <= MOST_TOLD {
            self.counterpart.hear(News::Odd(text()));
        }
    }

    /// What a line says, if anybody is to know.
    fn read(&mut self, found: Found) -> Option<ServerJsonRpcMessage> {
        match found {
            Found::Line(line) => {
                let line = self.framed.line(line);
                match message::decode(line) {
                    Ok(message) => Some(message),
                    Err(_) if line.trim_ascii().is_empty() => None,
                    Err(error) => {
                        let (shown, id) = (shown(line), answered(line));
                        if let Some(id) = id {
                            let text = format!("the server's answer cannot be read: {error}");
                            return Some(local_fault::broken(id, text));
                        }
                        self.tell(|| format!("a line that is not a message ({error}): {shown}"));
                        None
                    }
                }
            }
            Found::Oversize { id, bytes, .. } => {
                if let Some(id) = id.and_then(message::request_id) {
                    return Some(local_fault::oversize(id, bytes, self.most));
                }
                self.tell(|| format!("a message of {bytes} bytes, which was not kept"));
                None
            }
        }
    }
}

/// The request that a line answers which cannot be read.
fn answered(line: &[u8]) -> Option<RequestId> {
    let mut top_level = TopLevel::default();
    top_level.pass(line);
    message::request_id(top_level.answered()?)
}

fn shown(line: &[u8]) -> String {
    let shown = String::from_utf8_lossy(&line[..line.len().min(MOST_SHOWN)]);
    let more = if line.len() > MOST_SHOWN { "…" } else { "" };
    format!("{shown}{more}")
}

impl Transport<RoleClient> for LineTransport {
    type Error = SendFault;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), SendFault>> + Send + 'static {
        let sent = self.framed.send(|buffer| message::encode(&message, buffer));
        ready(
            sent.map_err(|error| SendFault(Fault::Broken(format!("the request could not be sent: {error}")))),
        )
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        let mut passed = 0_u32;
        loop {
            let found = self.framed.next().await?;
            if let Some(message) = self.read(found) {
                return Some(message);
            }
            passed += 1;
            if passed.is_multiple_of(PATIENCE) {
                yield_now().await;
            }
        }
    }

    async fn close(&mut self) -> Result<(), SendFault> {
        self.framed.close().await;
        Ok(())
    }
}
