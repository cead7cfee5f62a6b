use haft_workdir::WorkdirPath;

/// The directory in which a command runs, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Current {
    /// Below the root, without a slash at the end; empty for the root.
    Inside {
        path: String,
        is_sure: bool,
    },
    /// An absolute path that is not below the root.
    Outside {
        path: String,
        is_sure: bool,
    },
    Unknown,
}

impl Current {
    pub(super) fn inside(directory: &WorkdirPath) -> Self {
        let path = if directory.is_root() { "" } else { directory.as_str() };
        Self::Inside { path: path.to_owned(), is_sure: true }
    }

    /// Takes into account that a change of the directory was not certain to succeed.
    pub(super) fn may_have_failed(&mut self) {
        if let Self::Inside { is_sure: false, .. } | Self::Outside { is_sure: false, .. } = self {
            *self = Self::Unknown;
        }
    }
}
