//! Answers calls of the newer era that need of the library nothing but its messages: one request, one answer, and nothing told
//! between. They are answered as the library would, which begins a service for each request.
//!
//! Whatever is unusual about a request is left to the library, so that nothing is let through here that it would refuse.

use super::answer::call_response;
use super::asked::{AnyLine, Asked, caller, unserved};
use super::http_service::HttpBody;
use super::modern_line::ModernLine;
use super::serving::Serving;
use super::speaker::Speaker;
use super::tool_list::ToolList;
use crate::server::caller::Principal;
use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HOST, HeaderName};
use http::uri::Authority;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use rmcp::model::{
    CallToolRequestMethod, CallToolRequestParams, CallToolResponse, ClientCapabilities, ErrorCode, ErrorData,
    Implementation, InputResponses, JsonObject, JsonRpcVersion2_0, ProtocolVersion, RequestId,
    RequestMetaObject, ServerJsonRpcMessage,
};
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// What the value of a header begins with that is not what it says.
const ENCODED: &str = "=?";

/// The keys of a request that wants to be told how it goes.
const TOLD: [&str; 2] = ["progressToken", "io.modelcontextprotocol/logLevel"];

/// Is a call in which nothing is unusual.
pub(super) struct DirectCall {
    id: RequestId,
    params: CallToolRequestParams,
    client: Implementation,
    can: ClientCapabilities,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Message {
    #[serde(rename = "jsonrpc")]
    _version: JsonRpcVersion2_0,
    id: RequestId,
    #[serde(rename = "method")]
    _method: CallToolRequestMethod,
    params: Object<Params>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Params {
    #[serde(rename = "_meta")]
    meta: JsonObject,
    name: String,
    #[serde(default)]
    arguments: Option<JsonObject>,
    #[serde(default)]
    input_responses: Option<InputResponses>,
    #[serde(default)]
    request_state: Option<String>,
}

impl DirectCall {
    /// Reads a call that can be answered here; `None` for what is left to the library, valid or not.
    pub(super) fn read(serving: &Serving, request: &Request<Bytes>) -> Option<Self> {
        let called = named_tool(request)?;
        let Object(message) = serde_json::from_slice::<Object<Message>>(request.body()).ok()?;
        let Message { id, params: Object(params), .. } = message;
        let Params { meta, name, arguments, input_responses, request_state } = params;
        if name != called || TOLD.iter().any(|key| meta.contains_key(*key)) {
            return None;
        }
        let meta = RequestMetaObject::from(meta);
        let (client, can) = (meta.client_info()?, meta.client_capabilities()?);
        if meta.protocol_version()? != ProtocolVersion::V_2026_07_28 {
            return None;
        }
        let tools = serving.shared.shelf.with(&name)?;
        if !tools.ready(ToolList::of).has_without_headers(&name) {
            return None;
        }
        let mut params = CallToolRequestParams::new(name);
        params.arguments = arguments;
        params.input_responses = input_responses;
        params.request_state = request_state;
        Some(Self { id, params, client, can })
    }

    /// Answers the call. When nobody waits for the answer any more, it is cancelled, and goes on until it has ended.
    pub(super) fn answered(self, serving: Arc<Serving>, principal: Principal) -> Going {
        let cancellation = CancellationToken::new();
        let gone = cancellation.clone();
        Going { call: Some(Box::pin(self.answer(serving, principal, cancellation))), gone }
    }

    async fn answer(
        self,
        serving: Arc<Serving>,
        principal: Principal,
        cancellation: CancellationToken,
    ) -> Response<HttpBody> {
        let Self { id, params, client, can } = self;
        let caller = caller(principal, None, Some(client), Some(&can));
        let speaker = Speaker::new(caller.clone(), id.clone(), None, None, cancellation);
        let line = AnyLine::Modern(Arc::new(ModernLine(speaker)));
        let work = async {
            let toolset = serving.shared.toolbox.toolset(&caller, None).await.map_err(unserved)?;
            let asked = Asked { caller, toolset, line, is_modern: true };
            let name = params.name.clone();
            let served = asked.called(&serving, params, false).await?;
            call_response(&serving.shared, &asked, &name, served)
        };
        written(work.await, id)
    }
}

/// Is a call that is being answered.
pub(super) struct Going {
    call: Option<Pin<Box<dyn Future<Output = Response<HttpBody>> + Send>>>,
    gone: CancellationToken,
}

impl Future for Going {
    type Output = Response<HttpBody>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        // One that panics is not gone on with.
        let Some(mut call) = self.call.take() else { return Poll::Pending };
        let answer = call.as_mut().poll(task);
        if answer.is_pending() {
            self.call = Some(call);
        }
        answer
    }
}

impl Drop for Going {
    fn drop(&mut self) {
        let Some(call) = self.call.take() else { return };
        self.gone.cancel();
        // Without a runtime there is nothing to go on with.
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(call);
        }
    }
}

/// Finds the tool that the headers name, if they are those of a call and say it in the usual way.
fn named_tool(request: &Request<Bytes>) -> Option<&str> {
    let headers = request.headers();
    let is_call = request.method() == Method::POST
        && single(headers, &VERSION)?.as_bytes() == ProtocolVersion::V_2026_07_28.as_str().as_bytes()
        && single(headers, &METHOD)?.as_bytes() == b"tools/call"
        && !headers.contains_key(SESSION)
        && is_json(single(headers, &CONTENT_TYPE)?.to_str().ok()?)
        && takes_both(single(headers, &ACCEPT)?.to_str().ok()?)
        && Authority::try_from(single(headers, &HOST)?.as_bytes()).is_ok();
    let name = single(headers, &NAME)?.to_str().ok()?;
    (is_call && !name.starts_with(ENCODED)).then_some(name)
}

/// Takes a header that stands there once.
fn single<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a HeaderValue> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?;
    values.next().is_none().then_some(value)
}

fn is_json(content_type: &str) -> bool {
    let kind = content_type.split_once(';').map_or(content_type, |(kind, _)| kind);
    kind.trim().eq_ignore_ascii_case(JSON)
}

/// Tells whether both kinds of answers are taken; what says more of how they are is left to the library.
fn takes_both(accept: &str) -> bool {
    let has = |wanted: &str| accept.split(',').any(|kind| kind.trim().eq_ignore_ascii_case(wanted));
    !accept.contains([';', '"']) && has(JSON) && has(EVENTS)
}

/// Writes the answer as the library does.
fn written(answer: Result<CallToolResponse, ErrorData>, id: RequestId) -> Response<HttpBody> {
    let (message, status) = match answer {
        Ok(response) => (ServerJsonRpcMessage::response(response.into(), id), StatusCode::OK),
        Err(mut error) => {
            if error.code == ErrorCode::RESOURCE_NOT_FOUND {
                error.code = ErrorCode::INVALID_PARAMS;
            }
            let status = match error.code {
                ErrorCode::UNSUPPORTED_PROTOCOL_VERSION
                | ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY
                | ErrorCode::HEADER_MISMATCH => StatusCode::BAD_REQUEST,
                ErrorCode::METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
                _ => StatusCode::OK,
            };
            (ServerJsonRpcMessage::error(error, Some(id)), status)
        }
    };
    match serde_json::to_vec(&message) {
        Ok(body) => {
            let mut response = Response::new(Full::new(Bytes::from(body)).boxed());
            *response.status_mut() = status;
            response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
            response
        }
        Err(error) => failed(&format!("Encounter an error when serialize json response: {error}")),
    }
}

/// Says, as the library does, that there is no answer.
pub(super) fn unanswered() -> Response<HttpBody> {
    failed("Encounter an error when empty response: no response message received from handler")
}

fn failed(text: &str) -> Response<HttpBody> {
    let mut response = Response::new(Full::new(Bytes::copy_from_slice(text.as_bytes())).boxed());
    *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
    response
}

/// Is what stands in braces: that a list of its members would be read likewise is an affair of serde alone.
struct Object<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Braces<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Braces<T> {
            type Value = Object<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(Object)
            }
        }

        deserializer.deserialize_map(Braces(PhantomData))
    }
}
