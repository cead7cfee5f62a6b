use super::asked::Asked;
use super::message;
use super::serving::Shared;
use super::tasks;
use crate::server::caller::Ability;
use crate::server::calls::refusal;
use crate::server::catalog::{Page, Pages};
use crate::server::content::CallAnswer;
use crate::server::line::Served;
use haft_core::{CallId, ErrorKind, ReplyStatus, ToolReply};
use rmcp::model::{
    CallToolResponse, CallToolResult, CompleteResult, CompletionInfo, ErrorData, PaginatedRequestParams,
};

/// Writes what a call is answered with.
pub(super) fn call_response(
    shared: &Shared,
    asked: &Asked,
    name: &str,
    served: Served,
) -> Result<CallToolResponse, ErrorData> {
    match served {
        Served::Reply(reply) => {
            let tools = shared.shelf.of(&asked.toolset);
            let has_schema = tools.listed(name).is_some_and(|tool| tool.output_schema.is_some());
            Ok(message::result(CallAnswer::of(*reply, has_schema, &asked.toolset.scope)).into())
        }
        Served::Asks { asks, state } => Ok(message::input_required(&asks, Some(state))?.into()),
        Served::Waits(pending) => {
            let id: CallId = pending.call.id.clone();
            let status = ReplyStatus::Error(ErrorKind::Unavailable);
            let mut output = refusal(&pending);
            let data = output.structured.take();
            let reply = ToolReply::new(id, name, status, output);
            let mut result = message::result(CallAnswer::of(reply, false, &asked.toolset.scope));
            result.structured_content = data;
            Ok(result.into())
        }
        Served::Needs(ability) => unable(asked, ability).map(Into::into),
        Served::Task(name) => {
            let task = shared.calls.tasks().get(&name, &asked.caller.principal);
            task.map(|task| tasks::created(&task).into()).ok_or_else(tasks::unknown)
        }
    }
}

/// Says that a client would have to be able to do more: to the older era as the result of a call.
fn unable(asked: &Asked, ability: Ability) -> Result<CallToolResult, ErrorData> {
    if asked.is_modern { Err(message::missing(ability)) } else { Ok(message::unable(ability)) }
}

/// Takes the page that a client asks for.
pub(super) fn page<T: Clone>(
    pages: &Pages<T>,
    request: Option<&PaginatedRequestParams>,
) -> Result<(Vec<T>, Option<String>), ErrorData> {
    let cursor = request.and_then(|request| request.cursor.as_deref());
    let found = pages.at(cursor).map_err(|stale| ErrorData::invalid_params(stale.to_string(), None));
    let Page { items, next } = found?;
    Ok((items.to_vec(), next))
}

/// Writes the values that an argument may be completed to, as many as the protocol allows.
pub(super) fn completed(mut values: Vec<String>) -> CompleteResult {
    let has_more = values.len() > CompletionInfo::MAX_VALUES;
    values.truncate(CompletionInfo::MAX_VALUES);
    let mut info = CompletionInfo::with_all_values(values).unwrap_or_default();
    info.has_more = Some(has_more);
    CompleteResult::new(info)
}
