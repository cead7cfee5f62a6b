//! Confining files by `bwrap`, where there is no Landlock or where only that program may make namespaces.
//!
//! It gives a program a file tree in which there is nothing but what it may read, and a network of its own where it has none.
//! Landlock, for ports and signals, and the limits come before it, and filters are handed to it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Seek as _, Write as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::fs::{MemfdFlags, memfd_create};
use seccompiler::BpfProgram;

use super::calls;
use super::namespaces::protected;
use crate::environment::Environment;
use crate::program::Program;
use crate::sandbox::{Confinement, Network};

/// How many links are followed on one way (`path_resolution(7)`).
const MOST_LINKS: usize = 40;

/// Finds the program, if this user can confine something by it when what it starts may get no more rights.
pub(super) fn find() -> Option<PathBuf> {
    let path = Environment::minimal().find_program("bwrap")?;
    let arguments = [
        "--unshare-user",
        "--unshare-ipc",
        "--unshare-net",
        "--ro-bind",
        "/",
        "/",
        "--dev",
        "/dev",
        "/bin/true",
    ];
    let mut trial = Program::new(&path).arguments(arguments);
    trial.preparations.push(calls::preparation(calls::forbid_new_privileges));
    let status = Command::from(trial).env_clear().status();
    status.is_ok_and(|status| status.success()).then_some(path)
}

/// Has a program started by it, within a confinement.
pub(super) fn confine(
    bubblewrap: &Path,
    program: Program,
    confinement: &Confinement,
    directory: &Path,
    filters: &[BpfProgram],
) -> io::Result<Program> {
    let mut told = told(confinement, directory);
    // Older versions cannot say what the program is told that it is called.
    let Program { path, arguments, streams, mut passed, preparations, .. } = program;
    for filter in filters {
        let file = file_of(&bytes_of(filter))?;
        told.extend(["--add-seccomp-fd".into(), file.as_raw_fd().to_string().into()]);
        passed.push(file);
    }
    // What is in a list of arguments is seen by everybody, and bounded.
    let list: Vec<u8> = told.iter().flat_map(|word| [word.as_bytes(), b"\0"].concat()).collect();
    let list = file_of(&list)?;
    let mut words: Vec<OsString> = vec!["--args".into(), list.as_raw_fd().to_string().into(), "--".into()];
    passed.push(list);
    words.push(path.into());
    words.extend(arguments);
    let mut confined = Program::new(bubblewrap).arguments(words).directory(directory);
    (confined.streams, confined.passed, confined.preparations) = (streams, passed, preparations);
    Ok(confined)
}

/// What it is told of the file tree and the network.
fn told(confinement: &Confinement, directory: &Path) -> Vec<OsString> {
    let mut told: Vec<OsString> =
        ["--unshare-user", "--unshare-ipc", "--cap-drop", "ALL"].map(Into::into).into();
    if matches!(confinement.network, Network::None | Network::Loopback) {
        told.push("--unshare-net".into());
    }
    told.extend(["--dev", "/dev"].map(Into::into));
    let mut tree = Tree::default();
    confinement.reads.iter().for_each(|path| tree.add(path, Bind::ReadOnly));
    confinement.writes.iter().for_each(|path| tree.add(path, Bind::Writable));
    for (link, target) in tree.links() {
        told.extend(["--symlink".into(), target.as_os_str().to_owned(), link.as_os_str().to_owned()]);
    }
    let mut bind = |how: &str, what: &Path, place: &Path| {
        told.extend([how.into(), what.as_os_str().to_owned(), place.as_os_str().to_owned()]);
    };
    // What lies in something else comes after it.
    for (path, how) in &tree.binds {
        bind(if *how == Bind::ReadOnly { "--ro-bind" } else { "--bind" }, path, path);
    }
    for (place, what) in confinement.scratch_places() {
        bind("--bind", &what, place);
    }
    if let Some(scratch) = &confinement.scratch {
        for what in ["tmp", "shm"].map(|name| scratch.join(name)).into_iter().filter(|what| what.is_dir()) {
            bind("--bind", &what, &what);
        }
    }
    let mut kept = protected(confinement);
    kept.sort();
    for (path, is_read_only) in &kept {
        bind(if *is_read_only { "--ro-bind" } else { "--bind" }, path, path);
    }
    if let Some(scratch) = &confinement.scratch {
        for path in confinement.hidden.iter().filter_map(|path| path.canonicalize().ok()) {
            bind("--ro-bind", &scratch.join(if path.is_dir() { "nothing" } else { "no-file" }), &path);
        }
    }
    told.extend(["--chdir".into(), directory.as_os_str().to_owned()]);
    told
}

/// How something is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Bind {
    ReadOnly,
    Writable,
}

/// What there is in a file tree that is made.
#[derive(Debug, Default)]
struct Tree {
    /// Without links, in an order in which what lies in something else comes after it.
    binds: BTreeMap<PathBuf, Bind>,
    /// Links on the ways there, with what they say.
    links: BTreeMap<PathBuf, PathBuf>,
}

impl Tree {
    /// Adds what a path leads to, if there is something, and the links on the way.
    fn add(&mut self, path: &Path, how: Bind) {
        let Ok(real) = path.canonicalize() else { return };
        let known = self.binds.entry(real).or_insert(how);
        *known = how.max(*known);
        let mut path = path.to_owned();
        for _ in 0..MOST_LINKS {
            let mut above: Vec<&Path> = path.ancestors().collect();
            above.reverse();
            let link = above.into_iter().find_map(|above| Some((above.to_owned(), above.read_link().ok()?)));
            let Some((link, target)) = link else { return };
            let rest = path.strip_prefix(&link).map(Path::to_owned).unwrap_or_default();
            path = link.parent().unwrap_or(Path::new("/")).join(&target).join(rest);
            self.links.insert(link, target);
        }
    }

    /// The links that are not there by themselves.
    fn links(&self) -> impl Iterator<Item = (&Path, &Path)> {
        let is_there = |link: &Path| self.binds.keys().any(|bound| link.starts_with(bound));
        self.links
            .iter()
            .filter(move |(link, _)| !is_there(link))
            .map(|(link, target)| (link.as_path(), target.as_path()))
    }
}

/// Writes a filter as the kernel reads it (`struct sock_filter`, `seccomp(2)`).
fn bytes_of(filter: &BpfProgram) -> Vec<u8> {
    let bytes = |line: &seccompiler::sock_filter| {
        [&line.code.to_ne_bytes()[..], &[line.jt, line.jf], &line.k.to_ne_bytes()].concat()
    };
    filter.iter().flat_map(bytes).collect()
}

/// Makes a file in memory.
fn file_of(bytes: &[u8]) -> io::Result<OwnedFd> {
    let mut file = File::from(memfd_create(c"bubblewrap", MemfdFlags::CLOEXEC)?);
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file.into())
}
