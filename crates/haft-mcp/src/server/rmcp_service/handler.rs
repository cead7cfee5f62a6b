use super::answer::{call_response, completed, page};
use super::asked::{is_modern, unserved};
use super::list_changes::ListChanges;
use super::listening;
use super::message;
use super::serving::{Serving, Shared, Whose};
use super::session::Session;
use super::speaker::log_level;
use super::tasks;
use super::tool_list::ToolList;
use crate::server::calls::RoundEnd;
use crate::server::catalog::instructions;
use crate::server::content;
use crate::server::toolbox::CallingClient;
use rmcp::model::{
    ArgumentInfo, CacheScope, CallToolRequestParams, CallToolResponse, CancelTaskParams,
    CompleteRequestParams, CompleteResult, CustomRequest, CustomResult, DiscoverResult, ErrorCode, ErrorData,
    GetPromptRequestParams, GetPromptResponse, GetPromptResult, GetTaskParams, GetTaskResult, Implementation,
    InitializeRequestParams, InitializeResult, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, Reference, ServerCapabilities, ServerConfig,
    SetLevelRequestMethod, SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter, Tool,
    UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// For how long lists may be kept by clients of the newer era, in milliseconds: they are told of changes.
const TTL_MS: u64 = 60_000;

/// The most bytes of a text that says what is wrong.
const MOST_TEXT: usize = 1024;

/// Answers the requests of one connection or session, or a single one.
#[derive(Clone)]
pub(crate) struct Handler {
    pub(super) serving: Arc<Serving>,
    pub(super) whose: Whose,
    pub(super) session: Arc<Session>,
}

impl Handler {
    pub(crate) fn new(serving: Arc<Serving>, whose: Whose) -> Self {
        Self { serving, whose, session: Arc::default() }
    }

    pub(super) fn shared(&self) -> &Shared {
        &self.serving.shared
    }
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
            .enable_tasks()
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
        Box::pin(async move {
            context.peer.set_peer_info(request.clone());
            let mut info = self.negotiate_initialize(&request)?;
            let caller = self.caller(&context)?;
            let toolset = self.shared().toolbox.toolset(&caller, None).await.map_err(unserved)?;
            info.instructions = instructions(&self.shared().mode, &toolset);
            Ok(info)
        })
        .await
    }

    async fn discover(&self, context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        Box::pin(async move {
            let caller = self.caller(&context)?;
            let toolset = self.shared().toolbox.toolset(&caller, None).await.map_err(unserved)?;
            let mut info = self.get_info();
            info.instructions = instructions(&self.shared().mode, &toolset);
            Ok(DiscoverResult::from_server_info(self.supported_protocol_versions().into_owned(), info))
        })
        .await
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.serving.followers.add(context.peer, &self.session);
    }

    async fn on_roots_list_changed(&self, _context: NotificationContext<RoleServer>) {
        self.session.forget_toolset();
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.shared().shelf.with(name)?.ready(ToolList::of).find(name).cloned()
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Box::pin(async move {
            let asked = self.asked(&context).await?;
            let tools = self.shared().shelf.of(&asked.toolset);
            let room = self.whose.room_for_page(&context.extensions).filter(|_| asked.is_modern);
            let (items, next) = tools.ready(ToolList::of).page(request.as_ref(), room)?;
            Ok(listed!(ListToolsResult, items, next, asked.is_modern))
        })
        .await
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        Box::pin(async move {
            let asked = self.asked(&context).await?;
            let is_watched = asked.line.speaker().token.is_some()
                || if asked.is_modern {
                    asked.line.speaker().least.is_some()
                } else {
                    self.session.least().is_some()
                };
            let name = request.name.clone();
            let called = asked.called(&self.serving, request, is_watched);
            let served = asked.during(&context, called).await?;
            call_response(self.shared(), &asked, &name, served)
        })
        .await
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
        Box::pin(async move {
            let invalid = |text: &str| ErrorData::invalid_params(crate::shown::line(text, MOST_TEXT), None);
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
            let state = request.request_state.as_deref();
            let sent = (state, request.input_responses.unwrap_or_default());
            let binding = asked.binding("prompts/get", &name, &input);
            let (name, arguments) = (&name, &arguments);
            let begin = |line| async move { prompts.get(name, arguments, &CallingClient(line)).await };
            let rounds = self.shared().calls.rounds();
            let play = async {
                rounds.replayed(sent, &binding, asked.line.shared(), begin).await.map_err(message::error)
            };
            match asked.while_waited_for(&context, play).await? {
                RoundEnd::Done(Ok(messages)) => {
                    let messages = messages.into_iter().map(message::prompt_message).collect();
                    let mut result = GetPromptResult::new(messages);
                    result.description = description;
                    Ok(result.into())
                }
                RoundEnd::Done(Err(text)) => Err(invalid(&text)),
                RoundEnd::Asks { asks, state } => Ok(message::input_required(&asks, Some(state))?.into()),
                RoundEnd::Needs(ability) => Err(message::missing(ability)),
            }
        })
        .await
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
        Box::pin(async move {
            let asked = self.asked(&context).await?;
            let host = self.shared().resources.as_deref();
            let pages = content::templates(host, &asked.caller, &asked.toolset).map(message::template);
            let (items, next) = page(&pages, request.as_ref())?;
            Ok(listed!(ListResourceTemplatesResult, items, next, asked.is_modern))
        })
        .await
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        Box::pin(async move {
            let asked = self.asked(&context).await?;
            let host = self.shared().resources.as_deref();
            let (uri, nothing) = (request.uri, Value::Null);
            let state = request.request_state.as_deref();
            let sent = (state, request.input_responses.unwrap_or_default());
            let binding = asked.binding("resources/read", &uri, &nothing);
            let (uri, toolset) = (&uri, &asked.toolset);
            let begin = |line| async move { content::read(uri, toolset, host, &CallingClient(line)).await };
            let rounds = self.shared().calls.rounds();
            let play = async {
                rounds.replayed(sent, &binding, asked.line.shared(), begin).await.map_err(message::error)
            };
            match asked.while_waited_for(&context, play).await? {
                RoundEnd::Done(Ok(parts)) => {
                    let mut result =
                        ReadResourceResult::new(parts.into_iter().map(message::read_part).collect());
                    if asked.is_modern {
                        // Each may become another at any time, and only those who follow it are told.
                        result.ttl_ms = Some(0);
                        result.cache_scope = Some(CacheScope::Private);
                    }
                    Ok(result.into())
                }
                RoundEnd::Done(Err(fault)) => Err(message::error(fault)),
                RoundEnd::Asks { asks, state } => Ok(message::input_required(&asks, Some(state))?.into()),
                RoundEnd::Needs(ability) => Err(message::missing(ability)),
            }
        })
        .await
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let caller = self.caller(&context)?;
        let ArgumentInfo { name: argument, value, .. } = request.argument;
        let values = match (&request.r#ref, &self.shared().prompts) {
            (Reference::Prompt(prompt), Some(prompts)) => {
                prompts.complete(&prompt.name, &argument, &value, &caller)
            }
            _ => Vec::new(),
        };
        Ok(completed(values))
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
        Some(listening::accepted(requested))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        Box::pin(async move {
            let changes = self.session.accepted();
            let changes = changes.unwrap_or_else(|| ListChanges::of(self.shared()));
            listening::listen(&context, changes, &self.serving.stopping).await;
            Ok(())
        })
        .await
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        Box::pin(async move {
            let asked = self.asked(&context).await?;
            let task = self.shared().calls.tasks().get(&request.task_id, &asked.caller.principal);
            let task = task.ok_or_else(tasks::unknown)?;
            Ok(GetTaskResult::new(tasks::detailed(&task, &asked)?))
        })
        .await
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let principal = self.caller(&context)?.principal;
        let answers = request.input_responses;
        let updated = self.shared().calls.tasks().update(&request.task_id, &principal, answers);
        updated.ok_or_else(tasks::unknown)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let principal = self.caller(&context)?.principal;
        self.shared().calls.tasks().cancel(&request.task_id, &principal).ok_or_else(tasks::unknown)
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
            return Err(ErrorData::invalid_params(format!("the parameters do not fit `{name}`"), None));
        }
        let method = crate::shown::line(&request.method, MOST_TEXT);
        let text = format!("there is no method `{method}` here");
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, text, None))
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
