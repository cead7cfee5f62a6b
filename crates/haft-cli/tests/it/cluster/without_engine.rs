use super::worker::WorkerProcess;
use crate::schema::{Checks, OF_WORKERS};
use crate::{check, haft, shown};
use expect_test::{Expect, expect};
use haft_testkit::{Tree, free_port};
use serde_json::{Value, json};
use std::net::TcpListener;

/// Checks what is said where an address stands for `PORT`.
#[expect(clippy::needless_pass_by_value, reason = "snapshots read better without a reference")]
fn check_at(port: u16, arguments: &[&str], expected: Expect) {
    let tree = Tree::new();
    let address = port.to_string();
    let arguments: Vec<String> = arguments.iter().map(|part| part.replace("PORT", &address)).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let output = haft(tree.path(), &arguments).output().unwrap();
    expected.assert_eq(&shown(&output).replace(&address, "PORT"));
}

#[test]
fn a_worker_that_others_can_reach_needs_the_key_of_its_engine() {
    let tree = Tree::new();
    check(
        tree.path(),
        &["worker", "--listen", "0.0.0.0:0"],
        expect![[r#"
        stderr: error: others can reach `0.0.0.0:0` and have calls made; give the key of the engine that may with `--identity-key`, or listen at 127.0.0.1
        exit 2
    "#]],
    );
    let reached = [
        "worker",
        "--listen",
        "0.0.0.0:0",
        "--identity-key",
        "publickeyv1_x",
        "--admin",
        "http://127.0.0.1:1",
    ];
    check(
        tree.path(),
        &reached,
        expect![[r#"
        stderr: error: an engine cannot reach a worker at `0.0.0.0:0`; give the address at which it does with `--address`
        exit 2
    "#]],
    );
}

#[test]
fn a_port_that_is_taken_is_said() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    check_at(
        port,
        &["worker", "--listen", "127.0.0.1:PORT"],
        expect![[r#"
        stderr: error: cannot take calls at `127.0.0.1:PORT`; name another address with `--listen`
        stderr:   because: Address already in use (os error 98)
        exit 2
    "#]],
    );
}

#[test]
fn a_key_that_is_none_is_said_before_the_engine_is_told_of_anything() {
    let tree = Tree::new();
    for key in ["publickeyv1_no", ""] {
        let arguments =
            ["worker", "--listen", "127.0.0.1:0", "--identity-key", key, "--admin", "http://127.0.0.1:1"];
        let output = haft(tree.path(), &arguments).output().unwrap();
        let said = shown(&output);
        assert!(
            said.starts_with(
                "stderr: error: the key of `--identity-key` is none; give the `publickeyv1_…` that the engine says when it starts\n"
            ) && said.ends_with("exit 2\n"),
            "{said}"
        );
    }
}

#[test]
fn an_engine_that_does_not_answer_is_said_with_what_to_do() {
    let port = free_port();
    check_at(
        port,
        &["worker", "--listen", "127.0.0.1:0", "--admin", "http://127.0.0.1:PORT", "--admin-wait", "0"],
        expect![[r#"
            stderr: error: the engine cannot be told of this worker at `http://127.0.0.1:PORT`; start it, or name its admin interface with `--admin`
            stderr:   because: Restate does not answer at `http://127.0.0.1:PORT/`
            stderr:   because: cannot connect to `127.0.0.1`
            stderr:   because: error sending request
            stderr:   because: client error (Connect)
            stderr:   because: tcp connect error
            stderr:   because: Connection refused (os error 111)
            exit 2
        "#]],
    );
    check_at(
        port,
        &["serve", "--http", "127.0.0.1:0", "--executor", "restate", "--restate", "http://127.0.0.1:PORT"],
        expect![[r#"
            stderr: error: the engine does not answer at `http://127.0.0.1:PORT`; start it, or name the address of its ingress with `--restate`
            stderr:   because: cannot connect to `127.0.0.1`
            stderr:   because: error sending request
            stderr:   because: client error (Connect)
            stderr:   because: tcp connect error
            stderr:   because: Connection refused (os error 111)
            exit 2
        "#]],
    );
    check_at(
        port,
        &["approvals", "list", "--restate", "http://127.0.0.1:1", "--admin", "http://127.0.0.1:PORT"],
        expect![[r#"
            stderr: error: the engine at `http://127.0.0.1:1` cannot be asked what waits; name its admin interface with `--admin`
            stderr:   because: Restate does not answer at `http://127.0.0.1:PORT/`
            stderr:   because: cannot connect to `127.0.0.1`
            stderr:   because: error sending request
            stderr:   because: client error (Connect)
            stderr:   because: tcp connect error
            stderr:   because: Connection refused (os error 111)
            exit 2
        "#]],
    );
}

#[test]
fn what_is_none_of_its_kind_is_said_by_its_name() {
    let tree = Tree::new();
    let here = tree.path();
    check(
        here,
        &["worker", "--pool", "9 lives"],
        expect![[r#"
        stderr: error: `9 lives` does not name a pool of workers; write 1 to 64 letters, digits, dashes, dots and underscores, a letter first; name it with `--pool`
        exit 2
    "#]],
    );
    check(
        here,
        &["worker", "--tools", "no_such_tool"],
        expect![[r#"
        stderr: error: no tool is `no_such_tool`; see those that there are with `haft tools`
        exit 2
    "#]],
    );
    check(
        here,
        &["worker", "--admin", "localhost:9070"],
        expect![[r#"
        stderr: error: invalid value 'localhost:9070' for '--admin <URL>': it has to begin with `http://` or `https://`; write an address such as `http://127.0.0.1:8080`
        stderr: 
        stderr: For more information, try '--help'.
        exit 2
    "#]],
    );
    check(
        here,
        &["worker", "--address", "http://127.0.0.1:9080"],
        expect![[r#"
        stderr: error: the following required arguments were not provided:
        stderr:   --admin <URL>
        stderr: 
        stderr: Usage: haft worker --admin <URL> --address <URL>
        stderr: 
        stderr: For more information, try '--help'.
        exit 2
    "#]],
    );
    check(
        here,
        &["serve", "--executor", "restate"],
        expect![[r#"
            stderr: error: no engine is named; name it with `--restate`, or as `restate` in `[executor]` of `haft.toml`
            exit 2
        "#]],
    );
    check(
        here,
        &["serve", "--executor", "local", "--restate", "http://127.0.0.1:1"],
        expect![[r#"
            stderr: error: `--restate`, `--pool` and `--route` are for calls that an engine has made; give `--executor restate`, or leave them out
            exit 2
        "#]],
    );
    check(
        here,
        &["serve", "--restate", "http://127.0.0.1:1", "--route", "browse_*"],
        expect![[r#"
        stderr: error: invalid value 'browse_*' for '--route <TOOLS=POOL>': write tools and their pool, as in `browse_*=browsers`
        stderr: 
        stderr: For more information, try '--help'.
        exit 2
    "#]],
    );
    check(
        here,
        &["approvals", "list", "--restate", "http://a:b@127.0.0.1"],
        expect![[r#"
            stderr: error: invalid value 'http://a:b@127.0.0.1' for '--restate [<URL>]': a name or a password has no place in it; write an address such as `http://127.0.0.1:8080`
            stderr: 
            stderr: For more information, try '--help'.
            exit 2
        "#]],
    );
}

#[test]
fn a_worker_says_how_far_it_has_come_as_the_schema_says() {
    let tree = Tree::new();
    let mut worker = WorkerProcess::alone(tree.path(), &["--pool", "readers", "--tools", "read_file, grep"]);
    let ready = worker.ready.clone();
    let listens = ready["address"].clone();
    assert_eq!(
        ready,
        json!({
            "stage": "ready", "address": listens, "pool": "readers", "tools": 2, "signed": false, "registered": null,
        })
    );
    worker.tell("-INT");
    let ends =
        [worker.says(), worker.says()].map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    assert_eq!((worker.says(), worker.ends().code()), (None, Some(0)));
    let printed: Vec<Value> = [ready].into_iter().chain(ends).collect();
    Checks::of(OF_WORKERS).check("worker", &printed, &["ready", "draining", "ended"]);
}

#[test]
fn the_engine_of_a_file_is_asked_only_when_it_is_asked_for() {
    let port = free_port();
    let table =
        format!("[executor]\nrestate = \"http://127.0.0.1:{port}\"\nadmin = \"http://127.0.0.1:{port}\"\n");
    let tree = Tree::new().file("yours/haft/haft.toml", &table);
    let said = |arguments: &[&str]| {
        let mut command = haft(tree.path(), arguments);
        let output = command.env("XDG_CONFIG_HOME", tree.path().join("yours")).output().unwrap();
        shown(&output).replace(&port.to_string(), "PORT").lines().next().unwrap().to_owned()
    };
    assert_eq!(said(&["approvals", "list"]), "No call waits.");
    assert_eq!(
        said(&["approvals", "list", "--restate"]),
        "stderr: error: the engine at `http://127.0.0.1:PORT` cannot be asked what waits; name its admin interface with `--admin`"
    );
    assert_eq!(
        said(&["serve", "--http", "127.0.0.1:0", "--executor", "restate"]),
        "stderr: error: the engine does not answer at `http://127.0.0.1:PORT`; start it, or name the address of its \
         ingress with `--restate`"
    );
}

#[test]
fn a_workspace_that_is_not_trusted_names_no_engine() {
    let tree = Tree::new().file("haft.toml", "[executor]\nrestate = \"http://127.0.0.1:1\"\n");
    check(
        tree.path(),
        &["approvals", "list", "--restate"],
        expect![[r#"
        stderr: error: no engine is named; give its address behind `--restate`, or as `restate` in `[executor]` of `haft.toml`
        exit 2
    "#]],
    );
    check(
        tree.path(),
        &["serve", "--executor", "restate"],
        expect![[r#"
        stderr: error: no engine is named; name it with `--restate`, or as `restate` in `[executor]` of `haft.toml`
        exit 2
    "#]],
    );
}

#[test]
fn nothing_is_remembered_of_an_answer_that_an_engine_takes() {
    let tree = Tree::new();
    check(
        tree.path(),
        &["approvals", "approve", "x", "--for", "run", "--restate", "http://127.0.0.1:1"],
        expect![[r#"
            stderr: error: an engine remembers no answers: only the worker that goes on with the call would, and the others would ask again; approve it without `--for`, and write a rule into `allow` of `[permissions]` in the policy of all workers
            exit 2
        "#]],
    );
    check(
        tree.path(),
        &["approvals", "deny", "x", "--never", "--restate", "http://127.0.0.1:1"],
        expect![[r#"
            stderr: error: an engine remembers no answers: only the worker that goes on with the call would, and the others would ask again; deny it without `--never`, and write a rule into `deny` of `[permissions]` in the policy of all workers
            exit 2
        "#]],
    );
}
