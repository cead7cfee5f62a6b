use crate::attributes::give_to;
use crate::platform;
use rustix::fs::{Mode, Stat};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::os::fd::BorrowedFd;

/// The most bytes that extended attributes of one file have together, their names included, to be kept.
const EXTENDED_BYTES: usize = 256 * 1024;

/// Is what a file has beside its content and permissions.
///
/// It is recorded of files that are removed. One that is replaced hands it on to what takes its place.
///
/// ```
/// use haft_workdir::{ChangeJournal as _, ChangeOrigin, ChangeStep, Expected, MemoryChanges, PathState, Workdir};
/// use std::os::unix::fs::MetadataExt as _;
/// # use std::sync::Arc;
///
/// # let directory = tempfile::tempdir()?;
/// # std::fs::write(directory.path().join("a.txt"), "one")?;
/// # let owner = std::fs::metadata(directory.path().join("a.txt"))?.uid();
/// # let journal = Arc::new(MemoryChanges::default());
/// # let workdir = Workdir::open(directory.path())?.journalled(Arc::clone(&journal) as _);
/// # let origin = ChangeOrigin::new("run-1".parse()?, "c1".parse()?);
/// let mut set = workdir.change(origin.clone());
/// set.remove_file(&workdir.resolve("a.txt")?, Expected::Whatever)?;
/// set.finish()?;
///
/// let sets = journal.sets(&origin.run)?;
/// let ChangeStep::Set { before: PathState::File { attributes: Some(attributes), .. }, .. } = &sets[0].steps[0] else {
///     panic!("a removed file has them");
/// };
/// assert_eq!(attributes.user, owner);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FileAttributes {
    /// The number of the user that it belongs to.
    pub user: u32,
    /// The number of the group that it belongs to.
    pub group: u32,
    /// Its extended attributes by name, access control lists among them, each value in hexadecimal digits.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub extended: BTreeMap<String, String>,
}

impl FileAttributes {
    /// Reads those of a file; the extended ones where it is open for reading, and as many as are kept.
    pub(super) fn of(stat: &Stat, handle: Option<BorrowedFd<'_>>) -> Self {
        let mut extended = BTreeMap::new();
        let mut room = EXTENDED_BYTES;
        let found = handle.and_then(|handle| platform::extended_attributes(handle).ok());
        for (name, value) in found.unwrap_or_default() {
            let (Ok(name), Some(left)) = (String::from_utf8(name), room.checked_sub(value.len())) else {
                continue;
            };
            let Some(left) = left.checked_sub(name.len()) else { continue };
            room = left;
            extended.insert(name, hexadecimal(&value));
        }
        Self { user: stat.st_uid, group: stat.st_gid, extended }
    }

    /// Gives them to a file with its permissions, as far as the process may do that.
    ///
    /// Where the group cannot be given, another one must not get what was meant for it.
    pub(super) fn give(&self, file: BorrowedFd<'_>, mode: Mode) -> Result<(), Errno> {
        let extended = self.extended.iter();
        let extended =
            extended.filter_map(|(name, value)| Some((name.as_bytes().to_vec(), bytes_of(value)?)));
        // A file without them is better than none.
        let _ = platform::set_extended_attributes(file, &extended.collect::<Vec<_>>());
        give_to(file, (self.user, self.group), mode)
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn bytes_of(text: &str) -> Option<Vec<u8>> {
    let digit = |digit: u8| char::from(digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let pairs = text.as_bytes().chunks(2);
    pairs.map(|pair| Some(digit(*pair.first()?)? << 4 | digit(*pair.get(1)?)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::{bytes_of, hexadecimal};

    #[test]
    fn values_are_written_down_and_read_again() {
        let bytes: Vec<u8> = (0..=255).collect();
        assert_eq!(bytes_of(&hexadecimal(&bytes)), Some(bytes));
        assert_eq!((bytes_of("0"), bytes_of("0g"), bytes_of("")), (None, None, Some(Vec::new())));
    }
}
