//! What is exported of runs and calls: whole span trees, as a collector on this machine has them.

mod collector;
mod refused;

use crate::agent::{KEY, agent};
use crate::service::{Service, Turn, Wire};
use crate::{haft, shown};
use collector::Collector;
use expect_test::expect;
use haft_testkit::Tree;
use serde_json::json;
use std::process::Command;

/// Prepares a command for a user whose configuration is in `config` of the tree, and who has no variables for telemetry.
fn as_user(tree: &Tree, arguments: &[&str]) -> Command {
    without_variables(haft(&tree.path().join("work"), arguments), tree)
}

fn without_variables(mut command: Command, tree: &Tree) -> Command {
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("OTEL_") {
            command.env_remove(name);
        }
    }
    command.env("XDG_CONFIG_HOME", tree.path().join("config"));
    command.env("XDG_STATE_HOME", tree.path().join("state"));
    command.env("HAFT_STATE", tree.path().join("state/haft.db"));
    command
}

fn tree(telemetry: &str) -> Tree {
    let tree = Tree::new().file("work/notes.md", "one\ntwo\n").directory("state");
    tree.file("config/haft/haft.toml", &format!("[telemetry]\n{telemetry}\n"))
}

/// A table that names a collector.
fn to(collector: &Collector) -> String {
    format!("endpoint = \"{}\"", collector.url())
}

const SESSION: &str = r#"
{"text":"I look.","calls":[{"id":"c1","name":"read_file","input":{"path":"notes.md"}},{"id":"c2","name":"read_file","input":{"path":"missing.md"}}],"usage":{"input":100,"output":20,"cache_read":60,"cache_write":5}}
{"calls":[{"id":"c3","name":"delegate","input":{"tasks":[{"agent":"reader","task":"Read the notes."}]}}],"usage":{"input":200,"output":10}}
{"run":"c3/0","calls":[{"id":"r1","name":"grep","input":{"pattern":"two"}}],"usage":{"input":50,"output":5}}
{"run":"c3/0","text":"It says two.","usage":{"input":60,"output":6}}
{"text":"All is read.","usage":{"input":300,"output":30}}
"#;

const READER: &str = "---\nname: reader\ndescription: Reads.\ntools: grep\n---\nYou read.\n";

#[test]
fn a_run_with_an_agent_below_it_is_one_tree_of_spans() {
    let collector = Collector::answering(200);
    let tree =
        tree(&to(&collector)).file("play/session.jsonl", SESSION).file("play/agents/reader.md", READER);
    let output = as_user(&tree, &["run", "../play", "--workdir", ".", "--yes"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", shown(&output));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    expect![[r#"
        * invoke_agent
          gen_ai.conversation.id = a run
          gen_ai.operation.name = "invoke_agent"
          gen_ai.request.model = "scripted"
          gen_ai.usage.input_tokens = 600
          gen_ai.usage.output_tokens = 60
            * chat scripted (client)
              gen_ai.operation.name = "chat"
              gen_ai.request.model = "scripted"
              gen_ai.usage.cache_creation.input_tokens = 5
              gen_ai.usage.cache_read.input_tokens = 60
              gen_ai.usage.input_tokens = 100
              gen_ai.usage.output_tokens = 20
              haft.turn = 1
            * execute_tool read_file
              gen_ai.operation.name = "execute_tool"
              gen_ai.tool.call.id = "c1"
              gen_ai.tool.name = "read_file"
              gen_ai.tool.type = "function"
              haft.reply.bytes = 38
              haft.reply.bytes_cut = 0
            * execute_tool read_file: error
              error.type = "not_found"
              gen_ai.operation.name = "execute_tool"
              gen_ai.tool.call.id = "c2"
              gen_ai.tool.name = "read_file"
              gen_ai.tool.type = "function"
              haft.reply.bytes = 98
              haft.reply.bytes_cut = 0
            * chat scripted (client)
              gen_ai.operation.name = "chat"
              gen_ai.request.model = "scripted"
              gen_ai.usage.input_tokens = 200
              gen_ai.usage.output_tokens = 10
              haft.turn = 2
            * execute_tool delegate
              gen_ai.operation.name = "execute_tool"
              gen_ai.tool.call.id = "c3"
              gen_ai.tool.name = "delegate"
              gen_ai.tool.type = "function"
              haft.reply.bytes = 12
              haft.reply.bytes_cut = 0
                * invoke_agent reader
                  gen_ai.agent.name = "reader"
                  gen_ai.conversation.id = a run
                  gen_ai.operation.name = "invoke_agent"
                  gen_ai.request.model = "scripted"
                  gen_ai.usage.input_tokens = 110
                  gen_ai.usage.output_tokens = 11
                  haft.run.parent = a run
                    * chat scripted (client)
                      gen_ai.operation.name = "chat"
                      gen_ai.request.model = "scripted"
                      gen_ai.usage.input_tokens = 50
                      gen_ai.usage.output_tokens = 5
                      haft.turn = 1
                    * execute_tool grep
                      gen_ai.operation.name = "execute_tool"
                      gen_ai.tool.call.id = "r1"
                      gen_ai.tool.name = "grep"
                      gen_ai.tool.type = "function"
                      haft.reply.bytes = 34
                      haft.reply.bytes_cut = 0
                    * chat scripted (client)
                      gen_ai.operation.name = "chat"
                      gen_ai.request.model = "scripted"
                      gen_ai.usage.input_tokens = 60
                      gen_ai.usage.output_tokens = 6
                      haft.turn = 2
            * chat scripted (client)
              gen_ai.operation.name = "chat"
              gen_ai.request.model = "scripted"
              gen_ai.usage.input_tokens = 300
              gen_ai.usage.output_tokens = 30
              haft.turn = 3
    "#]]
    .assert_eq(&collector.tree());
    expect![[r#"
        service.name = "haft"
        service.version = a version
        telemetry.sdk.language = "rust"
        telemetry.sdk.name = "opentelemetry"
        telemetry.sdk.version = a version
        scope haft
    "#]]
    .assert_eq(&collector.resources());
    let heads = collector.heads();
    assert!(heads.iter().all(|head| head.starts_with("POST /v1/traces HTTP/1.1\r\n")), "{heads:?}");
    assert!(heads.iter().all(|head| head.contains("content-type: application/x-protobuf\r\n")), "{heads:?}");
    // What the calls are about is nobody's but the user's.
    for private in ["notes.md", "missing.md", "two", "Read the notes", "I look", "All is read"] {
        assert!(!collector.holds(private), "{private}");
    }
}

#[test]
fn arguments_and_results_are_sent_where_that_is_said_and_never_a_secret() {
    let collector = Collector::answering(200);
    let tree = tree(&format!("{}\ncontent = true", to(&collector)));
    let tree = tree.file("work/env.txt", &format!("the key is {KEY}\n"));
    let turns = [
        Turn::call("c1", "read_file", json!({ "path": "env.txt" })),
        Turn::call("c2", "grep", json!({ "pattern": KEY })),
        Turn::text("It is there."),
    ];
    let service = Service::of(Wire::Chat, &turns);
    let command = agent(&tree, &service, Wire::Chat, &["--workdir", "work", "Where is the key?"]);
    let output = without_variables(command, &tree).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", shown(&output));
    expect![[r#"
        * invoke_agent
          gen_ai.conversation.id = a run
          gen_ai.operation.name = "invoke_agent"
          gen_ai.request.model = "test-model"
          gen_ai.usage.input_tokens = 3000
          gen_ai.usage.output_tokens = 30
            * chat test-model (client)
              gen_ai.operation.name = "chat"
              gen_ai.request.model = "test-model"
              gen_ai.usage.input_tokens = 1000
              gen_ai.usage.output_tokens = 10
              haft.turn = 1
            * execute_tool read_file
              gen_ai.operation.name = "execute_tool"
              gen_ai.tool.call.arguments = "{\"path\":\"env.txt\"}"
              gen_ai.tool.call.id = "c1"
              gen_ai.tool.call.result = "env.txt: 1 line, 40 bytes\n1\tthe key is [redacted]"
              gen_ai.tool.name = "read_file"
              gen_ai.tool.type = "function"
              haft.reply.bytes = 49
              haft.reply.bytes_cut = 0
            * chat test-model (client)
              gen_ai.operation.name = "chat"
              gen_ai.request.model = "test-model"
              gen_ai.usage.input_tokens = 1000
              gen_ai.usage.output_tokens = 10
              haft.turn = 2
            * execute_tool grep
              gen_ai.operation.name = "execute_tool"
              gen_ai.tool.call.arguments = "{\"pattern\":\"[redacted]\"}"
              gen_ai.tool.call.id = "c2"
              gen_ai.tool.call.result = "env.txt:1: the key is [redacted]\n\n1 match in 1 file"
              gen_ai.tool.name = "grep"
              gen_ai.tool.type = "function"
              haft.reply.bytes = 51
              haft.reply.bytes_cut = 0
            * chat test-model (client)
              gen_ai.operation.name = "chat"
              gen_ai.request.model = "test-model"
              gen_ai.usage.input_tokens = 1000
              gen_ai.usage.output_tokens = 10
              haft.turn = 3
    "#]]
    .assert_eq(&collector.tree());
    assert!(!collector.holds("Topsecret"));
}

#[test]
fn a_call_is_a_span_with_the_name_and_the_headers_that_the_environment_says() {
    let collector = Collector::answering(200);
    let tree = tree("");
    let mut command = as_user(&tree, &["call", "read_file", r#"{"path":"notes.md"}"#]);
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url()).env("OTEL_SERVICE_NAME", "ours");
    command.env("OTEL_EXPORTER_OTLP_HEADERS", "api-key=hunter%202,x-team=a");
    command.env("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test");
    expect![[r#"
        notes.md: 2 lines, 8 bytes
        1	one
        2	two
        exit 0
    "#]]
    .assert_eq(&shown(&command.output().unwrap()));
    expect![[r#"
        * execute_tool read_file
          gen_ai.operation.name = "execute_tool"
          gen_ai.tool.call.id = "cli"
          gen_ai.tool.name = "read_file"
          gen_ai.tool.type = "function"
          haft.reply.bytes = 38
          haft.reply.bytes_cut = 0
    "#]]
    .assert_eq(&collector.tree());
    expect![[r#"
        deployment.environment.name = "test"
        service.name = "ours"
        service.version = a version
        telemetry.sdk.language = "rust"
        telemetry.sdk.name = "opentelemetry"
        telemetry.sdk.version = a version
        scope haft
    "#]]
    .assert_eq(&collector.resources());
    let head = collector.heads().remove(0);
    assert!(head.contains("api-key: hunter 2\r\n") && head.contains("x-team: a\r\n"), "{head}");

    command.env("OTEL_SDK_DISABLED", "true");
    assert_eq!(command.output().unwrap().status.code(), Some(0));
    assert_eq!(collector.heads().len(), 1);
}

#[test]
fn a_workspace_says_where_spans_go_only_once_it_is_trusted() {
    let collector = Collector::answering(200);
    let tree = Tree::new().file("work/notes.md", "one\n").directory("state").directory("config");
    let tree = tree.file("work/haft.toml", &format!("[telemetry]\n{}\n", to(&collector)));
    let call = || as_user(&tree, &["call", "read_file", r#"{"path":"notes.md"}"#]).output().unwrap();
    assert_eq!(call().status.code(), Some(0));
    assert_eq!(collector.heads().len(), 0);
    let trusted = as_user(&tree, &["policy", "trust"]).output().unwrap();
    assert_eq!(trusted.status.code(), Some(0), "{}", shown(&trusted));
    assert!(shown(&trusted).contains("telemetry.endpoint"), "{}", shown(&trusted));
    assert_eq!(call().status.code(), Some(0));
    assert_eq!(collector.heads().len(), 1);
}
