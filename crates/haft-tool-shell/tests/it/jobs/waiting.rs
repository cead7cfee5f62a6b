//! Waiting for jobs.

use super::Desk;
use crate::harness::shown;
use expect_test::expect;
use serde_json::json;

#[tokio::test]
async fn is_waited_for_until_it_is_ready() {
    let desk = Desk::new();
    let script = "echo starting; echo 'listening on 80'; sleep 61";
    desk.check(
        "bash",
        json!({ "command": script, "background": true, "wait_for": "listening on \\d+" }),
        expect![[r#"
            ok
            starting
            listening on 80
            [the job `j1` is ready]
            [job `j1`: running; cursor 25]
        "#]],
    )
    .await;
    desk.check(
        "bash",
        json!({ "command": "echo no; exit 1", "background": true, "wait_for": "listening" }),
        expect![[r#"
            ok
            no
            [the job `j2` has ended before it was ready]
            [job `j2`: ended, exit code 1; cursor 3]
        "#]],
    )
    .await;
    // What is printed at the very end counts as well.
    let reply =
        desk.call("bash", json!({ "command": "printf last", "background": true, "wait_for": "last" })).await;
    assert!(
        reply.output.to_text().starts_with("last\n[the job `j3` is ready]\n"),
        "{}",
        reply.output.to_text()
    );
    desk.check(
        "bash",
        json!({ "command": "true", "background": true, "wait_for": "(" }),
        expect![[r#"
        error: invalid input
        `wait_for` is not a regular expression: unclosed group; correct it, or escape the character, as in `\(`
    "#]],
    )
    .await;
    desk.check(
        "bash",
        json!({ "command": "true", "wait_for": "x" }),
        expect![[r#"
        error: invalid input
        `wait_for` needs `background`; give both or neither
    "#]],
    )
    .await;
}

#[tokio::test]
async fn is_waited_for_until_it_serves() {
    let desk = Desk::new();
    let port = haft_testkit::free_port();
    let taken = std::net::TcpListener::bind(("127.0.0.1", port)).unwrap();
    let server = format!(
        "sleep 0.1; python3 -u -c 'import socket, time; s = socket.create_server((\"127.0.0.1\", {port})); time.sleep(61)'"
    );
    let start = json!({ "command": server, "background": true, "port": port });
    let reply = desk.call("bash", start.clone()).await;
    let refused = format!(
        "something serves on port {port} already, so that it cannot be told when the job is ready; end that, or use another port"
    );
    assert_eq!(
        (reply.status.to_string(), reply.output.to_text()),
        ("error: invalid input".to_owned(), refused)
    );
    drop(taken);
    let reply = desk.call("bash", start).await;
    expect![[r#"
        ok
        (no output)
        [the job `j1` is ready]
        [job `j1`: running; cursor 0]
    "#]]
    .assert_eq(&shown(&reply));
}

#[tokio::test]
async fn the_first_of_several_is_waited_for() {
    let desk = Desk::new();
    desk.start("touch ready; sleep 61").await;
    desk.start("touch ready; until [ -e go ]; do sleep 0.01; done; echo done; exit 4").await;
    desk.start("touch ready; exec sleep 61").await;
    desk.check(
        "job_wait",
        json!({ "until": "any", "timeout": 0 }),
        expect![[r#"
            ok
            [j1: running: touch ready; sleep 61]
            [j2: running: touch ready; until [ -e go ]; do sleep 0.01; done; echo done; exit 4]
            [j3: running: touch ready; exec sleep 61]
            [after 0 s `j1`, `j2` and `j3` still run; wait again, or go on without them]
        "#]],
    )
    .await;
    std::fs::write(desk.shell.tree.path().join("go"), "").unwrap();
    let reply = desk.call("job_wait", json!({ "until": "any" })).await;
    expect![[r#"
        ok
        [j1: running: touch ready; sleep 61]
        [j2: ended, exit code 4: touch ready; until [ -e go ]; do sleep 0.01; done; echo done; exit 4]
        done
        [j3: running: touch ready; exec sleep 61]
    "#]]
    .assert_eq(&shown(&reply));
    assert_eq!(reply.output.details["over"], json!(["j2"]));
    // One that is over already is not waited for.
    let reply = desk.call("job_wait", json!({ "until": "any", "jobs": ["j1", "j2"] })).await;
    assert_eq!(reply.output.details["over"], json!(["j2"]));
}
