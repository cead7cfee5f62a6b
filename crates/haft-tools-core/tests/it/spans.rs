use crate::fixture::{Probe, call, permissive, replies, scope};
use expect_test::{Expect, expect};
use haft_core::{ToolError, ToolOutput};
use haft_tools_core::{Batch, CallContext, LocalExecutorBuilder, Rule, SpanContent, ToolExecutor as _};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fmt::{Debug, Write as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Keeps spans of this crate with their fields, and what is logged within which.
#[derive(Clone, Default)]
struct Spans(Arc<Kept>);

#[derive(Default)]
struct Kept {
    next: AtomicU64,
    spans: Mutex<Vec<(u64, String, Vec<String>)>>,
    /// The spans that were entered and not left, for each thread.
    within: Mutex<HashMap<std::thread::ThreadId, Vec<u64>>>,
    logs: Mutex<Vec<String>>,
}

/// Prints fields with their types.
struct Fields<'a>(&'a mut Vec<String>);

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.push(format!("{field} = {value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.push(format!("{field} = {value:?}"));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.0.push(format!("{field} = {value}i64"));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.0.push(format!("{field} = {value}u64"));
    }
}

impl Subscriber for Spans {
    fn enabled(&self, of: &Metadata<'_>) -> bool {
        of.target().starts_with("haft_tools_core") || of.target() == "of_the_tool"
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let id = self.0.next.fetch_add(1, Ordering::Relaxed) + 1;
        let mut fields = Vec::new();
        span.record(&mut Fields(&mut fields));
        self.0.spans.lock().unwrap().push((id, span.metadata().name().to_owned(), fields));
        Id::from_u64(id)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        let mut spans = self.0.spans.lock().unwrap();
        let (_, _, fields) = spans.iter_mut().find(|(id, ..)| *id == span.into_u64()).unwrap();
        values.record(&mut Fields(fields));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        if event.metadata().target() != "of_the_tool" {
            return;
        }
        let mut fields = Vec::new();
        event.record(&mut Fields(&mut fields));
        let within = self.0.within.lock().unwrap();
        let within = within.get(&std::thread::current().id()).and_then(|entered| entered.last());
        self.0.logs.lock().unwrap().push(format!("in span {within:?}: {}", fields.join(", ")));
    }

    fn enter(&self, span: &Id) {
        let mut within = self.0.within.lock().unwrap();
        within.entry(std::thread::current().id()).or_default().push(span.into_u64());
    }

    fn exit(&self, span: &Id) {
        let mut within = self.0.within.lock().unwrap();
        let left = within.entry(std::thread::current().id()).or_default().pop();
        assert_eq!(left, Some(span.into_u64()));
    }
}

impl Spans {
    fn printed(&self) -> String {
        let mut printed = String::new();
        for (id, name, fields) in self.0.spans.lock().unwrap().iter() {
            writeln!(printed, "{id} {name}: {}", fields.join(", ")).unwrap();
        }
        for log in self.0.logs.lock().unwrap().iter() {
            writeln!(printed, "{log}").unwrap();
        }
        printed
    }
}

/// Executes calls one after the other, and prints the spans.
fn check(builder: LocalExecutorBuilder, inputs: &[Value], expect: Expect) {
    let spans = Spans::default();
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    tracing::subscriber::with_default(spans.clone(), || {
        runtime.block_on(async {
            let executor = builder.build();
            for input in inputs {
                replies(&executor, vec![call("c1", "t", input.clone())]).await;
            }
        });
    });
    expect.assert_eq(&spans.printed());
}

/// Is a tool that ends as the input says.
fn ends() -> Probe {
    Probe::new("t").timeout(Duration::from_secs(1)).run(|input: Value, _| async move {
        if input["waits"] == true {
            tokio::task::yield_now().await;
        }
        match input["ends"].as_str().unwrap_or_default() {
            "large" => Ok(ToolOutput::text("x".repeat(40_000))),
            "not found" => Err(ToolError::not_found("it is not there")),
            "invalid" => Err(ToolError::invalid_input("it makes no sense")),
            "unavailable" => Err(ToolError::unavailable("it is busy")),
            "failed" => Err(ToolError::failed("it fails")),
            "denied" => Err(ToolError::denied("it may not")),
            "cancelled" => Err(ToolError::cancelled("it was stopped")),
            "timed out" => Err(ToolError::timed_out("it took too long")),
            "panics" => panic!("it breaks"),
            "hangs" => std::future::pending().await,
            _ => Ok("a secret".into()),
        }
    })
}

#[test]
fn a_call_has_one_span_without_what_it_is_about() {
    check(
        permissive([ends()]),
        &[json!({ "password": "hunter2" }), json!({ "waits": true }), json!({ "ends": "large" })],
        expect![[r#"
            1 execute_tool: gen_ai.operation.name = "execute_tool", gen_ai.tool.name = "t", gen_ai.tool.type = "function", gen_ai.tool.call.id = "c1", otel.name = "execute_tool t", haft.reply.bytes = 8i64, haft.reply.bytes_cut = 0i64
            2 execute_tool: gen_ai.operation.name = "execute_tool", gen_ai.tool.name = "t", gen_ai.tool.type = "function", gen_ai.tool.call.id = "c1", otel.name = "execute_tool t", haft.reply.bytes = 8i64, haft.reply.bytes_cut = 0i64
            3 execute_tool: gen_ai.operation.name = "execute_tool", gen_ai.tool.name = "t", gen_ai.tool.type = "function", gen_ai.tool.call.id = "c1", otel.name = "execute_tool t", haft.reply.bytes = 2113i64, haft.reply.bytes_cut = 38002i64
        "#]],
    );
}

#[test]
fn a_span_says_how_its_call_failed() {
    let ends_as = [
        "not found",
        "invalid",
        "unavailable",
        "failed",
        "denied",
        "cancelled",
        "timed out",
        "panics",
        "hangs",
    ];
    let spans = Spans::default();
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    tracing::subscriber::with_default(spans.clone(), || {
        let executor = permissive([ends()]).build();
        for ends in ends_as {
            runtime.block_on(replies(&executor, vec![call("c1", "t", json!({ "ends": ends }))]));
        }
    });
    let spans = spans.0.spans.lock().unwrap();
    let errors = spans.iter().flat_map(|(_, _, fields)| fields).filter(|field| field.starts_with("error"));
    let errors: Vec<&str> = errors.map(String::as_str).collect();
    expect![[r#"
        error.type = "not_found"
        error.type = "invalid_input"
        error.type = "unavailable"
        error.type = "failed"
        error.type = "denied"
        error.type = "cancelled"
        error.type = "timed_out"
        error.type = "panicked"
        error.type = "timed_out""#]]
    .assert_eq(&errors.join("\n"));
}

#[test]
fn arguments_and_results_are_recorded_where_the_host_wants_them() {
    let builder = permissive([ends()]).span_content(SpanContent::Recorded);
    check(
        builder,
        &[json!({ "password": "hunter2" }), json!({ "ends": "failed" })],
        expect![[r#"
            1 execute_tool: gen_ai.operation.name = "execute_tool", gen_ai.tool.name = "t", gen_ai.tool.type = "function", gen_ai.tool.call.id = "c1", otel.name = "execute_tool t", gen_ai.tool.call.arguments = "{\"password\":\"hunter2\"}", haft.reply.bytes = 8i64, haft.reply.bytes_cut = 0i64, gen_ai.tool.call.result = "a secret"
            2 execute_tool: gen_ai.operation.name = "execute_tool", gen_ai.tool.name = "t", gen_ai.tool.type = "function", gen_ai.tool.call.id = "c1", otel.name = "execute_tool t", gen_ai.tool.call.arguments = "{\"ends\":\"failed\"}", otel.status_code = "ERROR", error.type = "failed", haft.reply.bytes = 8i64, haft.reply.bytes_cut = 0i64, gen_ai.tool.call.result = "it fails"
        "#]],
    );
}

#[test]
fn a_span_holds_no_more_of_what_a_call_is_about_than_it_may() {
    let says = Probe::new("t").run(|_, _| async move { Ok("done".into()) });
    let spans = Spans::default();
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    tracing::subscriber::with_default(spans.clone(), || {
        let executor = permissive([says]).span_content(SpanContent::Recorded).build();
        runtime.block_on(replies(&executor, vec![call("c1", "t", json!({ "text": "ü".repeat(20_000) }))]));
    });
    let spans = spans.0.spans.lock().unwrap();
    let arguments = spans[0].2.iter().find(|field| field.starts_with("gen_ai.tool.call.arguments")).unwrap();
    let end = &arguments[arguments.rfind('…').unwrap()..];
    assert_eq!((arguments.len(), end), (32_822, "… (7244 bytes more)\""));
}

#[test]
fn what_the_tool_logs_is_within_its_span() {
    let logs = Probe::new("t").run(|input: Value, cx: CallContext| async move {
        tracing::info!(target: "of_the_tool", "at first");
        tokio::task::yield_now().await;
        tracing::info!(target: "of_the_tool", "in a task of its own");
        if input["calls"] == true {
            cx.call(call("inner", "t", json!({}))).await;
            tracing::info!(target: "of_the_tool", "after the other");
        }
        Ok("done".into())
    });
    check(
        permissive([logs.clone()]),
        &[json!({}), json!({})],
        expect![[r#"
            1 execute_tool: gen_ai.operation.name = "execute_tool", gen_ai.tool.name = "t", gen_ai.tool.type = "function", gen_ai.tool.call.id = "c1", otel.name = "execute_tool t", haft.reply.bytes = 4i64, haft.reply.bytes_cut = 0i64
            2 execute_tool: gen_ai.operation.name = "execute_tool", gen_ai.tool.name = "t", gen_ai.tool.type = "function", gen_ai.tool.call.id = "c1", otel.name = "execute_tool t", haft.reply.bytes = 4i64, haft.reply.bytes_cut = 0i64
            in span Some(1): message = at first
            in span Some(1): message = in a task of its own
            in span Some(2): message = at first
            in span Some(2): message = in a task of its own
        "#]],
    );
    check(
        permissive([logs.clone()]),
        &[json!({ "calls": true })],
        expect![[r#"
            1 execute_tool: gen_ai.operation.name = "execute_tool", gen_ai.tool.name = "t", gen_ai.tool.type = "function", gen_ai.tool.call.id = "c1", otel.name = "execute_tool t", haft.reply.bytes = 4i64, haft.reply.bytes_cut = 0i64
            2 execute_tool: gen_ai.operation.name = "execute_tool", gen_ai.tool.name = "t", gen_ai.tool.type = "function", gen_ai.tool.call.id = "inner", otel.name = "execute_tool t", haft.reply.bytes = 4i64, haft.reply.bytes_cut = 0i64
            in span Some(1): message = at first
            in span Some(1): message = in a task of its own
            in span Some(2): message = at first
            in span Some(2): message = in a task of its own
            in span Some(1): message = after the other
        "#]],
    );
    let narrow = haft_tools_core::Widths { read: 1, ..haft_tools_core::Widths::default() };
    let spans = Spans::default();
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    tracing::subscriber::with_default(spans.clone(), || {
        let executor = permissive([logs]).widths(&narrow).build();
        runtime.block_on(executor.execute_batch(Batch::new(
            scope(),
            vec![call("c1", "t", json!({})), call("c2", "t", json!({}))],
        )));
    });
    expect![[r#"
        in span Some(1): message = at first
        in span Some(1): message = in a task of its own
        in span Some(2): message = at first
        in span Some(2): message = in a task of its own"#]]
    .assert_eq(&spans.0.logs.lock().unwrap().join("\n"));
}

#[test]
fn each_attempt_has_a_span_of_its_own_and_what_does_not_run_has_none() {
    let tried = Mutex::new(0);
    let flaky = Probe::new("t").repeatable().run(move |_, _| {
        let mut tried = tried.lock().unwrap();
        *tried += 1;
        std::future::ready(if *tried == 1 {
            Err(ToolError::unavailable("it is busy"))
        } else {
            Ok("done".into())
        })
    });
    check(
        permissive([flaky]),
        &[json!({})],
        expect![[r#"
            1 execute_tool: gen_ai.operation.name = "execute_tool", gen_ai.tool.name = "t", gen_ai.tool.type = "function", gen_ai.tool.call.id = "c1", otel.name = "execute_tool t", otel.status_code = "ERROR", error.type = "unavailable"
            2 execute_tool: gen_ai.operation.name = "execute_tool", gen_ai.tool.name = "t", gen_ai.tool.type = "function", gen_ai.tool.call.id = "c1", otel.name = "execute_tool t", haft.reply.bytes = 4i64, haft.reply.bytes_cut = 0i64
        "#]],
    );
    let denied =
        permissive([ends()]).policy(haft_tools_core::Policy::new().deny(Rule::tools("t".parse().unwrap())));
    check(denied, &[json!({}), json!("{")], expect![[""]]);
}
