use super::arguments::CallOptions;
use super::servers::Running;
use crate::call::read_input;
use crate::config::narrowed;
use crate::exit::{Exit, UsageError};
use crate::interrupt::cancel_on_interrupt;
use crate::opened_workdir::OpenedWorkdir;
use crate::policy_setup::PolicySetup;
use crate::present::Present;
use crate::telemetry::Telling;
use crate::{bench, known_secrets, outcome, own_tools, telemetry};
use anyhow::{Result, bail};
use haft::core::Origin;
use haft::tools_core::CollisionPolicy;
use haft::{Batch, LocalExecutor, ToolCall, ToolExecutor as _, ToolRegistry};

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
    let OpenedWorkdir { workdir, configuration, settings, .. } = &running.opened;
    let catalog = configuration.catalog()?;
    let tools = own_tools::registry(workdir, &catalog)?.merge(&listed, CollisionPolicy::KeepFirst)?;
    let tools = narrowed(tools, &settings.select);
    telemetry::begin(settings, Telling::AtEnd);
    let setup = PolicySetup::new(configuration, workdir, options.workdir.as_deref());
    let policy = setup.in_force(&options.policy, &tools, &catalog)?;
    policy.print_notes();
    let present = Present::new(options.yes, &policy, &tools);
    let executor = policy.apply(LocalExecutor::builder(tools.clone())).approver(present);
    let executor = executor.redactor(known_secrets::redactor(configuration, settings)).build();
    let (token, _watch) = cancel_on_interrupt();
    let call = ToolCall::new("cli".parse()?, name, input);
    let batch = Batch::new(bench::scope()?, vec![call]).cancelled_by(token);
    let outcomes = executor.execute_batch(batch).await.into_outcomes();
    let outcome = outcomes.into_iter().next().expect("a batch of one call has one outcome");
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
    let near = haft::tools_core::listed(haft::tools_core::nearest(wanted, names), "or");
    let server = &options.server;
    let instead = if near.is_empty() {
        format!("`haft mcp tools {server}` lists them")
    } else {
        format!("did you mean {near}?")
    };
    Err(UsageError(format!("the server `{server}` has no tool `{wanted}`; {instead}")).into())
}
