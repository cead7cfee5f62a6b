//! A host is this test program once more, with the one test that stands for it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use haft_process::Program;
use tempfile::TempDir;

use crate::trees::Way;

/// Says to the test below what it is to start, and where.
const SCRIPT: &str = "HAFT_TEST_SCRIPT";
const PLACE: &str = "HAFT_TEST_PLACE";
const IS_COMMAND: &str = "HAFT_TEST_IS_COMMAND";

/// What else this test program is given to be a host.
const HOST: [&str; 3] = ["--exact", "lifeline::host", "--ignored"];

/// How long something may take that should happen at once, on a machine that is busy.
pub(crate) const SOON: Duration = Duration::from_secs(20);

/// Within what nothing is alive any more (invariant 8 of docs/architecture.md). What a busy machine adds is not what is tested:
/// of a few tries one has to be as fast.
pub(crate) const GONE_WITHIN: Duration = Duration::from_secs(3);
pub(crate) const TRIES: u32 = 5;

#[tokio::test]
#[ignore = "it is the host that the other tests start"]
async fn host() {
    let (Ok(script), Ok(place)) = (std::env::var(SCRIPT), std::env::var(PLACE)) else { return };
    let program = Program::new("/bin/sh").arguments(["-c", &script]).directory(place);
    let way = if std::env::var_os(IS_COMMAND).is_some() { Way::Command } else { Way::Program };
    let _tree = way.start(program).expect("sh starts");
    std::future::pending::<()>().await;
}

/// Starts a host that runs a script in a directory, and waits until the script is ready.
pub(crate) fn start(script: &str, directory: &TempDir) -> Child {
    start_by(Way::Program, script, directory)
}

/// Does so with a host that starts it by one of the ways.
pub(crate) fn start_by(way: Way, script: &str, directory: &TempDir) -> Child {
    let mut host = Command::new(this());
    if way == Way::Command {
        host.env(IS_COMMAND, "");
    }
    start_host(host, script, directory)
}

/// Writes for a shell how a host is started that does so without a control group.
pub(crate) fn command(script: &str, directory: &TempDir) -> String {
    let quoted = |text: &str| format!("'{}'", text.replace('\'', r"'\''"));
    let (script, place) = (quoted(script), quoted(directory.path().to_str().expect("it is text")));
    let this = quoted(this().to_str().expect("it is text"));
    format!("{IS_COMMAND}= {SCRIPT}={script} {PLACE}={place} {this} {} > /dev/null", HOST.join(" "))
}

fn this() -> PathBuf {
    std::env::current_exe().expect("the test knows where it is")
}

/// Does so with a host that is in a control group.
pub(crate) fn start_in(group: &Path, script: &str, directory: &TempDir) -> Child {
    let mut enter = Command::new("/bin/sh");
    enter.args(["-c", r#"echo $$ > "$0/cgroup.procs" && exec "$@""#]).arg(group);
    enter.arg(this());
    start_host(enter, script, directory)
}

fn start_host(mut host: Command, script: &str, directory: &TempDir) -> Child {
    let host = host
        .args(HOST)
        .envs([(SCRIPT, script), (PLACE, directory.path().to_str().expect("it is text"))])
        .stdout(Stdio::null())
        .spawn()
        .expect("the host starts");
    until(SOON, || directory.path().join("ready").exists());
    host
}

pub(crate) fn until(most: Duration, is_so: impl Fn() -> bool) -> Duration {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < most, "not so in time");
        thread::sleep(Duration::from_millis(5));
    }
    start.elapsed()
}

/// The processes that work in a directory.
pub(crate) fn inhabitants(directory: &Path) -> Vec<PathBuf> {
    let root = directory.canonicalize().expect("it is there");
    let processes =
        fs::read_dir("/proc").expect("processes can be listed").flatten().map(|process| process.path());
    processes.filter(|process| fs::read_link(process.join("cwd")).is_ok_and(|place| place == root)).collect()
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "there is no `/proc`")]
fn nothing_outlives_a_host_that_is_killed() {
    for script in [
        "sleep 1000 & : > ready; wait",
        "setsid sleep 1000 & : > ready; wait",
        "trap '' TERM; (setsid sh -c 'sleep 1000; sleep 1000' &); : > ready; sleep 1000; sleep 1000",
        "env -i sleep 1000 & : > ready; wait",
    ] {
        let gone_after = || {
            let directory = TempDir::new().unwrap();
            let mut host = start(script, &directory);
            assert!(inhabitants(directory.path()).len() > 1, "{script}");
            host.kill().unwrap();
            host.wait().unwrap();
            until(SOON, || inhabitants(directory.path()).is_empty())
        };
        assert!((0..TRIES).any(|_| gone_after() < GONE_WITHIN), "{script}");
    }
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "there is no `/proc`")]
fn a_host_touches_what_it_did_not_start_as_little_as_what_another_did() {
    let (killed, other) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let [mut host, mut neighbour] = [&killed, &other].map(|place| start(": > ready; sleep 1000", place));
    host.kill().unwrap();
    host.wait().unwrap();
    until(SOON, || inhabitants(killed.path()).is_empty());
    assert!(!inhabitants(other.path()).is_empty());
    neighbour.kill().unwrap();
    neighbour.wait().unwrap();
    until(SOON, || inhabitants(other.path()).is_empty());
}
