use super::stage::{Stage, works};
use crate::Era;
use crate::client::session::DialError;
use expect_test::{Expect, expect};
use std::time::{Duration, Instant};

/// Opens a connection to a server with these arguments and expects how that went.
async fn check(stage: Stage, expected: Expect) {
    let opened = stage.dial().await;
    let said = match &opened {
        Ok(session) => {
            works(session).await;
            let server = session.server();
            let (name, version) = (&server.name, &server.version);
            let remembered = stage.dial.opening.memory.recall(&stage.dial.opening.key);
            format!("{:?} {} of {name} {version}, {remembered:?} is remembered", server.era, server.revision)
        }
        Err(error) => error.to_string(),
    };
    expected.assert_eq(&said);
    if let Ok(session) = opened {
        stage.close(&session).await;
    }
    assert!(!stage.is_inhabited());
}

#[tokio::test]
async fn finds_out_the_era() {
    check(Stage::new(&[]), expect!["Modern 2026-07-28 of hostile-server 1, Some(Modern) is remembered"])
        .await;
    let legacy = Stage::new(&["--legacy"]);
    check(legacy, expect!["Legacy 2025-11-25 of hostile-server 1, Some(Legacy) is remembered"]).await;
    let older = Stage::new(&["--legacy", "--revision", "2024-11-05"]);
    check(older, expect!["Legacy 2024-11-05 of hostile-server 1, Some(Legacy) is remembered"]).await;
}

#[tokio::test]
async fn tries_nothing_else_where_the_era_is_said() {
    let said = |era, arguments| Stage::new(arguments).era(era);
    check(said(Era::Legacy, &[]), expect!["Legacy 2025-11-25 of hostile-server 1, None is remembered"]).await;
    check(said(Era::Modern, &[]), expect!["Modern 2026-07-28 of hostile-server 1, None is remembered"]).await;
    let wrong = said(Era::Modern, &["--legacy"]);
    check(wrong, expect!["the server did not open the connection: the server answered with the error -32601: there is no such method"]).await;
    let wrong = said(Era::Legacy, &["--modern"]);
    check(wrong, expect!["the server did not open the connection: the server answered with the error -32022: this connection is of the other era"]).await;
}

#[tokio::test]
async fn tries_the_legacy_era_when_a_server_is_silent() {
    let probe = Duration::from_millis(200);
    let stage = Stage::new(&["--legacy", "--mute-discover"]).limits(|limits| limits.probe_timeout = probe);
    let start = Instant::now();
    check(stage, expect!["Legacy 2025-11-25 of hostile-server 1, Some(Legacy) is remembered"]).await;
    assert!(start.elapsed() >= probe);
}

#[tokio::test]
async fn waits_for_a_modern_server_that_starts_slowly_and_then_refuses_the_other_era() {
    let stage = Stage::new(&["--slow-start", "600"])
        .limits(|limits| limits.probe_timeout = Duration::from_millis(100));
    check(stage, expect!["Modern 2026-07-28 of hostile-server 1, Some(Modern) is remembered"]).await;
}

#[tokio::test]
async fn tries_the_era_that_is_remembered_first() {
    // A probe would take longer than the opening may.
    let legacy = Stage::new(&["--legacy", "--mute-discover"])
        .limits(|limits| limits.probe_timeout = Duration::from_mins(10));
    legacy.dial.opening.memory.remember(&legacy.dial.opening.key, Era::Legacy);
    check(legacy, expect!["Legacy 2025-11-25 of hostile-server 1, Some(Legacy) is remembered"]).await;
}

#[tokio::test]
async fn a_memory_that_is_wrong_is_put_right() {
    let modern = Stage::new(&["--modern"]);
    modern.dial.opening.memory.remember(&modern.dial.opening.key, Era::Legacy);
    check(modern, expect!["Modern 2026-07-28 of hostile-server 1, Some(Modern) is remembered"]).await;
    let legacy = Stage::new(&["--legacy"]);
    legacy.dial.opening.memory.remember(&legacy.dial.opening.key, Era::Modern);
    check(legacy, expect!["Legacy 2025-11-25 of hostile-server 1, Some(Legacy) is remembered"]).await;
}

#[tokio::test]
async fn refuses_a_revision_that_it_does_not_speak() {
    let future = Stage::new(&["--legacy", "--revision", "2099-01-01"]);
    check(future, expect![[r#"the server did not open the connection: it speaks the revision "2099-01-01", which haft does not"#]]).await;
}

#[tokio::test]
async fn gives_up_on_a_server_that_is_silent() {
    let stage = Stage::new(&["--silent", "--stderr", "thinking"]).limits(|limits| {
        limits.start_timeout = Duration::from_secs(5);
        limits.probe_timeout = Duration::from_millis(100);
    });
    check(stage, expect!["the server did not answer within 5 s: it was ended; it last wrote: thinking"])
        .await;
    let half = Stage::new(&["--legacy", "--never-initialized"])
        .limits(|limits| limits.start_timeout = Duration::from_secs(1));
    check(half, expect!["the server did not answer within 1 s: it was ended"]).await;
}

#[tokio::test]
async fn says_how_a_server_ended_that_never_answered() {
    check(
        Stage::new(&["--die", "3", "--stderr", "no such key"]),
        expect!["the server ended before it had answered: it exited with code 3; it last wrote: no such key"],
    )
    .await;
    let dies = Stage::script("echo first; echo last >&2; kill -9 $$");
    check(
        dies,
        expect!["the server ended before it had answered: it was ended by the signal 9; it last wrote: last"],
    )
    .await;
}

#[tokio::test]
async fn says_what_could_not_be_started() {
    let mut missing = Stage::new(&[]);
    missing.dial.program.command = "no-such-program-anywhere".into();
    check(missing, expect!["there is no program `no-such-program-anywhere` in `PATH`"]).await;
    let mut nowhere = Stage::new(&[]);
    nowhere.dial.program.command = "/no/such/program".into();
    check(nowhere, expect!["cannot start `/no/such/program`: No such file or directory (os error 2)"]).await;
    let mut variable = Stage::new(&[]);
    variable.dial.program.variables.insert("A=B".to_owned(), "secret".into());
    let error = variable.dial().await.err();
    assert!(matches!(&error, Some(DialError::Unreachable(text)) if !text.contains("secret")), "{error:?}");
}

#[tokio::test]
async fn a_dial_that_is_dropped_leaves_nothing() {
    let stage = Stage::new(&["--silent"]);
    let dialled = tokio::time::timeout(Duration::from_millis(300), stage.dial()).await;
    assert!(dialled.is_err());
    super::stage::until("all gone", || !stage.is_inhabited()).await;
}

#[tokio::test]
async fn gives_a_program_its_own_variables_and_the_hosts_choice() {
    let mut stage = Stage::script(r#"env > variables; exec "$0""#);
    stage.dial.program.variables.insert("API_TOKEN".to_owned(), "declared".into());
    let session = stage.open().await;
    let variables = std::fs::read_to_string(stage.path("variables")).unwrap();
    stage.close(&session).await;
    let mut names: Vec<_> = variables.lines().filter_map(|line| line.split('=').next()).collect();
    names.retain(|name| !["PWD", "OLDPWD", "SHLVL", "_"].contains(name));
    names.sort_unstable();
    expect!["API_TOKEN DEBIAN_FRONTEND EDITOR GIT_CONFIG_COUNT GIT_CONFIG_KEY_0 GIT_CONFIG_VALUE_0 GIT_EDITOR GIT_PAGER GIT_TERMINAL_PROMPT HAFT_CALL LANG MANPAGER NO_COLOR PAGER PATH SSH_ASKPASS_REQUIRE TERM VISUAL"].assert_eq(&names.join(" "));
    assert!(variables.contains("API_TOKEN=declared"));
}
