use super::desk::refusal;
use super::flights::number;
use super::local_fault;
use super::message::{request_parts, result_value};
use crate::client::session::{Counterpart, Fault, ServerInfo};
use crate::{Era, EraMemory, LogLevel, ServerConfig, ServerIdentity, ServerLimits};
use rmcp::RoleClient;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, ClientResult, DiscoverRequest,
    DiscoverRequestParams, Implementation, InitializeRequest, InitializeRequestParams,
    InitializedNotification, JsonRpcMessage, ProtocolVersion, RequestId, RequestMetaObject,
    ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use serde_json::Value;
use std::sync::Arc;
use tokio::time::{Instant, sleep_until};

/// The ids of an opening's requests, beyond those that the library gives: a late answer is told from any other.
pub(super) const FIRST_ID: i64 = 2_000_000_000;

/// A server speaks none of the revisions that it was asked for.
const UNSUPPORTED_REVISION: i64 = -32_022;

/// A server of the modern era wants what the request did not have.
const MODERN_REFUSALS: [i64; 2] = [-32_020, -32_021];

/// Says how connections to a server are opened.
#[derive(Debug, Clone)]
pub(crate) struct Opening {
    /// The era, if it is known for sure.
    pub(crate) era: Option<Era>,
    pub(crate) limits: ServerLimits,
    /// From which level on messages of the server's log are asked for.
    pub(crate) log_level: Option<LogLevel>,
    /// Where the era is remembered that was found out, and under which key.
    pub(crate) memory: Arc<dyn EraMemory>,
    pub(crate) key: ServerIdentity,
}

/// Is a connection's opening that went through.
pub(super) struct Opened {
    pub(super) server: ServerInfo,
    pub(super) revision: ProtocolVersion,
}

/// Why an opening did not go through.
pub(super) enum Refusal {
    Fault(Fault),
    /// The connection ended.
    Ended,
}

/// Says who haft is, to servers.
pub(super) fn hello(counterpart: &dyn Counterpart) -> InitializeRequestParams {
    let capabilities = serde_json::from_value(counterpart.capabilities()).unwrap_or_default();
    InitializeRequestParams::new(capabilities, Implementation::new("haft", env!("CARGO_PKG_VERSION")))
        .with_protocol_version(ProtocolVersion::V_2025_11_25)
}

impl Opening {
    /// Says how connections are opened to a server as it is configured.
    pub(crate) fn new(config: &ServerConfig, memory: Arc<dyn EraMemory>) -> Self {
        let key = ServerIdentity::of(config);
        Self { era: config.era, limits: config.limits, log_level: config.log_level, memory, key }
    }

    /// Opens a connection in the era that the server speaks; not bounded in time.
    pub(super) async fn run<T>(
        &self,
        transport: &mut T,
        hello: &InitializeRequestParams,
    ) -> Result<Opened, Refusal>
    where
        T: Transport<RoleClient> + 'static,
    {
        let remembered = if self.era.is_none() { self.memory.recall(&self.key) } else { None };
        let first = self.era.or(remembered).unwrap_or(Era::Modern);
        let mut attempt = Attempt {
            transport,
            hello,
            next_id: FIRST_ID,
            discover: None,
            initialize: None,
            may_retry: true,
            is_open: [Era::Legacy, Era::Modern].map(|era| self.era.is_none_or(|only| only == era)),
        };
        let is_unknown = self.era.or(remembered).is_none();
        let opened =
            attempt.run(first, is_unknown.then(|| Instant::now() + self.limits.probe_timeout)).await?;
        if self.era.is_none() && remembered != Some(opened.server.era) {
            self.memory.remember(&self.key, opened.server.era);
        }
        Ok(opened)
    }
}

struct Attempt<'a, T> {
    transport: &'a mut T,
    hello: &'a InitializeRequestParams,
    next_id: i64,
    /// The requests that are not answered yet.
    discover: Option<i64>,
    initialize: Option<i64>,
    /// Whether `server/discover` may be sent once more if the revision was refused.
    may_retry: bool,
    /// Which of the eras may still be tried: the legacy one, and the modern one.
    is_open: [bool; 2],
}

impl<T: Transport<RoleClient> + 'static> Attempt<'_, T> {
    async fn run(&mut self, first: Era, mut probe: Option<Instant>) -> Result<Opened, Refusal> {
        self.ask(first).await?;
        loop {
            let message = tokio::select! {
                message = self.transport.receive() => message.ok_or(Refusal::Ended)?,
                () = sleep_until(probe.unwrap_or_else(Instant::now)), if probe.is_some() => {
                    // It may be of the other era and not answer what it does not know, or only be slow: both are waited for.
                    probe = None;
                    self.ask(Era::Legacy).await?;
                    continue;
                }
            };
            let opened = match message {
                JsonRpcMessage::Request(request) => {
                    let (method, _) = request_parts(request.request);
                    self.answer(&method, request.id).await?;
                    None
                }
                JsonRpcMessage::Notification(_) => None,
                message => self.take(message).await?,
            };
            if let Some(opened) = opened {
                return Ok(opened);
            }
        }
    }

    /// Takes an answer; `None` if there is more to wait for.
    async fn take(&mut self, message: ServerJsonRpcMessage) -> Result<Option<Opened>, Refusal> {
        let Some((answer, id)) = message.into_result() else { return Ok(None) };
        let id = id.as_ref().and_then(number).or(self.discover).or(self.initialize);
        let answer = match answer {
            Ok(result) => result_value(result).map_err(|error| Fault::Broken(error.to_string())),
            Err(error) => Err(local_fault::of_error(error)),
        };
        if id.is_some() && id == self.discover {
            self.discover = None;
            match answer.and_then(discovered) {
                Ok(opened) => return Ok(Some(opened)),
                Err(fault) => self.not_discovered(fault).await?,
            }
        } else if id.is_some() && id == self.initialize {
            self.initialize = None;
            match answer.and_then(initialized) {
                Ok(opened) => {
                    self.say_initialized().await?;
                    return Ok(Some(opened));
                }
                Err(fault) => self.not_initialized(fault).await?,
            }
        }
        Ok(None)
    }

    async fn not_discovered(&mut self, fault: Fault) -> Result<(), Refusal> {
        match &fault {
            Fault::Refused { code: UNSUPPORTED_REVISION, data, .. }
                if self.may_retry && offers(data.as_ref()) =>
            {
                self.may_retry = false;
                self.is_open[1] = true;
                return self.ask(Era::Modern).await;
            }
            Fault::Refused { code, .. } if MODERN_REFUSALS.contains(code) => {
                return Err(Refusal::Fault(fault));
            }
            _ => {}
        }
        self.go_on(Era::Legacy, fault).await
    }

    async fn not_initialized(&mut self, fault: Fault) -> Result<(), Refusal> {
        // A server that has seen `server/discover` may refuse to be initialized, and answer that in time.
        self.go_on(Era::Modern, fault).await
    }

    /// Waits for the other request if it is under way, sends it if it was not tried, and gives up otherwise.
    async fn go_on(&mut self, other: Era, fault: Fault) -> Result<(), Refusal> {
        if self.discover.is_some() || self.initialize.is_some() {
            return Ok(());
        }
        if self.is_open[place(other)] {
            return self.ask(other).await;
        }
        Err(Refusal::Fault(fault))
    }

    /// Sends what opens a connection in an era, unless it was tried.
    async fn ask(&mut self, era: Era) -> Result<(), Refusal> {
        if !std::mem::take(&mut self.is_open[place(era)]) {
            return Ok(());
        }
        let id = self.next_id;
        self.next_id += 1;
        let request = match era {
            Era::Modern => {
                self.discover = Some(id);
                let mut discover = DiscoverRequest::new(DiscoverRequestParams {});
                discover.extensions.insert(RequestMetaObject::with_client_context(
                    ProtocolVersion::V_2026_07_28,
                    self.hello.client_info.clone(),
                    self.hello.capabilities.clone(),
                ));
                ClientRequest::DiscoverRequest(discover)
            }
            Era::Legacy => {
                self.initialize = Some(id);
                ClientRequest::InitializeRequest(InitializeRequest::new(self.hello.clone()))
            }
        };
        self.send(JsonRpcMessage::request(request, RequestId::Number(id))).await
    }

    /// Answers what a server asks before it has answered: nothing but a ping.
    async fn answer(&mut self, method: &str, id: RequestId) -> Result<(), Refusal> {
        self.send(if method == "ping" {
            JsonRpcMessage::response(ClientResult::empty(()), id)
        } else {
            JsonRpcMessage::error(refusal(-32_600, "the connection is not open yet".to_owned()), Some(id))
        })
        .await
    }

    async fn say_initialized(&mut self) -> Result<(), Refusal> {
        let said = ClientNotification::InitializedNotification(InitializedNotification::default());
        self.send(JsonRpcMessage::notification(said)).await
    }

    async fn send(&mut self, message: ClientJsonRpcMessage) -> Result<(), Refusal> {
        match self.transport.send(message).await {
            Ok(()) => Ok(()),
            Err(error) => {
                let fault = local_fault::of_sending(&error);
                // A program that has ended cannot be written to; how it ended says more.
                if matches!(fault, Fault::Broken(_)) {
                    while self.transport.receive().await.is_some() {}
                    return Err(Refusal::Ended);
                }
                Err(Refusal::Fault(fault))
            }
        }
    }
}

fn place(era: Era) -> usize {
    match era {
        Era::Legacy => 0,
        Era::Modern => 1,
    }
}

/// Tells whether a refused revision may be asked for again.
fn offers(data: Option<&Value>) -> bool {
    let supported = data.and_then(|data| data.get("supported")?.as_array());
    supported
        .is_some_and(|supported| supported.iter().any(|one| *one == ProtocolVersion::V_2026_07_28.as_str()))
}

fn discovered(result: Value) -> Result<Opened, Fault> {
    let revision = ProtocolVersion::V_2026_07_28;
    let supported = result.get("supportedVersions").and_then(Value::as_array);
    if !supported.is_some_and(|supported| supported.iter().any(|one| *one == revision.as_str())) {
        let text = format!("it does not say that it speaks the revision {revision}");
        return Err(Fault::Broken(text));
    }
    Ok(opened(result, Era::Modern, revision))
}

fn initialized(result: Value) -> Result<Opened, Fault> {
    let revision = result.get("protocolVersion").and_then(Value::as_str).unwrap_or_default();
    let known = ProtocolVersion::KNOWN_VERSIONS.iter().find(|known| known.as_str() == revision);
    let Some(known) = known.cloned() else {
        let shown: String = revision.chars().take(40).collect();
        return Err(Fault::Broken(format!("it speaks the revision {shown:?}, which haft does not")));
    };
    let era = if known.has_initialize() { Era::Legacy } else { Era::Modern };
    Ok(opened(result, era, known))
}

fn opened(mut result: Value, era: Era, revision: ProtocolVersion) -> Opened {
    const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
    let info = result.get("serverInfo").or_else(|| result.get("_meta")?.get(SERVER_INFO));
    let text = |name| {
        let text = info.and_then(|info| info.get(name)?.as_str()).unwrap_or_default();
        text.to_owned()
    };
    let (name, version) = (text("name"), text("version"));
    let instructions = result.get("instructions").and_then(Value::as_str).map(str::to_owned);
    let capabilities = result.get_mut("capabilities").map(Value::take).unwrap_or_default();
    let server =
        ServerInfo { era, revision: revision.to_string(), name, version, instructions, capabilities };
    Opened { server, revision }
}
