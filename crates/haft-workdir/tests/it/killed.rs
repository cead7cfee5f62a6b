//! A process that is killed between any two system calls of a write.

use std::fs;
use std::io::Write as _;

use haft_workdir::Existing;
use nix::errno::Errno;
use nix::sys::ptrace::{self, Options};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use crate::child::{self, Other, contents};
use crate::fixture::{Fixture, path};

/// More steps than any write takes; if it takes more, the test says so.
const STEPS: usize = 2_000;

/// What a file holds where its writer was killed, before anyone else has looked after it.
#[derive(Clone, Copy, PartialEq)]
enum AtOnce {
    /// The old content or the new.
    Whole,
    /// Both in part, until the next writer comes.
    Begun,
}

/// What came of a process that was let go so many steps.
#[derive(PartialEq)]
enum Ending {
    Killed,
    Done,
    /// The system lets no process follow another.
    Forbidden,
}

/// Lets another process go `steps` times to where a system call begins or ends, and kills it there.
fn kill_after(steps: usize, task: &str, fixture: &Fixture) -> Ending {
    let mut other = Other::start(child::command(task, &fixture.root()));
    let thread = Pid::from_raw(other.line("thread:").parse().unwrap());
    match ptrace::seize(thread, Options::PTRACE_O_EXITKILL | Options::PTRACE_O_TRACESYSGOOD) {
        Ok(()) => {}
        Err(Errno::EPERM | Errno::ENOSYS) => {
            other.process.kill().unwrap();
            other.process.wait().unwrap();
            return Ending::Forbidden;
        }
        Err(errno) => panic!("{errno}"),
    }
    let stopped = || match waitpid(thread, Some(WaitPidFlag::__WALL)) {
        Ok(WaitStatus::Exited(..) | WaitStatus::Signaled(..)) | Err(Errno::ECHILD) => false,
        Ok(_) => true,
        Err(errno) => panic!("{errno}"),
    };
    ptrace::interrupt(thread).unwrap();
    let mut is_there = stopped();
    other.begin();
    for _ in 0..steps {
        if !is_there || ptrace::syscall(thread, None).is_err() {
            is_there = false;
            break;
        }
        is_there = stopped();
    }
    other.process.kill().unwrap();
    if is_there {
        // The thread that is followed ends first, and is waited for by whoever follows it.
        while stopped() {}
    }
    other.process.wait().unwrap();
    if is_there { Ending::Killed } else { Ending::Done }
}

/// Kills a write after every step and looks at what there is then.
fn check(task: &str, links: &[&str], at_once: AtOnce) {
    let (old, new) = contents(task);
    // The directories stay until the end, so that no two are taken for one.
    let mut kept = Vec::new();
    for steps in 0..STEPS {
        let fixture = Fixture::new("dir/");
        let file = fixture.root().join("dir/file");
        fs::write(&file, &old).unwrap();
        for link in links {
            fs::hard_link(&file, fixture.root().join(link)).unwrap();
        }
        let ending = kill_after(steps, task, &fixture);
        if ending == Ending::Forbidden {
            std::io::stderr().write_all(b"skipped: no process may follow another here\n").unwrap();
            return;
        }
        let whole = |content: Vec<u8>| content == old || content == new;
        assert!(at_once == AtOnce::Begun || whole(fs::read(&file).unwrap()), "after {steps} steps");

        let workdir = fixture.workdir();
        let path = path(&workdir, "dir/file");
        drop(workdir.lock([&path]).unwrap());
        assert!(whole(fs::read(&file).unwrap()), "after {steps} steps");
        assert_eq!(fixture.files().len(), 1 + links.len(), "after {steps} steps a file is left behind");
        for link in links {
            assert!(whole(fs::read(fixture.root().join(link)).unwrap()), "after {steps} steps");
        }
        workdir.write_atomic(&path, b"after", Existing::Replace).unwrap();
        assert!(fixture.files().iter().all(|(_, content)| content == "after"), "after {steps} steps");
        if ending == Ending::Done {
            assert!(steps > 20, "{steps} steps are too few to have been a write");
            return;
        }
        kept.push(fixture);
    }
    panic!("{STEPS} steps are not enough");
}

#[test]
fn leaves_the_old_file_or_the_new() {
    check("write longer", &[], AtOnce::Whole);
}

#[test]
fn leaves_a_file_with_other_names_to_be_ended_by_the_next_writer() {
    check("write longer", &["dir/other"], AtOnce::Begun);
    check("write shorter", &["elsewhere"], AtOnce::Begun);
}
