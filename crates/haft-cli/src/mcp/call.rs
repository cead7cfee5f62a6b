use super::arguments::CallOptions;
use super::servers::Running;
use crate::call::read_input;
use crate::exit::{Exit, UsageError};
use crate::interrupt::cancel_on_interrupt;
use crate::person::{Person, Terminal, at_terminal};
use crate::policy_setup::PolicySetup;
use crate::{outcome, setup};
use anyhow::{Context as _, Result, bail};
use async_trait::async_trait;
use haft::{
    Approval, Approver, AskedQuestion, Batch, CollisionPolicy, LocalExecutor, Origin, PendingCall, Response,
    ToolCall, ToolExecutor as _, ToolRegistry,
};

/// Calls a tool of a server.
pub(super) async fn call(options: CallOptions) -> Result<Exit> {
    let input = read_input(&options.input)?;
    let running = Running::start(options.workdir.as_deref(), std::slice::from_ref(&options.server)).await?;
    let outcome = run(&options, &running, input).await;
    running.servers.stop().await;
    outcome
}

async fn run(options: &CallOptions, running: &Running, input: serde_json::Value) -> Result<Exit> {
    let listed = running.catalog.snapshot();
    let name = name_of(&listed, options, running)?;
    // Rules speak of the built-in tools, too.
    let tools = setup::registry(&running.workdir)?.merge(&listed, CollisionPolicy::KeepFirst)?;
    let setup = PolicySetup::new(&running.workdir, options.workdir.as_deref(), &tools);
    let policy = setup.in_force(&options.policy)?;
    policy.print_notes();
    let terminal = at_terminal().then(|| Terminal {
        policy: policy.loaded.policy.clone(),
        mode: policy.loaded.mode,
        tools: tools.clone(),
    });
    let present = Present { person: Person::new(options.yes), approves_all: options.yes, terminal };
    let executor = policy.apply(LocalExecutor::builder(tools.clone()))?.approver(present).build();
    let (token, _watch) = cancel_on_interrupt();
    let call = ToolCall::new("cli".parse()?, name, input);
    let batch = Batch::new(setup::scope()?, vec![call]).cancelled_by(token);
    let outcomes = executor.execute_batch(batch).await.into_outcomes();
    let outcome = outcomes.into_iter().next().context("the executor gave no outcome")?;
    outcome::print(&outcome, options.json)
}

/// Finds the tool by the name that the server or haft has for it.
fn name_of(tools: &ToolRegistry, options: &CallOptions, running: &Running) -> Result<String> {
    let wanted = options.tool.as_str();
    let is_it = |origin: &Origin| matches!(origin, Origin::Mcp { tool, .. } if tool == wanted);
    let found = tools.iter().find(|spec| spec.name().as_str() == wanted || is_it(spec.origin()));
    if let Some(spec) = found {
        return Ok(spec.name().as_str().to_owned());
    }
    if let Some(reason) = running.servers.statuses().into_iter().find_map(|status| status.reason) {
        bail!("the server `{}` cannot be used: {reason}", options.server);
    }
    let names = tools.iter().filter_map(|spec| match spec.origin() {
        Origin::Mcp { tool, .. } => Some(tool.as_str()),
        _ => None,
    });
    let near = haft::listed(haft::nearest(wanted, names), "or");
    let server = &options.server;
    let instead = if near.is_empty() {
        format!("`haft mcp tools {server}` lists them")
    } else {
        format!("did you mean {near}?")
    };
    Err(UsageError(format!("the server `{server}` has no tool `{wanted}`; {instead}")).into())
}

/// Answers for the person who called: at once, since a server does not wait for a later answer.
struct Present {
    person: Person,
    approves_all: bool,
    terminal: Option<Terminal>,
}

#[async_trait]
impl Approver for Present {
    async fn approve(&self, call: &PendingCall) -> Approval {
        match &self.terminal {
            Some(terminal) if !self.approves_all => terminal.ask(call).await,
            None if !self.approves_all => Approval::Nobody,
            _ => self.person.approve(call).await,
        }
    }

    async fn answer(&self, question: &AskedQuestion) -> Response {
        self.person.answer(question).await
    }
}
