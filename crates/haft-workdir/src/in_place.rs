//! Writing a file that has other names (hard links), which would keep the old content if another file took its place.
//!
//! Such a file is written where it is. That is not one step, so what is being done is written down first: a file beside
//! it, named `.haft-INODE.redo`, holds the old content and the new. It is complete and flushed before the first byte of
//! the file changes, and removed when the last one has. If the process ends in between, the next writer in that
//! directory finds it and ends what was begun. It does so only if the file holds nothing but what one of the two had
//! in that place; else somebody has written to it since, and it stays as it is.
//!
//! ```text
//! "haft redo 1\n"   device, inode   length of old   length of new   old   new
//! ```

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::BorrowedFd;

use rustix::fs::{AtFlags, Mode, OFlags, fstat, openat, unlinkat};
use rustix::io::Errno;

use crate::advisory_lock::{self, Locked};
use crate::error::Error;
use crate::holds::reads_as;
use crate::identity::Identity;
use crate::metadata::EntryKind;
use crate::path::WorkdirPath;
use crate::temporary::{PREFIX, TemporaryFile, flush_directory};
use crate::write::{Existing, flush};

/// What the names of such plans end with.
pub(crate) const SUFFIX: &str = ".redo";

/// What a plan begins with.
const MAGIC: &[u8] = b"haft redo 1\n";

/// How much is compared and copied at once, in bytes.
const CHUNK: usize = 64 * 1024;

/// Writes a file where it is, or leaves it as it is.
pub(crate) fn write(
    parent: BorrowedFd<'_>,
    name: &str,
    path: &WorkdirPath,
    parts: &[&[u8]],
    expected: Option<&[u8]>,
) -> Result<(), Error> {
    let failed = |errno: Errno| Error::of("write", path, errno);
    let failed_io = |source| Error::Io { action: "write", path: path.clone(), source };
    let mut target = open(parent, name, path)?;
    if advisory_lock::lock(&target) == Locked::Held {
        return Err(Error::Busy { path: path.clone() });
    }
    let identity = Identity::of(&fstat(&target).map_err(failed)?);
    let plan_name = plan_name(identity);
    recover(parent, &plan_name, &mut target).map_err(failed_io)?;
    if let Some(expected) = expected
        && !reads_as(&mut target, expected).map_err(failed_io)?
    {
        return Err(Error::Differs { path: path.clone() });
    }
    let mut plan = TemporaryFile::create(parent, 0o600).map_err(failed)?;
    let old = write_plan(&plan.file, identity, &mut target, parts).map_err(failed_io)?;
    plan.rename(&plan_name, Existing::Replace).map_err(failed)?;
    flush_directory(parent).map_err(failed)?;
    if let Err(error) = overwrite(&mut target, &mut Parts::new(parts)) {
        // The room that the old content took is still there, so that it goes back even on a full disk.
        let mut kept = &plan.file;
        let restored = kept
            .seek(SeekFrom::Start(old.start))
            .and_then(|_| overwrite(&mut target, &mut kept.take(old.length)));
        if restored.is_ok() {
            let _ = unlinkat(parent, &*plan_name, AtFlags::empty());
        }
        return Err(failed_io(error));
    }
    unlinkat(parent, &*plan_name, AtFlags::empty()).map_err(failed)?;
    flush(parent, path)
}

/// Opens a file to be written in place.
fn open(parent: BorrowedFd<'_>, name: &str, path: &WorkdirPath) -> Result<File, Error> {
    let failed = |errno| Error::of("write", path, errno);
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let target = File::from(openat(parent, name, flags, Mode::empty()).map_err(failed)?);
    match EntryKind::of(&fstat(&target).map_err(failed)?) {
        EntryKind::File => Ok(target),
        kind => Err(Error::not_a_file(path, kind)),
    }
}

fn plan_name(identity: Identity) -> String {
    format!("{PREFIX}{:016x}{SUFFIX}", identity.inode())
}

/// Where the old content is in a plan.
struct Kept {
    start: u64,
    length: u64,
}

fn write_plan(mut plan: &File, identity: Identity, target: &mut File, parts: &[&[u8]]) -> io::Result<Kept> {
    let old = target.metadata()?.len();
    let new: u64 = parts.iter().map(|part| part.len() as u64).sum();
    let head = [MAGIC, &identity.to_bytes(), &old.to_le_bytes(), &new.to_le_bytes()].concat();
    plan.write_all(&head)?;
    target.rewind()?;
    if io::copy(&mut target.take(old), &mut plan)? != old {
        return Err(io::Error::other("the file became shorter while it was read"));
    }
    parts.iter().try_for_each(|part| plan.write_all(part))?;
    plan.sync_all()?;
    Ok(Kept { start: head.len() as u64, length: old })
}

/// Puts a new content in the place of the old, from the start.
fn overwrite(target: &mut File, content: &mut impl Read) -> io::Result<()> {
    target.rewind()?;
    let length = io::copy(content, target)?;
    target.set_len(length)?;
    target.sync_all()
}

/// Reads parts one behind the other.
struct Parts<'a> {
    rest: &'a [&'a [u8]],
    first: &'a [u8],
}

impl<'a> Parts<'a> {
    fn new(parts: &'a [&'a [u8]]) -> Self {
        Self { rest: parts, first: &[] }
    }
}

impl Read for Parts<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.first.is_empty() {
            let Some((first, rest)) = self.rest.split_first() else { return Ok(0) };
            (self.first, self.rest) = (first, rest);
        }
        self.first.read(buffer)
    }
}

/// Ends a write of `target` that another process began, if there is one, and removes its plan.
///
/// The target is locked, so that whoever began it is gone.
fn recover(parent: BorrowedFd<'_>, plan_name: &str, target: &mut File) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let plan = match openat(parent, plan_name, flags, Mode::empty()) {
        Ok(plan) => File::from(plan),
        Err(Errno::NOENT) => return Ok(()),
        Err(errno) => return Err(errno.into()),
    };
    if let Some(plan) = Plan::read(plan, target)?
        && plan.is_of(target)?
    {
        let mut content = &plan.file;
        content.seek(SeekFrom::Start(plan.new_start()))?;
        overwrite(target, &mut content.take(plan.new))?;
    }
    unlinkat(parent, plan_name, AtFlags::empty())?;
    Ok(())
}

/// Ends what a plan that was left behind says, where `target` opens the file of a number in the same directory.
pub(crate) fn recover_left(parent: BorrowedFd<'_>, plan_name: &str, name: Option<&str>) -> io::Result<()> {
    let Some(name) = name else {
        // The file is gone from here, and nothing else says what it is by now.
        return Ok(unlinkat(parent, plan_name, AtFlags::empty())?);
    };
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let mut target = File::from(openat(parent, name, flags, Mode::empty())?);
    if EntryKind::of(&fstat(&target)?) != EntryKind::File || advisory_lock::try_lock(&target) != Locked::Yes {
        return Ok(());
    }
    recover(parent, plan_name, &mut target)
}

/// A plan as it was written down.
struct Plan {
    file: File,
    start: u64,
    old: u64,
    new: u64,
}

impl Plan {
    /// Reads a plan; nothing where it is none of haft's, or of another file.
    fn read(mut file: File, target: &File) -> io::Result<Option<Self>> {
        let identity = Identity::of(&fstat(target)?).to_bytes();
        let mut head = vec![0; MAGIC.len() + identity.len() + 16];
        match file.read_exact(&mut head) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            Err(error) => return Err(error),
        }
        let rest = head.strip_prefix(MAGIC).and_then(|rest| rest.strip_prefix(&identity));
        let Some((old, new)) = rest.and_then(|lengths| lengths.split_at_checked(8)) else { return Ok(None) };
        let number = |bytes: &[u8]| bytes.try_into().map_or(0, u64::from_le_bytes);
        let plan = Self { start: head.len() as u64, old: number(old), new: number(new), file };
        let whole = plan.start.checked_add(plan.old).and_then(|length| length.checked_add(plan.new));
        let is_whole = whole == Some(plan.file.metadata()?.len());
        Ok(is_whole.then_some(plan))
    }

    fn new_start(&self) -> u64 {
        self.start + self.old
    }

    /// Tells whether a file holds in each place what the old content or the new has there.
    fn is_of(&self, target: &File) -> io::Result<bool> {
        let length = target.metadata()?.len();
        if length < self.old.min(self.new) || length > self.old.max(self.new) {
            return Ok(false);
        }
        let mut place = 0;
        let [mut now, mut old, mut new] = [const { Vec::new() }; 3];
        while place < length {
            let size = (length - place).min(CHUNK as u64);
            read_at(target, place, size, &mut now)?;
            let chunk = |start: u64, length: u64, buffer: &mut Vec<u8>| {
                read_at(&self.file, start + place.min(length), length.saturating_sub(place).min(size), buffer)
            };
            chunk(self.start, self.old, &mut old)?;
            chunk(self.new_start(), self.new, &mut new)?;
            let fits = now.iter().enumerate().all(|(index, byte)| {
                [&old, &new].into_iter().any(|content| content.get(index) == Some(byte))
            });
            if !fits || now.len() as u64 != size {
                return Ok(false);
            }
            place += size;
        }
        Ok(true)
    }
}

/// Reads up to `size` bytes from a place of a file.
fn read_at(file: &File, place: u64, size: u64, buffer: &mut Vec<u8>) -> io::Result<()> {
    let mut file = file;
    buffer.clear();
    file.seek(SeekFrom::Start(place))?;
    file.take(size).read_to_end(buffer)?;
    Ok(())
}
