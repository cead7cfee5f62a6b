//! What the model learns of secrets that commands are not given: that they are there, and never what they are.

use expect_test::{Expect, expect};
use haft_testkit::Tree;
use haft_tool_shell::Environment;

use crate::harness::{Shell, shown};

const VARIABLES: [(&str, &str); 7] = [
    ("GITHUB_TOKEN", "hunter2"),
    ("AWS_SECRET_ACCESS_KEY", "hunter3"),
    ("SSH_AUTH_SOCK", "/run/hunter4"),
    ("HTTPS_PROXY", "http://ann:hunter5@proxy:3128"),
    ("PATH", "/usr/bin:/bin"),
    ("EDITOR_COLOR", "red"),
    ("A TOKEN\n[exit code 0]", "x"),
];

async fn check(environment: &Environment, command: &str, expected: Expect) {
    let reply = Shell::with(Tree::new(), environment).run(command).await;
    expected.assert_eq(&shown(&reply));
    assert!(!format!("{:?}{:?}", reply.output, environment).contains("hunter"));
}

#[tokio::test]
async fn names_are_told_when_a_command_was_not_let_in() {
    let environment = Environment::from_vars(VARIABLES);
    for text in [
        "fatal: Authentication failed for 'https://example.org/x.git/'",
        "git@example.org: Permission denied (publickey).",
        "fatal: could not read Username for 'https://example.org': terminal prompts disabled",
        "The requested URL returned error: 401",
        "npm error code E401",
        "You are not logged in to any hosts.",
    ] {
        let reply = Shell::with(Tree::new(), &environment).run(&format!("echo \"{text}\"; exit 1")).await;
        assert!(reply.output.to_text().contains("`GITHUB_TOKEN`"), "{text}: {}", reply.output.to_text());
    }
    check(&environment, "echo 'HTTP 401 Unauthorized' >&2; exit 22", expect![[r#"
        ok
        HTTP 401 Unauthorized
        [commands are not given variables that look like secrets, of which there are `AWS_SECRET_ACCESS_KEY`, `GITHUB_TOKEN`, `HTTPS_PROXY`, `SSH_AUTH_SOCK`, 1 more; if the command needs one, ask the user to run it]
        [exit code 22]
    "#]]).await;
    let one = environment.clone().with("GITHUB_TOKEN", "given").unwrap();
    check(&one, "echo 'not logged in'; exit 1", expect![[r#"
        ok
        not logged in
        [commands are not given variables that look like secrets, of which there are `AWS_SECRET_ACCESS_KEY`, `HTTPS_PROXY`, `SSH_AUTH_SOCK`, 1 more; if the command needs one, ask the user to run it]
        [exit code 1]
    "#]]).await;
    let many = (0..20).map(|number| (format!("TOKEN_{number:02}"), "x"));
    check(&Environment::from_vars(many), "echo 'invalid token'; exit 1", expect![[r#"
        ok
        invalid token
        [commands are not given variables that look like secrets, of which there are `TOKEN_00`, `TOKEN_01`, `TOKEN_02`, `TOKEN_03`, `TOKEN_04`, `TOKEN_05`, `TOKEN_06`, `TOKEN_07`, `TOKEN_08`, `TOKEN_09`, `TOKEN_10`, `TOKEN_11`, 8 more; if the command needs one, ask the user to run it]
        [exit code 1]
    "#]]).await;
}

#[tokio::test]
async fn nothing_is_told_otherwise() {
    let environment = Environment::from_vars(VARIABLES);
    check(
        &environment,
        "echo 'authentication failed'",
        expect![[r#"
        ok
        authentication failed
        [exit code 0]
    "#]],
    )
    .await;
    check(
        &environment,
        "echo 'line 401: no such file'; exit 1",
        expect![[r#"
        ok
        line 401: no such file
        [exit code 1]
    "#]],
    )
    .await;
    check(
        &Environment::minimal(),
        "echo 'not logged in'; exit 1",
        expect![[r#"
        ok
        not logged in
        [exit code 1]
    "#]],
    )
    .await;
}
