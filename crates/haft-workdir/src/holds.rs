use std::fs::File;
use std::io::{self, Read as _, Seek as _};

/// How many bytes are compared at once.
const CHUNK: usize = 64 * 1024;

/// Tells whether a file holds exactly these bytes, without holding it in memory.
pub(crate) fn reads_as(file: &mut File, bytes: &[u8]) -> io::Result<bool> {
    if usize::try_from(file.metadata()?.len()) != Ok(bytes.len()) {
        return Ok(false);
    }
    file.rewind()?;
    let mut buffer = vec![0; CHUNK.min(bytes.len() + 1)];
    let mut rest = bytes;
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(rest.is_empty()),
            Ok(read) => match rest.strip_prefix(&buffer[..read]) {
                Some(after) => rest = after,
                None => return Ok(false),
            },
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
