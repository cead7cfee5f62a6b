use std::fs;
use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, RenameFlags, openat, renameat_with, statat};

/// What is put behind the name of what is set aside.
const ASIDE: &str = ".set-aside";

/// How a directory is opened of which only entries are named. On Linux it need not be one that can be read.
#[cfg(target_os = "linux")]
const DIRECTORY: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
const DIRECTORY: OFlags = OFlags::DIRECTORY.union(OFlags::CLOEXEC);

/// Renames an entry below a root, through no link, and gives the path that it has then.
pub(super) fn move_aside(root: &Path, path: &Path) -> io::Result<PathBuf> {
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
    let mut opened = None;
    for number in 1..100_u64 {
        match renameat_with(&parent, name, &parent, &aside, RenameFlags::NOREPLACE) {
            Err(rustix::io::Errno::EXIST) => {
                name.clone_into(&mut aside);
                // Whoever has taken the first names cannot guess the others.
                let number = if number < 10 { number } else { RandomState::new().hash_one(number) };
                aside.push(format!("{ASIDE}-{number}"));
            }
            // A directory that the script has closed is opened for as long as that takes.
            Err(rustix::io::Errno::ACCESS | rustix::io::Errno::PERM) if opened.is_none() => {
                opened = Some(Opened::new(&parent)?);
            }
            result => return Ok(result.map(|()| path.with_file_name(&aside))?),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// A directory in which may be written while this lives.
struct Opened {
    path: PathBuf,
    mode: fs::Permissions,
}

impl Opened {
    fn new(directory: &OwnedFd) -> io::Result<Self> {
        // By its descriptor, whatever has its name now.
        let path = PathBuf::from(format!("/proc/self/fd/{}", directory.as_raw_fd()));
        let mode = path.metadata()?.permissions();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode.mode() | 0o300))?;
        Ok(Self { path, mode })
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        let _ = fs::set_permissions(&self.path, self.mode.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use haft_testkit::Tree;

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

    #[test]
    fn whoever_takes_the_names_does_not_keep_it_from_being_renamed() {
        let mut tree = Tree::new().file(".envrc", "new").directory(".envrc.set-aside/x");
        for number in 1..200 {
            tree = tree.directory(&format!(".envrc.set-aside-{number}/x"));
        }
        move_aside(tree.path(), &tree.path().join(".envrc")).unwrap();
        assert!(!tree.path().join(".envrc").exists());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_directory_that_was_closed_is_opened_for_it_and_closed_again() {
        let tree = Tree::new().file(".claude/settings.json", "new");
        let directory = tree.path().join(".claude");
        fs::set_permissions(&directory, fs::Permissions::from_mode(0o555)).unwrap();
        move_aside(tree.path(), &directory.join("settings.json")).unwrap();
        assert!(
            !directory.join("settings.json").exists() && directory.join("settings.json.set-aside").exists()
        );
        assert_eq!(directory.metadata().unwrap().permissions().mode() & 0o777, 0o555);
        fs::set_permissions(&directory, fs::Permissions::from_mode(0o755)).unwrap();
    }
}
