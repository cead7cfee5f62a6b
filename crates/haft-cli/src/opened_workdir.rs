use crate::config::{Configuration, Settings};
use crate::exit::UsageError;
use crate::other_root::OtherRoot;
use anyhow::{Context as _, Result};
use haft::Workdir;
use std::path::Path;

/// Opens the directory the tools work in.
pub(crate) fn workdir(path: Option<&Path>) -> Result<Workdir> {
    let path = path.unwrap_or(Path::new("."));
    let workdir = Workdir::open(path).with_context(|| {
        UsageError(format!(
            "cannot work in `{}`; name an existing directory with `--workdir`",
            path.display()
        ))
    })?;
    name(&workdir)?;
    Ok(workdir)
}

/// Is the directory the tools work in, with what is configured for it: read and checked once, and handed down.
pub(crate) struct OpenedWorkdir {
    /// The directory, with the others that the tools work in.
    pub(crate) workdir: Workdir,
    /// These others, so that a run that goes on has them again.
    pub(crate) roots: Vec<OtherRoot>,
    pub(crate) configuration: Configuration,
    pub(crate) settings: Settings,
}

impl OpenedWorkdir {
    /// Opens a directory, with the others that are named for this run and those that `haft.toml` names.
    pub(crate) fn of(path: Option<&Path>, named: Vec<OtherRoot>) -> Result<Self> {
        Self::alone(workdir(path)?)?.with_roots(named)
    }

    /// Reads what is configured for a directory, which is worked in as it is.
    pub(crate) fn alone(workdir: Workdir) -> Result<Self> {
        Self::by(Configuration::read(&workdir)?, workdir)
    }

    /// Checks what was read for a directory, which is worked in as it is.
    pub(crate) fn by(configuration: Configuration, workdir: Workdir) -> Result<Self> {
        let settings = Settings::of(&configuration)?;
        Ok(Self { workdir, roots: Vec::new(), configuration, settings })
    }

    /// Adds the directories that are named for this run, and those that `haft.toml` names.
    pub(crate) fn with_roots(mut self, named: Vec<OtherRoot>) -> Result<Self> {
        self.roots = OtherRoot::absolute(named)?;
        self.roots.append(&mut self.settings.roots);
        self.workdir = OtherRoot::add(&self.roots, self.workdir)?;
        Ok(self)
    }
}

/// Names a directory exactly, so that rules can be about it, and it can be told apart from others.
pub(crate) fn name(workdir: &Workdir) -> Result<&str> {
    let path = workdir.root_path();
    path.to_str().with_context(|| {
        let shown = path.display();
        UsageError(format!(
            "cannot work in `{shown}`, because its path is not UTF-8; rename it, or name another directory with `--workdir`"
        ))
    })
}
