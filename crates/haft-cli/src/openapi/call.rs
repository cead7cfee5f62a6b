use super::arguments::{CallOptions, ChosenOptions};
use super::chosen;
use super::open::Opened;
use super::report::{pairs, place};
use crate::call::read_input;
use crate::config::narrowed;
use crate::exit::{Exit, UsageError};
use crate::interrupt::cancel_on_interrupt;
use crate::opened_workdir::OpenedWorkdir;
use crate::policy_setup::PolicySetup;
use crate::present::Present;
use crate::telemetry::Telling;
use crate::{bench, known_secrets, outcome, own_tools, telemetry};
use anyhow::Result;
use haft::tools_core::CollisionPolicy;
use haft::{Batch, LocalExecutor, Tool, ToolCall, ToolExecutor as _, ToolRegistry};
use std::sync::Arc;

/// Calls an operation.
pub(super) async fn call(options: CallOptions) -> Result<Exit> {
    let input = read_input(&options.input)?;
    let OpenedWorkdir { workdir, mut configuration, settings, .. } =
        OpenedWorkdir::of(options.workdir.as_deref(), Vec::new())?;
    let documents = configuration.documents?;
    let chosen = ChosenOptions { server: options.server.clone(), ..ChosenOptions::default() };
    let opened = chosen::open(&documents, &options.document, &chosen).await?;
    configuration.documents = Ok(documents);
    let tool = find(&opened, &options)?;
    let name = tool.spec().name().as_str().to_owned();
    // Rules speak of the built-in tools, too.
    let catalog = configuration.catalog()?;
    let own = own_tools::registry(&workdir, &catalog)?;
    let tools = own.merge(&ToolRegistry::of([tool])?, CollisionPolicy::KeepFirst)?;
    let tools = narrowed(tools, &settings.select);
    telemetry::begin(&settings, Telling::AtEnd);
    let setup = PolicySetup::new(&configuration, &workdir, options.workdir.as_deref());
    let policy = setup.in_force(&options.policy, &tools, &catalog)?;
    policy.print_notes();
    let present = Present::new(options.yes, &policy, &tools);
    let executor = policy.apply(LocalExecutor::builder(tools)).approver(present);
    let executor = executor.redactor(known_secrets::redactor(&configuration, &settings)).build();
    let (token, _watch) = cancel_on_interrupt();
    let call = ToolCall::new("cli".parse()?, name, input);
    let batch = Batch::new(bench::scope()?, vec![call]).cancelled_by(token);
    let outcomes = executor.execute_batch(batch).await.into_outcomes();
    let outcome = outcomes.into_iter().next().expect("a batch of one call has one outcome");
    outcome::print(&outcome, options.json)
}

/// Finds the tool by the id or the name of its operation, its own name, or the method and path.
fn find(opened: &Opened, options: &CallOptions) -> Result<Arc<dyn Tool>> {
    let wanted = options.operation.trim();
    let pairs: Vec<_> = pairs(opened).collect();
    for (tool, operation) in &pairs {
        let names = [operation.name().as_str(), tool.spec().name().as_str()];
        if operation.id() == Some(wanted)
            || names.contains(&wanted)
            || place(operation).eq_ignore_ascii_case(wanted)
        {
            return Ok(Arc::clone(tool));
        }
    }
    let document = &options.document;
    let near =
        haft::tools_core::nearest(wanted, pairs.iter().map(|(_, operation)| operation.name().as_str()));
    let near = haft::tools_core::listed(near, "or");
    let instead = if near.is_empty() {
        format!("`haft openapi list {document}` lists them")
    } else {
        format!("did you mean {near}?")
    };
    Err(UsageError(format!("the document `{document}` has no operation `{wanted}`; {instead}")).into())
}
