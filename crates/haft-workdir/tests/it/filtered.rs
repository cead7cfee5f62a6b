//! A system that has no `openat2`: an old kernel, or a container whose filter refuses what it does not know.

use std::io::Write as _;

use nix::errno::Errno;
use nix::libc::SYS_openat2;
use nix::sys::ptrace::{self, Options};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use crate::child::{self, Other};
use crate::fixture::Fixture;

/// Lets another process look things up, and answers each `openat2` of it with an error.
fn check(error: Errno) {
    let fixture = Fixture::new("dir/file = inside\nlink -> dir\nout -> {outside}");
    let mut other = Other::start(child::command("look", &fixture.root()));
    let thread = Pid::from_raw(other.line("thread:").parse().unwrap());
    if let Err(errno) = ptrace::seize(thread, Options::PTRACE_O_EXITKILL | Options::PTRACE_O_TRACESYSGOOD) {
        assert!(matches!(errno, Errno::EPERM | Errno::ENOSYS), "{errno}");
        other.process.kill().unwrap();
        other.process.wait().unwrap();
        std::io::stderr().write_all(b"skipped: no process may follow another here\n").unwrap();
        return;
    }
    ptrace::interrupt(thread).unwrap();
    other.begin();
    let mut refused = 0;
    let mut is_refusing = false;
    loop {
        match waitpid(thread, Some(WaitPidFlag::__WALL)) {
            Ok(WaitStatus::Exited(..) | WaitStatus::Signaled(..)) | Err(Errno::ECHILD) => break,
            Ok(WaitStatus::PtraceSyscall(_)) => {
                let mut registers = ptrace::getregs(thread).unwrap();
                if is_refusing {
                    // The error is given in the place of the result.
                    registers.rax = (error as i64).wrapping_neg().cast_unsigned();
                    ptrace::setregs(thread, registers).unwrap();
                    is_refusing = false;
                } else if registers.orig_rax == SYS_openat2.cast_unsigned() {
                    // No system call has this number, so that nothing is done.
                    registers.orig_rax = u64::MAX;
                    ptrace::setregs(thread, registers).unwrap();
                    is_refusing = true;
                    refused += 1;
                }
            }
            Ok(_) => {}
            Err(errno) => panic!("{errno}"),
        }
        if ptrace::syscall(thread, None).is_err() {
            break;
        }
    }
    for workdir in ["opened before", "opened since"] {
        assert_eq!(other.line(&format!("{workdir}:")), "dir/file dir/file inside new out is refused");
    }
    assert!(other.process.wait().unwrap().success());
    assert!(refused > 5, "{refused} refusals are too few to have been asked for each look-up");
    fixture.assert_outside_untouched();
}

#[test]
fn does_without_openat2_in_an_old_kernel() {
    check(Errno::ENOSYS);
}

#[test]
fn does_without_openat2_behind_a_filter() {
    check(Errno::EPERM);
}
