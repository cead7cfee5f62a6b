mod telling;

use super::asked;
use super::client::{self, Front};
use super::engine::{Engine, PATIENCE};
use super::nginx::{Nginx, Ports};
use super::worker::WorkerProcess;
use crate::{haft, shown};
use expect_test::expect;
use haft::mcp::Era;
use haft_testkit::Tree;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

/// Waits until something holds.
fn until(what: &str, holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < PATIENCE, "it never holds that {what}");
        thread::sleep(Duration::from_millis(10));
    }
}

/// A call that is asked about, since nobody has allowed to write.
fn write(path: &str, content: &str) -> Value {
    json!({ "path": path, "content": content })
}

#[test]
#[ignore = "needs the server that `cargo xtask durable` installs"]
fn a_call_of_a_client_waits_in_the_engine_and_is_made_on_the_worker_once_it_is_approved() {
    let (machine, front) = (Tree::new().file("note.txt", "of the worker\n"), Tree::new());
    let engine = Engine::start();
    let worker = WorkerProcess::start(machine.path(), &engine, &[]);
    assert_eq!((&worker.ready["pool"], &worker.ready["signed"]), (&json!("tools"), &json!(false)));
    assert_eq!(worker.ready["registered"], worker.ready["address"]);
    let client = Front::start(front.path(), &engine, &[]);

    let read = client.says("read_file", &json!({ "path": "note.txt" }));
    assert!(read.contains("of the worker"), "{read}");

    let call = write("made.txt", "by the worker\n");
    let id = client.waits("write_file", &call);
    assert!(id.starts_with("tools/mcp-") && id.ends_with(":0"), "{id}");
    // The client that repeats it goes on waiting for the same.
    assert_eq!(client.waits("write_file", &call), id);
    let run = id.split('/').nth(1).unwrap();
    let plain = |text: String| {
        let text = text.replace(&id, "ID").replace(run, "RUN");
        // How long ago it was depends on how busy the machine is.
        (0..120).rev().fold(text, |text, seconds| text.replace(&format!("{seconds} s ago"), "now"))
    };
    expect![[r#"
        ID  write_file  write file:made.txt  mcp:anyone, RUN, now
        exit 0
    "#]]
    .assert_eq(&plain(client.approvals(&["list"])));
    expect![[r#"

        ? write_file wants to:
            write file:made.txt
              --- /dev/null
              +++ b/made.txt
              @@ -0,0 +1 @@
              +by the worker

          write file:made.txt
            asked about because: no rule speaks of it
            the rule for the policy of the workers: write(./made.txt)

          id ID  run RUN  asked now
          by mcp:anyone
          expires in 6 days
        exit 0
    "#]]
    .assert_eq(&plain(client.approvals(&["show", &id])));
    expect![[r#"
        approved `write_file`; the call goes on
        exit 0
    "#]]
    .assert_eq(&plain(client.approvals(&["approve", &id])));

    // It is made whether its client repeats it or not.
    until("the file is written", || machine.path().join("made.txt").exists());
    until("nothing waits", || client.approvals(&["list"]) == "No call waits.\nexit 0\n");
    let done = client.says("write_file", &call);
    assert!(done.contains("made.txt"), "{done}");
    assert_eq!(machine.read("made.txt"), "by the worker\n");
    assert!(!front.path().join("made.txt").exists());

    // A second answer is refused with the words that are said of a call of this machine, but for where those that wait are.
    let place = format!(" --restate {} --admin {}", engine.ingress, engine.admin);
    let again = client.approvals(&["approve", &id]).replace(&place, "");
    let here = shown(&haft(front.path(), &["approvals", "approve", &id]).output().unwrap());
    assert_eq!(again, here);
    expect![[r#"
        stderr: error: no call `ID` waits: it was gone on with before, or it never asked; see those that do with `haft approvals list`
        exit 2
    "#]].assert_eq(&plain(again));

    // What is called anew is asked about anew, and denied with a reason that the client reads.
    let next = client.waits("write_file", &call);
    assert_ne!(next, id);
    let denied = client.approvals(&["deny", &next, "--reason", "not today"]);
    assert_eq!(denied, "denied `write_file`; whoever made the call is told so\nexit 0\n");
    let told = client.says("write_file", &call);
    assert!(told.contains("not today"), "{told}");
}

/// Does the same several times at once.
fn at_once<T: Send>(times: usize, made: impl Fn() -> T + Sync) -> Vec<T> {
    let barrier = Barrier::new(times);
    thread::scope(|scope| {
        let one = || {
            barrier.wait();
            made()
        };
        let threads: Vec<_> = (0..times).map(|_| scope.spawn(one)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

#[test]
#[ignore = "needs the server that `cargo xtask durable` installs"]
fn a_call_that_a_client_repeats_at_the_same_time_waits_and_is_made_once() {
    let (machine, front) = (Tree::new(), Tree::new());
    let engine = Engine::start();
    let _worker = WorkerProcess::start(machine.path(), &engine, &[]);
    let client = Front::start(front.path(), &engine, &[]);

    let call = json!({ "command": "echo made >> made.txt; sleep 10" });
    let ids: BTreeSet<_> = at_once(4, || client.waits("bash", &call)).into_iter().collect();
    assert_eq!(ids.len(), 1, "{ids:?}");
    let id = ids.first().unwrap();
    let listed = client.approvals(&["list"]);
    assert_eq!(listed.lines().count(), 2, "{listed}");
    assert!(listed.starts_with(id), "{listed}");

    // The command runs long enough for all to come while it does.
    client.approvals(&["approve", id]);
    for said in at_once(4, || client.says("bash", &call)) {
        assert!(said.contains("exit code 0"), "{said}");
    }
    assert_eq!(machine.read("made.txt"), "made\n");
    assert_eq!(client.approvals(&["list"]), "No call waits.\nexit 0\n");

    // What is called afterwards is another call.
    assert_ne!(client.waits("bash", &call), *id);
}

#[test]
#[ignore = "needs the server that `cargo xtask durable` installs"]
fn an_answer_about_a_round_that_is_over_is_refused_like_one_of_this_machine() {
    let (machine, front) = (Tree::new().file("one/a", "").file("two/a", ""), Tree::new());
    let link = machine.path().join("link");
    std::os::unix::fs::symlink("one", &link).unwrap();
    let engine = Engine::start();
    let _worker = WorkerProcess::start(machine.path(), &engine, &[]);
    let client = Front::start(front.path(), &engine, &[]);
    let call = write("link/made", "x");
    let first = client.waits("write_file", &call);
    // What was approved is not what would be done by now, so the call waits again.
    std::fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink("two", &link).unwrap();
    assert_eq!(client.approvals(&["approve", &first]), "approved `write_file`; the call goes on\nexit 0\n");
    let second = format!("{}:1", first.strip_suffix(":0").unwrap());
    until("it waits again", || client.approvals(&["list"]).contains(&second));
    let place = format!(" --restate {} --admin {}", engine.ingress, engine.admin);
    let stale = client.approvals(&["approve", &first]);
    assert!(stale.contains(&place), "{stale}");
    let stale = stale.replace(&place, "");
    expect![[r#"
        stderr: error: no call `FIRST` waits: it was gone on with before, or it never asked; see those that do with `haft approvals list`
        exit 2
    "#]].assert_eq(&stale.replace(&first, "FIRST"));
    assert_eq!(client.waits("write_file", &call), second);
    assert_eq!(client.approvals(&["approve", &second]), "approved `write_file`; the call goes on\nexit 0\n");
    client.says("write_file", &call);
    assert_eq!((machine.path().join("one/made").exists(), machine.read("two/made")), (false, "x".to_owned()));
}

#[test]
#[ignore = "needs the server that `cargo xtask durable` installs"]
fn a_call_is_made_with_the_arguments_that_a_person_has_changed() {
    let (machine, front) = (Tree::new(), Tree::new());
    let engine = Engine::start();
    let _worker = WorkerProcess::start(machine.path(), &engine, &[]);
    let client = Front::start(front.path(), &engine, &[]);
    let call = write("a", "as the model says");
    let id = client.waits("write_file", &call);
    let input = write("a", "as the person says").to_string();
    let edited = client.approvals(&["edit", &id, "--input", &input, "--json"]);
    let edited: Value = serde_json::from_str(edited.strip_suffix("exit 0\n").unwrap()).unwrap();
    assert_eq!(
        (&edited["answer"], &edited["goes_on_by"], &edited["id"]),
        (&json!("edited"), &json!("engine"), &json!(id))
    );
    client.says("write_file", &call);
    assert_eq!(machine.read("a"), "as the person says");
}

#[test]
#[ignore = "needs the server that `cargo xtask durable` installs"]
fn what_waits_outlives_its_worker_and_its_server() {
    let (machine, front) = (Tree::new(), Tree::new());
    let engine = Engine::start();
    let worker = WorkerProcess::start(machine.path(), &engine, &[]);
    let (address, client) = (worker.listens().to_owned(), Front::start(front.path(), &engine, &[]));
    let call = write("a", "x");
    let id = client.waits("write_file", &call);
    worker.kill();
    drop(client);
    let _worker = WorkerProcess::start_at(machine.path(), &engine, &address, &[]);
    let client = Front::start(front.path(), &engine, &[]);
    assert_eq!(client.approvals(&["approve", &id]), "approved `write_file`; the call goes on\nexit 0\n");
    client.says("write_file", &call);
    assert_eq!(machine.read("a"), "x");
}

#[test]
#[ignore = "needs the server that `cargo xtask durable` installs"]
fn a_worker_that_is_told_to_stop_ends_its_calls_first() {
    let (machine, front) = (Tree::new(), Tree::new());
    let engine = Engine::start();
    let mut worker = WorkerProcess::start(machine.path(), &engine, &["--profile", "full_access"]);
    let client = Front::start(front.path(), &engine, &[]);
    let script = "touch begun; while [ ! -e go ]; do sleep 0.02; done; echo whole";
    thread::scope(|scope| {
        let called = scope.spawn(|| client.says("bash", &json!({ "command": script })));
        until("it runs", || machine.path().join("begun").exists());
        worker.tell("-TERM");
        assert_eq!(worker.says().as_deref(), Some(r#"{"stage":"draining"}"#));
        std::fs::write(machine.path().join("go"), "").unwrap();
        let said = called.join().unwrap();
        assert!(said.contains("whole\n[exit code 0"), "{said}");
    });
    assert_eq!((worker.says().as_deref(), worker.says()), (Some(r#"{"stage":"ended"}"#), None));
    assert!(worker.ends().success());
}

#[test]
#[ignore = "needs the server that `cargo xtask durable` installs"]
fn a_worker_works_only_for_the_engine_that_signs_with_its_key() {
    let (machine, front) = (Tree::new().file("a", "for its own\n"), Tree::new());
    let (engine, key) = Engine::signing();
    let worker = WorkerProcess::start(machine.path(), &engine, &["--identity-key", &key]);
    assert_eq!(worker.ready["signed"], json!(true));
    let client = Front::start(front.path(), &engine, &[]);
    let read = client.says("read_file", &json!({ "path": "a" }));
    assert!(read.contains("for its own"), "{read}");

    // Another engine is not let in, which is said where the worker is started.
    let other = Engine::start();
    let arguments = ["worker", "--listen", "127.0.0.1:0", "--identity-key", &key, "--admin", &other.admin];
    let refused = shown(&haft(machine.path(), &arguments).output().unwrap());
    assert!(
        refused.starts_with("stderr: error: the engine does not take this worker at `http://127.0.0.1:")
            && refused.ends_with("exit 2\n"),
        "{refused}"
    );
}

#[test]
#[ignore = "needs the server that `cargo xtask durable` installs"]
fn pools_have_their_own_workers_and_what_is_denied_before_them_is_not_sent() {
    let (readers, writers) = (Tree::new().file("a", "of the readers\n"), Tree::new());
    let front = Tree::new().file("strict.toml", "[permissions]\ndeny = [\"write(secret)\", \"glob\"]\n");
    let engine = Engine::start();
    let _readers =
        WorkerProcess::start(readers.path(), &engine, &["--pool", "readers", "--tools", "read_file"]);
    let _writers =
        WorkerProcess::start(writers.path(), &engine, &["--pool", "writers", "--profile", "full_access"]);
    let client = Front::start(
        front.path(),
        &engine,
        &["--pool", "writers", "--route", "read_*=readers", "--policy", "strict.toml"],
    );
    let read = client.says("read_file", &json!({ "path": "a" }));
    assert!(read.contains("of the readers"), "{read}");
    client.says("write_file", &write("b", "of the writers"));
    assert_eq!(writers.read("b"), "of the writers");
    let denied = client.says("write_file", &write("secret", "x"));
    assert!(denied.starts_with("`write_file` is not permitted to do this"), "{denied}");
    assert!(!writers.path().join("secret").exists());
    // Arguments that fit no tool here are not a way around it, nor is a tool that only workers have.
    let denied = client.says("glob", &json!({ "pattern": 7 }));
    assert!(denied.starts_with("`glob` is not permitted to do what cannot be told"), "{denied}");
}

#[test]
#[ignore = "needs the server that `cargo xtask durable` installs"]
fn the_mode_of_the_files_before_workers_holds_on_them() {
    let machine = Tree::new();
    let front =
        Tree::new().file("strict.toml", "[permissions]\nmode = \"deny_unknown\"\nallow = [\"bash\"]\n");
    let engine = Engine::start();
    let _worker = WorkerProcess::start(machine.path(), &engine, &[]);
    let client = Front::start(front.path(), &engine, &["--policy", "strict.toml"]);
    // It is allowed here, and the worker would ask.
    let denied = client.says("bash", &json!({ "command": "touch made" }));
    assert!(denied.contains("not permitted"), "{denied}");
    assert_eq!(client.approvals(&["list"]), "No call waits.\nexit 0\n");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the server that `cargo xtask durable` installs"]
async fn a_client_that_can_be_asked_is_asked_once_and_nothing_is_left_to_wait() {
    let (machine, front) = (Tree::new(), Tree::new());
    let engine = Engine::start();
    let _worker = WorkerProcess::start(machine.path(), &engine, &[]);
    let client = Front::start(front.path(), &engine, &[]);
    for (era, name) in [(Era::Legacy, "legacy"), (Era::Modern, "modern")] {
        let made = asked::call(client.address(), era, "once", ("write_file", write(name, "x"))).await;
        assert!(made.0.starts_with("ok: "), "{made:?}");
        assert!(made.1.len() == 1 && made.1[0].contains(&format!("write file:{name}")), "{made:?}");
        assert_eq!(machine.read(name), "x");

        let other = format!("{name}-denied");
        let denied = asked::call(client.address(), era, "deny", ("write_file", write(&other, "x"))).await;
        assert!(denied.0.contains("not here") && denied.1.len() == 1, "{denied:?}");
        assert!(!machine.path().join(&other).exists());
        assert_eq!(client.approvals(&["list"]), "No call waits.\nexit 0\n");
    }
}

#[test]
#[ignore = "needs the server that `cargo xtask durable` installs"]
fn three_workers_and_two_servers_behind_nginx_as_deploy_says_lose_one_of_each_and_no_call() {
    let machines = ["one", "two", "three"].map(|name| Tree::new().file("who", name));
    let front = Tree::new();
    let engine = Engine::start();
    let ports = Ports::new();
    let _nginx = Nginx::start(&ports, &engine);
    let address = format!("http://127.0.0.1:{}", ports.calls);
    let mut workers: Vec<WorkerProcess> = machines
        .iter()
        .zip(&ports.workers)
        .map(|(machine, port)| {
            let listen = format!("127.0.0.1:{port}");
            WorkerProcess::start_at(machine.path(), &engine, &listen, &["--address", &address])
        })
        .collect();
    let key = front.path().join("key");
    std::fs::write(&key, "5a".repeat(32)).unwrap();
    std::fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let mut servers: Vec<Front<'_>> = ports
        .servers
        .iter()
        .map(|port| {
            let listen = format!("127.0.0.1:{port}");
            Front::start_at(front.path(), &engine, &listen, &["--state-key", key.to_str().unwrap()])
        })
        .collect();
    let client = format!("127.0.0.1:{}", ports.clients);
    let asks = || client::says(&client, "read_file", &json!({ "path": "who" }));
    let calls = |count: usize| -> Vec<String> {
        thread::scope(|scope| {
            let made: Vec<_> = (0..count).map(|_| scope.spawn(asks)).collect();
            made.into_iter().map(|made| made.join().unwrap()).collect()
        })
    };
    let tell_apart = |said: Vec<String>| -> BTreeSet<&'static str> {
        let name = |said: String| {
            ["one", "two", "three"]
                .into_iter()
                .find(|name| said.contains(name))
                .unwrap_or_else(|| panic!("{said}"))
        };
        said.into_iter().map(name).collect()
    };
    assert_eq!(tell_apart(calls(48)), BTreeSet::from(["one", "two", "three"]));

    thread::scope(|scope| {
        let under_way = scope.spawn(|| calls(48));
        workers.remove(0).kill();
        tell_apart(under_way.join().unwrap());
    });
    assert_eq!(tell_apart(calls(24)), BTreeSet::from(["two", "three"]));

    // A call that waits by way of one server goes on by way of the other.
    let call = write("made", "x");
    let waits = |said: &str| said.contains("needs an approval");
    let said = client::says(&client, "write_file", &call);
    assert!(waits(&said), "{said}");
    drop(servers.remove(0));
    let left = &servers[0];
    let id = left.waits("write_file", &call);
    assert_eq!(left.approvals(&["approve", &id]), "approved `write_file`; the call goes on\nexit 0\n");
    let done = client::says(&client, "write_file", &call);
    assert!(!waits(&done) && done.contains("made"), "{done}");
    let made = machines.iter().filter(|machine| machine.path().join("made").exists()).count();
    assert_eq!(made, 1);
}
