use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::ops::Range;
use std::path::Path;

use crate::new_file::NewFile;

/// Is a file that holds one output, and is removed with this value.
#[derive(Debug)]
pub(super) struct SpilledFile(NewFile);

impl SpilledFile {
    /// Writes a new file, which only the owner can read, into a directory, which is made if it is not there.
    pub(super) fn write(directory: &Path, text: &str) -> io::Result<Self> {
        let (spilled, mut file) = NewFile::create(directory, "haft-output", ".txt")?;
        // What was written of it goes with `spilled` if this fails.
        file.write_all(text.as_bytes())?;
        Ok(Self(spilled))
    }

    /// Reads a range of bytes, as far as there are any.
    pub(super) fn read(&self, range: &Range<u64>) -> io::Result<Vec<u8>> {
        let mut file = File::open(self.0.path())?;
        file.seek(SeekFrom::Start(range.start))?;
        let mut bytes = Vec::new();
        file.take(range.end.saturating_sub(range.start)).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}
