use super::followers::{Followers, PAUSE};
use super::legacy_line::LegacyLine;
use super::list_changes::{ListChanges, News};
use super::message;
use super::modern_line::ModernLine;
use super::rounds::{Played, Rounds, Sent};
use super::session::Session;
use super::speaker::{Speaker, log_level};
use crate::server::ask::{Ask, AskKind, LogLevel};
use crate::server::caller::{Caller, Principal};
use crate::server::catalog::{Mode, Page, Pages, ServedTools, Shelf, StaleCursor, instructions};
use crate::server::content::{self, CallAnswer};
use crate::server::line::{CallRequest, Calls, Fault, Line, Served};
use crate::server::offers::{Prompts, Resources};
use crate::server::round::{Binding, Seal};
use crate::server::toolbox::{Bench, Toolbox};
use rmcp::model::*;
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

/// For how long lists may be kept by clients of the newer era, in milliseconds: they are told of changes.
const TTL_MS: u64 = 60_000;

/// Which lines of the log a client of the older era gets that has not said what it wants.
const LEAST: LogLevel = LogLevel::Info;

/// For how long a client's roots are waited for.
const ROOTS_PATIENCE: Duration = Duration::from_secs(5);

/// The most roots that are looked at.
const MOST_ROOTS: usize = 100;

/// The most bytes of a client's name and of its version that are kept.
const MOST_NAME: usize = 256;

/// How many documents one subscription follows, and how long their addresses are at most.
const MOST_FOLLOWED: usize = 1000;
const MOST_URI: usize = 4096;

/// Is what all that is served has in common.
pub(crate) struct Shared {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) mode: Mode,
    pub(crate) toolbox: Arc<dyn Toolbox>,
    pub(crate) shelf: Arc<Shelf>,
    pub(crate) prompts: Option<Arc<dyn Prompts>>,
    pub(crate) resources: Option<Arc<dyn Resources>>,
    pub(crate) calls: Arc<dyn Calls>,
    pub(crate) seal: Arc<dyn Seal>,
}

/// Is one serving: over standard streams, a socket or an address, until it is to stop.
pub(crate) struct Serving {
    pub(crate) shared: Arc<Shared>,
    /// Ends subscriptions in peace, a moment before connections are ended.
    pub(crate) stopping: CancellationToken,
    followers: Followers,
}

impl Serving {
    pub(crate) fn new(shared: Arc<Shared>, stopping: CancellationToken) -> Arc<Self> {
        Arc::new(Self { shared, stopping, followers: Followers::default() })
    }

    /// Tells the clients of the older era of changes, for as long as it is awaited.
    pub(crate) async fn tell_of_changes(&self) {
        self.followers.tell(ListChanges::of(&self.shared)).await;
    }
}

/// Says who sends the requests of a connection.
#[derive(Clone)]
pub(crate) enum Whose {
    /// One caller all of them, in a session of this name.
    Known(Principal, Arc<str>),
    /// Each its own, who was found out before.
    OfRequest(fn(&Extensions) -> Option<Principal>),
}

/// Is the name of a session over HTTP, in the extensions of each of its requests.
#[derive(Debug, Clone)]
pub(super) struct SessionName(pub(super) Arc<str>);

/// Answers the requests of one connection or session, or a single one.
#[derive(Clone)]
pub(crate) struct Handler {
    serving: Arc<Serving>,
    whose: Whose,
    session: Arc<Session>,
}

/// Is one request, with all that is known of whoever sent it.
struct Asked {
    caller: Caller,
    bench: Arc<Bench>,
    line: AnyLine,
    is_modern: bool,
}

enum AnyLine {
    Legacy(Arc<LegacyLine>),
    Modern(Arc<ModernLine>),
}

impl AnyLine {
    fn speaker(&self) -> &Speaker {
        match self {
            Self::Legacy(line) => &line.speaker,
            Self::Modern(line) => &line.0,
        }
    }

    fn shared(&self) -> Arc<dyn Line> {
        match self {
            Self::Legacy(line) => line.clone(),
            Self::Modern(line) => line.clone(),
        }
    }
}

impl Handler {
    pub(crate) fn new(serving: Arc<Serving>, whose: Whose) -> Self {
        Self { serving, whose, session: Arc::default() }
    }

    fn shared(&self) -> &Shared {
        &self.serving.shared
    }

    fn caller(&self, context: &RequestContext<RoleServer>) -> Result<Caller, ErrorData> {
        let (principal, session) = match &self.whose {
            Whose::Known(principal, session) => (principal.clone(), Some(session.clone())),
            Whose::OfRequest(find) => {
                let unknown = || ErrorData::internal_error("it is not known who sends this", None);
                let session = context.extensions.get::<SessionName>().map(|name| name.0.clone());
                (find(&context.extensions).ok_or_else(unknown)?, session)
            }
        };
        let mut caller = Caller::new(principal);
        caller.session = session.filter(|_| !is_modern(context));
        caller.client = context.client_info().map(|client| {
            let kept = |text: String| crate::shown::line(&text, MOST_NAME);
            (kept(client.name), kept(client.version))
        });
        caller.can = context.client_capabilities().as_ref().map(message::abilities).unwrap_or_default();
        Ok(caller)
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
    async fn asked(&self, context: &RequestContext<RoleServer>) -> Result<Asked, ErrorData> {
        let caller = self.caller(context)?;
        let line = self.line(caller.clone(), context);
        let bench = self.bench(&caller, &line).await?;
        Ok(Asked { caller, bench, line, is_modern: is_modern(context) })
    }

    /// Gives the bench: of a session that of its beginning, unless the client's roots became others.
    async fn bench(&self, caller: &Caller, line: &AnyLine) -> Result<Arc<Bench>, ErrorData> {
        let toolbox = &self.shared().toolbox;
        let AnyLine::Legacy(line) = line else { return toolbox.bench(caller, None).await.map_err(unserved) };
        let cell = self.session.bench();
        let look = || async {
            let roots = if caller.can.roots && toolbox.wants_roots() { roots(line).await } else { None };
            toolbox.bench(caller, roots.as_deref()).await.map_err(unserved)
        };
        cell.get_or_try_init(look).await.cloned()
    }

    /// Does what a request asks for, while its progress and log are sent.
    async fn during<T>(
        context: &RequestContext<RoleServer>,
        asked: &Asked,
        work: impl Future<Output = Result<T, ErrorData>>,
    ) -> Result<T, ErrorData> {
        asked.line.speaker().outbox.during(&context.peer, work).await
    }

    fn tools(&self, bench: &Arc<Bench>) -> Arc<ServedTools> {
        self.shared().shelf.of(bench)
    }

    fn call_result(&self, asked: &Asked, name: &str, served: Served) -> Result<CallToolResponse, ErrorData> {
        if let Some(ability) = asked.line.speaker().needed()
            && matches!(served, Served::Reply(_))
        {
            return unable(asked, ability);
        }
        match served {
            Served::Reply(reply) => {
                let tools = self.tools(&asked.bench);
                let has_schema = tools.listed(name).is_some_and(|tool| tool.output_schema.is_some());
                Ok(message::result(CallAnswer::of(*reply, has_schema, &asked.bench.scope)).into())
            }
            Served::Asks { asks, state } => Ok(message::input_required(&asks, state)?.into()),
            Served::Waits(pending) => {
                let text = format!(
                    "the call waits for an approval, and this client cannot ask for it; \
                     run `haft approvals approve {}`, then repeat the call",
                    pending.id
                );
                let mut result = CallToolResult::error(vec![ContentBlock::text(text)]);
                result.structured_content =
                    Some(json!({ "error": "approval_required", "pending": pending.id.to_string() }));
                Ok(result.into())
            }
            Served::Needs(ability) => unable(asked, ability),
            Served::Task(_) => Err(ErrorData::internal_error("tasks are not served here", None)),
        }
    }

    fn rounds<'a>(
        &'a self,
        asked: &'a Asked,
        method: &'static str,
        tool: &'a str,
        input: &'a Value,
    ) -> Rounds<'a> {
        let principal = &asked.caller.principal;
        let binding = Binding { principal, run: asked.bench.scope.run(), method, tool, input };
        Rounds { seal: &*self.shared().seal, binding }
    }
}

/// Asks a client of the older era for its roots; `None` if it does not say.
async fn roots(line: &LegacyLine) -> Option<Vec<String>> {
    let asks = vec![Ask::new("roots", AskKind::Roots)];
    let answer = timeout(ROOTS_PATIENCE, line.ask(asks)).await.ok()?.remove("roots")?.ok()?;
    let roots = answer["roots"].as_array()?.iter().take(MOST_ROOTS);
    Some(roots.filter_map(|root| root["uri"].as_str().map(str::to_owned)).collect())
}

fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

fn unserved(reason: String) -> ErrorData {
    ErrorData::invalid_request(crate::shown::line(&reason, 1024), None)
}

fn unable(asked: &Asked, ability: crate::server::caller::Ability) -> Result<CallToolResponse, ErrorData> {
    if asked.is_modern { Err(message::missing(ability)) } else { Ok(message::unable(ability).into()) }
}

fn stale(error: StaleCursor) -> ErrorData {
    ErrorData::invalid_params(error.to_string(), None)
}

/// Takes the page that a client asks for.
fn page<T: Clone>(
    pages: &Pages<T>,
    request: Option<&PaginatedRequestParams>,
) -> Result<(Vec<T>, Option<String>), ErrorData> {
    let cursor = request.and_then(|request| request.cursor.as_deref());
    let Page { items, next } = pages.at(cursor).map_err(stale)?;
    Ok((items.to_vec(), next))
}

/// Says for how long clients of the newer era may keep a list.
macro_rules! listed {
    ($list:ident, $items:expr, $next:expr, $is_modern:expr) => {{
        let mut list = $list::with_all_items($items);
        list.next_cursor = $next;
        if $is_modern {
            list.ttl_ms = Some(TTL_MS);
            list.cache_scope = Some(CacheScope::Private);
        }
        list
    }};
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let shared = self.shared();
        let mut capabilities = ServerCapabilities::builder()
            .enable_logging()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_resources_subscribe()
            .enable_tools()
            .enable_tool_list_changed()
            .build();
        if shared.prompts.is_some() {
            let prompts = ServerCapabilities::builder()
                .enable_completions()
                .enable_prompts()
                .enable_prompts_list_changed()
                .build();
            capabilities.completions = prompts.completions;
            capabilities.prompts = prompts.prompts;
        }
        let mut config = ServerConfig::new(capabilities);
        config.server_info = Implementation::new(shared.name.clone(), shared.version.clone());
        config
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        let mut info = self.negotiate_initialize(&request)?;
        let caller = self.caller(&context)?;
        let bench = self.shared().toolbox.bench(&caller, None).await.map_err(unserved)?;
        info.instructions = instructions(&self.shared().mode, &bench);
        Ok(info)
    }

    async fn discover(&self, context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let caller = self.caller(&context)?;
        let bench = self.shared().toolbox.bench(&caller, None).await.map_err(unserved)?;
        let mut info = self.get_info();
        info.instructions = instructions(&self.shared().mode, &bench);
        Ok(DiscoverResult::from_server_info(self.supported_protocol_versions().into_owned(), info))
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.serving.followers.add(context.peer, &self.session);
    }

    async fn on_roots_list_changed(&self, _context: NotificationContext<RoleServer>) {
        self.session.forget_bench();
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.shared().shelf.with(name)?.listed(name).map(message::tool)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let asked = self.asked(&context).await?;
        let tools = self.tools(&asked.bench);
        let ready = tools.ready(|tools| tools.pages().map(message::tool));
        let (items, next) = page(&ready, request.as_ref())?;
        Ok(listed!(ListToolsResult, items, next, asked.is_modern))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let asked = self.asked(&context).await?;
        let is_watched = asked.line.speaker().token.is_some()
            || if asked.is_modern {
                asked.line.speaker().least.is_some()
            } else {
                self.session.least().is_some()
            };
        let name = request.name.into_owned();
        let call = CallRequest {
            tool: name.clone(),
            input: Value::Object(request.arguments.unwrap_or_default()),
            answers: request.input_responses.unwrap_or_default(),
            state: request.request_state,
            is_watched,
        };
        let calls = &self.shared().calls;
        let call =
            async { calls.call(&asked.bench, call, asked.line.shared()).await.map_err(message::error) };
        let served = Self::during(&context, &asked, call).await?;
        self.call_result(&asked, &name, served)
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let caller = self.caller(&context)?;
        let pages = content::prompts(self.shared().prompts.as_deref(), &caller).map(message::prompt);
        let (items, next) = page(&pages, request.as_ref())?;
        Ok(listed!(ListPromptsResult, items, next, is_modern(&context)))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let invalid = |text: &str| ErrorData::invalid_params(crate::shown::line(text, 1024), None);
        let Some(prompts) = &self.shared().prompts else { return Err(invalid("there are no prompts")) };
        let asked = self.asked(&context).await?;
        let input = Value::Object(request.arguments.unwrap_or_default());
        let mut arguments = BTreeMap::new();
        for (name, value) in input.as_object().into_iter().flatten() {
            let Some(value) = value.as_str() else {
                return Err(invalid("the arguments of prompts are texts"));
            };
            arguments.insert(name.clone(), value.to_owned());
        }
        let name = request.name;
        let description = content::prompts(Some(&**prompts), &asked.caller)
            .iter()
            .find(|prompt| prompt.name == name)
            .and_then(|prompt| prompt.description.clone());
        let sent =
            Sent { answers: request.input_responses.unwrap_or_default(), state: request.request_state };
        let rounds = self.rounds(&asked, "prompts/get", &name, &input);
        let (name, arguments) = (&name, &arguments);
        let play = async {
            let begin = |client| async move { prompts.get(name, arguments, &client).await };
            rounds.play(asked.line.shared(), sent, begin).await.map_err(message::error)
        };
        match Self::during(&context, &asked, play).await? {
            Played::Done(_)
                if asked.is_modern
                    && let Some(ability) = asked.line.speaker().needed() =>
            {
                Err(message::missing(ability))
            }
            Played::Done(Ok(messages)) => {
                let messages = messages.into_iter().map(message::prompt_message).collect();
                let mut result = GetPromptResult::new(messages);
                result.description = description;
                Ok(result.into())
            }
            Played::Done(Err(text)) => Err(invalid(&text)),
            Played::Asks { asks, state } => Ok(message::input_required(&asks, state)?.into()),
        }
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let caller = self.caller(&context)?;
        let pages = content::resources(self.shared().resources.as_deref(), &caller).map(message::resource);
        let (items, next) = page(&pages, request.as_ref())?;
        Ok(listed!(ListResourcesResult, items, next, is_modern(&context)))
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let asked = self.asked(&context).await?;
        let host = self.shared().resources.as_deref();
        let pages = content::templates(host, &asked.caller, &asked.bench).map(message::template);
        let (items, next) = page(&pages, request.as_ref())?;
        Ok(listed!(ListResourceTemplatesResult, items, next, asked.is_modern))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let asked = self.asked(&context).await?;
        let host = self.shared().resources.as_deref();
        let (uri, nothing) = (request.uri, Value::Null);
        let sent =
            Sent { answers: request.input_responses.unwrap_or_default(), state: request.request_state };
        let rounds = self.rounds(&asked, "resources/read", &uri, &nothing);
        let (uri, bench) = (&uri, &asked.bench);
        let play = async {
            let begin = |client| async move { content::read(uri, bench, host, &client).await };
            rounds.play(asked.line.shared(), sent, begin).await.map_err(message::error)
        };
        match Self::during(&context, &asked, play).await? {
            Played::Done(Ok(parts)) => {
                let mut result = ReadResourceResult::new(parts.into_iter().map(message::read_part).collect());
                if asked.is_modern {
                    // Each may become another at any time, and only those who follow it are told.
                    result.ttl_ms = Some(0);
                    result.cache_scope = Some(CacheScope::Private);
                }
                Ok(result.into())
            }
            Played::Done(Err(fault)) => Err(message::error(fault)),
            Played::Asks { asks, state } => Ok(message::input_required(&asks, state)?.into()),
        }
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let caller = self.caller(&context)?;
        let ArgumentInfo { name: argument, value, .. } = request.argument;
        let mut values = match (&request.r#ref, &self.shared().prompts) {
            (Reference::Prompt(prompt), Some(prompts)) => {
                prompts.complete(&prompt.name, &argument, &value, &caller)
            }
            _ => Vec::new(),
        };
        let has_more = values.len() > CompletionInfo::MAX_VALUES;
        values.truncate(CompletionInfo::MAX_VALUES);
        let mut info = CompletionInfo::with_all_values(values).unwrap_or_default();
        info.has_more = Some(has_more);
        Ok(CompleteResult::new(info))
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if is_modern(&context) {
            return Err(ErrorData::method_not_found::<SetLevelRequestMethod>());
        }
        self.session.set_least(log_level(request.level));
        Ok(())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let too_many =
            || ErrorData::invalid_params("too many documents are followed, or its address is too long", None);
        self.session.subscribe(request.uri).then_some(()).ok_or_else(too_many)
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.session.unsubscribe(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        self.session.accept(ListChanges::of(self.shared()));
        let mut accepted = requested.clone();
        if let Some(uris) = &mut accepted.resource_subscriptions {
            uris.retain(|uri| uri.len() <= MOST_URI);
            uris.truncate(MOST_FOLLOWED);
        }
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let changes = self.session.accepted();
        let mut changes = changes.unwrap_or_else(|| ListChanges::of(self.shared()));
        let accepted = context.accepted();
        loop {
            let next = async {
                let news = changes.next().await;
                let is_wanted = match &news {
                    News::Tools => accepted.tools_list_changed == Some(true),
                    News::Prompts => accepted.prompts_list_changed == Some(true),
                    News::Resources => accepted.resources_list_changed == Some(true),
                    News::Resource(uri) => {
                        accepted.resource_subscriptions.as_ref().is_some_and(|uris| uris.contains(uri))
                    }
                };
                if !is_wanted {
                    return Ok(());
                }
                let sink = context.sink();
                let sent = match news {
                    News::Tools => sink.notify_tool_list_changed().await,
                    News::Prompts => sink.notify_prompt_list_changed().await,
                    News::Resources => sink.notify_resource_list_changed().await,
                    News::Resource(uri) => sink.notify_resource_updated(uri).await,
                };
                sleep(PAUSE).await;
                sent
            };
            tokio::select! {
                biased;
                () = context.cancelled() => return Ok(()),
                () = self.serving.stopping.cancelled() => return Ok(()),
                // What cannot be sent is for a connection that is over.
                sent = next => if sent.is_err() { return Ok(()) },
            }
        }
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        // What is known by its name came here because its parameters are not those of it.
        let of_era: &[&str] = if is_modern(&context) { &MODERN } else { &LEGACY };
        let name = request.method.as_str();
        if COMMON.contains(&name) || of_era.contains(&name) {
            return Err(message::error(Fault {
                code: -32602,
                message: format!("the parameters do not fit `{}`", request.method),
                data: None,
            }));
        }
        let method = crate::shown::line(&request.method, MOST_NAME);
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None))
    }
}

/// The methods with parameters that are served in both eras, and in one alone.
const COMMON: [&str; 8] = [
    "completion/complete",
    "prompts/get",
    "prompts/list",
    "resources/list",
    "resources/read",
    "resources/templates/list",
    "tools/call",
    "tools/list",
];
const MODERN: [&str; 1] = ["subscriptions/listen"];
const LEGACY: [&str; 3] = ["logging/setLevel", "resources/subscribe", "resources/unsubscribe"];
