use crate::attend::Attended;
use crate::kept_state::KeptState;
use crate::mcp::offered::Offered;
use crate::opened_workdir::name;
use crate::person::{Person, Terminal, at_terminal};
use crate::policy_setup::PolicyInForce;
use anyhow::Result;
use haft::core::RunId;
use haft::policy::SandboxMode;
use haft::tools_core::{Grants, Journal, LocalExecutorBuilder, now_ms};
use haft::{CallScope, LocalExecutor, ToolRegistry, Workdir};
use std::sync::Arc;

/// Names a run by the time it starts and the process it runs in.
pub(crate) fn scope() -> Result<CallScope> {
    let id: RunId = format!("run-{:x}-{:x}", now_ms(), std::process::id()).parse()?;
    Ok(CallScope::new(id))
}

/// Holds what calls are made with: the directory, the tools, the policy and what is remembered.
pub(crate) struct Bench {
    pub(crate) workdir: Workdir,
    pub(crate) tools: ToolRegistry,
    pub(crate) policy: PolicyInForce,
    /// How far commands are confined.
    pub(crate) sandbox: SandboxMode,
    pub(crate) state: Arc<KeptState>,
    /// The MCP servers that some of the tools are of.
    pub(crate) servers: Offered,
}

impl Bench {
    /// Starts to configure an executor that keeps what waits, remembers what is answered and records both.
    pub(crate) fn executor(&self, approves_all: bool) -> Result<LocalExecutorBuilder> {
        let grants = Grants::kept_in(Arc::clone(&self.state) as _).workspace(name(&self.workdir)?);
        Ok(self
            .policy
            .apply(LocalExecutor::builder(self.tools.clone()))
            .approver(Person::new(approves_all))
            .grants(grants)
            .pending(Arc::clone(&self.state) as _)
            .journal(Journal::new(Arc::clone(&self.state) as _)))
    }

    /// Says who answers what waits.
    pub(crate) fn attended(&self, wait: bool) -> Attended {
        if wait {
            Attended::Elsewhere
        } else if at_terminal() {
            Attended::Here(Box::new(Terminal::new(&self.policy, &self.tools)))
        } else {
            Attended::Nobody
        }
    }
}
