//! Messages as lines of JSON: decoded so that nothing that a server sends is lost, encoded without a detour.

use super::local_fault::LOWEST;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, CustomNotification, CustomRequest, CustomResult, ErrorCode,
    ErrorData, GetMeta as _, JsonRpcMessage, RequestId, ServerJsonRpcMessage, ServerNotification,
    ServerRequest, ServerResult,
};
use serde::de::{Deserializer, Error as _};
use serde::ser::{SerializeMap as _, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// The only notification that the library has to know: that a server no longer wants an answer.
const CANCELLED: &str = "notifications/cancelled";

/// Any message, as far as it has to be told what it is.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(default)]
    id: Value,
    #[serde(default, borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(default)]
    params: Option<Value>,
    #[serde(default, deserialize_with = "some")]
    result: Option<Value>,
    #[serde(default)]
    error: Option<Value>,
}

/// A `null` is a result, too.
fn some<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// Reads a message; results, requests and notifications stay as they were sent.
pub(super) fn decode(line: &[u8]) -> Result<ServerJsonRpcMessage, serde_json::Error> {
    if !line.trim_ascii_start().starts_with(b"{") {
        return Err(serde_json::Error::custom("it is not an object"));
    }
    let Envelope { id, method, params, result, error } = serde_json::from_slice(line)?;
    let id = request_id(id);
    match (method, id, result, error) {
        (Some(method), Some(id), ..) => {
            let request = CustomRequest::new(method, params);
            Ok(JsonRpcMessage::request(ServerRequest::CustomRequest(request), id))
        }
        (Some(method), None, ..) => notification(&method, params).map(JsonRpcMessage::notification),
        (None, Some(id), Some(result), None) => {
            Ok(JsonRpcMessage::response(ServerResult::CustomResult(CustomResult(result)), id))
        }
        (None, id, _, Some(error)) => Ok(JsonRpcMessage::error(error_data(error), id)),
        _ => Err(serde_json::Error::custom("it is neither a request, an answer nor a notification")),
    }
}

/// Takes an id as the library has them; one that is neither a whole number nor a text is none.
pub(super) fn request_id(id: Value) -> Option<RequestId> {
    match id {
        Value::Number(number) => number.as_i64().map(RequestId::Number),
        Value::String(text) => Some(RequestId::String(text.into())),
        _ => None,
    }
}

fn notification(method: &str, params: Option<Value>) -> Result<ServerNotification, serde_json::Error> {
    if method == CANCELLED {
        let notification = serde_json::json!({ "method": method, "params": params });
        return serde_json::from_value(notification).map(ServerNotification::CancelledNotification);
    }
    Ok(ServerNotification::CustomNotification(CustomNotification::new(method, params)))
}

/// Takes an error as it comes: what is missing or odd in it does not keep it from being one.
fn error_data(error: Value) -> ErrorData {
    let Value::Object(mut error) = error else {
        return ErrorData::new(ErrorCode::INTERNAL_ERROR, error.to_string(), None);
    };
    let code = error.get("code").and_then(Value::as_i64).unwrap_or(i64::from(ErrorCode::INTERNAL_ERROR.0));
    let code = i32::try_from(code).unwrap_or(LOWEST).max(LOWEST);
    let message = match error.remove("message") {
        Some(Value::String(message)) => message,
        Some(other) => other.to_string(),
        None => String::new(),
    };
    ErrorData::new(ErrorCode(code), message, error.remove("data"))
}

/// Writes a message behind what is in the buffer, without a line break.
pub(super) fn encode(message: &ClientJsonRpcMessage, to: &mut Vec<u8>) -> Result<(), serde_json::Error> {
    if let JsonRpcMessage::Request(request) = message
        && let ClientRequest::CustomRequest(custom) = &request.request
    {
        let params = Params { meta: &custom.get_meta().0.0, params: custom.params.as_ref() };
        let message = Outgoing { jsonrpc: "2.0", id: &request.id, method: &custom.method, params };
        return serde_json::to_writer(to, &message);
    }
    serde_json::to_writer(to, message)
}

#[derive(Serialize)]
struct Outgoing<'a> {
    jsonrpc: &'static str,
    id: &'a RequestId,
    method: &'a str,
    params: Params<'a>,
}

/// The params of a request together with what every request has to hold.
struct Params<'a> {
    meta: &'a Map<String, Value>,
    params: Option<&'a Value>,
}

impl Serialize for Params<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let params = self.params.and_then(Value::as_object);
        let mut map = serializer.serialize_map(None)?;
        let own = params.and_then(|params| params.get("_meta")?.as_object());
        map.serialize_entry("_meta", &Meta { own, ours: self.meta })?;
        for (name, value) in params.into_iter().flatten().filter(|(name, _)| *name != "_meta") {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

struct Meta<'a> {
    own: Option<&'a Map<String, Value>>,
    ours: &'a Map<String, Value>,
}

impl Serialize for Meta<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let own = self.own.into_iter().flatten().filter(|(name, _)| !self.ours.contains_key(*name));
        serializer.collect_map(own.chain(self.ours))
    }
}

/// The method and the params of a request that a server makes.
pub(super) fn request_parts(request: ServerRequest) -> (String, Value) {
    match request {
        ServerRequest::CustomRequest(custom) => (custom.method, custom.params.unwrap_or(Value::Null)),
        other => parts(serde_json::to_value(other)),
    }
}

/// The method and the params of a notification.
pub(super) fn notification_parts(notification: ServerNotification) -> (String, Value) {
    match notification {
        ServerNotification::CustomNotification(custom) => {
            (custom.method, custom.params.unwrap_or(Value::Null))
        }
        other => parts(serde_json::to_value(other)),
    }
}

fn parts(message: Result<Value, serde_json::Error>) -> (String, Value) {
    // What the library has read it can write; were it otherwise, it would be a message that fits nothing.
    let mut message = message.unwrap_or_default();
    let method = message.get("method").and_then(Value::as_str).unwrap_or_default().to_owned();
    let params = message.get_mut("params").map(Value::take).unwrap_or_default();
    (method, params)
}

/// A result as JSON, however the transport has read it.
pub(super) fn result_value(result: ServerResult) -> Result<Value, serde_json::Error> {
    match result {
        ServerResult::CustomResult(CustomResult(value)) => Ok(value),
        other => serde_json::to_value(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use serde_json::json;

    /// Reads a line and expects what the library would write in its place, or why it cannot be read.
    fn check(line: &str, expected: &Expect) {
        let read = decode(line.as_bytes());
        expected.assert_eq(&read.map_or_else(
            |error| error.to_string(),
            |message| serde_json::to_string(&message).expect("it was JSON"),
        ));
    }

    #[test]
    fn results_stay_as_they_were_sent() {
        check(
            r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"bad":1}],"x":null}}"#,
            &expect![[r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"bad":1}],"x":null}}"#]],
        );
        check(r#"{"result":null,"id":"a"}"#, &expect![[r#"{"jsonrpc":"2.0","id":"a","result":null}"#]]);
    }

    #[test]
    fn errors_are_taken_as_they_come() {
        check(
            r#"{"id":1,"error":{"code":-32601,"message":"no","data":[1]}}"#,
            &expect![[r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no","data":[1]}}"#]],
        );
        check(
            r#"{"id":null,"error":{"code":1e3,"message":7}}"#,
            &expect![[r#"{"jsonrpc":"2.0","error":{"code":-32603,"message":"7"}}"#]],
        );
        check(
            r#"{"error":"just so"}"#,
            &expect![[r#"{"jsonrpc":"2.0","error":{"code":-32603,"message":"\"just so\""}}"#]],
        );
        check(
            r#"{"id":1,"error":{"code":-99999999999}}"#,
            &expect![[r#"{"jsonrpc":"2.0","id":1,"error":{"code":-2147483646,"message":""}}"#]],
        );
    }

    #[test]
    fn no_server_can_send_a_fault_of_ours() {
        let line = format!(r#"{{"id":1,"error":{{"code":{},"message":"x"}}}}"#, i32::MIN);
        check(&line, &expect![[r#"{"jsonrpc":"2.0","id":1,"error":{"code":-2147483646,"message":"x"}}"#]]);
    }

    #[test]
    fn requests_and_notifications_keep_their_params() {
        check(
            r#"{"id":1,"method":"elicitation/create","params":{"new":{"_meta":1}}}"#,
            &expect![[
                r#"{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"new":{"_meta":1}}}"#
            ]],
        );
        check(
            r#"{"method":"notifications/tools/list_changed"}"#,
            &expect![[r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":null}"#]],
        );
        check(
            r#"{"method":"notifications/cancelled","params":{"requestId":3}}"#,
            &expect![[r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}"#]],
        );
    }

    #[test]
    fn anything_else_is_none() {
        check("[]", &expect!["it is not an object"]);
        check("{}", &expect!["it is neither a request, an answer nor a notification"]);
        check(r#"{"id":1}"#, &expect!["it is neither a request, an answer nor a notification"]);
        check(r#"{"id":1.5,"result":{}}"#, &expect!["it is neither a request, an answer nor a notification"]);
        check(
            r#"{"method":"notifications/cancelled","params":7}"#,
            &expect!["invalid type: integer `7`, expected struct WithMeta"],
        );
    }

    #[test]
    fn requests_are_written_with_what_each_has_to_hold() {
        let mut request = CustomRequest::new(
            "tools/call",
            Some(json!({ "name": "a", "_meta": { "x": 1, "progressToken": 9 } })),
        );
        request.extensions.insert(rmcp::model::RequestMetaObject::with_progress_token(
            rmcp::model::ProgressToken(RequestId::Number(4)),
        ));
        let message = JsonRpcMessage::request(ClientRequest::CustomRequest(request), RequestId::Number(3));
        let mut written = b"before".to_vec();
        encode(&message, &mut written).expect("it can be written");
        expect![[r#"before{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"_meta":{"x":1,"progressToken":4},"name":"a"}}"#]].assert_eq(&String::from_utf8_lossy(&written));
    }
}
