use super::handler::Handler;
use super::legacy_line::LegacyLine;
use super::message;
use super::modern_line::ModernLine;
use super::serving::Serving;
use super::speaker::{Speaker, log_level};
use crate::LogLevel;
use crate::server::ask::{Ask, AskKind};
use crate::server::caller::{Caller, Principal};
use crate::server::line::{CallRequest, Calls as _, Line, Served};
use crate::server::round::Binding;
use crate::server::toolbox::Toolset;
use rmcp::RoleServer;
use rmcp::model::{CallToolRequestParams, ClientCapabilities, ErrorData, Implementation, ProtocolVersion};
use rmcp::service::RequestContext;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// Which lines of the log a client of the older era gets that has not said what it wants.
const LEAST: LogLevel = LogLevel::Info;

/// For how long a client's roots are waited for.
const ROOTS_PATIENCE: Duration = Duration::from_secs(5);

/// The most roots that are looked at.
const MOST_ROOTS: usize = 100;

/// The most bytes of a text that says why somebody is served nothing.
const MOST_REASON: usize = 1024;

/// The most bytes of a client's name and of its version that are kept.
const MOST_NAME: usize = 256;

/// Is one request, with all that is known of whoever sent it.
pub(super) struct Asked {
    pub(super) caller: Caller,
    pub(super) toolset: Arc<Toolset>,
    pub(super) line: AnyLine,
    pub(super) is_modern: bool,
}

pub(super) enum AnyLine {
    Legacy(Arc<LegacyLine>),
    Modern(Arc<ModernLine>),
}

impl AnyLine {
    pub(super) fn speaker(&self) -> &Speaker {
        match self {
            Self::Legacy(line) => &line.speaker,
            Self::Modern(line) => &line.0,
        }
    }

    pub(super) fn shared(&self) -> Arc<dyn Line> {
        match self {
            Self::Legacy(line) => line.clone(),
            Self::Modern(line) => line.clone(),
        }
    }
}

impl Asked {
    /// Does what the request asks for, while its progress and log are sent.
    pub(super) async fn during<T>(
        &self,
        context: &RequestContext<RoleServer>,
        work: impl Future<Output = Result<T, ErrorData>>,
    ) -> Result<T, ErrorData> {
        self.line.speaker().outbox.during(&context.peer, work).await
    }

    /// Does it likewise, and lets go of it when the client no longer waits.
    pub(super) async fn while_waited_for<T>(
        &self,
        context: &RequestContext<RoleServer>,
        work: impl Future<Output = Result<T, ErrorData>>,
    ) -> Result<T, ErrorData> {
        let work = async {
            let done = context.ct.run_until_cancelled(work).await;
            // Nobody reads it.
            done.unwrap_or_else(|| Err(ErrorData::internal_error("the request was cancelled", None)))
        };
        self.during(context, work).await
    }

    /// Makes the call that is asked for, which is cancelled with the request.
    pub(super) async fn called(
        &self,
        serving: &Serving,
        params: CallToolRequestParams,
        is_watched: bool,
    ) -> Result<Served, ErrorData> {
        let call = CallRequest {
            tool: params.name.into_owned(),
            input: Value::Object(params.arguments.unwrap_or_default()),
            answers: params.input_responses.unwrap_or_default(),
            state: params.request_state,
            is_watched,
        };
        let call = serving.shared.calls.call(&self.toolset, call, self.line.shared());
        serving.answering(&self.line.speaker().cancellation, call).await.map_err(message::error)
    }

    /// What the rounds of the request are bound to.
    pub(super) fn binding<'a>(
        &'a self,
        method: &'static str,
        tool: &'a str,
        input: &'a Value,
    ) -> Binding<'a> {
        Binding { principal: &self.caller.principal, run: self.toolset.scope.run(), method, tool, input }
    }
}

impl Handler {
    pub(super) fn caller(&self, context: &RequestContext<RoleServer>) -> Result<Caller, ErrorData> {
        let unknown = || ErrorData::internal_error("it is not known who sends this", None);
        let (principal, session) = self.whose.sender(&context.extensions).ok_or_else(unknown)?;
        let session = session.filter(|_| !is_modern(context));
        Ok(caller(principal, session, context.client_info(), context.client_capabilities().as_ref()))
    }

    /// Makes the way back to the client.
    fn line(&self, caller: Caller, context: &RequestContext<RoleServer>) -> AnyLine {
        let is_modern = is_modern(context);
        let wanted = if is_modern { context.meta.log_level().map(log_level) } else { self.session.least() };
        let least = wanted.or((!is_modern).then_some(LEAST));
        let token = context.meta.get_progress_token();
        let speaker = Speaker::new(caller, context.id.clone(), token, least, context.ct.clone());
        if is_modern {
            AnyLine::Modern(Arc::new(ModernLine(speaker)))
        } else {
            AnyLine::Legacy(Arc::new(LegacyLine { speaker, peer: context.peer.clone() }))
        }
    }

    /// Finds out who asks and with what they are served.
    pub(super) async fn asked(&self, context: &RequestContext<RoleServer>) -> Result<Asked, ErrorData> {
        let caller = self.caller(context)?;
        let line = self.line(caller.clone(), context);
        let toolset = self.toolset(&caller, &line).await?;
        Ok(Asked { caller, toolset, line, is_modern: is_modern(context) })
    }

    /// Gives the toolset: of a session that of its beginning, unless the client's roots became others.
    async fn toolset(&self, caller: &Caller, line: &AnyLine) -> Result<Arc<Toolset>, ErrorData> {
        let toolbox = &self.shared().toolbox;
        let AnyLine::Legacy(line) = line else {
            return toolbox.toolset(caller, None).await.map_err(unserved);
        };
        let cell = self.session.toolset();
        let look = || async {
            let roots = if caller.can.roots && toolbox.wants_roots() { roots(line).await } else { None };
            toolbox.toolset(caller, roots.as_deref()).await.map_err(unserved)
        };
        cell.get_or_try_init(look).await.cloned()
    }
}

/// Says who asks, by what is known of them and what their client says of itself.
pub(super) fn caller(
    principal: Principal,
    session: Option<Arc<str>>,
    client: Option<Implementation>,
    can: Option<&ClientCapabilities>,
) -> Caller {
    let mut caller = Caller::new(principal);
    caller.session = session;
    caller.client = client.map(|client| {
        let kept = |text: String| crate::shown::line(&text, MOST_NAME);
        (kept(client.name), kept(client.version))
    });
    caller.can = can.map(message::abilities).unwrap_or_default();
    caller
}

/// Asks a client of the older era for its roots; `None` if it does not say.
async fn roots(line: &LegacyLine) -> Option<Vec<String>> {
    let asks = vec![Ask::new("roots", AskKind::Roots)];
    let answer = timeout(ROOTS_PATIENCE, line.ask(asks)).await.ok()?.remove("roots")?.ok()?;
    let roots = answer["roots"].as_array()?.iter().take(MOST_ROOTS);
    Some(roots.filter_map(|root| root["uri"].as_str().map(str::to_owned)).collect())
}

pub(super) fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

pub(super) fn unserved(reason: impl AsRef<str>) -> ErrorData {
    ErrorData::invalid_request(crate::shown::line(reason.as_ref(), MOST_REASON), None)
}
