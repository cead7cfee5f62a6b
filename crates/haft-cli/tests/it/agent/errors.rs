//! What is said where a model cannot be asked, or does not answer as it should.

use super::{agent, ended, reads, tree};
use crate::run::without_durations;
use crate::service::{Answer, Service, Turn, Wire};
use crate::{haft, shown};
use expect_test::{Expect, expect};

/// Asks with arguments alone, and without a key.
#[expect(clippy::needless_pass_by_value, reason = "snapshots read better without a reference")]
fn check(arguments: &[&str], expected: Expect) {
    let tree = tree();
    let mut command = haft(tree.path(), &[&["agent"], arguments].concat());
    let output = command.env_remove("ANTHROPIC_API_KEY").env_remove("OPENAI_API_KEY").output().unwrap();
    expected.assert_eq(&shown(&output));
}

/// Has a service answer so, and tells what is said on standard error.
#[expect(clippy::needless_pass_by_value, reason = "snapshots read better without a reference")]
fn check_answer(answer: Answer, expected: Expect) {
    // One that breaks off is asked for again, twice.
    let service = Service::answering([answer.clone(), answer.clone(), answer]);
    let output = agent(&tree(), &service, Wire::Anthropic, &["Go."]).output().unwrap();
    ended(&output, 1);
    expected.assert_eq(&String::from_utf8(output.stderr).unwrap());
}

#[test]
fn what_is_wrong_with_the_command_line_is_said_before_anything_is_asked() {
    check(
        &["--model", "anthropic/m", "Go."],
        expect![[r#"
        stderr: error: there is no key for `anthropic`; set ANTHROPIC_API_KEY, or name a service that needs none with `--base-url`
        exit 2
    "#]],
    );
    check(
        &["--model", "openai/m", "Go."],
        expect![[r#"
        stderr: error: there is no key for `openai`; set OPENAI_API_KEY, or name a service that needs none with `--base-url`
        exit 2
    "#]],
    );
    check(
        &["--model", "mistral/m", "Go."],
        expect![[r#"
            stderr: error: there is no provider `mistral`; write `anthropic/NAME` or `openai/NAME`, and where a service is that speaks like one of them with `--base-url` or in `[providers.mistral]` of your `haft.toml`
            exit 2
        "#]],
    );
    check(
        &["--model", "gpt-5", "Go."],
        expect![[r#"
            stderr: error: there is no provider `gpt-5`; write `anthropic/NAME` or `openai/NAME`, and where a service is that speaks like one of them with `--base-url` or in `[providers.gpt-5]` of your `haft.toml`
            exit 2
        "#]],
    );
    check(
        &["--model", "anthropic/m", "--wire", "chat", "Go."],
        expect![[r#"
        stderr: error: `--wire` says how an `openai` model is asked, and this one is `anthropic`; leave it out
        exit 2
    "#]],
    );
}

#[test]
fn what_is_wrong_with_where_a_model_is_asked_is_said_before_anything_is_asked() {
    check(
        &["--model", "openai/m", "--base-url", "api.example.org", "Go."],
        expect![[r#"
        stderr: error: cannot use the base URL: it is not an absolute URL; write one as in `https://api.example.org/v1`
        exit 2
    "#]],
    );
    check(
        &["--model", "openai/m", "--base-url", "http://api.example.org/v1", "Go."],
        expect![[r#"
        stderr: error: cannot use the base URL: what is said to the model, and the key, would go over `http` for all to read; write `https`, or ask a service on this machine
        exit 2
    "#]],
    );
    check(
        &["--model", "openai/m", "--base-url", "https://me:word@api.example.org/v1", "Go."],
        expect![[r#"
        stderr: error: cannot use the base URL: it holds a user or a password; give the key apart from it; write one as in `https://api.example.org/v1`
        exit 2
    "#]],
    );
    check(
        &["--model", "openai/m", "--base-url", "http://127.0.0.1:9/v1", "--header", "nonsense", "Go."],
        expect![[r#"
            stderr: error: a header is its name, a colon and its value; write `--header 'NAME: VALUE'`
            exit 2
        "#]],
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
        expect![[r#"
            stderr: error: the header `a` is made of the variable `NOT_SET_ANYWHERE`, which is not set; set it
            exit 2
        "#]],
    );
    check(
        &["--model", "openai/m", "--base-url", "http://127.0.0.1:9/v1", " "],
        expect![[r#"
        stderr: error: the prompt is empty; say what is to be done, as in `Fix the failing test.`
        exit 2
    "#]],
    );
    check(
        &["--model", "openai/m", "--max-cost", "1", "Go."],
        expect![[r#"
            stderr: error: a budget of money needs a price; give `--price`, as in `--price in=3,out=15`, or write `price` beside `max_cost` in `[agent]`
            exit 2
        "#]],
    );
    check(
        &["--model", "openai/m", "--max-time", "10", "Go."],
        expect![[r#"
        stderr: error: invalid value '10' for '--max-time <TIME>': write a number and its unit, as in `90s`, `10m` or `2h`
        stderr: 
        stderr: For more information, try '--help'.
        exit 2
    "#]],
    );
}

#[test]
fn what_a_service_refuses_is_said_with_the_next_step() {
    let key = super::KEY;
    let answer = |status, body: &str| Answer::new(status, "content-type: application/json\r\n", body);
    let error =
        |kind: &str, message: &str| format!(r#"{{"error":{{"type":"{kind}","message":"{message}"}}}}"#);
    check_answer(
        answer(401, &error("authentication_error", &format!("invalid x-api-key {key}"))),
        expect![[r#"
            the model's provider refused the request: the service said 401 authentication_error: invalid x-api-key [redacted]; check the API key and what it may be used for
        "#]],
    );
    check_answer(
        answer(404, &error("not_found_error", "model: test-model")),
        expect![[r#"
        the model's provider refused the request: the service said 404 not_found_error: model: test-model; check the name of the model and the base URL
    "#]],
    );
    let limited = Answer::new(429, "retry-after: 3600\r\n", error("rate_limit_error", "slow down"));
    check_answer(
        limited,
        expect![[r#"
        the model's provider limits the rate of requests; wait 3600 s, then ask again
    "#]],
    );
    let whole = Turn::text("A long answer.").events(Wire::Anthropic);
    let half = whole.find("message_delta").unwrap();
    check_answer(
        Answer::events(whole[..half].to_owned()),
        expect![[r#"
        the model's answer broke off before it was finished; ask again
    "#]],
    );
    check_answer(
        Answer::new(302, "location: https://elsewhere.example/\r\n", ""),
        expect![[r#"
        the model's provider refused the request: the service said 302; set the base URL to where the service is
    "#]],
    );
}

#[test]
fn what_was_done_before_a_failure_stays() {
    let (service, tree) = (Service::answering([Answer::turn(Wire::Chat, &reads("c1"))]), tree());
    let output = agent(&tree, &service, Wire::Chat, &["Read."]).output().unwrap();
    let shown = without_durations(&ended(&output, 1));
    expect![[r#"
        openai/test-model in the current directory

        > Read.

        turn 1
          ✓ read_file notes.md  (allowed, N ms)
              notes.md: 2 lines, 8 bytes
              1    one
              2    two

        turn 2

        failed after 1 turn and 1 call, N ms
        1000 tokens read, 10 written
        stderr: the model's provider refused the request: the service said 400: no answer is left; change the request or the settings of the model as it says
        stderr: say more with `haft resume RUN`.
        exit 1
    "#]].assert_eq(&shown);
}
