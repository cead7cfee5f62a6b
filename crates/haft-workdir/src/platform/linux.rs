//! What Linux offers beyond POSIX: lookups that the kernel confines, handles that need no read permission.

use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, RawDir, RenameFlags, ResolveFlags, StatxFlags, openat2, renameat_with,
    statx,
};
use rustix::io::Errno;

/// Opens a directory as a place only: search permission is enough.
pub(crate) const PLACE: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Opens an entry of any kind as a place only, without any effect on it.
pub(crate) const ANY_PLACE: OFlags = OFlags::PATH.union(OFlags::CLOEXEC);

/// Opens `path` below `root` and lets the kernel refuse every symbolic link and every way out.
///
/// `ELOOP` means that a symbolic link is in the way, or that the place moved out of the root during the lookup.
pub(crate) fn open_beneath(root: BorrowedFd<'_>, path: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
    let confined = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    openat2(root, path, flags, Mode::empty(), confined).map_err(|errno| match errno {
        Errno::XDEV => Errno::LOOP,
        other => other,
    })
}

/// How much of a directory is read at once, in bytes: some 400 entries.
const LISTED_AT_ONCE: usize = 16 << 10;

/// Reads the entries of a directory that was opened to be listed, `.` and `..` among them.
///
/// Each is given with what the directory says it is. The names are not copied.
pub(crate) fn each_entry(
    directory: BorrowedFd<'_>,
    mut each: impl FnMut(&[u8], FileType) -> Result<(), Errno>,
) -> Result<(), Errno> {
    let mut buffer = [MaybeUninit::uninit(); LISTED_AT_ONCE];
    let mut entries = RawDir::new(directory, &mut buffer);
    while let Some(entry) = entries.next() {
        let entry = entry?;
        each(entry.file_name().to_bytes(), entry.file_type())?;
    }
    Ok(())
}

/// Renames without ever replacing an existing entry.
pub(crate) fn rename_no_replace(
    from: (BorrowedFd<'_>, &str),
    to: (BorrowedFd<'_>, &str),
) -> Result<(), Errno> {
    renameat_with(from.0, from.1, to.0, to.1, RenameFlags::NOREPLACE)
}

/// Tells when a file was made, in seconds since the Unix epoch and nanoseconds, where the file system knows.
///
/// It tells a file from one that was removed before and whose number it has.
pub(crate) fn born(handle: BorrowedFd<'_>) -> Option<(i64, u32)> {
    let stat = statx(handle, "", AtFlags::EMPTY_PATH, StatxFlags::BTIME).ok()?;
    let is_known = StatxFlags::from_bits_retain(stat.stx_mask).contains(StatxFlags::BTIME);
    is_known.then_some((stat.stx_btime.tv_sec, stat.stx_btime.tv_nsec))
}
