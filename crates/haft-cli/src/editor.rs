use crate::exit::UsageError;
use crate::own_place;
use crate::timeline::visible;
use anyhow::{Context as _, Result};
use haft::ToolRegistry;
use haft::tools_core::{Limits, PendingCall};
use serde_json::Value;
use std::env;
use std::io::Write as _;
use tokio::process::Command;

/// Has a person change the input of a call in their editor; gives `None` if they left it as it was.
///
/// The editor is what `VISUAL` or `EDITOR` says, and `vi` otherwise.
pub(crate) async fn edit(input: &Value) -> Result<Option<Value>> {
    let editor = ["VISUAL", "EDITOR"]
        .into_iter()
        .find_map(|name| env::var(name).ok().filter(|it| !it.trim().is_empty()));
    let editor = editor.unwrap_or_else(|| "vi".to_owned());
    let mut file = tempfile::Builder::new().prefix("haft-input-").suffix(".json").tempfile()?;
    writeln!(file, "{}", serde_json::to_string_pretty(input)?)?;
    file.flush()?;
    // The words of the variable are a command with options, as other programs take it.
    let mut words = editor.split_whitespace();
    let status = Command::new(words.next().unwrap_or("vi")).args(words).arg(file.path()).status().await;
    let status =
        status.with_context(|| UsageError(format!("cannot start the editor `{editor}`; set EDITOR")))?;
    anyhow::ensure!(status.success(), "the editor `{editor}` failed ({status}), so nothing is changed");
    let text = std::fs::read_to_string(file.path()).context("cannot read what was edited")?;
    let edited: Value = serde_json::from_str(&text)
        .with_context(|| UsageError("what was edited is not JSON; nothing is changed".to_owned()))?;
    Ok(Some(edited).filter(|edited| edited != input))
}

/// Says why a call cannot be made with an input, as it would turn out when the call goes on within these limits; gives `None` if
/// it can.
///
/// Tools that are not at hand here, such as those by which a run delegates, are asked when the call goes on.
pub(crate) fn refusal(
    tools: &ToolRegistry,
    limits: &Limits,
    pending: &PendingCall,
    input: &Value,
) -> Option<String> {
    let in_own_place = own_place::tools(pending);
    let tools = in_own_place.as_ref().unwrap_or(tools);
    tools.get(&pending.call.name)?;
    let declared = tools.declare_within(limits, &pending.call.name, input.clone(), &pending.scope());
    declared.err().map(|error| error.to_string())
}

/// Prints on standard error why a call cannot be made with an input.
pub(crate) fn print_refusal(refusal: &str) {
    refusal.lines().for_each(|line| errln!("  {}", visible(line)));
}
