//! What processes leave behind that were killed during a write.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::{Mutex, PoisonError};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, fstat, openat, statat, unlinkat};
use rustix::io::Errno;

use crate::advisory_lock::{Locked, try_lock};
use crate::identity::Identity;
use crate::in_place;
use crate::metadata::EntryKind;
use crate::platform;
use crate::temporary;

/// How many directories are remembered as looked through; then it begins anew.
const REMEMBERED: usize = 4096;

/// Which directory something is, and when it was made: the number of one that was removed is given to another.
type Directory = (Identity, Option<(i64, u32)>);

/// The directories that this process has looked through.
static SWEPT: Mutex<BTreeSet<Directory>> = Mutex::new(BTreeSet::new());

/// Removes from a directory what killed processes left behind, and ends writes in place that they began.
///
/// A process looks through a directory once, before it first writes there, and only while nobody else has locked it. What a
/// living process is at is locked by it and stays. Nothing here is an error: the worst is that a leftover stays.
pub(crate) fn sweep(directory: BorrowedFd<'_>) {
    if is_swept(directory, Mark::No) {
        return;
    }
    if let Ok(handle) = open(directory)
        && try_lock(&handle) != Locked::Held
    {
        sweep_locked(directory);
    }
}

/// Does so where the caller has locked the directory.
pub(crate) fn sweep_locked(directory: BorrowedFd<'_>) {
    if !is_swept(directory, Mark::Yes) {
        let _ = sweep_now(directory);
    }
}

/// Whether a directory is remembered as looked through from now on.
#[derive(Clone, Copy, PartialEq)]
enum Mark {
    Yes,
    No,
}

fn is_swept(directory: BorrowedFd<'_>, mark: Mark) -> bool {
    let Ok(stat) = fstat(directory) else { return true };
    let directory = (Identity::of(&stat), platform::born(directory));
    let mut swept = SWEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if mark == Mark::No {
        return swept.contains(&directory);
    }
    if swept.len() >= REMEMBERED {
        swept.clear();
    }
    !swept.insert(directory)
}

fn open(directory: BorrowedFd<'_>) -> Result<OwnedFd, Errno> {
    openat(directory, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
}

fn sweep_now(directory: BorrowedFd<'_>) -> io::Result<()> {
    let mut entries = Dir::new(open(directory)?)?;
    let mut plans: BTreeMap<u64, String> = BTreeMap::new();
    while let Some(entry) = entries.read() {
        let entry = entry?;
        let Ok(name) = entry.file_name().to_str() else { continue };
        if number(name, temporary::SUFFIX).is_some() {
            let _ = remove(directory, name);
        } else if let Some(inode) = number(name, in_place::SUFFIX) {
            plans.insert(inode, name.to_owned());
        }
    }
    if plans.is_empty() {
        return Ok(());
    }
    // Only now, since there are hardly ever any, is it looked for the files that they are of.
    let mut names = BTreeMap::new();
    entries.rewind();
    while let Some(entry) = entries.read() {
        let entry = entry?;
        let may_be_file = matches!(entry.file_type(), FileType::RegularFile | FileType::Unknown);
        if may_be_file
            && plans.contains_key(&entry.ino())
            && let Ok(name) = entry.file_name().to_str()
        {
            names.insert(entry.ino(), name.to_owned());
        }
    }
    for (inode, plan) in &plans {
        // It stays locked until what it says is done.
        if let Some(_abandoned) = abandoned(directory, plan)? {
            let _ = in_place::recover_left(directory, plan, names.get(inode).map(String::as_str));
        }
    }
    Ok(())
}

/// Reads the number in a name that haft gives to what it will remove again.
fn number(name: &str, suffix: &str) -> Option<u64> {
    let digits = name.strip_prefix(temporary::PREFIX)?.strip_suffix(suffix)?;
    let is_plain = digits.len() == 16 && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    u64::from_str_radix(digits, 16).ok().filter(|_| is_plain)
}

fn remove(directory: BorrowedFd<'_>, name: &str) -> io::Result<()> {
    // It stays locked until it is gone, so that whoever has just created it notices.
    if let Some(_abandoned) = abandoned(directory, name)? {
        unlinkat(directory, name, AtFlags::empty())?;
    }
    Ok(())
}

/// Opens and locks what a name leads to if it is a file that no process holds a lock on.
fn abandoned(directory: BorrowedFd<'_>, name: &str) -> io::Result<Option<OwnedFd>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let stat = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
    if EntryKind::of(&stat) != EntryKind::File {
        return Ok(None);
    }
    let file = openat(directory, name, flags, Mode::empty())?;
    let is_abandoned = Identity::of(&fstat(&file)?) == Identity::of(&stat) && try_lock(&file) == Locked::Yes;
    Ok(is_abandoned.then_some(file))
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn knows_its_own_names() {
        assert_eq!(number(".haft-00000000000000ff.tmp", ".tmp"), Some(255));
        let others = [
            ".haft-ff.tmp",
            ".haft-00000000000000FF.tmp",
            ".haft-+0000000000000ff.tmp",
            ".haft-00000000000000ff.tmp.rs",
            "haft-00000000000000ff.tmp",
            ".haft-trash",
        ];
        for name in others {
            assert_eq!(number(name, ".tmp"), None, "{name}");
        }
    }
}
