use haft_core::ToolSpec;
use haft_tools_core::{CallScope, RunTools, ToolRegistry, estimate_tokens};
use std::fmt;
use std::sync::{Arc, OnceLock};

/// Says which tools the models of an agent's runs are told of.
pub(super) enum Offer {
    /// The same in each turn.
    Fixed(Offered),
    /// Those that the list of the run has at the beginning of the turn.
    Live(Arc<dyn Fn(&CallScope) -> RunTools + Send + Sync>),
}

/// Holds the tools of one turn.
#[derive(Debug, Clone)]
pub(super) struct Offered {
    pub(super) list: Arc<[Arc<ToolSpec>]>,
    /// What the calls of the turn are executed with, if it is not what the executor has.
    pub(super) registry: Option<ToolRegistry>,
    /// What the list takes up in a request, in estimated tokens, once somebody wants to know.
    tokens: Arc<OnceLock<u64>>,
}

impl Offered {
    pub(super) fn new(list: Arc<[Arc<ToolSpec>]>, registry: Option<ToolRegistry>) -> Self {
        Self { list, registry, tokens: Arc::default() }
    }

    /// What the list takes up in a request, in estimated tokens.
    pub(super) fn tokens(&self) -> u64 {
        let count = || self.list.iter().map(|spec| estimate_tokens(spec)).fold(0, u64::saturating_add);
        *self.tokens.get_or_init(count)
    }
}

impl Offer {
    /// Asks for the tools of a turn, where these were those of the turn before.
    pub(super) fn ask(&self, scope: &CallScope, before: Option<&Offered>) -> Offered {
        match self {
            Self::Fixed(offered) => offered.clone(),
            Self::Live(tools) => {
                let tools = tools(scope);
                let mut offered = Offered::new(tools.list(), Some(tools.registry()));
                if let Some(before) = before.filter(|before| Arc::ptr_eq(&before.list, &offered.list)) {
                    offered.tokens = Arc::clone(&before.tokens);
                }
                offered
            }
        }
    }
}

impl fmt::Debug for Offer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(offered) => write!(f, "{} tools", offered.list.len()),
            Self::Live(_) => f.write_str("live tools"),
        }
    }
}
