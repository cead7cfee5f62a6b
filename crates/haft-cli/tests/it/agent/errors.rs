//! What is said where a model cannot be asked, or does not answer as it should.

use super::{agent, ended, keyed, reads, tree};
use crate::run::without_durations;
use crate::service::{Answer, Service, Turn, Wire};
use crate::{haft, shown};
use expect_test::{Expect, expect};

/// Asks with arguments alone, and without a key.
#[expect(clippy::needless_pass_by_value, reason = "snapshots read better without a reference")]
fn check(arguments: &[&str], expected: Expect) {
    let mut command = haft(tree().path(), &[&["agent"], arguments].concat());
    let output = command.env_remove("ANTHROPIC_API_KEY").env_remove("OPENAI_API_KEY").output().unwrap();
    expected.assert_eq(&shown(&output));
}

/// Has a service answer so, and tells what is said on standard error.
#[expect(clippy::needless_pass_by_value, reason = "snapshots read better without a reference")]
fn check_answer(answer: Answer, expected: Expect) {
    let service = Service::answering([answer]);
    let output = agent(&tree(), &service, Wire::Anthropic, &["Go."]).output().unwrap();
    ended(&output, 1);
    expected.assert_eq(&String::from_utf8(output.stderr).unwrap());
}

#[test]
fn what_is_wrong_with_the_command_line_is_said_before_anything_is_asked() {
    check(&["--model", "anthropic/m", "Go."], expect![""]);
    check(&["--model", "openai/m", "Go."], expect![""]);
    check(&["--model", "mistral/m", "Go."], expect![""]);
    check(&["--model", "gpt-5", "Go."], expect![""]);
    check(&["--model", "anthropic/m", "--wire", "chat", "Go."], expect![""]);
    check(&["--model", "openai/m", "--base-url", "api.example.org", "Go."], expect![""]);
    check(&["--model", "openai/m", "--base-url", "http://api.example.org/v1", "Go."], expect![""]);
    check(&["--model", "openai/m", "--base-url", "https://me:word@api.example.org/v1", "Go."], expect![""]);
    check(
        &["--model", "openai/m", "--base-url", "http://127.0.0.1:9/v1", "--header", "nonsense", "Go."],
        expect![""],
    );
    check(
        &[
            "--model",
            "openai/m",
            "--base-url",
            "http://127.0.0.1:9/v1",
            "--header",
            "a: $NOT_SET_ANYWHERE",
            "Go.",
        ],
        expect![""],
    );
    check(&["--model", "openai/m", "--base-url", "http://127.0.0.1:9/v1", " "], expect![""]);
    check(&["--model", "openai/m", "--max-cost", "1", "Go."], expect![""]);
    check(&["--model", "openai/m", "--max-time", "10", "Go."], expect![""]);
}

#[test]
fn what_a_service_refuses_is_said_with_the_next_step() {
    let key = super::KEY;
    let answer = |status, body: &str| Answer::new(status, "content-type: application/json\r\n", body);
    let error =
        |kind: &str, message: &str| format!(r#"{{"error":{{"type":"{kind}","message":"{message}"}}}}"#);
    check_answer(
        answer(401, &error("authentication_error", &format!("invalid x-api-key {key}"))),
        expect![""],
    );
    check_answer(answer(404, &error("not_found_error", "model: test-model")), expect![""]);
    let limited = Answer::new(429, "retry-after: 3600\r\n", error("rate_limit_error", "slow down"));
    check_answer(limited, expect![""]);
    let whole = Turn::text("A long answer.").events(Wire::Anthropic);
    let half = whole.find("message_delta").unwrap();
    check_answer(Answer::events(whole[..half].to_owned()), expect![""]);
    check_answer(Answer::new(302, "location: https://elsewhere.example/\r\n", ""), expect![""]);
}

#[test]
fn nobody_who_listens_is_no_service() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    drop(listener);
    let tree = tree();
    let arguments = ["agent", "--model", "openai/m", "--base-url", &url, "--max-time", "1ms", "Go."];
    let output = keyed(&tree, &arguments).output().unwrap();
    ended(&output, 1);
}

#[test]
fn what_was_done_before_a_failure_stays() {
    let (service, tree) = (Service::answering([Answer::turn(Wire::Chat, &reads("c1"))]), tree());
    let output = agent(&tree, &service, Wire::Chat, &["Read."]).output().unwrap();
    let shown = without_durations(&ended(&output, 1));
    expect![""].assert_eq(&shown);
}
