use std::io;
use std::os::fd::OwnedFd;
use std::path::{Component, Path};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, RenameFlags, openat, renameat_with, statat};

/// What is put behind the name of what is set aside.
pub(super) const ASIDE: &str = ".set-aside";

/// How a directory is opened of which only entries are named. On Linux it need not be one that can be read.
#[cfg(target_os = "linux")]
const DIRECTORY: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
const DIRECTORY: OFlags = OFlags::DIRECTORY.union(OFlags::CLOEXEC);

/// Renames an entry below a root, through no link.
pub(super) fn move_aside(root: &Path, path: &Path) -> io::Result<()> {
    let below = path.strip_prefix(root).map_err(io::Error::other)?;
    let (Some(above), Some(name)) = (below.parent(), below.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let root: OwnedFd = openat(CWD, root, DIRECTORY, Mode::empty())?;
    let parent = above.components().try_fold(root, |directory, part| match part {
        Component::Normal(part) => Ok(openat(&directory, part, DIRECTORY | OFlags::NOFOLLOW, Mode::empty())?),
        _ => Err(io::Error::from(io::ErrorKind::InvalidInput)),
    })?;
    // What is no longer there needs no other name.
    statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW)?;
    let mut aside = name.to_owned();
    aside.push(ASIDE);
    for number in 1..100 {
        match renameat_with(&parent, name, &parent, &aside, RenameFlags::NOREPLACE) {
            Err(rustix::io::Errno::EXIST) => {
                name.clone_into(&mut aside);
                aside.push(format!("{ASIDE}-{number}"));
            }
            result => return Ok(result?),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use haft_testkit::Tree;
    use std::fs;

    #[test]
    fn goes_through_no_link_and_replaces_nothing() {
        let tree = Tree::new()
            .file("a/b/.envrc", "1")
            .file("a/b/.envrc.set-aside", "0")
            .file("out/.envrc", "2")
            .link("a/l", "../out");
        let root = tree.path();
        move_aside(root, &root.join("a/b/.envrc")).unwrap();
        assert_eq!([tree.read("a/b/.envrc.set-aside"), tree.read("a/b/.envrc.set-aside-1")], ["0", "1"]);
        move_aside(root, &root.join("a/l/.envrc")).unwrap_err();
        move_aside(root, &root.join("a/b/../../out/.envrc")).unwrap_err();
        move_aside(root, root).unwrap_err();
        move_aside(&root.join("a"), &root.join("out/.envrc")).unwrap_err();
        assert_eq!(fs::read_to_string(root.join("out/.envrc")).unwrap(), "2");
    }
}
