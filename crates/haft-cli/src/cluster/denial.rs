use haft::core::{Decision, ErrorKind, ReplyStatus, Schema, ToolOutput, ToolSpec};
use haft::tools_core::{CallJournal, DecidedBy, Limits, Mode};
use haft::{Access, Accesses, CallScope, Policy, ToolCall, ToolRegistry, ToolReply};

/// Answers a call that is denied before it is sent, whatever workers would say; its record is of this server, since no worker
/// hears of it.
///
/// What a call would touch cannot always be told here: its tool may be one that only workers have, and its arguments may fit
/// only there. It could be anything then, and is decided as such: what is denied by the name of the tool stays denied.
pub(super) fn denial(
    (policy, limits, mode): (&Policy, &Limits, Mode),
    tools: Option<&ToolRegistry>,
    scope: &CallScope,
    call: &ToolCall,
    journal: impl FnOnce() -> CallJournal,
) -> Option<ToolReply> {
    let declared = tools.map(|tools| tools.declare_within(limits, &call.name, call.input.clone(), scope));
    let (why_untold, tool, accesses) = match &declared {
        Some(Ok(declared)) => (None, declared.tool.clone(), declared.accesses.clone()),
        untold => {
            let why = match untold {
                Some(Err(error)) => error.to_string(),
                _ => "no tools are known here".to_owned(),
            };
            let tool = match tools.and_then(|tools| tools.get(&call.name)) {
                Some(tool) => tool.clone(),
                None => match call.name.parse() {
                    Ok(name) => ToolSpec::new(name, "", Schema::empty()),
                    Err(_) => return Some(recorded(unnamed(call), journal())),
                },
            };
            let anything = Accesses::from(Access::opaque("what it would do cannot be told here"));
            (Some(why), tool, anything)
        }
    };
    let verdict = policy.decide_in(scope, mode, &tool, &accesses);
    (verdict.decision() == Decision::Deny).then(|| {
        let name = &call.name;
        let text = match why_untold {
            None => format!(
                "`{name}` is not permitted to do this ({verdict}); do not try it again, find another way or say what you would need"
            ),
            Some(why) => format!(
                "`{name}` is not permitted to do what cannot be told before it runs ({verdict}); it could not be told since {why}; \
                 correct the call if that can be, and find another way otherwise"
            ),
        };
        let mut journal = journal();
        journal.resolved(&tool);
        journal.decided(|| DecidedBy::verdicts(&policy.explain_in(scope, mode, &tool, &accesses)));
        recorded(reply(call, ReplyStatus::Denied, text), journal)
    })
}

fn recorded(reply: ToolReply, mut journal: CallJournal) -> ToolReply {
    if let Err(error) = journal.ended(&reply) {
        crate::exit::note(&error);
    }
    reply
}

/// Answers a call of what no tool anywhere can be named.
fn unnamed(call: &ToolCall) -> ToolReply {
    let text = format!("there is no tool `{}`; call one of those that are listed", call.name);
    reply(call, ReplyStatus::Error(ErrorKind::UnknownTool), text)
}

/// Answers a call that is not made.
pub(super) fn reply(call: &ToolCall, status: ReplyStatus, text: impl Into<String>) -> ToolReply {
    ToolReply::new(call.id.clone(), call.name.clone(), status, ToolOutput::text(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use haft::tools_core::{Journal, MemoryJournal, Prepared};
    use haft::{CallContext, Rule, Tool, ToolError, tool_fn};
    use serde_json::{Value, json};
    use std::sync::Arc;

    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Named {
        #[expect(dead_code, reason = "only what it is called is of interest")]
        name: String,
    }

    /// Has a tool that declares nothing, and one that can prepare nothing.
    fn tools() -> ToolRegistry {
        struct Unprepared(ToolSpec);

        #[async_trait::async_trait]
        impl Tool for Unprepared {
            fn spec(&self) -> &ToolSpec {
                &self.0
            }

            fn prepare(&self, _: &Value, _: &CallScope) -> Result<Prepared, ToolError> {
                Err(ToolError::failed("its disk is away"))
            }
        }

        let harmless = tool_fn("lookup", "Looks up.", Accesses::none(), |_: Named, _: CallContext| async {
            Ok::<_, ToolError>("found")
        });
        let unprepared = Unprepared(ToolSpec::new("remote".parse().unwrap(), "Asks.", Schema::empty()));
        ToolRegistry::new().with(harmless.unwrap()).unwrap().with(unprepared).unwrap()
    }

    fn said(
        policy: &Policy,
        mode: Mode,
        tools: Option<&ToolRegistry>,
        name: &str,
        input: Value,
    ) -> Option<String> {
        let scope = CallScope::new("run-1".parse().unwrap());
        let call = ToolCall::new("c1".parse().unwrap(), name, input);
        let unkept = || Journal::default().call(&scope, &call);
        let reply = denial((policy, &Limits::default(), mode), tools, &scope, &call, unkept)?;
        Some(format!("{}: {}", reply.status, reply.output.to_text()))
    }

    #[test]
    fn a_tool_that_is_denied_by_name_is_denied_where_nobody_can_tell_what_it_would_do() {
        let (tools, names) = (tools(), ["lookup", "remote", "elsewhere"]);
        for name in names {
            let denied = Policy::new().deny(Rule::tools(name.parse().unwrap()));
            let others = Policy::new().deny(Rule::tools("others".parse().unwrap()));
            for tools in [Some(&tools), None] {
                for input in [json!({ "name": "x" }), json!({ "name": 7 }), json!([]), json!(null)] {
                    let told = said(&denied, Mode::Default, tools, name, input.clone());
                    assert!(told.is_some_and(|told| told.starts_with("denied: ")), "{name} {input}");
                    assert_eq!(said(&others, Mode::Default, tools, name, input), None, "{name}");
                }
            }
        }
    }

    #[test]
    fn a_mode_that_denies_what_cannot_be_told_says_why_it_could_not() {
        let (tools, policy) = (tools(), Policy::new());
        assert_eq!(said(&policy, Mode::Default, Some(&tools), "remote", json!({})), None);
        expect_test::expect!["denied: `remote` is not permitted to do what cannot be told before it runs (opaque (what it would do cannot be told here): deny, the mode plan lets nothing write, execute, connect or call); it could not be told since `remote` cannot prepare the call: its disk is away; correct the call if that can be, and find another way otherwise"]
            .assert_eq(&said(&policy, Mode::Plan, Some(&tools), "remote", json!({})).unwrap());
        expect_test::expect!["denied: `elsewhere` is not permitted to do what cannot be told before it runs (opaque (what it would do cannot be told here): deny, the mode deny_unknown denies what would have to be asked about); it could not be told since there is no tool `elsewhere`; correct the call if that can be, and find another way otherwise"]
            .assert_eq(&said(&policy, Mode::DenyUnknown, Some(&tools), "elsewhere", json!({})).unwrap());
    }

    #[test]
    fn what_a_large_call_would_touch_is_told_within_the_limits_that_hold() {
        let (tools, policy, scope) = (tools(), Policy::new(), CallScope::new("run-1".parse().unwrap()));
        let call = ToolCall::new("c1".parse().unwrap(), "lookup", json!({ "name": "x".repeat(1_000) }));
        let denied = |input_bytes| {
            let limits = Limits { input_bytes, ..Limits::default() };
            let unkept = || Journal::default().call(&scope, &call);
            denial((&policy, &limits, Mode::Plan), Some(&tools), &scope, &call, unkept).is_some()
        };
        assert_eq!((denied(2_000), denied(500)), (false, true));
    }

    #[test]
    fn what_is_denied_is_recorded_here_and_what_is_sent_is_not() {
        let kept = Arc::new(MemoryJournal::default());
        let journal = Journal::new(Arc::clone(&kept) as _);
        let (tools, scope) = (tools(), CallScope::new("run-1".parse().unwrap()));
        let policy = Policy::new().deny(Rule::tools("lookup".parse().unwrap()));
        for name in ["lookup", "remote", "no tool"] {
            let call = ToolCall::new("c1".parse().unwrap(), name, json!({ "name": "x" }));
            let record = || journal.call(&scope, &call);
            denial((&policy, &Limits::default(), Mode::Default), Some(&tools), &scope, &call, record);
        }
        let records: Vec<_> =
            kept.records().iter().map(|record| serde_json::to_value(record).unwrap()).collect();
        let shown: Vec<_> = records
            .iter()
            .map(|record| json!([record["called_as"], record["record"], record["decided"]["by"]]))
            .collect();
        assert_eq!(shown, [json!(["lookup", "ended", "rule"]), json!(["no tool", "ended", "nobody"])]);
    }

    #[test]
    fn what_can_name_no_tool_is_not_sent() {
        expect_test::expect![
            "error: unknown tool: there is no tool `no tool`; call one of those that are listed"
        ]
        .assert_eq(&said(&Policy::new(), Mode::Default, None, "no tool", json!({})).unwrap());
    }
}
