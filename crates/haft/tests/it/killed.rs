//! A process that is killed between any two changes that a call of a file tool makes.

use haft::store::SqliteChanges;
use haft::workdir::{ChangeOrigin, UndoPlan};
use haft::{ToolRegistry, Workdir};
use haft_testkit::call;
use nix::errno::Errno;
use nix::libc;
use nix::sys::ptrace::{self, Options};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, gettid};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use tempfile::TempDir;

const CALL: &str = "HAFT_TEST_CALL";
const PLACE: &str = "HAFT_TEST_PLACE";

/// How many processes are killed for one call at most, at places that are spread evenly over its changes; with `HAFT_CRASHES=all`
/// one is at each place.
const KILLED: usize = 60;

/// The test that is the other process.
const NAME: &str = "killed::makes_its_call";

/// What changes nothing, so that a process that is killed before it leaves what one leaves that is killed after it.
const HARMLESS: [libc::c_long; 30] = [
    libc::SYS_read,
    libc::SYS_pread64,
    libc::SYS_lseek,
    libc::SYS_fstat,
    libc::SYS_newfstatat,
    libc::SYS_statx,
    libc::SYS_futex,
    libc::SYS_fcntl,
    libc::SYS_flock,
    libc::SYS_close,
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mprotect,
    libc::SYS_madvise,
    libc::SYS_brk,
    libc::SYS_getrandom,
    libc::SYS_getpid,
    libc::SYS_geteuid,
    libc::SYS_clock_gettime,
    libc::SYS_openat2,
    libc::SYS_readlinkat,
    libc::SYS_getdents64,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_flistxattr,
    libc::SYS_fgetxattr,
    libc::SYS_fsync,
    libc::SYS_fdatasync,
    libc::SYS_sched_yield,
    libc::SYS_restart_syscall,
];

/// A tree, beside which is the journal of what is changed in it.
struct Place(TempDir);

/// What is at a path: the mode, and of a file the content and how many names it has.
type Found = BTreeMap<String, (u32, Option<(String, u64)>)>;

impl Place {
    fn new() -> Self {
        let place = Self(TempDir::new().unwrap());
        let root = place.0.path().join("root");
        fs::create_dir_all(root.join("dir")).unwrap();
        fs::write(root.join("dir/a"), "one\ntwo\nthree\n").unwrap();
        fs::write(root.join("dir/b"), "b\n").unwrap();
        fs::set_permissions(root.join("dir/b"), fs::Permissions::from_mode(0o750)).unwrap();
        fs::write(root.join("dir/d"), "d\n").unwrap();
        fs::set_permissions(root.join("dir/d"), fs::Permissions::from_mode(0o640)).unwrap();
        fs::write(root.join("c"), format!("first\n{}", "c\n".repeat(5_000))).unwrap();
        fs::hard_link(root.join("c"), root.join("linked")).unwrap();
        place
    }

    fn workdir(&self) -> Workdir {
        let journal = SqliteChanges::open(self.0.path().join("changes.db")).unwrap();
        Workdir::open(self.0.path().join("root")).unwrap().journalled(Arc::new(journal))
    }

    fn found(&self) -> Found {
        let mut found = Found::new();
        collect(&self.0.path().join("root"), "", &mut found);
        found
    }
}

fn collect(directory: &Path, below: &str, found: &mut Found) {
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{below}{}", entry.file_name().to_str().unwrap());
        let metadata = entry.metadata().unwrap();
        let mode = metadata.permissions().mode() & 0o7777;
        let file =
            (!metadata.is_dir()).then(|| (fs::read_to_string(entry.path()).unwrap(), metadata.nlink()));
        found.insert(name.clone(), (mode, file));
        if metadata.is_dir() {
            collect(&entry.path(), &format!("{name}/"), found);
        }
    }
}

fn registry(workdir: &Workdir) -> ToolRegistry {
    let tools = haft::fs::tools(workdir);
    #[cfg(feature = "fs-manage")]
    let tools = tools.into_iter().chain(haft::fs::manage_tools(workdir));
    ToolRegistry::of(tools).unwrap()
}

/// A process that makes one call once it is told to.
struct Other {
    process: Child,
    output: BufReader<ChildStdout>,
}

/// What came of a process that was let go so far.
#[derive(Debug, PartialEq)]
enum Ending {
    Killed,
    /// It was done with everything, after so many changes.
    Done(usize),
    /// The system lets no process follow another.
    Forbidden,
}

impl Other {
    fn start(place: &Place, tool: &str, input: &Value) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", NAME, "--ignored", "--nocapture", "--test-threads=1"]);
        command.env(CALL, json!({ "tool": tool, "input": input }).to_string()).env(PLACE, place.0.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        Self { process, output }
    }

    /// Waits until it says which of its threads changes files.
    fn thread(&mut self) -> Pid {
        let mut line = String::new();
        loop {
            line.clear();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "the other process ended early");
            // Whoever runs the tests may have written the name of the test in front.
            if let Some((_, number)) = line.split_once("thread:") {
                return Pid::from_raw(number.trim().parse().unwrap());
            }
        }
    }

    /// Lets it go until it is about to change something for the time after so many.
    fn kill_before(mut self, changes: usize) -> Ending {
        let thread = self.thread();
        match ptrace::seize(thread, Options::PTRACE_O_EXITKILL | Options::PTRACE_O_TRACESYSGOOD) {
            Ok(()) => {}
            Err(Errno::EPERM | Errno::ENOSYS) => {
                self.process.kill().unwrap();
                self.process.wait().unwrap();
                return Ending::Forbidden;
            }
            Err(errno) => panic!("{errno}"),
        }
        let stopped = || match waitpid(thread, Some(WaitPidFlag::__WALL)) {
            Ok(WaitStatus::Exited(..) | WaitStatus::Signaled(..)) | Err(Errno::ECHILD) => None,
            Ok(status) => Some(status),
            Err(errno) => panic!("{errno}"),
        };
        ptrace::interrupt(thread).unwrap();
        let mut stop = stopped();
        self.process.stdin.as_mut().unwrap().write_all(b"begin\n").unwrap();
        let mut made = 0;
        while let Some(status) = stop {
            if matches!(status, WaitStatus::PtraceSyscall(_)) && is_about_to_change(thread) {
                if made == changes {
                    break;
                }
                made += 1;
            }
            stop = if ptrace::syscall(thread, None).is_ok() { stopped() } else { None };
        }
        self.process.kill().unwrap();
        if stop.is_some() {
            // The thread that is followed ends first, and is waited for by whoever follows it.
            while stopped().is_some() {}
        }
        let is_done = self.process.wait().unwrap().success();
        assert!(stop.is_some() || is_done || made > 0, "the other process failed");
        if stop.is_some() { Ending::Killed } else { Ending::Done(made) }
    }
}

/// Tells whether a thread that is stopped at a system call is at its beginning, and it may change something.
#[cfg(target_arch = "x86_64")]
fn is_about_to_change(thread: Pid) -> bool {
    let Ok(registers) = ptrace::getregs(thread) else { return false };
    let number = registers.orig_rax.cast_signed();
    let is_entry = registers.rax.cast_signed() == -i64::from(libc::ENOSYS);
    let opens = number == libc::SYS_openat;
    let creates = registers.rdx & u64::from(libc::O_CREAT.cast_unsigned()) != 0;
    is_entry && !HARMLESS.contains(&number) && (!opens || creates)
}

/// Where registers are not known by name, each beginning and end of a system call counts.
#[cfg(not(target_arch = "x86_64"))]
fn is_about_to_change(_: Pid) -> bool {
    let _ = HARMLESS;
    true
}

#[test]
#[ignore = "it is run by others, as a process of its own"]
fn makes_its_call() {
    let (Ok(asked), Some(place)) = (std::env::var(CALL), std::env::var_os(PLACE)) else { return };
    let asked: Value = serde_json::from_str(&asked).unwrap();
    let place = Path::new(&place);
    let journal = SqliteChanges::open(place.join("changes.db")).unwrap();
    let workdir = Workdir::open(place.join("root")).unwrap().journalled(Arc::new(journal));
    let tools = registry(&workdir);
    // One thread does all that blocks, and does not end before it is told to begin.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .max_blocking_threads(1)
        .thread_keep_alive(std::time::Duration::from_mins(10))
        .build()
        .unwrap();
    let reply = runtime.block_on(async {
        let thread = tokio::task::spawn_blocking(gettid).await.unwrap();
        std::io::stdout().write_all(format!("thread:{thread}\n").as_bytes()).unwrap();
        std::io::stdout().flush().unwrap();
        std::io::stdin().read_line(&mut String::new()).unwrap();
        call(&tools, asked["tool"].as_str().unwrap(), asked["input"].clone()).await
    });
    assert!(reply.status.is_ok(), "{}", reply.output.to_text());
}

/// Kills a call before each of its changes; what the next process finds is as before the call or as after it.
fn check(tool: &str, input: &Value) {
    let whole = Place::new();
    let before = whole.found();
    let Ending::Done(all) = Other::start(&whole, tool, input).kill_before(usize::MAX) else {
        std::io::stderr().write_all(b"skipped: no process may follow another here\n").unwrap();
        return;
    };
    assert!(all > 10, "{all} are too few to have been a change of a file");
    let after = whole.found();
    assert_ne!(before, after);
    let killed = if std::env::var("HAFT_CRASHES").is_ok_and(|said| said == "all") { all } else { KILLED };
    for changes in (0..).step_by(all.div_ceil(killed)) {
        let place = Place::new();
        let ending = Other::start(&place, tool, input).kill_before(changes);
        let workdir = place.workdir();
        let recovered = workdir.recover().unwrap();
        assert!(recovered.iter().all(|set| set.left.is_empty()), "{changes}: {recovered:?}");
        let sets = workdir.journal().unwrap().sets(&"test".parse().unwrap()).unwrap();
        let expected = if sets.is_empty() { &before } else { &after };
        assert_eq!(&place.found(), expected, "killed after {changes} changes");
        if !sets.is_empty() {
            let origin = ChangeOrigin::new("undo".parse().unwrap(), "undo".parse().unwrap());
            UndoPlan::new(&workdir, &sets).unwrap().apply(&workdir, origin).unwrap();
            assert_eq!(place.found(), before, "undone after {changes} changes");
        }
        if ending != Ending::Killed {
            return;
        }
        // What was taken back can be done again.
        if sets.is_empty() && changes % 16 == 0 {
            let tools = registry(&workdir);
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
            let reply = runtime.block_on(call(&tools, tool, input.clone()));
            assert!(reply.status.is_ok(), "{}", reply.output.to_text());
            assert_eq!(place.found(), after, "done again after {changes} changes");
        }
    }
}

#[test]
fn an_edit_is_made_or_not() {
    check(
        "edit_file",
        &json!({ "path": "dir/a", "edits": [{ "old": "one", "new": "1" }, { "old": "three", "new": "3" }] }),
    );
}

#[test]
fn a_file_is_written_or_not() {
    check("write_file", &json!({ "path": "dir/b", "content": "another\n" }));
    check("write_file", &json!({ "path": "new/deep/file", "content": "new\n" }));
}

#[test]
fn a_patch_of_several_files_is_applied_or_not() {
    let patch = "\
*** Begin Patch
*** Update File: dir/a
@@
-two
+2
*** Update File: c
@@
-first
+1st
*** Add File: new/deep/file
+new
*** Delete File: dir/b
*** Update File: dir/d
*** Move to: moved/d
@@
-d
+e
*** End Patch
";
    check("apply_patch", &json!({ "patch": patch }));
}

#[cfg(feature = "fs-manage")]
#[test]
fn a_directory_is_copied_or_not() {
    check("copy", &json!({ "from": "dir", "to": "new/dir" }));
}

#[cfg(feature = "fs-manage")]
#[test]
fn an_entry_is_moved_or_not() {
    check("move", &json!({ "from": "c", "to": "new/deep/c" }));
    check("move", &json!({ "from": "dir", "to": "new/dir" }));
}

#[cfg(feature = "fs-manage")]
#[test]
fn an_entry_is_deleted_or_not() {
    check("delete", &json!({ "path": "dir" }));
    check("delete", &json!({ "path": "dir/b", "permanently": true }));
}
