use haft_workdir::{Error, Workdir, WorkdirPath};
use std::io::{self, Read as _};

/// How many bytes are compared at once.
const BUFFER_BYTES: usize = 64 * 1024;

/// Tells whether a file holds exactly these bytes, without holding it in memory.
pub(crate) fn holds(workdir: &Workdir, path: &WorkdirPath, bytes: &[u8]) -> Result<bool, Error> {
    let failed = |source| Error::Io { action: "read", path: path.clone(), source };
    let mut file = workdir.open_file(path)?;
    if usize::try_from(file.metadata().map_err(failed)?.len()) != Ok(bytes.len()) {
        return Ok(false);
    }
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut rest = bytes;
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(rest.is_empty()),
            Ok(read) => match rest.strip_prefix(&buffer[..read]) {
                Some(after) => rest = after,
                None => return Ok(false),
            },
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(failed(error)),
        }
    }
}
