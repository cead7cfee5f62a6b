use std::fs;
use std::io::{self, Read as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use expect_test::expect;
use haft_process::{Environment, ProcessSignal, ProcessTree, Program};
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

fn script(text: &str, directory: &Path) -> Program {
    Program::new("/bin/sh").arguments(["-c", text]).directory(directory)
}

/// Starts a script in a directory and waits until it says that it is ready.
pub(crate) async fn start(text: &str, directory: &TempDir) -> ProcessTree {
    start_by(Way::Program, text, directory).await
}

/// By which way something is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Program,
    /// Without a control group.
    Command,
}

impl Way {
    pub(crate) fn start(self, program: Program) -> io::Result<ProcessTree> {
        match self {
            Self::Program => ProcessTree::start(program, &Environment::minimal()),
            Self::Command => ProcessTree::spawn(Command::from(program), &Environment::minimal()),
        }
    }
}

/// Does so by one of the ways.
pub(crate) async fn start_by(way: Way, text: &str, directory: &TempDir) -> ProcessTree {
    let tree = way.start(script(text, directory.path())).expect("sh starts");
    until(|| directory.path().join("ready").exists()).await;
    tree
}

pub(crate) async fn until(is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + SOON;
    while !is_so() {
        assert!(Instant::now() < deadline, "not so in time");
        sleep(Duration::from_millis(5)).await;
    }
}

/// Tells whether a process works in a directory.
pub(crate) fn is_inhabited(directory: &TempDir) -> bool {
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
    for (text, way) in STUBBORN.into_iter().flat_map(|text| [(text, Way::Program), (text, Way::Command)]) {
        let directory = TempDir::new().unwrap();
        let mut tree = start_by(way, text, &directory).await;
        tree.end(Duration::from_millis(100)).await;
        assert!(tree.are_gone(Duration::ZERO).await, "{text}");
        assert!(tree.reap().is_some(), "{text}");
        tree.let_go();
        assert!(!is_inhabited(&directory), "{text}");
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_was_ended_holds_nothing_any_more() {
    // Its memory takes the system a while to take back, during which it still has its directory and files.
    let text = "(head -c 200000000 /dev/zero; : > ready; sleep 60) | tail -c 200000000 > held";
    for way in [Way::Program, Way::Command] {
        let directory = TempDir::new().unwrap();
        let mut tree = start_by(way, text, &directory).await;
        tree.end(Duration::from_millis(200)).await;
        assert!(!is_inhabited(&directory), "{way:?}");
        assert!(tree.reap().is_some(), "{way:?}");
        tree.let_go();
    }
}

#[tokio::test]
async fn kills_all_that_came_of_a_command_when_dropped() {
    for text in STUBBORN {
        let directory = TempDir::new().unwrap();
        drop(start(text, &directory).await);
        until(|| !is_inhabited(&directory)).await;
        drop(start_by(Way::Command, text, &TempDir::new_in(directory.path()).unwrap()).await);
        until(|| !is_inhabited(&directory)).await;
    }
}

#[tokio::test]
async fn what_was_killed_before_does_not_touch_what_is_started_then() {
    for _ in 0..20 {
        let directory = TempDir::new().unwrap();
        let tree = start(": > ready; sleep 60", &directory).await;
        drop(tree);
        assert_eq!(printed(script("echo alive", directory.path()), &Environment::minimal()).await, "alive\n");
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
    let environment = Environment::minimal().with("ON_PURPOSE", "given").unwrap();
    let (mut reader, writer) = io::pipe().unwrap();
    let mut command = Command::new("/usr/bin/env");
    command.env("SECRET", "hunter2").current_dir(directory.path()).stdin(Stdio::null()).stdout(writer);
    let mut tree = ProcessTree::spawn(command, &environment).unwrap();
    tree.exited().await;
    let mut of_command = String::new();
    reader.read_to_string(&mut of_command).unwrap();
    for printed in [of_command, printed(Program::new("/usr/bin/env"), &environment).await] {
        let mut names: Vec<&str> = printed.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
        names.sort_unstable();
        expect![[r#"DEBIAN_FRONTEND EDITOR GIT_CONFIG_COUNT GIT_CONFIG_KEY_0 GIT_CONFIG_VALUE_0 GIT_EDITOR GIT_PAGER GIT_TERMINAL_PROMPT HAFT_CALL LANG MANPAGER NO_COLOR ON_PURPOSE PAGER PATH SSH_ASKPASS_REQUIRE TERM VISUAL"#]]
        .assert_eq(&names.join(" "));
    }
}

/// What a program prints until it has ended.
async fn printed(program: Program, environment: &Environment) -> String {
    let (mut reader, writer) = io::pipe().expect("the system does it");
    let errors = writer.try_clone().expect("the system does it");
    let mut tree =
        ProcessTree::start(program.output(writer).errors(errors), environment).expect("the system does it");
    tree.exited().await;
    assert!(tree.reap().is_some());
    let mut printed = String::new();
    reader.read_to_string(&mut printed).expect("the system does it");
    printed
}

#[tokio::test]
async fn gives_what_it_was_given_and_nothing_else() {
    let directory = TempDir::new().unwrap();
    let place = directory.path().canonicalize().unwrap();
    fs::write(place.join("input"), "read\n").unwrap();
    // What is open without being closed in programs that are started.
    let kept_open = fs::File::open("/dev/null").unwrap();
    rustix::io::fcntl_setfd(&kept_open, rustix::io::FdFlags::empty()).unwrap();
    let text = "echo \"$0 $1\"; cat; pwd; ls /proc/self/fd; echo failed >&2; sh -c 'kill -PIPE $$'; echo $?";
    let program =
        Program::new("/bin/sh").called("sh").arguments(["-c", text, "zero", "a b"]).directory(&place);
    let program = program.input(fs::File::open(place.join("input")).unwrap());
    let shown = printed(program, &Environment::minimal()).await;
    drop(kept_open);
    let shown = shown.replace(place.to_str().unwrap(), "[place]");
    // The last descriptor is that of the directory that `ls` reads.
    assert_eq!(shown, "zero a b\nread\n[place]\n0\n1\n2\n3\nfailed\n141\n");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn leads_a_session_and_blocks_no_signal() {
    let text = "read -r id name state parent group session rest < /proc/self/stat; [ $id = $group ] && [ $id = $session ] && \
        echo leads; grep SigBlk /proc/self/status";
    let shown = printed(Program::new("/bin/sh").arguments(["-c", text]), &Environment::minimal()).await;
    assert_eq!(shown, "leads\nSigBlk:\t0000000000000000\n");
}

#[tokio::test]
async fn runs_a_script_that_names_no_program_by_the_shell() {
    use std::os::unix::fs::PermissionsExt as _;

    let directory = TempDir::new().unwrap();
    let script = directory.path().join("script");
    fs::write(&script, "echo \"$0: $# $1 $2\"\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let program =
        Program::new("./script").directory(directory.path()).called("other").arguments(["a b", "c"]);
    assert_eq!(printed(program, &Environment::minimal()).await, "./script: 2 a b c\n");
}

#[tokio::test]
async fn says_why_a_command_was_not_started() {
    let directory = TempDir::new().unwrap();
    let started = |path: &str, place: &Path| {
        let kinds = [Way::Program, Way::Command]
            .map(|way| way.start(Program::new(path).directory(place)).unwrap_err().kind());
        assert_eq!(kinds[0], kinds[1], "{path}");
        kinds[0]
    };
    assert_eq!(started("/nowhere/at-all", directory.path()), io::ErrorKind::NotFound);
    assert_eq!(started("/bin/sh", &directory.path().join("missing")), io::ErrorKind::NotFound);
    assert_eq!(started("/etc/passwd", directory.path()), io::ErrorKind::PermissionDenied);
    assert_eq!(started("/bin/s\0h", directory.path()), io::ErrorKind::InvalidInput);
    let too_much = Program::new("/bin/true").arguments(["a".repeat(4 << 20)]);
    let refused = ProcessTree::start(too_much, &Environment::minimal()).unwrap_err();
    assert_eq!(refused.kind(), io::ErrorKind::ArgumentListTooLong);
}

#[tokio::test]
async fn a_bare_name_is_that_of_a_file_in_the_directory() {
    use std::os::unix::fs::PermissionsExt as _;
    let directory = TempDir::new().unwrap();
    let program = || Program::new("true").directory(directory.path());
    let missing = ProcessTree::start(program(), &Environment::minimal()).unwrap_err();
    assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    let file = directory.path().join("true");
    fs::write(&file, "#!/bin/sh\nexit 7\n").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    let mut tree = ProcessTree::start(program(), &Environment::minimal()).unwrap();
    tree.exited().await;
    assert_eq!(tree.reap().and_then(|status| status.code()), Some(7));
}
