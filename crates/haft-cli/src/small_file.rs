use crate::exit::UsageError;
use anyhow::{Context as _, Result};
use std::fs;
use std::io::{self, Read as _};
use std::path::Path;

/// The most bytes of a file of the user's configuration.
const MOST_BYTES: u64 = 1 << 20;

/// Reads a file of at most so many bytes.
pub(crate) fn bytes_of(path: &Path, most: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(most + 1).read_to_end(&mut bytes)?;
    anyhow::ensure!(bytes.len() as u64 <= most, "it has more than the {most} bytes that are read");
    Ok(bytes)
}

/// Reads a file of configuration, if there is one.
pub(crate) fn text_of(path: &Path) -> Result<Option<String>> {
    let unreadable =
        || UsageError(format!("cannot read `{}`; make it a text file of your own", path.display()));
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        // A pipe would be waited for.
        return Err(anyhow::anyhow!("it is not a file")).with_context(unreadable);
    }
    let file = match fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).with_context(unreadable),
    };
    let mut text = String::new();
    file.take(MOST_BYTES + 1).read_to_string(&mut text).with_context(unreadable)?;
    let is_whole = text.len() as u64 <= MOST_BYTES;
    anyhow::ensure!(is_whole, "`{}` has more than the {MOST_BYTES} bytes that are read", path.display());
    Ok(Some(text))
}
