use super::{ConfigFile, Layer};
use crate::small_file::text_of;
use crate::user_directories::{POLICY_FILE, UserDirectories};
use anyhow::Result;
use std::path::Path;

/// Is what the user's own file says, read once, and where all of theirs is.
pub(crate) struct UserConfig {
    pub(crate) directories: UserDirectories,
    /// The file, if there is one.
    pub(crate) file: Option<ConfigFile>,
}

impl UserConfig {
    /// Reads it where the environment says that it is.
    pub(crate) fn read() -> Result<Self> {
        Self::of(UserDirectories::from_environment())
    }

    /// Reads it where it is in these directories.
    pub(crate) fn of(directories: UserDirectories) -> Result<Self> {
        let Some((folder, written)) = directories.config() else {
            return Ok(Self { directories, file: None });
        };
        let path = folder.join(POLICY_FILE);
        let file = text_of(&path)?.map(|text| ConfigFile {
            layer: Layer::User,
            path: path.display().to_string(),
            name: Path::new(written).join(POLICY_FILE).display().to_string(),
            folder: folder.to_owned(),
            text,
        });
        Ok(Self { directories, file })
    }
}
