//! Unix systems other than Linux: the component walk is the only lookup, and `link` the only exclusive rename.

use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::fs::{Dir, FileType, OFlags};
use rustix::io::{Errno, fcntl_dupfd_cloexec};

/// Opens a directory to look things up in it; POSIX wants read permission for that.
pub(crate) const PLACE: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Never used: [`open_beneath`] is not available.
pub(crate) const ANY_PLACE: OFlags = PLACE;

/// Not available, which the caller finds out when it opens the root.
pub(crate) fn open_beneath(_: BorrowedFd<'_>, _: &str, _: OFlags) -> Result<OwnedFd, Errno> {
    Err(Errno::NOSYS)
}

/// Reads the entries of a directory that was opened to be listed, `.` and `..` among them.
///
/// Each is given with what the directory says it is.
pub(crate) fn each_entry(
    directory: BorrowedFd<'_>,
    mut each: impl FnMut(&[u8], FileType) -> Result<(), Errno>,
) -> Result<(), Errno> {
    let mut entries = Dir::new(fcntl_dupfd_cloexec(directory, 0)?)?;
    while let Some(entry) = entries.read() {
        let entry = entry?;
        each(entry.file_name().to_bytes(), entry.file_type())?;
    }
    Ok(())
}

/// Not available, so that the caller links and unlinks.
pub(crate) fn rename_no_replace(_: (BorrowedFd<'_>, &str), _: (BorrowedFd<'_>, &str)) -> Result<(), Errno> {
    Err(Errno::NOSYS)
}

/// Not available.
#[cfg(not(target_os = "macos"))]
pub(crate) fn keep_extended_attributes(_: BorrowedFd<'_>, _: BorrowedFd<'_>) -> Result<(), Errno> {
    Ok(())
}

/// Not available.
#[cfg(not(target_os = "macos"))]
pub(crate) fn extended_attributes(_: BorrowedFd<'_>) -> Result<Vec<super::ExtendedAttribute>, Errno> {
    Ok(Vec::new())
}

/// Not available.
#[cfg(not(target_os = "macos"))]
pub(crate) fn set_extended_attributes(
    _: BorrowedFd<'_>,
    _: &[super::ExtendedAttribute],
) -> Result<(), Errno> {
    Ok(())
}

/// Not known.
pub(crate) fn born(_: BorrowedFd<'_>) -> Option<(i64, u32)> {
    None
}
