//! Control groups of this process's own, one for each tree, where the system lets it make them.
//!
//! A process is in the group of the one that started it, whatever else it leaves or clears, until somebody who may moves
//! it. So the members of a tree's group are all that came of it. No controller is enabled: nothing is limited or counted.
//!
//! Groups are made below the place of this process in the hierarchy of cgroup v2, in a directory that is locked for as
//! long as this process lives; that of one which is gone can be locked by others, and is removed. Where there is no such
//! hierarchy, the place may not be written, or the kernel is older than 5.14, there are no groups.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::{Access, FlockOperation, Mode, OFlags, access, flock, open, openat};
use rustix::process::Pid;

use crate::marker::Marker;

/// What the directories of hosts are called, before what the marks of their processes begin with.
const PREFIX: &str = "haft-";

/// How often a directory is tried to be removed whose processes were killed, and how long is waited in between.
const MOST_REMOVALS: u32 = 200;
const REMOVE_AGAIN: Duration = Duration::from_millis(5);

/// For how long after the start of a host its directory may not be locked yet.
const YOUNG: Duration = Duration::from_secs(2);

/// How long after the end of a host is waited for what it has left for its end, which asks before it kills.
const LAST_GRACE: Duration = Duration::from_secs(2);

/// How often in a row it may be that no process can be put into a group, before it is not tried any more.
const MOST_REFUSALS: u32 = 4;

/// How many bytes are read of `cgroup.events`, which has two short lines.
const EVENTS_BYTES: usize = 128;

/// Is a control group that holds the processes of one tree.
#[derive(Debug)]
pub(crate) struct Group {
    directory: PathBuf,
    handle: OwnedFd,
    /// Whether nobody should get it any more: into one whose processes were killed together, Linux lets no other be put.
    is_spent: AtomicBool,
}

/// The directory below which this process makes groups.
#[derive(Debug)]
struct Home {
    directory: PathBuf,
    /// Locked for as long as this process lives, however it ends.
    _lock: OwnedFd,
    /// All that were made. Those that nobody else has are free, once no process is left in them.
    groups: Mutex<Vec<Arc<Group>>>,
    made: AtomicU32,
    refusals: AtomicU32,
}

/// That of this process, if it can have one.
fn home() -> Option<&'static Home> {
    static HOME: OnceLock<Option<Home>> = OnceLock::new();
    HOME.get_or_init(|| Home::make(&own_place()?)).as_ref()
}

/// The directory that all groups of this process are in, if it has any.
pub(crate) fn directory() -> Option<&'static Path> {
    home().map(|home| home.directory.as_path())
}

/// Finds the directory below which this process can make control groups for the trees that it starts.
///
/// Looks, and makes none, so that the kernel may refuse one all the same. `None` where there is no cgroup v2, or its place
/// there may not be written.
///
/// ```
/// if let Some(place) = haft_process::control_groups() {
///     println!("calls are held below {}", place.display());
/// }
/// ```
pub fn control_groups() -> Option<PathBuf> {
    own_place().filter(|place| {
        access(place.join("cgroup.procs"), Access::WRITE_OK).is_ok()
            && access(place, Access::WRITE_OK).is_ok()
    })
}

impl Group {
    /// Takes one that is empty, and that nobody else gets while it is held; `None` where there can be none.
    pub(crate) fn take() -> Option<Arc<Self>> {
        let home = home().filter(|home| home.refusals.load(Ordering::Relaxed) < MOST_REFUSALS)?;
        let mut groups = home.groups.lock().unwrap_or_else(PoisonError::into_inner);
        groups.retain(|group| !group.is_spent() || Arc::strong_count(group) > 1 || !remove(&group.directory));
        let is_free =
            |group: &&Arc<Self>| Arc::strong_count(group) == 1 && !group.is_spent() && group.is_empty();
        if let Some(free) = groups.iter().find(is_free) {
            return Some(Arc::clone(free));
        }
        let directory = home.directory.join(home.made.fetch_add(1, Ordering::Relaxed).to_string());
        fs::create_dir(&directory).ok()?;
        let handle = open_directory(&directory).ok()?;
        let group = Arc::new(Self { directory, handle, is_spent: AtomicBool::new(false) });
        groups.push(Arc::clone(&group));
        Some(group)
    }

    fn is_spent(&self) -> bool {
        self.is_spent.load(Ordering::Relaxed)
    }

    /// Takes note that a process was put into one.
    pub(crate) fn has_accepted() {
        if let Some(home) = home() {
            home.refusals.store(0, Ordering::Relaxed);
        }
    }

    /// Takes note that no process could be put into it.
    pub(crate) fn refuses(&self) {
        self.is_spent.store(true, Ordering::Relaxed);
        if let Some(home) = home() {
            home.refusals.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Tells whether no process is alive in it, or in one below it.
    pub(crate) fn is_empty(&self) -> bool {
        self.read_events().is_ok_and(|events| events.lines().any(|line| line == "populated 0"))
    }

    fn read_events(&self) -> io::Result<String> {
        let events = openat(&self.handle, "cgroup.events", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
        let mut read = [0; EVENTS_BYTES];
        let count = rustix::io::read(&events, &mut read)?;
        Ok(String::from_utf8_lossy(&read[..count]).into_owned())
    }

    /// Lists the processes in it and below it.
    pub(crate) fn processes(&self) -> Vec<Pid> {
        let mut found = Vec::new();
        if !self.is_empty() {
            list(&self.directory, &mut found);
        }
        found
    }

    /// Kills all processes in it and below it, also those that are just being started.
    pub(crate) fn kill(&self) {
        self.is_spent.store(true, Ordering::Relaxed);
        kill(&self.directory);
    }
}

impl AsFd for Group {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }
}

impl Home {
    fn make(place: &Path) -> Option<Self> {
        access(place.join("cgroup.procs"), Access::WRITE_OK).ok()?;
        sweep(place);
        let directory = place.join(format!("{PREFIX}{}", Marker::host()));
        fs::create_dir(&directory).ok()?;
        let lock = open_directory(&directory).and_then(|lock| {
            flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
            Ok(lock)
        });
        let type_of = fs::read_to_string(directory.join("cgroup.type")).unwrap_or_default();
        match lock {
            // Somebody who took it for a leftover holds it, or has removed it; below threads there are no processes.
            Ok(lock) if type_of == "domain\n" && directory.join("cgroup.kill").exists() => {
                let (groups, made, refusals) = (Mutex::default(), AtomicU32::new(0), AtomicU32::new(0));
                Some(Self { directory, _lock: lock, groups, made, refusals })
            }
            _ => {
                remove(&directory);
                None
            }
        }
    }
}

/// Finds the directory of the group that this process is in, in the hierarchy of cgroup v2 (`cgroups(7)`).
fn own_place() -> Option<PathBuf> {
    let groups = fs::read("/proc/self/cgroup").ok()?;
    let own = groups.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(b"0::"))?;
    let mounts = fs::read("/proc/self/mountinfo").ok()?;
    place_of(&mounts, Path::new(OsStr::from_bytes(own)))
}

/// Finds where a group is mounted (`proc_pid_mountinfo(5)`).
fn place_of(mounts: &[u8], group: &Path) -> Option<PathBuf> {
    mounts.split(|byte| *byte == b'\n').find_map(|line| {
        let mut fields = line.split(|byte| *byte == b' ');
        let (root, point) = (unescaped(fields.nth(3)?), unescaped(fields.next()?));
        let kind = fields.skip_while(|field| *field != b"-").nth(1)?;
        let below = group.strip_prefix(&root).ok()?;
        let is_below = below.components().all(|part| matches!(part, Component::Normal(_)));
        (kind == b"cgroup2" && is_below).then(|| point.join(below))
    })
}

/// Reads a path in which white space and backslashes are written as three octal digits.
fn unescaped(field: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, behind)) = rest.split_first() {
        let digits =
            behind.get(..3).filter(|_| *first == b'\\').and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 8).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &behind[3..] } else { behind };
    }
    PathBuf::from(OsStr::from_bytes(&bytes))
}

fn open_directory(directory: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(open(directory, flags, Mode::empty())?)
}

fn list(directory: &Path, found: &mut Vec<Pid>) {
    let processes = fs::read_to_string(directory.join("cgroup.procs")).unwrap_or_default();
    // Those of another namespace have the number 0.
    found.extend(processes.lines().filter_map(|number| Pid::from_raw(number.parse().ok()?)));
    for below in groups_below(directory) {
        list(&below, found);
    }
}

fn kill(directory: &Path) {
    let _ = fs::write(directory.join("cgroup.kill"), "1");
}

fn groups_below(directory: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path())
}

/// Removes a directory with all below it, as far as no process is in it.
fn remove(directory: &Path) -> bool {
    for below in groups_below(directory) {
        remove(&below);
    }
    fs::remove_dir(directory).is_ok()
}

/// Finds the directories of hosts that are gone, and locks them.
///
/// One that was made just now is passed over: its host may be about to lock it.
fn left_behind(place: &Path) -> Vec<(PathBuf, OwnedFd)> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let is_old = |directory: &PathBuf| {
        let name = directory.file_name().and_then(OsStr::to_str);
        let began = name.and_then(|name| Marker::began(name.strip_prefix(PREFIX)?));
        began.and_then(|began| now.checked_sub(began)).is_some_and(|age| age >= YOUNG)
    };
    let old = groups_below(place).filter(is_old);
    let left = old.filter_map(|directory| {
        let lock = open_directory(&directory).ok()?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive).ok()?;
        Some((directory, lock))
    });
    left.collect()
}

/// Kills and removes what hosts have left that are gone, beside what else this process does.
fn sweep(place: &Path) {
    let left = left_behind(place);
    if left.is_empty() {
        return;
    }
    // If there cannot be another thread, the next host does it.
    let _ = thread::Builder::new().name("haft-sweeper".to_owned()).spawn(move || {
        thread::sleep(LAST_GRACE);
        for (directory, _lock) in left {
            if !directory.exists() {
                continue;
            }
            kill(&directory);
            for _ in 0..MOST_REMOVALS {
                if remove(&directory) || !directory.exists() {
                    break;
                }
                thread::sleep(REMOVE_AGAIN);
            }
        }
    });
}

#[cfg(test)]
mod tests;
