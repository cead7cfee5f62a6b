use memchr::memchr2_iter;
use serde::Deserialize;
use serde_json::value::RawValue;

/// How deeply what a client sends may be nested: what the reader of the protocol takes, too (`serde_json`).
const DEEPEST: usize = 127;

/// Is what is read of a message before the protocol reads it: for the log, and to know how long it may take.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Envelope {
    /// The method; none for an answer.
    pub(super) method: Option<String>,
    /// The tool or prompt that it is about.
    pub(super) name: Option<String>,
}

/// Is the error of JSON-RPC that a body is answered with which is none of its messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NoMessage {
    pub(super) code: i32,
    pub(super) message: &'static str,
}

#[derive(Deserialize)]
struct Outer<'a> {
    #[serde(default)]
    method: Option<String>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Params {
    #[serde(default)]
    name: Option<String>,
}

const NO_TEXT: NoMessage = NoMessage { code: -32700, message: "the body is not UTF-8" };
const NO_JSON: NoMessage = NoMessage { code: -32700, message: "the body is not JSON" };
const TOO_DEEP: NoMessage = NoMessage { code: -32600, message: "the body is nested too deeply" };
const NO_REQUEST: NoMessage =
    NoMessage { code: -32600, message: "the body is not one JSON-RPC message; batches are not taken" };

impl Envelope {
    pub(super) fn read(body: &[u8]) -> Result<Self, NoMessage> {
        let text = str::from_utf8(body).map_err(|_| NO_TEXT)?;
        if is_deeper_than(text.as_bytes(), DEEPEST) {
            return Err(TOO_DEEP);
        }
        let Outer { method, params } =
            serde_json::from_str(text).map_err(|error| match error.classify() {
                serde_json::error::Category::Data => NO_REQUEST,
                _ => NO_JSON,
            })?;
        if !text.trim_ascii_start().starts_with('{') {
            return Err(NO_REQUEST);
        }
        let names = matches!(method.as_deref(), Some("tools/call" | "prompts/get"));
        let params = params.filter(|_| names).and_then(|params| serde_json::from_str(params.get()).ok());
        Ok(Self { method, name: params.and_then(|Params { name }| name) })
    }

    /// Whether it stays open for as long as the client listens.
    pub(super) fn is_listening(&self) -> bool {
        self.method.as_deref() == Some("subscriptions/listen")
    }
}

fn is_deeper_than(json: &[u8], most: usize) -> bool {
    // What opens that seldom, in texts or not, is not looked at byte by byte.
    if memchr2_iter(b'[', b'{', json).nth(most).is_none() {
        return false;
    }
    let (mut depth, mut is_text, mut is_escaped) = (0_usize, false, false);
    for byte in json {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_text => is_escaped = true,
            b'"' => is_text = !is_text,
            _ if is_text => {}
            b'[' | b'{' => {
                depth += 1;
                if depth > most {
                    return true;
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn check(body: impl AsRef<[u8]>, expected: Result<(Option<&str>, Option<&str>), NoMessage>) {
        let expected = expected.map(|(method, name)| Envelope {
            method: method.map(str::to_owned),
            name: name.map(str::to_owned),
        });
        assert_eq!(Envelope::read(body.as_ref()), expected, "{}", String::from_utf8_lossy(body.as_ref()));
    }

    #[test]
    fn reads_what_a_message_is_about() {
        check(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, Ok((Some("ping"), None)));
        check(
            r#"{"method":"tools/call","params":{"name":"a\"b","arguments":{"name":1}}}"#,
            Ok((Some("tools/call"), Some("a\"b"))),
        );
        check(r#"{"method":"tools/call","params":{"name":[]}}"#, Ok((Some("tools/call"), None)));
        check(r#"{"method":"tools/call","params":[1]}"#, Ok((Some("tools/call"), None)));
        check(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, Ok((None, None)));
    }

    #[test]
    fn tells_no_json_from_no_message() {
        for body in [&b""[..], b"{", b"{]", b"nope", b"\xef\xbb\xbf{}", b"{} {}", b"{\"a\":\"\x01\"}"] {
            check(body, Err(NO_JSON));
        }
        check(b"{\"a\":\"\xff\"}", Err(NO_TEXT));
        check(b"{\"a\":\"\xed\xa0\x80\"}", Err(NO_TEXT));
        for body in ["[]", "[{}]", "1", "\"a\"", "null", r#"{"method":1}"#, r#"{"method":"a","method":"b"}"#]
        {
            check(body, Err(NO_REQUEST));
        }
    }

    #[test]
    fn is_as_deep_as_can_be_read() {
        let nested =
            |depth: usize| format!(r#"{{"params":{}"[[{{"{}}}"#, "[".repeat(depth), "]".repeat(depth));
        check(nested(DEEPEST - 1), Ok((None, None)));
        serde_json::from_str::<Value>(&nested(DEEPEST - 1)).unwrap();
        check(nested(DEEPEST), Err(TOO_DEEP));
        serde_json::from_str::<Value>(&nested(DEEPEST)).unwrap_err();
        check("[".repeat(1 << 20), Err(TOO_DEEP));
    }
}
