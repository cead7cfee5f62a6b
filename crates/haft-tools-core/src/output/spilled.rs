use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many names are tried for a file before it is given up: each is only taken where an earlier process left a file.
const MOST_NAMES: u32 = 1_000;

/// Is a file that holds one output, and is removed with this value.
#[derive(Debug)]
pub(super) struct SpilledFile(PathBuf);

impl SpilledFile {
    /// Writes a new file, which only the owner can read, into a directory, which is made if it is not there.
    pub(super) fn write(directory: &Path, text: &str) -> io::Result<Self> {
        make_directory(directory)?;
        let (spilled, mut file) = Self::create(directory)?;
        // What was written of it goes with `spilled` if this fails.
        file.write_all(text.as_bytes())?;
        Ok(spilled)
    }

    fn create(directory: &Path) -> io::Result<(Self, File)> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut refused = None;
        for _ in 0..MOST_NAMES {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = directory.join(format!("haft-output-{}-{number}.txt", process::id()));
            match options.open(&path) {
                Ok(file) => return Ok((Self(path), file)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => refused = Some(error),
                Err(error) => return Err(error),
            }
        }
        Err(refused.unwrap_or_else(|| io::ErrorKind::AlreadyExists.into()))
    }

    /// Reads a range of bytes, as far as there are any.
    pub(super) fn read(&self, range: &Range<u64>) -> io::Result<Vec<u8>> {
        let mut file = File::open(&self.0)?;
        file.seek(SeekFrom::Start(range.start))?;
        let mut bytes = Vec::new();
        file.take(range.end.saturating_sub(range.start)).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

impl Drop for SpilledFile {
    fn drop(&mut self) {
        // A file that is gone already, or cannot be removed, is the directory's business.
        let _ = std::fs::remove_file(&self.0);
    }
}

fn make_directory(directory: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)
}
