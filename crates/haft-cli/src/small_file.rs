use crate::exit::UsageError;
use anyhow::{Context as _, Result};
use std::fs;
use std::io::{self, Read as _};
use std::path::Path;

/// The most bytes of a file of the user's configuration.
const MOST_BYTES: u64 = 1 << 20;

/// Reads what may never end, and gives nothing where it has more than so many bytes.
pub(crate) fn at_most(most: u64, source: impl io::Read) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    source.take(most + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= most).then_some(bytes))
}

/// Reads a text as [`at_most`] does bytes.
pub(crate) fn text_at_most(most: u64, source: impl io::Read) -> io::Result<Option<String>> {
    at_most(most, source)?.map(|bytes| io::read_to_string(&*bytes)).transpose()
}

/// Reads a file of at most so many bytes.
pub(crate) fn bytes_of(path: &Path, most: u64) -> Result<Vec<u8>> {
    let bytes = at_most(most, fs::File::open(path)?)?;
    bytes.with_context(|| format!("it has more than the {most} bytes that are read"))
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
    let text = text_at_most(MOST_BYTES, file).with_context(unreadable)?;
    let too_large = || format!("`{}` has more than the {MOST_BYTES} bytes that are read", path.display());
    text.with_context(too_large).map(Some)
}

#[cfg(test)]
mod tests {
    use super::text_at_most;

    #[test]
    fn what_never_ends_is_not_read_for_ever() {
        assert_eq!(text_at_most(2, &b"{}"[..]).unwrap().unwrap(), "{}");
        assert!(text_at_most(7, std::io::repeat(b'x')).unwrap().is_none());
        // One that is cut within a character is too long, and not something else than text.
        assert!(text_at_most(2, "ää".as_bytes()).unwrap().is_none());
        assert!(text_at_most(2, &b"\xff"[..]).is_err());
    }
}
