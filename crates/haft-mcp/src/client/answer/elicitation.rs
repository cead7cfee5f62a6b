use super::form::Form;
use super::{BAD_PARAMS, refused};
use crate::ServerName;
use crate::client::address::checked_address;
use crate::client::session::AskRefused;
use crate::shown::shown;
use haft_tools_core::{AskError, CallContext, Question};
use serde_json::{Value, json};

/// The most bytes of what a server writes to the person it asks.
const MOST_MESSAGE_BYTES: usize = 4 * 1024;

/// Puts a server's question to a person; without a call there is nobody to ask.
pub(super) async fn answer(
    server: &ServerName,
    params: &Value,
    call: Option<&CallContext>,
) -> Result<Value, AskRefused> {
    let message = params.get("message").and_then(Value::as_str).unwrap_or_default();
    let message = quoted(&shown(message, MOST_MESSAGE_BYTES));
    match params.get("mode").and_then(Value::as_str) {
        None | Some("form") => form(server, params, &message, call).await,
        Some("url") => address(server, params, &message, call).await,
        Some(_) => Err(refused(BAD_PARAMS, "a question is of the mode `form` or `url`")),
    }
}

async fn form(
    server: &ServerName,
    params: &Value,
    message: &str,
    call: Option<&CallContext>,
) -> Result<Value, AskRefused> {
    let bad = |reason: String| refused(BAD_PARAMS, format!("the form cannot be shown: {reason}"));
    let form = Form::read(params.get("requestedSchema").unwrap_or(&Value::Null)).map_err(bad)?;
    let mut text = format!("The MCP server `{server}` asks:\n{message}");
    if form.asks_for_secrets() {
        text.push_str(
            "\nIt asks for a secret, which a server must not do in this way: what you write goes to it.",
        );
    }
    let question = form.question(&text).map_err(bad)?;
    let Some(call) = call else { return Ok(action("decline")) };
    Ok(match call.ask(question).await {
        Ok(answer) => match form.filled(answer) {
            Ok(content) => json!({ "action": "accept", "content": content }),
            // A default of the server's does not fit its own form.
            Err(reason) => return Err(bad(reason)),
        },
        Err(none) => action(without(&none)),
    })
}

/// Asks whether a person goes to an address; it is shown whole, and opened by nobody but them.
async fn address(
    server: &ServerName,
    params: &Value,
    message: &str,
    call: Option<&CallContext>,
) -> Result<Value, AskRefused> {
    let written = params.get("url").and_then(Value::as_str).unwrap_or_default();
    let Some(url) = checked_address(written).ok() else {
        return Err(refused(
            BAD_PARAMS,
            "an address is `https`, or `http` on this machine, and names no user",
        ));
    };
    let Some(call) = call else { return Ok(action("decline")) };
    // As it is written here, other alphabets in the host's name are spelt out.
    let host = url.host_str().unwrap_or_default();
    let text = format!(
        "The MCP server `{server}` wants you to open an address of `{host}`:\n{url}\n{message}\nIt is not opened for you. \
         Open it yourself if you know the host; is it yes?"
    );
    Ok(match call.ask(Question::confirm(text)).await {
        Ok(Value::Bool(true)) => action("accept"),
        Ok(_) => action("decline"),
        Err(none) => action(without(&none)),
    })
}

/// Marks each line as the server's, so that none is taken for a line of haft's.
fn quoted(text: &str) -> String {
    text.lines().map(|line| format!("> {line}")).collect::<Vec<_>>().join("\n")
}

fn action(action: &str) -> Value {
    json!({ "action": action })
}

fn without(none: &AskError) -> &'static str {
    match none {
        AskError::Nobody | AskError::Declined => "decline",
        _ => "cancel",
    }
}
