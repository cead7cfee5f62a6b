use crate::arguments::CallOptions;
use crate::attend::see_through;
use crate::bench::Bench;
use crate::exit::{Exit, UsageError};
use crate::groundwork::Groundwork;
use crate::interrupt::cancel_on_interrupt;
use crate::keeper::Keeper;
use crate::kept_state::KeptState;
use crate::offered::offer;
use crate::opened_workdir::OpenedWorkdir;
use crate::small_file::text_at_most;
use crate::task::{Task, What};
use crate::telemetry::Telling;
use crate::work::{OneCall, Work};
use crate::{bench, known_secrets, outcome, telemetry};
use anyhow::{Context as _, Result, bail};
use haft::tools_core::CallOutcome;
use haft::{Batch, LocalExecutor, ToolCall, ToolExecutor as _};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

/// Calls one tool.
pub(crate) async fn call(options: CallOptions) -> Result<Exit> {
    let input = read_input(&options.input)?;
    let opened = OpenedWorkdir::of(options.workdir.as_deref(), options.roots)?;
    let what = What::Call { tool: options.name.clone() };
    let mut task = Task::new(what, opened.workdir.root_path(), &options.policy)?;
    (task.approve_all, task.json, task.roots) = (options.yes, options.json, opened.roots.clone());
    task.quota = options.quota;
    (task.no_mcp, task.no_openapi) = (options.no_mcp, options.no_openapi);
    let scope = bench::scope()?;
    let state = KeptState::of(&opened.configuration.user).await?;
    let keeper = Keeper::new(state, scope.run().clone(), &task)?;
    let (executor, bench) = set_up(&task, &opened, options.workdir.as_deref(), &keeper.state).await?;
    let (token, _watch) = cancel_on_interrupt();
    let call = ToolCall::new("cli".parse()?, options.name, input);
    let batch = Batch::new(scope.clone(), vec![call]).cancelled_by(token.clone());
    let outcomes = executor.execute_batch(batch).await.into_outcomes();
    let outcome = outcomes.into_iter().next().expect("a batch of one call has one outcome");
    let mut work = Work::Call(Box::new(OneCall { executor, scope, outcome, token: token.clone() }));
    see_through(&mut work, &keeper, &bench, options.wait, &token).await?;
    conclude(&work, &keeper, &task)
}

/// Gathers what a call is made with.
pub(crate) async fn set_up(
    task: &Task,
    opened: &OpenedWorkdir,
    given: Option<&Path>,
    state: &Arc<KeptState>,
) -> Result<(LocalExecutor, Bench)> {
    // What cannot be read must not be found out when it is needed, in the middle of the work.
    state.existing()?;
    telemetry::begin(&opened.settings, Telling::AtEnd);
    let options = task.policy()?;
    let ground = Groundwork::lay(opened, given, &options, task.quota, |bash| bash)?;
    let (tools, servers) = offer(opened, ground.own.clone(), task.wanted()).await?;
    let bench = ground.bench(tools, servers, state)?;
    let redactor = known_secrets::redactor(&opened.configuration, &opened.settings);
    let executor = bench.executor(task.approve_all)?.redactor(redactor).build();
    Ok((executor, bench))
}

/// Prints what became of the call.
pub(crate) fn conclude(work: &Work, keeper: &Keeper, task: &Task) -> Result<Exit> {
    let Work::Call(call) = work else {
        let run = keeper.run();
        bail!("the run `{run}` is one of an agent, not a single call; go on with `haft resume {run}`")
    };
    let exit = outcome::print(&call.outcome, task.json)?;
    if matches!(call.outcome, CallOutcome::Pending(_)) && !task.json {
        outcome::how_to_go_on(keeper.run());
    }
    Ok(exit)
}

/// Reads the arguments from where the command line says they are.
pub(crate) fn read_input(source: &str) -> Result<Value> {
    let (text, place) = if source == "-" {
        let text = text_at_most(MOST_INPUT, std::io::stdin()).with_context(|| {
            UsageError("cannot read the arguments from standard input; write UTF-8".to_owned())
        })?;
        (text, "on standard input".to_owned())
    } else if let Some(path) = source.strip_prefix('@') {
        let text = std::fs::File::open(path).and_then(|file| text_at_most(MOST_INPUT, file));
        let text = text.with_context(|| {
            UsageError(format!("cannot read the arguments from `{path}`; name a text file after the `@`"))
        })?;
        (text, format!("in `{path}`"))
    } else {
        (Some(source.to_owned()), "on the command line".to_owned())
    };
    let text = text.ok_or_else(|| too_large(&place))?;
    let example = r#"as in '{"path": "README.md"}'"#;
    let input: Value = serde_json::from_str(&text).map_err(|error| {
        // The kinds of these errors are private, and only their texts tell what was expected.
        let next = if error.to_string().starts_with("key must be a string") {
            "write keys in double quotes"
        } else {
            "write one object"
        };
        let message = format!("the arguments {place} are not JSON; {next}, {example}");
        anyhow::Error::new(error).context(UsageError(message))
    })?;
    let kind = match &input {
        Value::Object(_) => return Ok(input),
        Value::Null => "`null`",
        Value::Bool(true) => "`true`",
        Value::Bool(false) => "`false`",
        Value::Number(_) => "a JSON number",
        Value::String(_) => "a JSON string",
        Value::Array(_) => "a JSON list",
    };
    bail!(UsageError(format!(
        "the arguments {place} are {kind} and not an object; write one object, {example}"
    )))
}

/// The most bytes of arguments that are read, whatever a configuration lets a call have.
const MOST_INPUT: u64 = 1 << 30;

/// Says that arguments have more bytes than are read.
fn too_large(place: &str) -> UsageError {
    UsageError(format!(
        "the arguments {place} have more than {MOST_INPUT} bytes; write less at once, as by several calls"
    ))
}

#[cfg(test)]
mod tests {
    use super::too_large;

    #[test]
    fn arguments_that_never_end_are_refused_with_what_to_do() {
        assert_eq!(
            too_large("in `/dev/zero`").to_string(),
            "the arguments in `/dev/zero` have more than 1073741824 bytes; write less at once, as by several calls"
        );
    }
}
