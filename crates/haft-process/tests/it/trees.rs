use std::fs;
use std::io::{self, Read as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use expect_test::expect;
use haft_process::{Environment, ProcessSignal, ProcessTree};
use tempfile::TempDir;
use tokio::time::{Instant, sleep};

/// How long something may take that should happen at once, on a machine that is busy.
const SOON: Duration = Duration::from_secs(20);

/// Each makes the file `ready` when everything it starts is started, and would go on for a minute.
const STUBBORN: [&str; 4] = [
    "sleep 60 & : > ready; wait",
    "setsid sleep 60 & : > ready; wait",
    "trap '' TERM; : > ready; sleep 60; sleep 60",
    "(setsid sh -c 'setsid sleep 60 & wait' &); : > ready; sleep 60",
];

fn script(text: &str, directory: &Path) -> Command {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", text]).current_dir(directory);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Starts a script in a directory and waits until it says that it is ready.
async fn start(text: &str, directory: &TempDir) -> ProcessTree {
    let tree =
        ProcessTree::spawn(script(text, directory.path()), &Environment::minimal()).expect("sh starts");
    until(|| directory.path().join("ready").exists()).await;
    tree
}

async fn until(is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + SOON;
    while !is_so() {
        assert!(Instant::now() < deadline, "not so in time");
        sleep(Duration::from_millis(5)).await;
    }
}

/// Tells whether a process works in a directory.
fn is_inhabited(directory: &TempDir) -> bool {
    let root = directory.path().canonicalize().expect("it is there");
    fs::read_dir("/proc")
        .expect("processes can be listed")
        .flatten()
        .any(|process| fs::read_link(process.path().join("cwd")).is_ok_and(|place| place.starts_with(&root)))
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn names_and_signals_what_is_alive() {
    let directory = TempDir::new().unwrap();
    let tree = start("sleep 60 & setsid sleep 60 & : > ready; wait", &directory).await;
    let names = async || {
        let mut names: Vec<String> = tree.alive().await.into_iter().map(|process| process.name).collect();
        names.sort();
        names
    };
    // Right after the fork each still has the name of the shell.
    let deadline = Instant::now() + SOON;
    while names().await != ["sh", "sleep", "sleep"] {
        assert!(Instant::now() < deadline, "{:?}", names().await);
        sleep(Duration::from_millis(5)).await;
    }
    tree.signal(ProcessSignal::Kill).await;
    assert!(tree.are_gone(SOON).await);
    assert_eq!(tree.alive().await, []);
}

#[tokio::test]
async fn ends_all_that_came_of_a_command() {
    for text in STUBBORN {
        let directory = TempDir::new().unwrap();
        let mut tree = start(text, &directory).await;
        tree.end(Duration::from_millis(100)).await;
        assert!(tree.are_gone(Duration::ZERO).await, "{text}");
        assert!(tree.reap().is_some(), "{text}");
        tree.let_go();
        assert!(!is_inhabited(&directory), "{text}");
    }
}

#[tokio::test]
async fn kills_all_that_came_of_a_command_when_dropped() {
    for text in STUBBORN {
        let directory = TempDir::new().unwrap();
        drop(start(text, &directory).await);
        until(|| !is_inhabited(&directory)).await;
    }
}

#[tokio::test]
async fn letting_go_of_a_tree_that_was_not_reaped_kills_it() {
    let directory = TempDir::new().unwrap();
    start(STUBBORN[0], &directory).await.let_go();
    until(|| !is_inhabited(&directory)).await;
}

#[tokio::test]
async fn gives_no_variable_but_those_of_the_environment() {
    let directory = TempDir::new().unwrap();
    let (mut reader, writer) = io::pipe().unwrap();
    let mut command = Command::new("/usr/bin/env");
    command.env("SECRET", "hunter2").current_dir(directory.path()).stdin(Stdio::null()).stdout(writer);
    let environment = Environment::minimal().with("ON_PURPOSE", "given").unwrap();
    let mut tree = ProcessTree::spawn(command, &environment).unwrap();
    tree.exited().await;
    let mut printed = String::new();
    reader.read_to_string(&mut printed).unwrap();
    let mut names: Vec<&str> = printed.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
    names.sort_unstable();
    expect![[r#"DEBIAN_FRONTEND EDITOR GIT_CONFIG_COUNT GIT_CONFIG_KEY_0 GIT_CONFIG_VALUE_0 GIT_EDITOR GIT_PAGER GIT_TERMINAL_PROMPT HAFT_CALL LANG MANPAGER NO_COLOR ON_PURPOSE PAGER PATH SSH_ASKPASS_REQUIRE TERM VISUAL"#]]
    .assert_eq(&names.join(" "));
}

#[tokio::test]
async fn says_why_a_command_was_not_started() {
    let directory = TempDir::new().unwrap();
    let spawned = |program: &str, place: &Path| {
        let mut command = Command::new(program);
        command.current_dir(place);
        ProcessTree::spawn(command, &Environment::minimal()).unwrap_err().kind()
    };
    assert_eq!(spawned("/nowhere/at-all", directory.path()), io::ErrorKind::NotFound);
    assert_eq!(spawned("/bin/sh", &directory.path().join("missing")), io::ErrorKind::NotFound);
    assert_eq!(spawned("/etc/passwd", directory.path()), io::ErrorKind::PermissionDenied);
}
