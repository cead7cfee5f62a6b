use haft_workdir::{Error, Workdir, WorkdirPath};
use std::io::Read as _;

/// How much of a file is made room for whose size is not known to be true.
const UNSIZED_BYTES: usize = 64 * 1024;

/// Reads a whole file of at most `limit` bytes, with room for no more than it has.
pub(crate) fn whole(workdir: &Workdir, path: &WorkdirPath, limit: u64) -> Result<Vec<u8>, Error> {
    let failed = |source| Error::Io { action: "read", path: path.clone(), source };
    let too_large = || Error::TooLarge { path: path.clone(), limit };
    let file = workdir.open_file(path)?;
    let size = file.metadata().map_err(failed)?.len();
    if size > limit {
        return Err(too_large());
    }
    let room = usize::try_from(size).unwrap_or(UNSIZED_BYTES);
    let mut bytes = Vec::with_capacity(room);
    // One byte more than the limit tells a file that ends there from one that goes on.
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > limit {
        return Err(too_large());
    }
    Ok(bytes)
}
