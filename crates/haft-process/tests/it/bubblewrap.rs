//! The same bounds where bubblewrap has to make them.

use std::fs;
use std::net::TcpListener;

use haft_process::sandbox::{Network, Sandbox, SandboxLack, Scratch};
use tempfile::TempDir;

use crate::sandbox::{Place, WRITES, python, tampers_fail};

#[test]
fn it_lacks_nothing_that_would_let_something_out() {
    let Some(sandbox) = Sandbox::probe().by_bubblewrap() else { return };
    let all = haft_process::sandbox::Confinement::new().protect("/").hide("/").network(Network::None);
    let lacks = sandbox.lacks(&all);
    let of_files =
        [SandboxLack::Files, SandboxLack::Truncation, SandboxLack::Protection, SandboxLack::Hiding];
    assert!(lacks.iter().all(|lack| !of_files.contains(lack)), "{lacks:?}");
    assert!(sandbox.to_string().ends_with("bubblewrap    yes, for files and a network of its own"));
}

#[tokio::test]
async fn writes_where_it_may_and_nowhere_else_by_any_route() {
    for script in WRITES {
        let Some(place) = Place::by_bubblewrap() else { return };
        let before = place.everything_outside();
        let (code, output) = place.run(script).await;
        assert_eq!(place.everything_outside(), before, "{script}: {output}");
        // What is not there is not there after it was removed either.
        assert!(code != Some(0) || script.starts_with("rm -f"), "{script}: {output}");
    }
    let Some(place) = Place::by_bubblewrap() else { return };
    let script = "pwd | grep -c /in; mkdir a && echo x > a/b && mv a/b c && cat c; cat /dev/null; readlink /bin || echo bin";
    let (code, output) = place.run(script).await;
    assert!(code == Some(0) && output.starts_with("1\nx\n"), "{output}");
}

#[tokio::test]
async fn what_may_not_be_read_is_not_there() {
    let Some(place) = Place::by_bubblewrap() else { return };
    let (code, output) = place.run("cat $1/out/secret; ls $1; ls -A ~; cat /proc/1/root/etc/hostname").await;
    assert_ne!(code, Some(0), "{output}");
    assert!(output.contains("No such file or directory") && !output.contains("hunter2"), "{output}");
    let place = place.with(|confinement, root| confinement.read(root.join("out")));
    assert_eq!(place.run("cat $1/out/secret").await, (Some(0), "hunter2\n".to_owned()));
}

#[tokio::test]
async fn what_is_protected_stays_as_it_is() {
    tampers_fail(Place::by_bubblewrap).await;
}

#[tokio::test]
async fn temporary_directories_are_its_own_and_what_is_hidden_is_empty() {
    let place = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).expect("there is room");
    let scratch = Scratch::in_directory(place.path()).expect("it is made");
    let Some(place) = Place::by_bubblewrap() else { return };
    fs::write(place.root.join("in/.env"), "hunter2\n").expect("it is made");
    let place = place.with(|confinement, root| confinement.scratch(&scratch).hide(root.join("in/.env")));
    let (code, output) = place.run("cat .env; echo kept > /var/tmp/file; ls /dev/shm; echo ended").await;
    assert_eq!((code, output.as_str()), (Some(0), "ended\n"));
    assert_eq!(fs::read_to_string(scratch.path().join("tmp/file")).expect("it is there"), "kept\n");
}

#[tokio::test]
async fn there_is_no_network_but_its_own_and_the_ports_that_were_allowed() {
    let (allowed, other) = (
        TcpListener::bind("127.0.0.1:0").expect("it listens"),
        TcpListener::bind("127.0.0.1:0").expect("it listens"),
    );
    let to = |listener: &TcpListener| {
        let port = listener.local_addr().expect("it has one").port();
        (port, python(&format!("s.create_connection((\"127.0.0.1\", {port}), 20)")))
    };
    let ((port, connect), (_, refused)) = (to(&allowed), to(&other));
    for (network, script, is_there) in [
        (Network::None, &connect, false),
        (Network::Loopback, &connect, false),
        (Network::Ports([port].into()), &connect, true),
        (Network::Ports([port].into()), &refused, false),
    ] {
        let Some(place) = Place::by_bubblewrap() else { return };
        let place = place.with(|confinement, _| confinement.network(network.clone()));
        let (_, output) = place.run(script).await;
        assert_eq!(output.ends_with("connected\n"), is_there, "{network:?}: {output}");
    }
    let Some(place) = Place::by_bubblewrap() else { return };
    let place = place.with(|confinement, _| confinement.network(Network::Loopback));
    let serve = python("l = s.create_server((\"127.0.0.1\", 0)); s.create_connection(l.getsockname(), 20)");
    assert_eq!(place.run(&serve).await, (Some(0), "connected\n".to_owned()));
}

#[tokio::test]
async fn its_exit_code_is_that_of_the_program() {
    let Some(place) = Place::by_bubblewrap() else { return };
    assert_eq!(place.run("exit 7").await.0, Some(7));
    assert_eq!(place.run("kill -KILL $$").await.0, Some(137));
}
