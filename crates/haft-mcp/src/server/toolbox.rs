use super::ask::{Ask, ClientAskError};
use super::caller::{Ability, Caller};
use super::line::Line;
use crate::LogLevel;
use async_trait::async_trait;
use haft_tools_core::{CallScope, Changes, OutputStore, PendingStore, ToolExecutor, ToolRegistry};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Gives callers what their calls are made with. `ServedToolbox` is the one of a `Catalog` and one executor for all.
///
/// ```
/// use async_trait::async_trait;
/// use haft_mcp::{Caller, Principal, Toolbox, Toolset};
/// use haft_tools_core::{CallScope, LocalExecutor, MemoryPending, ToolRegistry};
/// use std::sync::Arc;
///
/// /// Gives everybody the same tools, which never change.
/// struct House(Arc<Toolset>);
///
/// #[async_trait]
/// impl Toolbox for House {
///     async fn toolset(&self, _: &Caller, _: Option<&[String]>) -> Result<Arc<Toolset>, String> {
///         Ok(Arc::clone(&self.0))
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let registry = ToolRegistry::new();
/// # let executor = Arc::new(LocalExecutor::builder(registry.clone()).build());
/// # let scope = CallScope::new("run-1".parse()?);
/// # let toolset = Toolset::new(move || registry.clone(), executor, scope, Arc::new(MemoryPending::new()));
/// let house = House(Arc::new(toolset));
/// let toolset = house.toolset(&Caller::new(Principal::local()), None).await?;
/// assert_eq!((toolset.tools)().names().count(), 0);
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait Toolbox: Send + Sync + 'static {
    /// Gives a caller's toolset; the same one for the same caller and roots, so it is kept by whoever implements this.
    /// `roots` are the client's, where it has any and was asked; the first that the host accepts becomes the workdir.
    ///
    /// # Errors
    ///
    /// When the caller is served nothing; the text is for them.
    ///
    /// # Cancel safety
    ///
    /// What was begun is kept for the next time, or undone.
    async fn toolset(&self, caller: &Caller, roots: Option<&[String]>) -> Result<Arc<Toolset>, String>;

    /// Tells whether clients of the older era are asked for their roots before their toolset is looked for.
    fn wants_roots(&self) -> bool {
        false
    }

    /// Lets one wait until tools become others for anybody; it is looked again at each toolset then. By default nothing
    /// tells of a change.
    fn changes(&self) -> Option<Changes> {
        None
    }
}

/// Is what one caller's calls are made with.
///
/// ```
/// use haft_mcp::Toolset;
/// use haft_tools_core::{CallScope, LocalExecutor, MemoryPending, ToolRegistry};
/// use std::sync::Arc;
/// use std::time::Duration;
///
/// let registry = ToolRegistry::new();
/// let executor = Arc::new(LocalExecutor::builder(registry.clone()).build());
/// let scope = CallScope::new("run-1".parse()?);
/// let toolset = Toolset::new(move || registry.clone(), executor, scope, Arc::new(MemoryPending::new()))
///     .instructions("Ask before you delete anything.")
///     .attended(Duration::from_mins(2));
/// assert_eq!(toolset.instructions.as_deref(), Some("Ask before you delete anything."));
/// # Ok::<(), haft_core::IdError>(())
/// ```
#[non_exhaustive]
pub struct Toolset {
    /// The tools as they are now: a `Catalog`'s snapshot, filtered for the caller. Costs a reference count.
    pub tools: Box<dyn Fn() -> ToolRegistry + Send + Sync>,
    /// Runs them; its own approver is asked only where the batch brings none.
    pub executor: Arc<dyn ToolExecutor>,
    /// In which scope: the run is the same for all requests of a caller (or session), or no approval would fit its digest.
    pub scope: CallScope,
    /// Where what was cut can be read.
    pub outputs: Option<Arc<dyn OutputStore>>,
    /// Where calls wait: the executor's own store.
    pub pending: Arc<dyn PendingStore>,
    /// What clients are told of the policy, as the server's instructions.
    pub instructions: Option<String>,
    /// For how long a call stays open that waits for an answer which somebody else keeps in `pending`, as on a page of the
    /// host; by default the client is told at once that its call waits.
    pub attended: Option<Duration>,
}

impl Toolset {
    /// Makes a toolset that gives its callers no outputs to read and tells them nothing of the policy.
    pub fn new(
        tools: impl Fn() -> ToolRegistry + Send + Sync + 'static,
        executor: Arc<dyn ToolExecutor>,
        scope: CallScope,
        pending: Arc<dyn PendingStore>,
    ) -> Self {
        let tools = Box::new(tools);
        Self { tools, executor, scope, outputs: None, pending, instructions: None, attended: None }
    }

    /// Says that others than the client answer what waits, too, and for how long a call stays open for that.
    ///
    /// Such a call goes on when an answer is kept in `pending`, as if the client had repeated it. A client that can show a form
    /// is asked by it at the same time, and whoever answers first has answered.
    pub fn attended(mut self, stays_open: Duration) -> Self {
        self.attended = Some(stays_open);
        self
    }

    /// Lets callers read what was cut of their outputs: the executor's own store.
    pub fn outputs(mut self, outputs: Arc<dyn OutputStore>) -> Self {
        self.outputs = Some(outputs);
        self
    }

    /// Tells clients what the policy allows.
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }
}

/// Is put into the scope of each served call, for tools that have something to do with the client itself:
/// `cx.scope().extension::<CallingClient>()`.
///
/// ```
/// use haft_mcp::{Ask, CallingClient};
/// use serde_json::json;
///
/// /// Asks the person at the client for a name.
/// async fn name(client: &CallingClient) -> Option<String> {
///     let schema = json!({ "type": "object", "properties": { "name": { "type": "string" } } });
///     let mut answers = client.ask(vec![Ask::form("name", "What is it called?", schema)]).await;
///     let answer = answers.remove("name")?.ok()?;
///     answer["name"].as_str().map(str::to_owned)
/// }
/// # let _ = name;
/// ```
#[derive(Clone)]
pub struct CallingClient(pub(crate) Arc<dyn Line>);
impl fmt::Debug for Toolset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Toolset").field("scope", &self.scope).finish_non_exhaustive()
    }
}

impl fmt::Debug for CallingClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CallingClient").field(self.caller()).finish()
    }
}

impl CallingClient {
    /// Who calls.
    pub fn caller(&self) -> &Caller {
        self.0.caller()
    }
    /// Puts several questions in one round; each answer under its question's key.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future withdraws the questions.
    pub async fn ask(&self, asks: Vec<Ask>) -> BTreeMap<String, Result<Value, ClientAskError>> {
        self.0.ask(asks).await
    }
    /// Says that the call cannot be served without this: a client of the newer era is then told so by the protocol's error.
    pub fn needs(&self, ability: Ability) {
        self.0.needs(ability);
    }
    /// Writes into the client's log, if it wants lines of this level.
    pub fn log(&self, level: LogLevel, logger: &str, data: &Value) {
        self.0.log(level, logger, data);
    }
}
