//! What a confined program can and cannot do, tried on the kernel this runs on.
//!
//! Where the kernel has no Landlock, a test says so and ends; so it does where something else is missing, but not in CI.
#![expect(clippy::print_stderr, reason = "what is skipped is told")]

use std::fs;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};

use haft_process::sandbox::{Confinement, Network, ResourceLimits, Sandbox, SandboxLack, Scratch};
use haft_process::{Environment, ProcessTree, Program};
use rustix::process::{DumpableBehavior, dumpable_behavior};
use tempfile::TempDir;

/// A directory with a writable `in` and, beside it, an `out` that holds a `secret`.
pub(crate) struct Place {
    _directory: TempDir,
    pub(crate) root: PathBuf,
    confinement: Confinement,
    sandbox: Sandbox,
}

fn environment() -> Environment {
    Environment::from_vars(std::env::vars_os())
}

fn bash<const N: usize>(arguments: [&str; N]) -> Program {
    Program::new(environment().find_program("bash").expect("there is a bash")).arguments(arguments)
}

impl Place {
    /// Nothing where this machine cannot confine programs, which is told.
    fn new() -> Option<Self> {
        let directory = TempDir::new().expect("there is room");
        let root = directory.path().canonicalize().expect("it is there");
        fs::create_dir_all(root.join("in/.git/hooks")).expect("it is made");
        fs::write(root.join("in/.git/config"), "[core]\n").expect("it is made");
        fs::create_dir_all(root.join("out")).expect("it is made");
        fs::write(root.join("out/secret"), "hunter2\n").expect("it is made");
        let confinement = Confinement::of_programs(&environment()).write(root.join("in"));
        let mut lacks = Sandbox::probe().lacks(&confinement.clone().protect(root.join("in/.git/hooks")));
        lacks.retain(|lack| !lack.is_of_limits());
        if lacks.is_empty() {
            return Some(Self {
                _directory: directory,
                root,
                confinement,
                sandbox: Sandbox::probe().clone(),
            });
        }
        let must = std::env::var_os("CI").is_some() && !lacks.contains(&SandboxLack::Files);
        assert!(!must, "this machine cannot confine programs: {lacks:?}");
        eprintln!("skipped, because this machine cannot confine programs: {lacks:?}");
        None
    }

    /// The same by bubblewrap alone; nothing where that is not there, which is told.
    pub(crate) fn by_bubblewrap() -> Option<Self> {
        let place = Self::new()?;
        let sandbox = place.sandbox.by_bubblewrap();
        assert!(sandbox.is_some() || std::env::var_os("CI").is_none(), "`bwrap` is not there");
        if sandbox.is_none() {
            eprintln!("skipped, because `bwrap` is not there");
        }
        Some(Self { sandbox: sandbox?, ..place })
    }

    pub(crate) fn with(mut self, change: impl FnOnce(Confinement, &Path) -> Confinement) -> Self {
        self.confinement = change(self.confinement, &self.root);
        self
    }

    /// Runs a script in the writable directory, and gives its exit code and what it printed.
    pub(crate) async fn run(&self, script: &str) -> (Option<i32>, String) {
        let directory = self.root.join("in");
        let output = self.root.join("output");
        let file = fs::File::create(&output).expect("it is made");
        let program = bash(["-c", script, "bash", &self.root.to_string_lossy()]);
        let program = program.output(file.try_clone().expect("a descriptor")).errors(file);
        let program = self.sandbox.confine(program, &self.confinement, &directory).expect("it is prepared");
        let mut processes = ProcessTree::start(program, &environment()).expect("it starts");
        processes.exited().await;
        let code = processes.reap().and_then(|status| status.code());
        (code, String::from_utf8_lossy(&fs::read(&output).expect("it is there")).into_owned())
    }

    pub(crate) fn everything_outside(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut all: Vec<_> = fs::read_dir(self.root.join("out"))
            .expect("it is there")
            .map(|entry| entry.expect("it is there").path())
            .map(|path| (path.clone(), fs::read(path).unwrap_or_default()))
            .collect();
        all.sort();
        all
    }
}

/// Runs a script that must fail and leave all outside as it was.
async fn cannot_write(script: &str) {
    let Some(place) = Place::new() else { return };
    let before = place.everything_outside();
    let (code, output) = place.run(script).await;
    assert_eq!(place.everything_outside(), before, "{script}: {output}");
    assert_ne!(code, Some(0), "{script}: {output}");
}

#[tokio::test]
async fn writes_where_it_may() {
    let Some(place) = Place::new() else { return };
    let script =
        "mkdir -p a/b && echo x > a/b/c && mv a/b/c a/d && ln a/d e && ln -s d a/f && rm a/d && cat a/../e";
    assert_eq!(place.run(script).await, (Some(0), "x\n".to_owned()));
}

/// Ways to write outside.
pub(crate) const WRITES: [&str; 27] = [
    "echo x > $1/out/new",
    "echo x >> $1/out/secret",
    ": > $1/out/secret",
    "truncate -s 0 $1/out/secret",
    "ln -s $1/out link && echo x > link/new",
    "ln -s $1/out/secret link && echo x > link",
    "ln $1/out/secret hard && echo x > hard",
    "echo x > new && ln new $1/out/new",
    "echo x > new && mv new $1/out/new",
    "mv $1/out/secret .",
    "rm -f $1/out/secret && test ! -e $1/out/secret",
    "mkdir $1/out/new",
    "mkfifo $1/out/new",
    "cd $1/out && echo x > new",
    "exec 3<$1/out && echo x > /proc/self/fd/3/new",
    "echo x > /proc/self/cwd/../out/new",
    "echo x > /proc/self/root/$1/out/new",
    "echo x > /proc/$PPID/cwd/../out/new",
    "echo x > /proc/$PPID/root/$1/out/new",
    "python3 -c 'import sys; open(sys.argv[1] + \"/out/new\", \"w\").write(\"x\")' $1",
    "python3 -c 'import os, sys; os.rename(sys.argv[1] + \"/out/secret\", \"stolen\")' $1",
    "python3 -c 'import os, sys; os.truncate(sys.argv[1] + \"/out/secret\", 0)' $1",
    "mkdir bound && mount --bind $1/out bound && echo x > bound/new",
    "unshare -rm sh -c \"mount --bind $1/out . && echo x > new\"",
    "unshare -U true",
    "nsenter -t 1 -m sh -c \"echo x > $1/out/new\"",
    "tar -C $1/out -cf new.tar secret && tar -C $1/out -xf new.tar",
];

#[tokio::test]
async fn writes_nowhere_else_by_any_route() {
    for script in WRITES {
        cannot_write(script).await;
    }
}

#[tokio::test]
async fn reads_nothing_else() {
    for script in ["cat $1/out/secret", "ls $1/out", "cp $1/out/secret .", "ln $1/out/secret hard; cat hard"]
    {
        let Some(place) = Place::new() else { return };
        let (code, output) = place.run(script).await;
        assert!(code != Some(0) && !output.contains("hunter2"), "{script}: {output}");
    }
    let Some(place) = Place::new() else { return };
    let disks = "for disk in $(ls /sys/block); do head -c 1 /dev/$disk >/dev/null && exit 0; done; exit 1";
    assert_eq!(place.run(disks).await.0, Some(1));
    let place = place.with(|confinement, root| confinement.read(root.join("out")));
    assert_eq!(place.run("cat $1/out/secret").await, (Some(0), "hunter2\n".to_owned()));
}

/// Ways to change what is protected.
const TAMPERS: [&str; 15] = [
    "echo x > .git/hooks/pre-commit",
    "echo x >> .git/config",
    "rm .git/config",
    "mv .git/config old",
    "ln .git/config hard && echo x >> hard",
    "mv .git old",
    "mv .git/hooks old",
    "rmdir .git/hooks",
    "rm -rf .git",
    "echo x > new && mv -f new .git/config",
    "cd .git/hooks && echo x > pre-commit",
    "exec 3<.git/hooks && echo x > /proc/self/fd/3/pre-commit",
    "umount .git/hooks && echo x > .git/hooks/pre-commit",
    "mount -o remount,rw,bind .git/hooks && echo x > .git/hooks/pre-commit",
    "chmod 777 .git/config",
];

#[tokio::test]
async fn what_is_protected_stays_as_it_is() {
    tampers_fail(Place::new).await;
}

/// Checks in a new place for each that no script changes what is protected.
pub(crate) async fn tampers_fail(place: impl Fn() -> Option<Place>) {
    for script in TAMPERS {
        let Some(place) = place() else { return };
        let place = place.with(|confinement, root| {
            confinement.protect(root.join("in/.git/hooks")).protect(root.join("in/.git/config"))
        });
        let (code, output) = place.run(script).await;
        let git = place.root.join("in/.git");
        assert_eq!(
            fs::read_to_string(git.join("config")).ok().as_deref(),
            Some("[core]\n"),
            "{script}: {output}"
        );
        assert_eq!(fs::read_dir(git.join("hooks")).expect("it is there").count(), 0, "{script}: {output}");
        assert_ne!(code, Some(0), "{script}: {output}");
    }
}

#[tokio::test]
async fn a_directory_that_is_protected_is_no_way_in_for_a_program_that_runs_there() {
    let Some(place) = Place::new() else { return };
    let hooks = place.root.join("in/.git/hooks");
    let confinement = place.confinement.clone().protect(&hooks);
    let program = bash(["-c", "echo x > pre-commit"]);
    let program = Sandbox::probe().confine(program, &confinement, &hooks).expect("it is prepared");
    let mut processes = ProcessTree::start(program, &environment()).expect("it starts");
    processes.exited().await;
    assert_eq!(fs::read_dir(&hooks).expect("it is there").count(), 0);
}

#[tokio::test]
async fn git_works_beside_what_is_protected() {
    let Some(place) = Place::new() else { return };
    fs::remove_dir_all(place.root.join("in/.git")).expect("it is removed");
    let place = place.with(|confinement, _| confinement.network(Network::Loopback));
    assert_eq!(place.run("git init -q .").await, (Some(0), String::new()));
    let place = place.with(|confinement, root| {
        confinement.protect(root.join("in/.git/hooks")).protect(root.join("in/.git/config"))
    });
    let script = "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
        set -e
        echo 1 > file; git add file; git commit -qm one
        git checkout -q -b other; echo 2 > file; git commit -qam two; git stash list; git gc -q
        git worktree add -q tree HEAD~1; cat tree/file; cd tree; echo 3 > file; git commit -qam three
        git log --oneline --format=%s";
    assert_eq!(place.run(script).await, (Some(0), "1\nthree\none\n".to_owned()));
}

/// Opens a socket in the manner of a Python expression, and says what became of it.
pub(crate) fn python(expression: &str) -> String {
    format!("python3 -c 'import socket\ns = socket\n{expression}\nprint(\"connected\")'")
}

#[tokio::test]
async fn without_a_network_there_is_none() {
    let tcp = TcpListener::bind("127.0.0.1:0").expect("it listens");
    let udp = UdpSocket::bind("127.0.0.1:0").expect("it listens");
    let (tcp, udp) = (tcp.local_addr().expect("it has one"), udp.local_addr().expect("it has one"));
    let name = format!("haft-sandbox-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).expect("a name");
    let _abstract = UnixListener::bind_addr(&address).expect("it listens");
    let attempts = [
        format!("s.create_connection((\"127.0.0.1\", {}), 20)", tcp.port()),
        format!("s.socket(s.AF_INET, s.SOCK_DGRAM).sendto(b\"x\", (\"127.0.0.1\", {}))", udp.port()),
        "s.socket(s.AF_INET6, s.SOCK_DGRAM).sendto(b\"x\", (\"2001:db8::1\", 53))".to_owned(),
        "s.socket(s.AF_INET6, s.SOCK_STREAM).connect((\"2001:db8::1\", 80))".to_owned(),
        "s.socket(s.AF_INET, s.SOCK_DGRAM).sendto(b\"x\", (\"192.0.2.1\", 53))".to_owned(),
        "s.getaddrinfo(\"example.org\", 80)".to_owned(),
        format!("s.socket(s.AF_UNIX).connect(\"\\0{name}\")"),
        format!("s.socket(s.AF_UNIX, s.SOCK_DGRAM).sendto(b\"x\", \"\\0{name}\")"),
        "s.socket(s.AF_NETLINK, s.SOCK_RAW, 0).bind((0, 0))".to_owned(),
        "s.socket(s.AF_PACKET, s.SOCK_RAW)".to_owned(),
        "s.socket(40, s.SOCK_STREAM)".to_owned(),
        "s.socket(38, s.SOCK_SEQPACKET)".to_owned(),
    ];
    for network in [Network::None, Network::Loopback] {
        for attempt in &attempts {
            let Some(place) = Place::new() else { return };
            let place = place.with(|confinement, _| confinement.network(network.clone()));
            // A datagram to nobody in a network of one's own is not refused, but goes nowhere.
            let goes_nowhere =
                network == Network::Loopback && attempt.contains("SOCK_DGRAM).sendto(b\"x\", (\"127");
            let (code, output) = place.run(&python(attempt)).await;
            assert_eq!(
                (code, output.contains("connected")),
                (Some(i32::from(!goes_nowhere)), goes_nowhere),
                "{network:?} {attempt}: {output}"
            );
        }
    }
    // Nothing has come.
    let udp = UdpSocket::bind("127.0.0.1:0").expect("it listens");
    udp.set_nonblocking(true).expect("it does not wait");
    assert!(udp.recv(&mut [0]).is_err());
}

#[tokio::test]
async fn in_a_network_of_its_own_it_can_serve_itself() {
    let Some(place) = Place::new() else { return };
    let place = place.with(|confinement, _| confinement.network(Network::Loopback));
    let script = python("l = s.create_server((\"127.0.0.1\", 0)); s.create_connection(l.getsockname(), 20)");
    assert_eq!(place.run(&script).await, (Some(0), "connected\n".to_owned()));
}

#[tokio::test]
async fn connects_to_the_ports_it_may_and_to_no_other() {
    let allowed = TcpListener::bind("127.0.0.1:0").expect("it listens");
    let other = TcpListener::bind("127.0.0.1:0").expect("it listens");
    let (allowed, other) =
        (allowed.local_addr().expect("one").port(), other.local_addr().expect("one").port());
    let Some(place) = Place::new() else { return };
    let place = place.with(|confinement, _| confinement.network(Network::Ports([allowed].into())));
    let to = |port: u16| python(&format!("s.create_connection((\"127.0.0.1\", {port}), 20)"));
    assert_eq!(place.run(&to(allowed)).await, (Some(0), "connected\n".to_owned()));
    let fast_open = format!("s.socket().sendto(b\"x\", s.MSG_FASTOPEN, (\"127.0.0.1\", {other}))");
    let multipath = format!("s.socket(s.AF_INET, s.SOCK_STREAM, 262).connect((\"127.0.0.1\", {other}))");
    for refused in [to(other), python(&fast_open), python(&multipath)] {
        let (code, output) = place.run(&refused).await;
        assert!(code == Some(1) && output.contains("PermissionError"), "{refused}: {output}");
    }
}

/// What there is of IP beside TCP, each in both families.
fn beside_tcp() -> impl Iterator<Item = String> {
    let kinds = [
        "s.SOCK_DGRAM",
        "s.SOCK_DGRAM | s.SOCK_CLOEXEC | s.SOCK_NONBLOCK, s.IPPROTO_UDP",
        "s.SOCK_DGRAM, 136",
        "s.SOCK_DGRAM, 1",
        "s.SOCK_DGRAM, 58",
        "s.SOCK_RAW, s.IPPROTO_UDP",
        "s.SOCK_RAW, s.IPPROTO_RAW",
        "s.SOCK_STREAM, 132",
        "s.SOCK_STREAM, 262",
        "s.SOCK_STREAM | s.SOCK_CLOEXEC, 262",
        "s.SOCK_STREAM, 256",
        "s.SOCK_SEQPACKET, 132",
        "6, 33",
        "10",
    ];
    let of = |family| kinds.map(|kind| format!("s.socket(s.{family}, {kind})"));
    of("AF_INET").into_iter().chain(of("AF_INET6"))
}

#[tokio::test]
async fn whoever_may_serve_or_connect_to_an_address_has_nothing_but_tcp() {
    for ports in [[].as_slice(), &[443]] {
        let Some(place) = Place::new() else { return };
        let ports = ports.iter().copied().collect();
        let place = place.with(|confinement, _| confinement.network(Network::Ports(ports)).serve(1));
        for attempt in beside_tcp() {
            let (code, output) = place.run(&python(&attempt)).await;
            assert!(code == Some(1) && output.contains("PermissionError"), "{attempt}: {output}");
        }
        let tcp = "for f in s.AF_INET, s.AF_INET6: s.socket(f, s.SOCK_STREAM, s.IPPROTO_TCP).close(); s.socket(f).close()";
        for works in
            [tcp, "s.create_server((\"127.0.0.1\", 0))", "s.socketpair(); s.getaddrinfo(\"localhost\", 80)"]
        {
            assert_eq!(place.run(&python(works)).await, (Some(0), "connected\n".to_owned()), "{works}");
        }
    }
}

#[tokio::test]
async fn whoever_may_look_names_up_has_udp_for_it_and_nothing_else() {
    let Some(place) = Place::new() else { return };
    let place = place.with(|confinement, _| confinement.network(Network::Ports([53, 443].into())));
    let works = "s.socket(s.AF_INET, s.SOCK_DGRAM); s.socket(s.AF_INET6, s.SOCK_DGRAM, s.IPPROTO_UDP)";
    assert_eq!(place.run(&python(works)).await, (Some(0), "connected\n".to_owned()));
    for attempt in beside_tcp().filter(|attempt| !is_udp(attempt)) {
        let (code, output) = place.run(&python(&attempt)).await;
        assert!(code == Some(1) && output.contains("PermissionError"), "{attempt}: {output}");
    }
}

fn is_udp(attempt: &str) -> bool {
    attempt.ends_with("SOCK_DGRAM)") || attempt.ends_with("SOCK_NONBLOCK, s.IPPROTO_UDP)")
}

#[tokio::test]
async fn what_a_program_gives_up_the_host_keeps() {
    // Until it executes its program the new process has the memory of the host, to which what it gives up must not count: `/proc` shows
    // of a process that cannot be dumped nothing, not even to itself, and no debugger can look at it.
    let before = (dumpable_behavior().expect("it is told"), owner_of_itself());
    assert_eq!(before.0, DumpableBehavior::Dumpable);
    for place in [Place::new, Place::by_bubblewrap] {
        for network in [Network::None, Network::Loopback, Network::Ports([443].into())] {
            let Some(place) = place() else { continue };
            let scratch = Scratch::in_directory(&place.root).expect("it is made");
            let place = place.with(|confinement, root| {
                confinement
                    .protect(root.join("in/.git/hooks"))
                    .hide(root.join("out"))
                    .scratch(&scratch)
                    .network(network)
            });
            assert_eq!(place.run("true").await, (Some(0), String::new()));
            assert_eq!((dumpable_behavior().expect("it is told"), owner_of_itself()), before);
        }
    }
    let status = fs::read_to_string("/proc/self/status").expect("it is shown");
    assert!(status.contains("NoNewPrivs:\t0\n") && status.contains("Seccomp:\t0\n"), "{status}");
}

fn owner_of_itself() -> u32 {
    fs::metadata("/proc/self/environ").expect("it is there").uid()
}

#[tokio::test]
async fn reaches_no_other_process() {
    let Some(place) = Place::new() else { return };
    let host = std::process::id();
    for script in [
        format!("kill -0 {host}"),
        format!("cat /proc/{host}/environ"),
        format!("readlink /proc/{host}/fd/1"),
        format!("ls /proc/{host}/cwd/"),
        "python3 -c 'import ctypes, os; os._exit(0 if ctypes.CDLL(None).ptrace(0, 0, 0, 0) == 0 else 1)'"
            .to_owned(),
    ] {
        let (code, output) = place.run(&script).await;
        assert_ne!(code, Some(0), "{script}: {output}");
    }
}

/// Makes a system call by its number, and prints the error.
fn system_call(number: i64) -> String {
    format!(
        "python3 -c 'import ctypes, os; l = ctypes.CDLL(None, use_errno=True)
l.syscall({number}, 0, 0, 0, 0, 0, 0); print(os.strerror(ctypes.get_errno()))'"
    )
}

#[tokio::test]
#[cfg(target_arch = "x86_64")]
async fn refuses_system_calls() {
    let Some(place) = Place::new() else { return };
    let mut told = Vec::new();
    for (name, number) in [
        ("ptrace", 101),
        ("process_vm_readv", 310),
        ("bpf", 321),
        ("keyctl", 250),
        ("mount", 165),
        ("unshare", 272),
        ("setns", 308),
        ("io_uring_setup", 425),
        ("clone3", 435),
        ("x32 ptrace", 0x4000_0000 + 521),
    ] {
        let (_, output) = place.run(&system_call(number)).await;
        told.push(format!("{name}: {output}"));
    }
    expect_test::expect![[r#"
        ptrace: Operation not permitted
        process_vm_readv: Operation not permitted
        bpf: Operation not permitted
        keyctl: Operation not permitted
        mount: Operation not permitted
        unshare: Operation not permitted
        setns: Operation not permitted
        io_uring_setup: Function not implemented
        clone3: Function not implemented
        x32 ptrace: Function not implemented
    "#]]
    .assert_eq(&told.concat());
}

#[tokio::test]
async fn has_directories_of_its_own_for_what_is_temporary() {
    let Some(elsewhere) = Place::new() else { return };
    let scratch = Scratch::in_directory(&elsewhere.root).expect("it is made");
    let free = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).expect("there is room");
    let root = free.path().canonicalize().expect("it is there");
    if root.starts_with("/tmp") {
        eprintln!("skipped, because the target directory is in /tmp");
        return;
    }
    // What a machine's variables name may lie in /tmp, which would then be left as it is.
    fs::create_dir(root.join("in")).expect("it is made");
    let programs = Confinement::of_programs(&Environment::minimal());
    let confinement = programs.write(root.join("in")).scratch(&scratch);
    assert_eq!(Sandbox::probe().temporary_directory(&confinement), Some("/tmp".into()));
    let place = Place { _directory: free, root, confinement, sandbox: Sandbox::probe().clone() };
    let (code, output) = place.run("ls /tmp; mkdir /tmp/d && mktemp /tmp/d/XXXX >/dev/null; echo $?").await;
    assert_eq!((code, output.as_str()), (Some(0), "0\n"));
    assert!(scratch.path().join("tmp/d").is_dir());
}

#[tokio::test]
async fn the_usual_temporary_directory_stays_where_something_in_it_is_needed() {
    let Some(place) = Place::new() else { return };
    let scratch = Scratch::in_directory(&place.root).expect("it is made");
    let place = place.with(|confinement, _| confinement.read("/tmp/needed").scratch(&scratch));
    let tmp = Sandbox::probe().temporary_directory(&place.confinement).expect("there is one");
    assert_eq!(tmp, scratch.path().join("tmp"));
    let script = format!("TMPDIR={}; echo x > $TMPDIR/x && cat $TMPDIR/x", tmp.display());
    assert_eq!(place.run(&script).await, (Some(0), "x\n".to_owned()));
}

#[tokio::test]
async fn a_scratch_directory_goes_with_its_owner() {
    let directory = TempDir::new().expect("there is room");
    let scratch = Scratch::in_directory(directory.path()).expect("it is made");
    assert_eq!(fs::read_dir(directory.path()).expect("it is there").count(), 1);
    drop(scratch);
    assert_eq!(fs::read_dir(directory.path()).expect("it is there").count(), 0);
}

#[tokio::test]
async fn what_is_hidden_looks_empty() {
    let Some(place) = Place::new() else { return };
    let scratch = Scratch::in_directory(&place.root).expect("it is made");
    fs::write(place.root.join("in/.env"), "TOKEN=hunter2\n").expect("it is made");
    let place = place.with(|confinement, root| {
        confinement.scratch(&scratch).read(root.join("out")).hide(root.join("out")).hide(root.join("in/.env"))
    });
    assert_eq!(place.run("ls $1/out; cat .env; echo end").await, (Some(0), "end\n".to_owned()));
}

#[tokio::test]
async fn a_fork_bomb_comes_to_its_end() {
    let Some(place) = Place::new() else { return };
    if Sandbox::probe().lacks(&place.confinement).contains(&SandboxLack::Processes) {
        eprintln!("skipped, because the processes of this user are not counted");
        return;
    }
    let limits = ResourceLimits { processes: 64, ..ResourceLimits::default() };
    let place = place.with(|confinement, _| confinement.limits(limits).network(Network::Loopback));
    let (_, output) = place.run("bomb() { bomb | bomb & }; bomb; sleep 2; echo end").await;
    assert!(output.contains("Resource temporarily unavailable"), "{output}");
}

#[tokio::test]
async fn files_and_memory_have_a_size() {
    let Some(place) = Place::new() else { return };
    let limits = ResourceLimits { file_bytes: 1 << 20, memory_bytes: 64 << 20, ..ResourceLimits::default() };
    let place = place.with(|confinement, _| confinement.limits(limits));
    let (code, _) = place.run("head -c 2M /dev/zero > large").await;
    assert_ne!(code, Some(0));
    assert_eq!(fs::metadata(place.root.join("in/large")).expect("it is there").len(), 1 << 20);
    let (code, output) = place.run("python3 -c 'bytearray(512 << 20)'").await;
    assert!(code == Some(1) && output.contains("MemoryError"), "{output}");
}
