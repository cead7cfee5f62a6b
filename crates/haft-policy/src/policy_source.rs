use crate::policy_file::MOST_BYTES;
use std::fs::File;
use std::io;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Reads the files that a [`PolicyLoader`](crate::PolicyLoader) is given, and those that they include.
///
/// A program that keeps its policies elsewhere gives them from there, here from itself:
///
/// ```
/// use haft_policy::{PolicyLoader, PolicySource};
/// use haft_tools_core::{Mode, RuleLanguage};
/// use std::path::{Path, PathBuf};
///
/// struct BuiltIn;
///
/// impl PolicySource for BuiltIn {
///     fn read(&self, path: &Path) -> std::io::Result<String> {
///         match path.to_str() {
///             Some("team.toml") => Ok("include = [\"shared.toml\"]\n".to_owned()),
///             Some("shared.toml") => Ok("[permissions]\nmode = \"plan\"\n".to_owned()),
///             _ => Err(std::io::ErrorKind::NotFound.into()),
///         }
///     }
///
///     fn canonical(&self, path: &Path) -> std::io::Result<PathBuf> {
///         Ok(path.to_owned())
///     }
/// }
///
/// let loaded = PolicyLoader::new(RuleLanguage::new()).source(BuiltIn).user("team.toml").load()?;
/// assert_eq!((loaded.mode, loaded.files), (Mode::Plan, vec!["shared.toml".to_owned(), "team.toml".to_owned()]));
/// # Ok::<(), haft_policy::PolicyFileError>(())
/// ```
pub trait PolicySource {
    /// Reads a file as text.
    ///
    /// # Errors
    ///
    /// When it is not there, cannot be read, is not UTF-8, or is larger than the 1 MiB that a policy file may have.
    fn read(&self, path: &Path) -> io::Result<String>;

    /// Gives the one path of a file that may be reached by several, as through symlinks.
    ///
    /// # Errors
    ///
    /// When the file is not there or cannot be looked at.
    fn canonical(&self, path: &Path) -> io::Result<PathBuf>;
}

/// Reads policies from the file system.
///
/// A source that adds something to files asks this one for them:
///
/// ```
/// use haft_policy::{LocalPolicySource, PolicySource as _};
///
/// # let folder = tempfile::tempdir()?;
/// let path = folder.path().join("policy.toml");
/// std::fs::write(&path, "profile = \"read_only\"\n")?;
/// assert_eq!(LocalPolicySource.read(&path)?, "profile = \"read_only\"\n");
///
/// let error = LocalPolicySource.read(folder.path()).unwrap_err();
/// assert_eq!(error.to_string(), "it is not a regular file");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct LocalPolicySource;

impl PolicySource for LocalPolicySource {
    fn read(&self, path: &Path) -> io::Result<String> {
        let not_a_file = || io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file");
        // Asked before it is opened, since opening a pipe waits for whoever writes to it.
        if !std::fs::metadata(path)?.is_file() {
            return Err(not_a_file());
        }
        let mut bytes = Vec::new();
        File::open(path)?.take(MOST_BYTES as u64 + 1).read_to_end(&mut bytes)?;
        if bytes.len() > MOST_BYTES {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it is larger than 1 MiB"));
        }
        String::from_utf8(bytes).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8"))
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        path.canonicalize().map_err(|error| {
            if error.kind() == io::ErrorKind::NotFound && path.is_symlink() {
                let leads_nowhere = "it is a link that leads nowhere; remove it, or have it lead to a file";
                io::Error::new(io::ErrorKind::InvalidInput, leads_nowhere)
            } else {
                error
            }
        })
    }
}
