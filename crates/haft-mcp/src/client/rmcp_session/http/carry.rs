//! Brings messages through the library unread: it gets of each no more than it has to know, and the rest rides along as the
//! server sent it.
//!
//! The library's transport reads results into its own types, which lose what they do not know, and keeps the headers of
//! tools by what it reads. So each message is put into a shape of which it reads just that, and taken out again where it
//! comes from the transport. What comes out of it without that shape is the transport's own.

use crate::client::rmcp_session::flights::number;
use crate::client::rmcp_session::local_fault;
use rmcp::model::{
    ClientRequest, CustomResult, ErrorData, InitializeResult, JsonRpcMessage, ListToolsResult, MetaObject,
    RequestId, ServerJsonRpcMessage, ServerNotification, ServerRequest, ServerResult, Tool,
};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashSet};

/// What marks a message that is carried; of no server, since whatever one sends is within it.
const MARK: &str = "haft/carried";

/// The most requests whose answers the library reads that are kept in mind; they are made one after the other.
const MOST_KEPT: usize = 64;

/// Says what a result is, by what it answers: what it looks like is for the server to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answers {
    Listing,
    Opening,
    /// Something that the library need not know.
    Other,
}

/// Knows the requests under way whose answers the library reads.
#[derive(Debug, Default)]
pub(super) struct Asked(BTreeMap<i64, Answers>);

impl Asked {
    /// Takes note of a request that is about to be sent.
    pub(super) fn ask(&mut self, id: &RequestId, request: &ClientRequest) {
        let answers = match request {
            ClientRequest::CustomRequest(custom) if custom.method == "tools/list" => Answers::Listing,
            ClientRequest::ListToolsRequest(_) => Answers::Listing,
            ClientRequest::InitializeRequest(_) => Answers::Opening,
            _ => return,
        };
        self.0.extend(number(id).map(|id| (id, answers)));
        if self.0.len() > MOST_KEPT {
            // Those that were never answered.
            self.0.pop_first();
        }
    }

    /// Says what a message answers, and that it has been answered.
    pub(super) fn answered(&mut self, message: &ServerJsonRpcMessage) -> Answers {
        let id = match message {
            JsonRpcMessage::Response(response) => Some(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            _ => None,
        };
        id.and_then(number).and_then(|id| self.0.remove(&id)).unwrap_or(Answers::Other)
    }
}

/// Puts a message into its shape.
pub(super) fn carry(message: ServerJsonRpcMessage, answers: Answers) -> ServerJsonRpcMessage {
    match message {
        JsonRpcMessage::Response(mut response) => {
            response.result = match response.result {
                ServerResult::CustomResult(CustomResult(value)) => carried(value, answers),
                typed => typed,
            };
            JsonRpcMessage::Response(response)
        }
        JsonRpcMessage::Error(mut error) => {
            error.error.data = Some(json!({ MARK: error.error.data }));
            JsonRpcMessage::Error(error)
        }
        JsonRpcMessage::Request(mut request) => {
            if let ServerRequest::CustomRequest(custom) = &mut request.request {
                custom.method.insert_str(0, MARK);
            }
            JsonRpcMessage::Request(request)
        }
        JsonRpcMessage::Notification(mut notification) => {
            if let ServerNotification::CustomNotification(custom) = &mut notification.notification {
                custom.method.insert_str(0, MARK);
            }
            JsonRpcMessage::Notification(notification)
        }
    }
}

fn carried(value: Value, answers: Answers) -> ServerResult {
    if answers == Answers::Listing
        && let Some(tools) = value.get("tools").and_then(Value::as_array)
    {
        let mut list = ListToolsResult::with_all_items(tools.iter().filter_map(tool).collect());
        list.meta = Some(marked(value));
        return ServerResult::ListToolsResult(list);
    }
    if answers == Answers::Opening
        && let Ok(mut result) = serde_json::from_value::<InitializeResult>(value.clone())
    {
        result.meta = Some(marked(value));
        return ServerResult::InitializeResult(result);
    }
    ServerResult::CustomResult(CustomResult(json!({ MARK: value })))
}

fn marked(value: Value) -> MetaObject {
    MetaObject(Map::from_iter([(MARK.to_owned(), value)]))
}

/// A tool as the library has it, if it can be read as one.
fn tool(item: &Value) -> Option<Tool> {
    serde_json::from_value(item.clone()).ok()
}

/// Takes a message out of its shape; `left_out` is told of the tools that the library has sorted out.
pub(super) fn unpack(message: ServerJsonRpcMessage, left_out: impl FnMut(&str)) -> ServerJsonRpcMessage {
    match message {
        JsonRpcMessage::Response(mut response) => {
            response.result = unpacked(response.result, left_out);
            JsonRpcMessage::Response(response)
        }
        JsonRpcMessage::Error(mut error) => {
            let data = error.error.data.as_mut().and_then(|data| data.get_mut(MARK)).map(Value::take);
            match (data, error.id) {
                (Some(data), id) => {
                    error.error.data = Some(data).filter(|data| !data.is_null());
                    JsonRpcMessage::error(error.error, id)
                }
                (None, Some(id)) => local_fault::broken(id, error.error.message.into_owned()),
                (None, None) => JsonRpcMessage::error(ErrorData { data: None, ..error.error }, None),
            }
        }
        JsonRpcMessage::Request(mut request) => {
            if let ServerRequest::CustomRequest(custom) = &mut request.request {
                unmark(&mut custom.method);
            }
            JsonRpcMessage::Request(request)
        }
        JsonRpcMessage::Notification(mut notification) => {
            if let ServerNotification::CustomNotification(custom) = &mut notification.notification {
                unmark(&mut custom.method);
            }
            JsonRpcMessage::Notification(notification)
        }
    }
}

fn unmark(method: &mut String) {
    if method.starts_with(MARK) {
        method.drain(..MARK.len());
    }
}

fn unpacked(result: ServerResult, left_out: impl FnMut(&str)) -> ServerResult {
    let take = |meta: &mut Option<MetaObject>| meta.as_mut()?.0.remove(MARK);
    let value = match result {
        ServerResult::ListToolsResult(mut list) => match take(&mut list.meta) {
            Some(value) => without_sorted_out(value, &list.tools, left_out),
            None => return ServerResult::ListToolsResult(list),
        },
        ServerResult::InitializeResult(mut result) => match take(&mut result.meta) {
            Some(value) => value,
            None => return ServerResult::InitializeResult(result),
        },
        ServerResult::CustomResult(CustomResult(mut value)) => {
            value.get_mut(MARK).map(Value::take).unwrap_or(value)
        }
        typed => return typed,
    };
    ServerResult::CustomResult(CustomResult(value))
}

/// Takes out what the library could read as a tool and has not kept.
fn without_sorted_out(mut value: Value, kept: &[Tool], mut left_out: impl FnMut(&str)) -> Value {
    let kept: HashSet<&str> = kept.iter().map(|tool| tool.name.as_ref()).collect();
    if let Some(items) = value.get_mut("tools").and_then(Value::as_array_mut) {
        items.retain(|item| {
            let name = item.get("name").and_then(Value::as_str).unwrap_or_default();
            let stays = kept.contains(name) || tool(item).is_none();
            if !stays {
                left_out(name);
            }
            stays
        });
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::rmcp_session::message;

    /// Sends a message through, once as it is and once as text, as the library does with a stream of events.
    fn check(text: &str) {
        let sent: Value = serde_json::from_str(text).unwrap();
        for answers in [Answers::Listing, Answers::Opening, Answers::Other] {
            check_as(text, &sent, answers);
        }
    }

    fn check_as(text: &str, sent: &Value, answers: Answers) {
        let shaped = carry(message::decode(text.as_bytes()).unwrap(), answers);
        let reread = serde_json::from_str(&serde_json::to_string(&shaped).unwrap()).unwrap();
        for message in [shaped, reread] {
            let message = unpack(message, |name| panic!("{name} was left out"));
            assert_eq!(serde_json::to_value(message).unwrap(), *sent);
        }
    }

    #[test]
    fn brings_every_message_through_as_it_was_sent() {
        for message in [
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":null}"#,
            r#"{"jsonrpc":"2.0","id":"a","result":{"tools":[{"name":"a","inputSchema":{"type":"object"},"execution":{"x":1}},{"no":1}],"more":2}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"odd":{"a":1}},"serverInfo":{"name":"a","version":"1","odd":1}}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"odd","a":1}],"isError":"no"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"m"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":7,"message":"m","data":{"a":1}}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"m","odd":1}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1,"odd":1}}"#,
        ] {
            check(message);
        }
    }

    #[test]
    fn leaves_out_the_tools_that_the_library_has_sorted_out() {
        let text = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","inputSchema":{}},{"name":"b","inputSchema":{}},{"name":1}]}}"#;
        let mut shaped = carry(message::decode(text.as_bytes()).unwrap(), Answers::Listing);
        if let JsonRpcMessage::Response(response) = &mut shaped
            && let ServerResult::ListToolsResult(list) = &mut response.result
        {
            list.tools.retain(|tool| tool.name != "a");
        }
        let mut left_out = Vec::new();
        let message = unpack(shaped, |name| left_out.push(name.to_owned()));
        assert_eq!(left_out, ["a"]);
        let result = serde_json::to_value(message).unwrap()["result"].take();
        assert_eq!(result, json!({ "tools": [{ "name": "b", "inputSchema": {} }, { "name": 1 }] }));
    }

    #[test]
    fn tells_the_transports_own_errors_from_the_servers() {
        let text = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"m"}}"#;
        let fault = |message: ServerJsonRpcMessage| match unpack(message, |_| {}) {
            JsonRpcMessage::Error(error) => local_fault::of_error(error.error).to_string(),
            other => panic!("{other:?}"),
        };
        let sent = message::decode(text.as_bytes()).unwrap();
        assert_eq!(fault(sent.clone()), "m");
        assert_eq!(fault(carry(sent, Answers::Other)), "the server answered with the error -32603: m");
    }
}
