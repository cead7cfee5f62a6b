use super::arguments::ExplainOptions;
use super::decider::{Decided, Decider, Input};
use super::stream::stream;
use crate::exit::{Exit, UsageError};
use crate::opened_workdir::OpenedWorkdir;
use crate::own_tools;
use crate::paint::{ASKS, BAD, ERROR, GOOD, NAME, QUIET};
use crate::policy_setup::{Files, PolicySetup};
use crate::timeline::visible;
use anstyle::Style;
use anyhow::Result;
use haft::core::Decision;
use haft::tools_core::Explanation;

/// Says what would be decided about a call, or about each line of standard input.
pub(super) fn explain(options: &ExplainOptions) -> Result<Exit> {
    let OpenedWorkdir { workdir, configuration, .. } =
        OpenedWorkdir::of(options.workdir.as_deref(), Vec::new())?;
    let catalog = configuration.catalog()?;
    let tools = own_tools::registry_of_runs(&workdir, &catalog)?;
    let is_named = options.policy.policy.is_some() || options.policy.profile.is_some();
    let files = if is_named { Files::Named } else { Files::InForce };
    let setup = PolicySetup::new(&configuration, &workdir, options.workdir.as_deref());
    let policy = setup.load(&options.policy, files, &tools, &catalog)?;
    let judge = Decider::new(&configuration, &tools, &policy, &options.agent)?;
    let Some(call) = &options.call else {
        if !options.stdin {
            let message = "there is nothing to explain; name a shell command, a call as JSON or an access, or give `--stdin`";
            return Err(UsageError(message.to_owned()).into());
        }
        policy.print_notes();
        return stream(&judge, options.json);
    };
    let decided = judge.question(call)?;
    if options.json {
        outln!("{}", serde_json::to_string(&decided)?);
    } else {
        print(&decided);
        outln!("\n{}", policy.describe());
        policy.print_notes();
    }
    Ok(if decided.error.is_some() { Exit::Failed } else { Exit::Done })
}

/// Writes a decision in one line.
pub(super) fn brief(decided: &Decided<'_>) -> String {
    let input = input(&decided.input);
    match &decided.error {
        None => format!("{:5}  {input}", decided.decision.to_string()),
        Some(error) => format!("{:5}  {input}  ({})", decided.decision.to_string(), visible(error)),
    }
}

/// Prints the decision, and below it each access with what decided it.
fn print(decided: &Decided<'_>) {
    let style = paint(decided.decision);
    outln!("{style}{}{style:#}  {NAME}{}{NAME:#}", decided.decision, input(&decided.input));
    if let Some(error) = &decided.error {
        outln!("\n  {ERROR}it cannot be prepared{ERROR:#}, so it would not run:");
        error.lines().for_each(|line| outln!("  {}", visible(line)));
    }
    for Explanation { access, decision, reason, change, .. } in &decided.accesses {
        let style = paint(*decision);
        let access = access.as_deref().unwrap_or("the call, which declares no access");
        outln!("\n  {style}{:5}{style:#}  {}", decision.to_string(), visible(access));
        outln!("         {}", visible(reason));
        if let Some(change) = change {
            outln!("         {QUIET}to change it:{QUIET:#} {}", visible(change));
        }
    }
}

fn input(input: &Input<'_>) -> String {
    match input {
        Input::Text(text) => visible(text),
        Input::Call(call) => {
            visible(&format!("{} {}", call["tool"].as_str().unwrap_or_default(), call["input"]))
        }
    }
}

fn paint(decision: Decision) -> Style {
    match decision {
        Decision::Allow => GOOD,
        Decision::Ask => ASKS,
        Decision::Deny => BAD,
    }
}
