use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write};
use std::path::Path;

/// Is something that lines are appended to, and whose end can be looked at.
pub(super) trait Tail: Write {
    /// Counts its bytes.
    fn size(&self) -> io::Result<u64>;

    /// Reads the byte before this place.
    fn byte_before(&mut self, place: u64) -> io::Result<u8>;
}

/// Appends lines by single writes, and lets no unfinished line spoil the next.
pub(super) struct Appending<T> {
    tail: T,
    /// The size at which the end is known to be that of a line.
    finished_at: u64,
}

impl<T: Tail> Appending<T> {
    /// Begins to append; ends the last line if that is unfinished.
    pub(super) fn new(tail: T) -> io::Result<Self> {
        let mut appending = Self { tail, finished_at: 0 };
        let size = appending.tail.size()?;
        if appending.is_unfinished(size)? {
            appending.write_at_once(b"\n")?;
        }
        Ok(appending)
    }

    /// Appends what comes after the newline that the line begins with, or if the line before is unfinished, that, too.
    pub(super) fn append(&mut self, line: &[u8]) -> io::Result<()> {
        // Another process may have broken off in the middle of its line.
        let size = self.tail.size()?;
        let line = if self.is_unfinished(size)? { line } else { &line[1..] };
        self.write_at_once(line)?;
        // If others have written meanwhile, the size is another, and the end is looked at next time.
        self.finished_at = size + line.len() as u64;
        Ok(())
    }

    fn is_unfinished(&mut self, size: u64) -> io::Result<bool> {
        // An end in the middle of another process's write looks unfinished; the newline too much makes an empty line.
        Ok(size != 0 && size != self.finished_at && self.tail.byte_before(size)? != b'\n')
    }

    /// Writes all by one write: the rest of a write that broke off could land behind another's line.
    fn write_at_once(&mut self, bytes: &[u8]) -> io::Result<()> {
        loop {
            return match self.tail.write(bytes) {
                Ok(written) if written == bytes.len() => Ok(()),
                Ok(written) => {
                    let all = bytes.len();
                    let message =
                        format!("only {written} of {all} bytes of a journal's record could be written");
                    Err(io::Error::new(io::ErrorKind::WriteZero, message))
                }
                // Nothing was written.
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => Err(error),
            };
        }
    }
}

impl Appending<File> {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = private(OpenOptions::new().read(true).append(true).create(true)).open(path)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "a journal must be a regular file"));
        }
        Self::new(file)
    }

    pub(super) fn duplicate(&self) -> io::Result<File> {
        self.tail.try_clone()
    }
}

impl Tail for File {
    fn size(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn byte_before(&mut self, place: u64) -> io::Result<u8> {
        let mut byte = [0];
        self.seek(SeekFrom::Start(place.saturating_sub(1)))?;
        self.read_exact(&mut byte)?;
        Ok(byte[0])
    }
}

/// Lets nobody but the owner read a file that is made.
#[cfg(unix)]
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600)
}

/// Leaves it to the directory who may read a file that is made.
#[cfg(not(unix))]
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}
