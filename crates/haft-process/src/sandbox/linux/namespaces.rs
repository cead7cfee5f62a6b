use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd as _, IntoRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI32, Ordering};

use rustix::fs::CWD;
use rustix::mount::{MoveMountFlags, OpenTreeFlags, move_mount, open_tree};
use rustix::process::{chdir, getegid, geteuid};

use super::calls;
use crate::sandbox::{Confinement, Network};

/// The descriptor of what was not opened.
const NOT_OPENED: i32 = -1;

/// Namespaces for one process and all that comes of it, with what is mounted in them.
pub(super) struct Namespaces {
    flags: libc::c_int,
    has_own_network: bool,
    users: Vec<u8>,
    groups: Vec<u8>,
    mounts: Vec<Mount>,
    directory: Option<CString>,
}

/// Something that is mounted in a place.
struct Mount {
    what: CString,
    place: CString,
    is_read_only: bool,
    /// The descriptor of what is mounted, once the new process has opened it.
    tree: AtomicI32,
}

impl Namespaces {
    /// Prepares those of a confinement, for a program that runs in a directory.
    pub(super) fn of(confinement: &Confinement, directory: &Path) -> io::Result<Self> {
        let mut all = Self::new();
        for (place, what) in confinement.scratch_places() {
            // A link, as `/var/tmp` can be, is another of these places.
            if place.symlink_metadata().is_ok_and(|found| found.is_dir()) && what.is_dir() {
                all.mount(&what, place, false)?;
            }
        }
        let mut protected = protected(confinement);
        // What lies in something else is mounted after it, and on top.
        protected.sort();
        protected.dedup_by(|later, earlier| {
            let is_same = later.0 == earlier.0;
            earlier.1 |= is_same && later.1;
            is_same
        });
        for (path, is_read_only) in &protected {
            all.mount(path, path, *is_read_only)?;
        }
        if let Some(scratch) = &confinement.scratch {
            for path in confinement.hidden.iter().filter_map(|path| path.canonicalize().ok()) {
                let nothing = scratch.join(if path.is_dir() { "nothing" } else { "no-file" });
                all.mount(&nothing, &path, true)?;
            }
        }
        if confinement.network == Network::Loopback {
            all.flags |= libc::CLONE_NEWNET;
            all.has_own_network = true;
        }
        all.directory = Some(text(directory)?);
        Ok(all)
    }

    /// Prepares one of each kind, with a mount that changes nothing.
    pub(super) fn trial() -> io::Result<Self> {
        let mut all = Self::new();
        all.flags |= libc::CLONE_NEWNET;
        all.has_own_network = true;
        all.mount(Path::new("/dev"), Path::new("/dev"), true)?;
        Ok(all)
    }

    fn new() -> Self {
        let (user, group) = (geteuid().as_raw(), getegid().as_raw());
        Self {
            flags: libc::CLONE_NEWUSER | libc::CLONE_NEWNS | libc::CLONE_NEWIPC,
            has_own_network: false,
            users: format!("{user} {user} 1").into_bytes(),
            groups: format!("{group} {group} 1").into_bytes(),
            mounts: Vec::new(),
            directory: None,
        }
    }

    fn mount(&mut self, what: &Path, place: &Path, is_read_only: bool) -> io::Result<()> {
        let (what, place) = (text(what)?, text(place)?);
        self.mounts.push(Mount { what, place, is_read_only, tree: AtomicI32::new(NOT_OPENED) });
        Ok(())
    }

    /// Puts the calling thread into them; makes system calls alone.
    pub(super) fn enter(&self) -> io::Result<()> {
        calls::unshare(self.flags)?;
        // Whoever is alone in a namespace may not drop groups that keep them from something.
        calls::write_to(c"/proc/self/setgroups", b"deny")?;
        calls::write_to(c"/proc/self/uid_map", &self.users)?;
        calls::write_to(c"/proc/self/gid_map", &self.groups)?;
        if self.has_own_network {
            calls::bring_loopback_up()?;
        }
        // What is mounted may lie in a place in which something else is mounted before it, as scratch directories in `/tmp` do.
        for mount in &self.mounts {
            mount.open()?;
        }
        for mount in &self.mounts {
            mount.make()?;
        }
        // The directory that the process is in lies below what was just mounted, if anything was mounted there.
        match &self.directory {
            Some(directory) => Ok(chdir(directory.as_c_str())?),
            None => Ok(()),
        }
    }
}

impl Mount {
    fn open(&self) -> io::Result<()> {
        let flags = OpenTreeFlags::OPEN_TREE_CLONE
            | OpenTreeFlags::OPEN_TREE_CLOEXEC
            | OpenTreeFlags::AT_RECURSIVE
            | OpenTreeFlags::AT_SYMLINK_NOFOLLOW;
        let tree: OwnedFd = open_tree(CWD, self.what.as_c_str(), flags)?;
        if self.is_read_only {
            calls::make_read_only(tree.as_fd())?;
        }
        // This process may share its memory with the host, which has no such descriptor and must not close it. It is closed
        // when the program is executed.
        self.tree.store(tree.into_raw_fd(), Ordering::Relaxed);
        Ok(())
    }

    fn make(&self) -> io::Result<()> {
        let tree = calls::descriptor(self.tree.load(Ordering::Relaxed))?;
        let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
        Ok(move_mount(tree, c"", CWD, self.place.as_c_str(), flags)?)
    }
}

/// Lists what is protected, and the directories above that have to stay where they are, as far as they can be written.
pub(super) fn protected(confinement: &Confinement) -> Vec<(PathBuf, bool)> {
    let writable: Vec<PathBuf> =
        confinement.writes.iter().filter_map(|path| path.canonicalize().ok()).collect();
    let mut all = Vec::new();
    for path in confinement.protected.iter().filter_map(|path| path.canonicalize().ok()) {
        let Some(outermost) =
            writable.iter().filter(|root| path.starts_with(root)).min_by_key(|root| root.as_os_str().len())
        else {
            continue;
        };
        let above =
            path.ancestors().skip(1).take_while(|above| above.starts_with(outermost) && above != outermost);
        all.extend(above.map(|above| (above.to_owned(), false)));
        all.push((path, true));
    }
    all
}

fn text(path: &Path) -> io::Result<CString> {
    Ok(CString::new(path.as_os_str().as_bytes())?)
}
