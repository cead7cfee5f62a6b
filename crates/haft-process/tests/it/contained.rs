//! Processes that left their session and cleared their environment.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;

use haft_process::{Environment, ProcessTree, Program};
use tempfile::TempDir;
use tokio::time::Instant;

use crate::trees::Way;
use crate::{lifeline, trees};

/// Each leaves its session, clears its environment and makes the file `ready`; the first of them is gone by then.
const ESCAPES: [&str; 3] = [
    "env -i setsid sh -c ': > ready; sleep 60'",
    "env -i setsid sh -c '(setsid sh -c \": > ready; sleep 60\" &)'",
    "env -i setsid sh -c \"trap '' TERM HUP; (: > ready; sleep 60; sleep 60) &\"",
];

/// How old a directory has to be to be taken for one that was left.
const YOUNG: Duration = Duration::from_secs(2);

/// The place of this process in cgroup v2, if it may make groups there, told in another way than by what is tested.
fn place() -> Option<PathBuf> {
    let own = fs::read_to_string("/proc/self/cgroup").ok()?;
    let own = own.lines().find_map(|line| line.strip_prefix("0::/"))?.to_owned();
    let mounts = fs::read_to_string("/proc/self/mounts").ok()?;
    let mount =
        mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>()).find(|mount| mount[2] == "cgroup2")?;
    let place = Path::new(mount[1]).join(own);
    let probe = place.join(format!("probe-{}-{:?}", std::process::id(), std::thread::current().id()));
    fs::create_dir(&probe).ok()?;
    let can_kill = probe.join("cgroup.kill").exists();
    fs::remove_dir(&probe).expect("the system does it");
    can_kill.then_some(place)
}

/// The same, or says that the test is skipped.
#[expect(clippy::print_stderr, reason = "who reads that a test passed has to know that it was none")]
fn writable_place() -> Option<PathBuf> {
    let found = place().filter(|_| cfg!(target_arch = "x86_64"));
    if found.is_none() {
        eprintln!("SKIPPED: here no cgroup v2 can be written, or there is no way into one");
    }
    found
}

/// The directories of a host.
fn directories_of(host: u32, place: &Path) -> Vec<PathBuf> {
    let prefix = format!("haft-{host:x}-");
    let entries = fs::read_dir(place).expect("the system does it").flatten();
    entries
        .filter(|entry| entry.file_name().to_str().is_some_and(|name| name.starts_with(&prefix)))
        .map(|entry| entry.path())
        .collect()
}

#[tokio::test]
async fn a_tree_is_contained_where_it_can_be() {
    let is_contained = || {
        let tree = ProcessTree::start(Program::new("/bin/true"), &Environment::minimal()).unwrap();
        tree.is_contained()
    };
    if writable_place().is_some() {
        assert!(is_contained());
    }
}

/// The ways in which a tree is started: in a control group where there can be one, and in none.
const WAYS: [Way; 2] = [Way::Program, Way::Command];

/// Tries something until it takes no longer than it may, a few times.
async fn check_gone(what: &str, gone_after: impl AsyncFn() -> Duration) {
    for _ in 0..lifeline::TRIES {
        if gone_after().await < lifeline::GONE_WITHIN {
            return;
        }
    }
    panic!("{what}: it takes longer each time");
}

#[tokio::test]
async fn ends_what_left_its_session_and_cleared_its_environment() {
    for (text, way) in ESCAPES.into_iter().flat_map(|text| WAYS.map(|way| (text, way))) {
        check_gone(text, async || {
            let directory = TempDir::new().unwrap();
            let text = format!("({text} &) ; until [ -e ready ]; do :; done");
            let mut tree = trees::start_by(way, &text, &directory).await;
            tree.exited().await;
            tree.reap();
            assert!(!tree.are_gone(Duration::ZERO).await, "{way:?} {text}");
            assert!(!tree.alive().await.is_empty(), "{way:?} {text}");
            let before = Instant::now();
            tree.end(Duration::from_millis(200)).await;
            let took = before.elapsed();
            assert!(tree.are_gone(Duration::ZERO).await, "{way:?} {text}");
            tree.let_go();
            assert!(!trees::is_inhabited(&directory), "{way:?} {text}");
            took
        })
        .await;
    }
}

#[tokio::test]
async fn kills_what_left_its_session_and_cleared_its_environment_when_dropped() {
    for (text, way) in ESCAPES.into_iter().flat_map(|text| WAYS.map(|way| (text, way))) {
        check_gone(text, async || {
            let directory = TempDir::new().unwrap();
            let tree = trees::start_by(way, &format!("({text} &); sleep 60"), &directory).await;
            let before = Instant::now();
            drop(tree);
            trees::until(|| !trees::is_inhabited(&directory)).await;
            before.elapsed()
        })
        .await;
    }
}

#[test]
fn nothing_that_cleared_its_environment_outlives_a_host_that_is_killed() {
    for (text, way) in ESCAPES.into_iter().flat_map(|text| WAYS.map(|way| (text, way))) {
        let gone_after = || {
            let directory = TempDir::new().unwrap();
            let mut host = lifeline::start_by(way, &format!("({text} &); sleep 1000"), &directory);
            if let Some(place) = place().filter(|_| cfg!(target_arch = "x86_64")) {
                assert_eq!(directories_of(host.id(), &place).len(), 1, "{way:?} {text}");
            }
            assert!(lifeline::inhabitants(directory.path()).len() > 1, "{way:?} {text}");
            host.kill().unwrap();
            host.wait().unwrap();
            let took = lifeline::until(lifeline::SOON, || lifeline::inhabitants(directory.path()).is_empty());
            if let Some(place) = place() {
                lifeline::until(lifeline::SOON, || directories_of(host.id(), &place).is_empty());
            }
            took
        };
        assert!((0..lifeline::TRIES).any(|_| gone_after() < lifeline::GONE_WITHIN), "{way:?} {text}");
    }
}

#[test]
fn a_host_inside_a_call_of_another_ends_what_escaped_it_when_the_outer_one_is_killed() {
    let directory = TempDir::new().unwrap();
    let inner = directory.path().join("inner");
    fs::create_dir(&inner).unwrap();
    let inner = TempDir::new_in(inner).unwrap();
    let escape = format!("({} &); sleep 1000", ESCAPES[0]);
    let text = format!(
        "{} & until [ -e '{}/ready' ]; do :; done; : > ready; wait",
        lifeline::command(&escape, &inner),
        inner.path().display()
    );
    let mut host = lifeline::start_by(Way::Command, &text, &directory);
    assert!(lifeline::inhabitants(inner.path()).len() > 1);
    host.kill().unwrap();
    host.wait().unwrap();
    lifeline::until(lifeline::SOON, || lifeline::inhabitants(inner.path()).is_empty());
    lifeline::until(lifeline::SOON, || lifeline::inhabitants(directory.path()).is_empty());
}

#[test]
fn what_a_host_has_left_ends_with_the_start_of_the_next() {
    let Some(place) = writable_place() else { return };
    // Of its own, so that no host of another test comes before.
    let group = place.join(format!("left-{}", std::process::id()));
    fs::create_dir(&group).unwrap();
    let directory = TempDir::new().unwrap();
    let mut host = lifeline::start_in(&group, &format!("({} &); sleep 1000", ESCAPES[0]), &directory);
    let began = Instant::now();
    // So nobody is told of the end of the host.
    kill_lifeline_of(&host);
    host.kill().unwrap();
    host.wait().unwrap();
    assert!(!lifeline::inhabitants(directory.path()).is_empty());
    assert_eq!(directories_of(host.id(), &group).len(), 1);
    // What looks as if it had just begun is left alone.
    lifeline::until(lifeline::SOON, || began.elapsed() > YOUNG);
    let other = TempDir::new().unwrap();
    let mut next = lifeline::start_in(&group, ": > ready; sleep 1000", &other);
    lifeline::until(lifeline::SOON, || lifeline::inhabitants(directory.path()).is_empty());
    lifeline::until(lifeline::SOON, || directories_of(host.id(), &group).is_empty());
    // Who lives is left alone, and by now the next is as old.
    let mut third = lifeline::start_in(&group, ": > ready; sleep 1000", &directory_for_one_more(&other));
    assert!(!lifeline::inhabitants(other.path()).is_empty());
    for host in [&mut next, &mut third] {
        host.kill().unwrap();
        host.wait().unwrap();
        lifeline::until(lifeline::SOON, || directories_of(host.id(), &group).is_empty());
    }
    lifeline::until(lifeline::SOON, || fs::remove_dir(&group).is_ok());
}

#[test]
fn a_host_that_is_in_a_group_that_was_killed_before_starts_programs_all_the_same() {
    let Some(place) = writable_place() else { return };
    let group = place.join(format!("killed-{}", std::process::id()));
    fs::create_dir(&group).unwrap();
    fs::write(group.join("cgroup.kill"), "1").unwrap();
    let directory = TempDir::new().unwrap();
    let mut host = lifeline::start_in(&group, "(: > ready; sleep 1000)", &directory);
    assert!(!lifeline::inhabitants(directory.path()).is_empty());
    host.kill().unwrap();
    host.wait().unwrap();
    lifeline::until(lifeline::SOON, || lifeline::inhabitants(directory.path()).is_empty());
    // What waited for the end of the host is in the group as well.
    lifeline::until(lifeline::SOON, || fs::remove_dir(&group).is_ok());
}

/// A directory in which no process of the other works.
fn directory_for_one_more(other: &TempDir) -> TempDir {
    TempDir::new_in(other.path().parent().expect("the system does it")).expect("the system does it")
}

/// Kills what waits for a host to end.
fn kill_lifeline_of(host: &Child) {
    let is_lifeline = |process: &Path| {
        let said = fs::read_to_string(process.join("cmdline")).unwrap_or_default();
        let status = fs::read_to_string(process.join("stat")).unwrap_or_default();
        let parent = status.rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(1)?.parse().ok());
        said.contains("haft-lifeline") && parent == Some(host.id())
    };
    let processes =
        fs::read_dir("/proc").expect("the system does it").flatten().map(|process| process.path());
    for process in processes.filter(|process| is_lifeline(process)) {
        let id =
            process.file_name().expect("the system does it").to_str().expect("the system does it").to_owned();
        assert!(Command::new("kill").args(["-KILL", &id]).status().expect("the system does it").success());
    }
}

#[tokio::test]
async fn ends_what_is_another_process_whenever_it_is_looked_at() {
    if writable_place().is_none() {
        return;
    }
    let directory = TempDir::new().unwrap();
    let text = "exec env -i setsid sh -c 'trap \"\" TERM; : > ready; flee() { flee & }; flee'";
    let mut tree = trees::start(text, &directory).await;
    assert!(tree.is_contained());
    let before = Instant::now();
    tree.end(Duration::from_millis(50)).await;
    assert!(before.elapsed() < lifeline::SOON);
    assert!(tree.are_gone(Duration::ZERO).await);
    tree.reap();
    tree.let_go();
    assert!(!trees::is_inhabited(&directory));
}

#[tokio::test]
async fn ends_what_is_in_a_group_below_its_own() {
    let Some(place) = writable_place() else { return };
    let mount = place.to_str().unwrap().trim_end_matches('/').to_owned();
    let own = fs::read_to_string("/proc/self/cgroup").unwrap();
    let own = own.lines().find_map(|line| line.strip_prefix("0::")).unwrap().trim_end_matches('/').to_owned();
    let mount = mount.strip_suffix(&own).unwrap();
    let directory = TempDir::new().unwrap();
    let text = format!(
        "group={mount}$(sed -n 's/^0:://p' /proc/self/cgroup)/below; mkdir \"$group\" && echo $$ > \"$group/cgroup.procs\" && \
         env -i setsid sh -c ': > ready; sleep 60'"
    );
    let mut tree = trees::start(&text, &directory).await;
    tree.end(Duration::from_millis(100)).await;
    assert!(tree.are_gone(Duration::ZERO).await);
    tree.reap();
    tree.let_go();
    assert!(!trees::is_inhabited(&directory));
}

#[tokio::test]
async fn what_waits_for_the_end_of_a_host_inside_does_not_count_and_ends_all_the_same() {
    if writable_place().is_none() {
        return;
    }
    let directory = TempDir::new().unwrap();
    // What really waits has another limit than the processes of a call, too.
    let text = "(bash -c \"ulimit -x 5; exec env -i setsid sh -c ': > ready; read -r _ < fifo; :' haft-lifeline\" &); until [ -e ready ]; do :; done";
    let made = Command::new("mkfifo").arg(directory.path().join("fifo")).status().unwrap();
    assert!(made.success());
    let mut tree = trees::start(text, &directory).await;
    tree.exited().await;
    tree.reap();
    assert!(trees::is_inhabited(&directory));
    assert_eq!(tree.alive().await, []);
    assert!(tree.are_gone(Duration::ZERO).await);
    tree.let_go();
    trees::until(|| !trees::is_inhabited(&directory)).await;
}

#[tokio::test]
async fn programs_that_cannot_be_executed_are_no_reason_to_have_no_group() {
    if writable_place().is_none() {
        return;
    }
    let directory = TempDir::new().unwrap();
    for _ in 0..10 {
        let bare = Program::new("true").directory(directory.path());
        ProcessTree::start(bare, &Environment::minimal()).unwrap_err();
    }
    let tree = ProcessTree::start(Program::new("/bin/true"), &Environment::minimal()).unwrap();
    assert!(tree.is_contained());
}
