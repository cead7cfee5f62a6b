//! System calls that have no safe form elsewhere.
//!
//! Each is one call to the kernel and no more, so that it can be made between `fork` and `exec`.
#![expect(unsafe_code, reason = "these system calls are in no library that makes them safe")]

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd, RawFd};
use std::ptr;

use crate::preparation::Preparation;

/// What programs of root keep of its powers: over files and over what they start. With others they could look into any
/// process and name any file.
const KEPT: [libc::c_ulong; 8] = [0, 1, 3, 4, 5, 6, 7, 10];

/// One more than the last capability that there could be.
const CAPABILITIES: libc::c_ulong = 64;

/// Asks for the version instead of a ruleset (`LANDLOCK_CREATE_RULESET_VERSION`, `landlock_create_ruleset(2)`).
const RULESET_VERSION: libc::c_uint = 1;

/// `struct mount_attr` of `mount_setattr(2)`.
#[repr(C)]
struct MountAttributes {
    set: u64,
    clear: u64,
    propagation: u64,
    user_namespace: u64,
}

/// The version of Landlock that the kernel has; 0 where there is none or it is off.
pub(super) fn landlock_version() -> u32 {
    // SAFETY: with this flag there must be no attributes, and there are none.
    let version = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            ptr::null::<libc::c_void>(),
            0_usize,
            RULESET_VERSION,
        )
    };
    u32::try_from(version).unwrap_or(0)
}

/// Tells whether the kernel filters system calls, and can have them fail.
pub(super) fn has_filters() -> bool {
    let action: u32 = libc::SECCOMP_RET_ERRNO;
    // SAFETY: the call reads one number from where the last argument points.
    let found = unsafe {
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_GET_ACTION_AVAIL, 0, ptr::from_ref(&action))
    };
    found == 0
}

/// Gives the calling thread new namespaces.
pub(super) fn unshare(flags: libc::c_int) -> io::Result<()> {
    // SAFETY: it is called in a process that was just forked, where no thread is that could see its files change.
    checked(unsafe { libc::unshare(flags) }.into())
}

/// Makes a detached mount read only.
pub(super) fn make_read_only(mount: BorrowedFd<'_>) -> io::Result<()> {
    let attributes =
        MountAttributes { set: libc::MOUNT_ATTR_RDONLY, clear: 0, propagation: 0, user_namespace: 0 };
    // SAFETY: the path is empty and ends in a NUL byte, and the size is that of the attributes.
    checked(unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_EMPTY_PATH | libc::AT_RECURSIVE,
            ptr::from_ref(&attributes),
            size_of::<MountAttributes>(),
        )
    })
}

/// Switches the loopback device of the thread's network on.
pub(super) fn bring_loopback_up() -> io::Result<()> {
    // SAFETY: a request of zeros is one without a name and flags.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(c"lo".to_bytes()) {
        *to = libc::c_char::from_ne_bytes([*from]);
    }
    request.ifr_ifru.ifru_flags = libc::c_short::try_from(libc::IFF_UP).unwrap_or(1);
    // SAFETY: the arguments are numbers.
    let socket = unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) };
    checked(socket.into())?;
    // SAFETY: the request outlives the call.
    let done = checked(unsafe { libc::ioctl(socket, libc::SIOCSIFFLAGS, ptr::from_ref(&request)) }.into());
    // SAFETY: the descriptor is this function's own.
    unsafe { libc::close(socket) };
    done
}

/// Bounds a resource, as far as its bound is not narrower already.
pub(super) fn limit(resource: libc::c_uint, most: u64) -> io::Result<()> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: both calls are given a limit that outlives them.
    checked(unsafe { libc::getrlimit(resource as _, &raw mut limit) }.into())?;
    limit.rlim_max = limit.rlim_max.min(most);
    limit.rlim_cur = limit.rlim_cur.min(limit.rlim_max);
    // SAFETY: as above.
    checked(unsafe { libc::setrlimit(resource as _, &raw const limit) }.into())
}

/// Sees to it that no program that is executed has more rights than the one that executes it.
pub(super) fn forbid_new_privileges() -> io::Result<()> {
    // SAFETY: the arguments are numbers.
    checked(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }.into())
}

/// Takes from programs that are executed later the powers of root that are not for them.
pub(super) fn drop_capabilities() {
    for capability in (0..CAPABILITIES).filter(|capability| !KEPT.contains(capability)) {
        // SAFETY: the arguments are numbers. It fails for whoever has no powers to drop, and for those that there are not.
        unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) };
    }
    // SAFETY: the arguments are numbers.
    unsafe { libc::prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) };
}

/// Puts the calling thread under the rules of a ruleset.
pub(super) fn restrict_self(ruleset: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: the arguments are numbers.
    checked(unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset.as_raw_fd(), 0) })
}

/// Writes a text into a file of the kernel's in one go.
pub(super) fn write_to(file: &CStr, text: &[u8]) -> io::Result<()> {
    // SAFETY: the name ends in a NUL byte.
    let opened = unsafe { libc::open(file.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC) };
    checked(opened.into())?;
    // SAFETY: as many bytes are read as there are.
    let written = unsafe { libc::write(opened, text.as_ptr().cast(), text.len()) };
    let done = checked(written.try_into().unwrap_or(-1));
    // SAFETY: the descriptor is this function's own.
    unsafe { libc::close(opened) };
    done
}

/// Makes what a new process does before it executes its program.
///
/// What is done must be system calls alone: no memory is allocated, no lock taken and nothing panics.
pub(super) fn preparation(what: impl Fn() -> io::Result<()> + Send + Sync + 'static) -> Preparation {
    // SAFETY: its callers in this module hand over what is only system calls.
    unsafe { Preparation::new(what) }
}

/// Names a descriptor of the calling process by its number.
pub(super) fn descriptor<'a>(number: RawFd) -> io::Result<BorrowedFd<'a>> {
    if number < 0 {
        return Err(io::Error::from_raw_os_error(libc::EBADF));
    }
    // SAFETY: it is not -1, and its callers name what is open until a program is executed.
    Ok(unsafe { BorrowedFd::borrow_raw(number) })
}

fn checked(result: libc::c_long) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
