use std::path::{Path, PathBuf};

/// What a script says that it writes: paths, and for each whether all below it is meant.
#[derive(Debug, Clone, Default)]
pub(super) struct Declared(Vec<(PathBuf, bool)>);

impl Declared {
    /// Tells whether a place may be written, or something in it.
    pub(super) fn covers(&self, place: &Path) -> bool {
        self.0.iter().any(|(path, is_tree)| path.starts_with(place) || *is_tree && place.starts_with(path))
    }
}

impl FromIterator<(PathBuf, bool)> for Declared {
    fn from_iter<I: IntoIterator<Item = (PathBuf, bool)>>(paths: I) -> Self {
        Self(paths.into_iter().collect())
    }
}
