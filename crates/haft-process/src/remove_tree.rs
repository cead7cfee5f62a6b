use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{CWD, Dir, FileType, Mode, OFlags, openat};
use rustix::path::Arg;

/// How deep directories are opened up.
const MOST_LEVELS: u32 = 256;

/// Removes a directory with all that is in it, also where programs took their owner's right to write into parts of it, as
/// caches of modules do.
///
/// No link is followed, neither in removing nor in giving the right back, whoever changes the directory meanwhile. Deeper
/// than 256 levels no right is given back. It blocks.
///
/// ```
/// use haft_process::remove_tree;
/// use std::fs::{Permissions, create_dir_all, set_permissions};
/// use std::os::unix::fs::PermissionsExt as _;
///
/// # let place = tempfile::tempdir()?;
/// let tree = place.path().join("tree");
/// create_dir_all(tree.join("cache/module"))?;
/// set_permissions(tree.join("cache"), Permissions::from_mode(0o555))?;
/// remove_tree(&tree)?;
/// assert!(!tree.exists());
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// When it is not there, or something cannot be removed; the rest of it may be gone by then.
pub fn remove_tree(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            open_up(CWD, path, MOST_LEVELS);
            fs::remove_dir_all(path)
        }
        removed => removed,
    }
}

/// Lets the owner into a directory and all those below it.
fn open_up(parent: BorrowedFd<'_>, name: impl Arg + Copy, levels: u32) {
    let Ok(directory) = own(parent, name) else { return };
    let Ok(entries) = Dir::read_from(&directory) else { return };
    for entry in entries.flatten() {
        let may_be_one = matches!(entry.file_type(), FileType::Directory | FileType::Unknown);
        if levels > 0 && may_be_one && ![c".", c".."].contains(&entry.file_name()) {
            open_up(directory.as_fd(), entry.file_name(), levels - 1);
        }
    }
}

/// Gives the owner all rights to a directory, and opens it; what is looked up once cannot be another by then.
#[cfg(target_os = "linux")]
fn own(parent: BorrowedFd<'_>, name: impl Arg + Copy) -> io::Result<OwnedFd> {
    use std::os::fd::AsRawFd as _;
    use std::os::unix::fs::PermissionsExt as _;

    let directory = OFlags::DIRECTORY | OFlags::CLOEXEC;
    let place = openat(parent, name, OFlags::PATH | OFlags::NOFOLLOW | directory, Mode::empty())?;
    fs::set_permissions(format!("/proc/self/fd/{}", place.as_raw_fd()), fs::Permissions::from_mode(0o700))?;
    Ok(openat(&place, c".", directory, Mode::empty())?)
}

/// Gives the owner all rights to a directory, and opens it.
#[cfg(not(target_os = "linux"))]
fn own(parent: BorrowedFd<'_>, name: impl Arg + Copy) -> io::Result<OwnedFd> {
    rustix::fs::chmodat(parent, name, Mode::RWXU, rustix::fs::AtFlags::SYMLINK_NOFOLLOW)?;
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(parent, name, flags, Mode::empty())?)
}

#[cfg(test)]
mod tests {
    use super::{MOST_LEVELS, open_up};
    use rustix::fs::CWD;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

    #[test]
    fn rights_are_given_back_below_a_directory_and_nowhere_else() {
        let (place, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (tree, kept) = (place.path().join("tree"), elsewhere.path().join("kept"));
        fs::create_dir_all(tree.join("closed/deeper")).unwrap();
        fs::create_dir(&kept).unwrap();
        fs::write(tree.join("file"), "").unwrap();
        symlink(&kept, tree.join("closed/link")).unwrap();
        symlink(&kept, place.path().join("link")).unwrap();
        let all = [kept.clone(), tree.join("closed/deeper"), tree.join("closed"), tree.clone()];
        for path in &all {
            fs::set_permissions(path, Permissions::from_mode(0o100)).unwrap();
        }
        fs::set_permissions(&tree, Permissions::from_mode(0o000)).unwrap();

        open_up(CWD, &tree, MOST_LEVELS);
        open_up(CWD, &place.path().join("link"), MOST_LEVELS);
        let modes = all.map(|path| path.metadata().unwrap().mode() & 0o777);
        assert_eq!(modes, [0o100, 0o700, 0o700, 0o700]);
        assert_eq!(tree.join("file").metadata().unwrap().mode() & 0o700, 0o600);
    }
}
