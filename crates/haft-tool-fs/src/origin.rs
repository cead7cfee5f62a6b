use haft_tools_core::CallContext;
use haft_workdir::ChangeOrigin;

/// Says for the journal of changes which call changes something.
pub(crate) fn origin_of(cx: &CallContext) -> ChangeOrigin {
    let scope = cx.scope();
    ChangeOrigin::new(scope.run().clone(), cx.call_id().clone())
        .parent_run(scope.parent_run().cloned())
        .turn(scope.turn())
        .tool(cx.tool_name())
}
