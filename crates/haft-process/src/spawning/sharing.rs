//! A new process that shares the memory of this one until it executes its program.
//!
//! What `fork` makes has a copy of the tables of this process's memory, which takes some 80 ms where that is 1 GiB. The
//! standard library avoids it by `posix_spawn`, but not for a process that starts a session, and no library puts a process
//! into its control group while it is made. To move it afterwards takes some 10 ms, in which it can have started others
//! outside. So it is made here by `clone3`, with `CLONE_VM` and `CLONE_VFORK` as by `posix_spawn`.
#![expect(
    unsafe_code,
    reason = "no library makes a process in a control group and a session without copying memory"
)]

use std::arch::asm;
use std::collections::BTreeMap;
use std::ffi::{CStr, CString, OsStr, OsString, c_char, c_int, c_long};
use std::fs::File;
use std::io;
use std::mem;
use std::os::fd::{AsFd as _, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::ptr;

use rustix::io::{Errno, fcntl_dupfd_cloexec, retry_on_intr};
use rustix::process::{Pid, WaitOptions, waitpid};

use super::NotStarted;
use crate::program::Program;

/// What runs files that are no programs, as `execvp(3)` has it.
const SHELL: &CStr = c"/bin/sh";

/// Resets all handlers of signals (`CLONE_CLEAR_SIGHAND`, include/uapi/linux/sched.h); of Linux 5.5.
const WITHOUT_HANDLERS: u64 = 1 << 32;

/// Puts the process into a control group (`CLONE_INTO_CGROUP`, include/uapi/linux/sched.h); of Linux 5.7.
const INTO_CGROUP: u64 = 1 << 33;

/// Has descriptors closed when a program is executed (`CLOSE_RANGE_CLOEXEC`, `close_range(2)`).
const CLOSED_WITH_EXEC: libc::c_uint = 1 << 2;

/// What is said of a process that has not come as far as to its program.
const NOT_BEGUN: c_int = -1;

/// What a process exits with that could not execute its program, which nobody sees.
const NOT_EXECUTED: c_int = 127;

/// `struct clone_args` of `clone3` (`clone(2)`).
#[repr(C)]
#[derive(Default)]
struct CloneArguments {
    flags: u64,
    pidfd: u64,
    child_tid: u64,
    parent_tid: u64,
    exit_signal: u64,
    stack: u64,
    stack_size: u64,
    tls: u64,
    set_tid: u64,
    set_tid_size: u64,
    cgroup: u64,
}

/// What the new process needs to become the program. It is made before, since the new process may not allocate.
struct Child {
    path: *const c_char,
    /// The shell, what the program is called, its arguments, and the end. Without its first it is the program's, and with
    /// the path in the second place it is that of the shell.
    arguments: *mut *const c_char,
    variables: *const *const c_char,
    /// Where it runs, if not where this process does.
    directory: *const c_char,
    /// What becomes its standard streams; none of them has the number of one.
    streams: [c_int; 3],
    /// What it has to do before, and what it is given besides.
    program: *const Program,
    /// Why there is no program, which the new process says: [`NOT_BEGUN`], an error of the system's, or 0 if there is one.
    error: c_int,
}

/// Starts a program with these variables as the leader of a new session, in a control group if one is given.
///
/// This thread halts until the program is executed.
pub(crate) fn spawn(
    program: &Program,
    variables: &BTreeMap<OsString, OsString>,
    cgroup: Option<BorrowedFd<'_>>,
) -> Result<Pid, NotStarted> {
    let path = c_string(program.path.as_os_str())?;
    let name = program.name.as_deref().map(c_string).transpose()?;
    let directory =
        program.directory.as_ref().map(|directory| c_string(directory.as_os_str())).transpose()?;
    let arguments: Vec<CString> =
        program.arguments.iter().map(|argument| c_string(argument)).collect::<Result<_, _>>()?;
    let variables: Vec<CString> = variables.iter().map(variable).collect::<Result<_, _>>()?;
    let streams = Streams::of(program).map_err(NotStarted::Failed)?;

    let first = name.as_ref().unwrap_or(&path);
    let all = [SHELL, first].into_iter().chain(arguments.iter().map(CString::as_c_str));
    let mut arguments: Vec<*const c_char> = all.map(CStr::as_ptr).chain([ptr::null()]).collect();
    let variables: Vec<*const c_char> =
        variables.iter().map(|variable| variable.as_ptr()).chain([ptr::null()]).collect();
    let mut child = Child {
        path: path.as_ptr(),
        arguments: arguments.as_mut_ptr(),
        variables: variables.as_ptr(),
        directory: directory.as_ref().map_or(ptr::null(), |directory| directory.as_ptr()),
        streams: streams.numbers(),
        program: ptr::from_ref(program),
        error: NOT_BEGUN,
    };
    // SAFETY: all that the child points to outlives the call, and nobody else has it.
    let pid = unsafe { start(&mut child, cgroup) }?;
    if child.error == 0 {
        return Ok(pid);
    }
    // It has ended already, and left only its number.
    let _ = retry_on_intr(|| waitpid(Some(pid), WaitOptions::empty()));
    Err(match child.error {
        // Linux as of 6.18 kills what is put into a group if the processes of either group were killed together before.
        NOT_BEGUN => NotStarted::Unable,
        error => NotStarted::Failed(io::Error::from_raw_os_error(error)),
    })
}

fn c_string(text: &OsStr) -> Result<CString, NotStarted> {
    CString::new(text.as_bytes()).map_err(|error| NotStarted::Failed(error.into()))
}

fn variable((name, value): (&OsString, &OsString)) -> Result<CString, NotStarted> {
    let both = [name.as_bytes(), b"=", value.as_bytes()].concat();
    CString::new(both).map_err(|error| NotStarted::Failed(error.into()))
}

/// The descriptors of the new process, of which it is given copies under other numbers.
struct Streams<'a> {
    given: [Option<BorrowedFd<'a>>; 3],
    /// In the place of those that are not given, and of those that have the number of another.
    own: [Option<OwnedFd>; 3],
}

impl<'a> Streams<'a> {
    fn of(program: &'a Program) -> io::Result<Self> {
        let given = program.streams.each_ref().map(|stream| stream.as_ref().map(|stream| stream.as_fd()));
        let mut own = [None, None, None];
        for (place, (given, own)) in given.iter().zip(&mut own).enumerate() {
            let null;
            let stream = match given {
                Some(stream) if stream.as_raw_fd() > libc::STDERR_FILENO => continue,
                Some(stream) => *stream,
                None => {
                    null = File::options().read(place == 0).write(place > 0).open("/dev/null")?;
                    if null.as_raw_fd() > libc::STDERR_FILENO {
                        *own = Some(null.into());
                        continue;
                    }
                    null.as_fd()
                }
            };
            *own = Some(fcntl_dupfd_cloexec(stream, libc::STDERR_FILENO + 1)?);
        }
        Ok(Self { given, own })
    }

    fn numbers(&self) -> [c_int; 3] {
        let mut numbers = [-1; 3];
        for (number, (given, own)) in numbers.iter_mut().zip(self.given.iter().zip(&self.own)) {
            let own = own.as_ref().map(AsRawFd::as_raw_fd);
            *number = own.or(given.as_ref().map(AsRawFd::as_raw_fd)).unwrap_or(-1);
        }
        numbers
    }
}

/// Makes the process, which shares this one's memory and uses this thread's stack while the thread halts.
///
/// # Safety
///
/// What the child points to is valid as it says.
unsafe fn start(child: &mut Child, cgroup: Option<BorrowedFd<'_>>) -> Result<Pid, NotStarted> {
    // With no handler of a signal left, none runs in the new process on memory that it only shares.
    let mut how = CloneArguments {
        flags: (libc::CLONE_VM | libc::CLONE_VFORK).unsigned_abs().into(),
        exit_signal: libc::SIGCHLD.unsigned_abs().into(),
        ..CloneArguments::default()
    };
    how.flags |= WITHOUT_HANDLERS;
    if let Some(cgroup) = cgroup {
        how.flags |= INTO_CGROUP;
        how.cgroup = cgroup.as_raw_fd().unsigned_abs().into();
    }
    let made: c_long;
    // SAFETY: the kernel preserves all registers but these three. The process that is made comes to where the result is
    // zero; it calls the function, which does not return, and writes only below the stack of this thread, which halts
    // meanwhile. So the block is left once, and what its caller keeps is as it was.
    unsafe {
        asm!(
            "syscall",
            "test rax, rax",
            "jnz 2f",
            "mov rdi, r8",
            "call rdx",
            "ud2",
            "2:",
            inlateout("rax") libc::SYS_clone3 => made,
            in("rdi") &raw const how,
            in("rsi") size_of::<CloneArguments>(),
            in("rdx") become_program as unsafe extern "C" fn(*mut Child) -> !,
            in("r8") ptr::from_mut(child),
            lateout("rcx") _,
            lateout("r11") _,
        );
    }
    if let Some(pid) = i32::try_from(made).ok().and_then(Pid::from_raw) {
        return Ok(pid);
    }
    let error = io::Error::from_raw_os_error(c_int::try_from(-made).unwrap_or(libc::ENOSYS));
    let is_short = matches!(Errno::from_io_error(&error), Some(Errno::AGAIN | Errno::NOMEM));
    Err(if is_short { NotStarted::Failed(error) } else { NotStarted::Unable })
}

/// What the new process does: it becomes the program, or ends and has said why not.
///
/// # Safety
///
/// It is a process of its own, and what the child points to is valid as it says.
unsafe extern "C" fn become_program(child: *mut Child) -> ! {
    // SAFETY: it makes system calls with what the caller vouches for. Nothing allocates, takes a lock or panics.
    unsafe {
        (*child).error = execute(child);
        libc::_exit(NOT_EXECUTED)
    }
}

/// Returns only why the program is not executed.
///
/// # Safety
///
/// As for [`become_program`].
unsafe fn execute(child: *mut Child) -> c_int {
    // SAFETY: as the caller has it; a set and an action of zeros are empty, and the default of `SIGPIPE`, which the
    // standard library ignores in this process.
    unsafe {
        if libc::setsid() < 0 {
            return errno();
        }
        for (stream, target) in (*child).streams.into_iter().zip(libc::STDIN_FILENO..) {
            if libc::dup2(stream, target) < 0 {
                return errno();
            }
        }
        if !(*child).directory.is_null() && libc::chdir((*child).directory) < 0 {
            return errno();
        }
        let action: libc::sigaction = mem::zeroed();
        let none: libc::sigset_t = mem::zeroed();
        if libc::sigaction(libc::SIGPIPE, &raw const action, ptr::null_mut()) < 0
            || libc::sigprocmask(libc::SIG_SETMASK, &raw const none, ptr::null_mut()) < 0
        {
            return errno();
        }
        for preparation in &(*(*child).program).preparations {
            if let Err(error) = preparation.run() {
                return error.raw_os_error().unwrap_or(libc::EINVAL);
            }
        }
        // What other parts of this process have opened without care is not passed on either; before Linux 5.11 it is.
        libc::syscall(libc::SYS_close_range, libc::STDERR_FILENO + 1, libc::c_uint::MAX, CLOSED_WITH_EXEC);
        for passed in &(*(*child).program).passed {
            if libc::fcntl(passed.as_raw_fd(), libc::F_SETFD, 0) < 0 {
                return errno();
            }
        }
        (*child).error = 0;
        libc::execve((*child).path, (*child).arguments.add(1), (*child).variables);
        if errno() == libc::ENOEXEC {
            *(*child).arguments.add(1) = (*child).path;
            libc::execve(SHELL.as_ptr(), (*child).arguments, (*child).variables);
        }
        errno()
    }
}

/// Why the last system call of this thread has failed.
///
/// # Safety
///
/// None is needed: the thread has such a place.
unsafe fn errno() -> c_int {
    // SAFETY: the place is the thread's own.
    unsafe { *libc::__errno_location() }
}
