//! Faults that are found here and not told by a server, on their way to who waits for an answer: the library carries them
//! as an error of JSON-RPC whose code no server can send.

use crate::client::session::Fault;
use rmcp::model::{ErrorCode, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::service::ServiceError;
use serde_json::json;
use std::error::Error;
use std::fmt;

const OVERSIZE: ErrorCode = ErrorCode(i32::MIN);
const BROKEN: ErrorCode = ErrorCode(i32::MIN + 1);

/// The lowest code that a server can send; a lower one becomes this.
pub(super) const LOWEST: i32 = i32::MIN + 2;

/// Is the end of a request whose answer was too large.
pub(super) fn oversize(id: RequestId, bytes: u64, most: usize) -> ServerJsonRpcMessage {
    let data = json!({ "bytes": bytes, "most": most });
    JsonRpcMessage::error(ErrorData::new(OVERSIZE, "", Some(data)), Some(id))
}

/// Is the end of a request whose answer cannot be read.
pub(super) fn broken(id: RequestId, text: String) -> ServerJsonRpcMessage {
    JsonRpcMessage::error(ErrorData::new(BROKEN, text, None), Some(id))
}

/// Is the error of a transport that knows the fault: it reaches whoever waits as that fault.
#[derive(Debug)]
pub(super) struct SendFault(pub(super) Fault);

impl fmt::Display for SendFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for SendFault {}

/// What an error of JSON-RPC says, whoever made it.
pub(super) fn of_error(error: ErrorData) -> Fault {
    let number = |name| error.data.as_ref()?.get(name)?.as_u64();
    match error.code {
        OVERSIZE => Fault::Oversize {
            bytes: number("bytes").unwrap_or_default(),
            most: number("most").and_then(|most| usize::try_from(most).ok()).unwrap_or_default(),
        },
        BROKEN => Fault::Broken(error.message.into_owned()),
        ErrorCode(code) => {
            Fault::Refused { code: i64::from(code), message: error.message.into_owned(), data: error.data }
        }
    }
}

/// What an error of the library says; `None` if it is that the connection has ended.
pub(super) fn of_service(error: ServiceError) -> Option<Fault> {
    match error {
        ServiceError::McpError(error) => Some(of_error(error)),
        ServiceError::TransportSend(error) => Some(of_sending(error.error.as_ref())),
        ServiceError::TransportClosed => None,
        other => Some(Fault::Broken(other.to_string())),
    }
}

/// What an error of a transport says: the fault that it carries, or its words.
pub(super) fn of_sending(error: &(dyn Error + Send + Sync + 'static)) -> Fault {
    let mut source: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(current) = source {
        if let Some(SendFault(fault)) = current.downcast_ref() {
            return fault.clone();
        }
        source = current.source();
    }
    Fault::Broken(format!("the request could not be sent: {error}"))
}
