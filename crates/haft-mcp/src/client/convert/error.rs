use crate::ServerName;
use crate::client::listing::Definition;
use crate::client::session::Fault;
use crate::shown::shown;
use haft_core::ToolError;
use serde_json::Value;

/// The most bytes of a server's message that a model reads.
const MOST_MESSAGE_BYTES: usize = 4 << 10;

/// The codes of JSON-RPC, and of MCP, that say more than that something went wrong.
const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;
const URL_ELICITATION_REQUIRED: i64 = -32042;

/// Makes an error of what kept a call from having a result.
pub(crate) fn fault_error(fault: Fault, tool: &Definition, server: &ServerName) -> ToolError {
    let name = tool.spec.name();
    let error = match &fault {
        Fault::Refused { code, message, data } => refused(*code, message, data.as_ref(), tool, server),
        Fault::Oversize { bytes, most } => ToolError::failed(format!(
            "what `{name}` answered has {bytes} bytes, more than the {most} that are taken; it was done, and to see what \
             it gives, ask for less at once"
        )),
        Fault::Ended(_) => ToolError::unavailable(format!(
            "the server `{server}` ended while it worked on `{name}`; see what has been done before you repeat it"
        )),
        Fault::Untaken(_) => ToolError::unavailable(format!(
            "the server `{server}` did not take the call of `{name}`; nothing was done, try again later or go on without it"
        )),
        Fault::Unauthorized { url } => login_error(url.as_deref(), tool, server),
        Fault::Broken(_) => ToolError::failed(format!(
            "what the server `{server}` answered to `{name}` cannot be used; see what has been done, and go on without it"
        )),
    };
    error.with_source(fault)
}

/// Says that a person has to log in before a call can be made.
pub(crate) fn login_error(url: Option<&str>, tool: &Definition, server: &ServerName) -> ToolError {
    let name = tool.spec.name();
    ToolError::unauthenticated(
        url.unwrap_or_default(),
        format!(
            "the server `{server}` of `{name}` needs a login first; nothing was done, ask the user to log in, then call it \
             again"
        ),
    )
}

/// As [`fault_error`], of a call that the server worked on already.
pub(crate) fn begun_error(fault: Fault, tool: &Definition, server: &ServerName) -> ToolError {
    let name = tool.spec.name();
    let told = match &fault {
        Fault::Refused { code, message, .. } if *code != URL_ELICITATION_REQUIRED => format!(
            "the server `{server}` worked on `{name}` and then refused it: {} (code {code}); see what has been done before \
             you repeat it",
            shown(message, MOST_MESSAGE_BYTES)
        ),
        Fault::Unauthorized { .. } => format!(
            "the server `{server}` wants a login before it goes on with `{name}`; ask the user to log in, and see what has \
             been done before you repeat it"
        ),
        _ => return fault_error(fault, tool, server),
    };
    ToolError::failed(told).with_source(fault)
}

fn refused(
    code: i64,
    message: &str,
    data: Option<&Value>,
    tool: &Definition,
    server: &ServerName,
) -> ToolError {
    let (name, said) = (tool.spec.name(), shown(message, MOST_MESSAGE_BYTES));
    match code {
        INVALID_PARAMS => ToolError::invalid_input(format!(
            "the server does not take these arguments of `{name}`: {said}; correct them and call the tool again"
        )),
        METHOD_NOT_FOUND => ToolError::not_found(format!(
            "the server `{server}` does not know `{name}`: {said}; nothing was done, go on without it"
        )),
        URL_ELICITATION_REQUIRED => {
            let url = data.and_then(|data| data.pointer("/elicitations/0/url")).and_then(Value::as_str);
            ToolError::unauthenticated(
                url.unwrap_or_default(),
                format!(
                    "the server `{server}` wants the user to go to an address before `{name}` can be called: {said}"
                ),
            )
        }
        _ => ToolError::failed(format!(
            "the server refused `{name}`: {said} (code {code}); see what has been done, and go on without it"
        )),
    }
}

/// Reads an error of JSON-RPC that stands in a result.
pub(crate) fn rpc_error(mut error: Value) -> Fault {
    let message = match error.get_mut("message").map(Value::take) {
        Some(Value::String(message)) => message,
        _ => "it does not say why".to_owned(),
    };
    let code = error.get("code").and_then(Value::as_i64).unwrap_or_default();
    Fault::Refused { code, message, data: error.get_mut("data").map(Value::take) }
}
