//! What a file has besides its content, for the file that takes its place.

use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::{Gid, Mode, Stat, Uid, fchmod, fchown, fstat};
use rustix::io::Errno;

use crate::platform;

/// The permissions a write keeps. Set-user-id and set-group-id go, as they do when a file is written in place.
const KEPT: Mode = Mode::RWXU.union(Mode::RWXG).union(Mode::RWXO);

/// Gives the mode, owner and extended attributes of an old file to the new one.
///
/// Extended attributes, access control lists among them, are read from `handle`, the old file opened for reading. The
/// owner is kept where the process may do that, which only the superuser may in general. Where the group cannot be kept,
/// another group must not get what was meant for that one: the permissions of the group become those of everybody.
pub(crate) fn keep(old: &Stat, handle: Option<BorrowedFd<'_>>, new: BorrowedFd<'_>) -> Result<(), Errno> {
    if let Some(handle) = handle {
        platform::keep_extended_attributes(handle, new)?;
    }
    give_to(new, (old.st_uid, old.st_gid), Mode::from_raw_mode(old.st_mode) & KEPT)
}

/// Gives a file to a user and a group, as far as the process may do that, and then its permissions.
pub(crate) fn give_to(new: BorrowedFd<'_>, (user, group): (u32, u32), mode: Mode) -> Result<(), Errno> {
    let now = fstat(new)?;
    let mut mode = mode;
    let owner = (now.st_uid != user).then(|| Uid::from_raw_unchecked(user));
    let group = (now.st_gid != group).then(|| Gid::from_raw_unchecked(group));
    if (owner.is_some() || group.is_some())
        && fchown(new, owner, group).is_err()
        && group.is_some()
        && fchown(new, None, group).is_err()
    {
        mode = without_group(mode);
    }
    fchmod(new.as_fd(), mode)
}

/// Leaves the group only what everybody may do.
fn without_group(mode: Mode) -> Mode {
    let everybody = (mode & Mode::RWXO).as_raw_mode();
    (mode - Mode::RWXG) | (mode & Mode::from_raw_mode(everybody << 3))
}

#[cfg(test)]
mod tests {
    use super::without_group;
    use rustix::fs::Mode;

    #[test]
    fn another_group_gets_what_everybody_has() {
        let modes = [(0o660, 0o600), (0o664, 0o644), (0o775, 0o755), (0o640, 0o600), (0o646, 0o646)];
        for (before, after) in modes {
            assert_eq!(without_group(Mode::from_raw_mode(before)).as_raw_mode(), after, "{before:o}");
        }
    }
}
