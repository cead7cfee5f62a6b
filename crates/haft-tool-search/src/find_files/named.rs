use haft_workdir::WorkdirPath;

/// The names of files of one directory.
#[derive(Debug)]
pub(super) struct Named {
    directory: WorkdirPath,
    /// Each with a NUL byte behind it, which no name has.
    names: String,
}

impl Named {
    pub(super) fn of(directory: &WorkdirPath) -> Self {
        Self { directory: directory.clone(), names: String::new() }
    }

    pub(super) fn push(&mut self, name: &str) {
        self.names.push_str(name);
        self.names.push('\0');
    }

    pub(super) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// How much room it takes, in bytes.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Self>() + self.directory.as_str().len() + self.names.capacity()
    }

    pub(super) fn path(&self) -> &WorkdirPath {
        &self.directory
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.split_terminator('\0')
    }

    /// The path of a file of these names.
    pub(super) fn path_of(&self, name: &str) -> WorkdirPath {
        self.directory.join_file_name(name).unwrap_or_else(|| self.directory.clone())
    }
}
