use crate::approver::CommandLine;
use crate::arguments::CallOptions;
use crate::exit::{Exit, UsageError};
use crate::interrupt::cancel_on_interrupt;
use crate::policy_setup::PolicySetup;
use crate::{outcome, setup};
use anyhow::{Context as _, Result};
use haft::{Batch, LocalExecutor, ToolCall, ToolExecutor as _};
use serde_json::Value;
use std::io::Read as _;

/// Calls one tool.
pub(crate) async fn call(options: CallOptions) -> Result<Exit> {
    let workdir = setup::workdir(options.workdir.as_deref())?;
    let input = read_input(&options.input)?;
    let registry = setup::registry(&workdir)?;
    let policy =
        PolicySetup::new(&workdir, options.workdir.as_deref(), &registry).in_force(&options.policy)?;
    policy.print_notes();
    let executor = policy
        .apply(LocalExecutor::builder(registry.clone()))?
        .approver(if options.yes { CommandLine::yes() } else { CommandLine::ask() })
        .build();
    let (token, _watch) = cancel_on_interrupt();
    let call = ToolCall::new("cli".parse()?, options.name, input);
    let batch = Batch::new(setup::scope()?, vec![call]).cancelled_by(token);
    let outcomes = executor.execute_batch(batch).await.into_outcomes();
    let outcome = outcomes.first().context("the executor gave no outcome")?;
    outcome::print(outcome, options.json)
}

/// Reads the arguments from where the command line says they are.
fn read_input(source: &str) -> Result<Value> {
    let (text, place) = if source == "-" {
        let mut text = String::new();
        std::io::stdin()
            .read_to_string(&mut text)
            .with_context(|| UsageError("cannot read the arguments from standard input".to_owned()))?;
        (text, "on standard input".to_owned())
    } else if let Some(path) = source.strip_prefix('@') {
        let text = std::fs::read_to_string(path).with_context(|| {
            UsageError(format!("cannot read the arguments from `{path}`; name a text file after the `@`"))
        })?;
        (text, format!("in `{path}`"))
    } else {
        (source.to_owned(), "on the command line".to_owned())
    };
    serde_json::from_str(&text).with_context(|| {
        UsageError(format!(
            "the arguments {place} are not JSON; write one object, as in '{{\"path\": \"README.md\"}}'"
        ))
    })
}
