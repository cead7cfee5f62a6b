//! A collector on this machine, which keeps what it is sent.

use crate::service::hear_bytes;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue, any_value::Value};
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use prost::Message as _;
use std::fmt::Write as _;
use std::io::Write as _;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

#[derive(Default)]
struct Kept {
    heads: Vec<String>,
    bodies: Vec<Vec<u8>>,
}

pub(super) struct Collector {
    address: SocketAddr,
    kept: Arc<Mutex<Kept>>,
}

impl Collector {
    /// Answers with a status; with 0 it takes requests, and never answers.
    pub(super) fn answering(status: u16) -> Self {
        Self::saying(status, Vec::new())
    }

    pub(super) fn saying(status: u16, body: Vec<u8>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, kept) = (listener.local_addr().unwrap(), Arc::<Mutex<Kept>>::default());
        let to_keep = Arc::clone(&kept);
        // It ends with the process of the tests.
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (kept, body) = (Arc::clone(&to_keep), body.clone());
                thread::spawn(move || serve(stream.unwrap(), status, &body, &kept));
            }
        });
        Self { address, kept }
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(super) fn heads(&self) -> Vec<String> {
        self.kept.lock().unwrap().heads.clone()
    }

    /// Tells whether a text is anywhere in what was sent.
    pub(super) fn holds(&self, text: &str) -> bool {
        let kept = self.kept.lock().unwrap();
        kept.bodies.iter().any(|body| body.windows(text.len()).any(|part| part == text.as_bytes()))
    }

    fn requests(&self) -> Vec<ExportTraceServiceRequest> {
        let kept = self.kept.lock().unwrap();
        kept.bodies.iter().map(|body| ExportTraceServiceRequest::decode(&**body).unwrap()).collect()
    }

    pub(super) fn spans(&self) -> Vec<Span> {
        let resources = self.requests().into_iter().flat_map(|request| request.resource_spans);
        let mut spans: Vec<Span> =
            resources.flat_map(|spans| spans.scope_spans).flat_map(|spans| spans.spans).collect();
        spans.sort_by_key(|span| span.start_time_unix_nano);
        spans
    }

    /// Prints whose spans there are, each once.
    pub(super) fn resources(&self) -> String {
        let mut printed = Vec::new();
        for spans in self.requests().into_iter().flat_map(|request| request.resource_spans) {
            let mut lines = attributes(&spans.resource.unwrap().attributes, "");
            lines.extend(
                spans.scope_spans.iter().map(|spans| format!("scope {}", spans.scope.as_ref().unwrap().name)),
            );
            let lines = lines.join("\n") + "\n";
            if !printed.contains(&lines) {
                printed.push(lines);
            }
        }
        printed.concat()
    }

    /// Prints all spans as trees, those that began first ahead, and checks what each of them must be.
    pub(super) fn tree(&self) -> String {
        let spans = self.spans();
        let mut printed = String::new();
        for root in spans.iter().filter(|span| span.parent_span_id.is_empty()) {
            print(root, &spans, 0, &mut printed);
        }
        let shown = printed.lines().filter(|line| line.trim_start().starts_with('*')).count();
        assert_eq!(shown, spans.len(), "a span has a parent that was not sent: {spans:?}");
        printed
    }
}

fn print(span: &Span, all: &[Span], depth: usize, printed: &mut String) {
    assert!(
        span.start_time_unix_nano > 0 && span.end_time_unix_nano >= span.start_time_unix_nano,
        "{span:?}"
    );
    assert!(span.events.is_empty() && span.links.is_empty(), "{span:?}");
    let indent = "    ".repeat(depth);
    let kind = match span.kind() {
        SpanKind::Client => " (client)",
        SpanKind::Internal => "",
        other => panic!("{other:?}"),
    };
    let status = span.status.as_ref().map_or(0, |status| status.code);
    let status = ["", ": ok", ": error"][usize::try_from(status).unwrap()];
    writeln!(printed, "{indent}* {}{kind}{status}", span.name).unwrap();
    for line in attributes(&span.attributes, &indent) {
        writeln!(printed, "  {line}").unwrap();
    }
    for child in all.iter().filter(|child| child.parent_span_id == span.span_id) {
        assert_eq!(child.trace_id, span.trace_id);
        // What is within something ends before it.
        assert!(child.end_time_unix_nano <= span.end_time_unix_nano, "{child:?} {span:?}");
        print(child, all, depth + 1, printed);
    }
}

fn attributes(attributes: &[KeyValue], indent: &str) -> Vec<String> {
    let mut lines: Vec<String> = attributes
        .iter()
        .map(|KeyValue { key, value, .. }| {
            let value = match key.as_str() {
                "gen_ai.conversation.id" | "haft.run.parent" => "a run".to_owned(),
                "service.version" | "telemetry.sdk.version" => "a version".to_owned(),
                _ => shown(value.as_ref()),
            };
            format!("{indent}{key} = {value}")
        })
        .collect();
    lines.sort();
    lines
}

fn shown(value: Option<&AnyValue>) -> String {
    match value.and_then(|value| value.value.as_ref()) {
        Some(Value::StringValue(text)) => format!("{text:?}"),
        Some(Value::IntValue(number)) => number.to_string(),
        other => panic!("{other:?}"),
    }
}

fn serve(mut stream: TcpStream, status: u16, body: &[u8], kept: &Mutex<Kept>) {
    while let Some((head, sent)) = hear_bytes(&mut stream) {
        let mut kept = kept.lock().unwrap();
        kept.heads.push(head);
        kept.bodies.push(sent);
        drop(kept);
        if status == 0 {
            continue;
        }
        let head = format!("HTTP/1.1 {status} Said\r\ncontent-length: {}\r\n\r\n", body.len());
        if stream.write_all(&[head.as_bytes(), body].concat()).is_err() {
            return;
        }
    }
}
