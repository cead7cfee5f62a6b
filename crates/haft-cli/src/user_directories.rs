use crate::exit::UsageError;
use anyhow::Result;
use haft::store::{SqliteChanges, SqliteStore};
use haft::{DefaultRules, Workdir};
use std::env;
use std::path::{Path, PathBuf};

/// The file that rules are written in, in the user's configuration and in a workspace.
pub(crate) const POLICY_FILE: &str = "haft.toml";

/// Says where haft finds what belongs to the person who runs it.
///
/// These are the directories of the XDG Base Directory Specification, which has relative ones ignored.
#[derive(Debug, Clone, Default)]
pub(crate) struct UserDirectories {
    home: Option<PathBuf>,
    /// Where the configuration is, with how that is written for people and models, who need not know the path.
    config: Option<(PathBuf, &'static str)>,
    state: Option<PathBuf>,
    state_file: Option<PathBuf>,
    /// What `HAFT_STATE` says, if that is no absolute path.
    relative_state_file: Option<PathBuf>,
}

impl UserDirectories {
    /// Reads them from the environment.
    pub(crate) fn from_environment() -> Self {
        let absolute = |path: PathBuf| Some(path).filter(|path| path.is_absolute());
        let variable = |name: &str| env::var_os(name).map(PathBuf::from).and_then(absolute);
        let state_file = env::var_os("HAFT_STATE").filter(|path| !path.is_empty()).map(PathBuf::from);
        let relative_state_file = state_file.clone().filter(|path| path.is_relative());
        let home = env::home_dir().and_then(absolute);
        let below_home = |folder: &str| home.as_ref().map(|home| home.join(folder));
        let state =
            variable("XDG_STATE_HOME").or_else(|| below_home(".local/state")).map(|path| path.join("haft"));
        Self {
            state_file: state_file.or_else(|| state.as_ref().map(|directory| directory.join("haft.db"))),
            config: variable("XDG_CONFIG_HOME")
                .map(|path| (path.join("haft"), "$XDG_CONFIG_HOME/haft"))
                .or_else(|| Some((below_home(".config/haft")?, "~/.config/haft"))),
            state,
            home,
            relative_state_file,
        }
    }

    /// Has configuration and state in directories of these names.
    #[cfg(test)]
    pub(crate) fn below(folder: &Path) -> Self {
        let config = Some((folder.join("config"), "~/.config/haft"));
        Self { config, state: Some(folder.join("state")), ..Self::default() }
    }

    /// Finds a path that is written in a file of configuration: relative to its folder, or to the home directory behind `~/`.
    pub(crate) fn found(folder: &Path, path: &Path) -> PathBuf {
        match (path.strip_prefix("~"), Self::from_environment().home()) {
            (Ok(rest), Some(home)) => home.join(rest),
            _ => folder.join(path),
        }
    }

    /// The home directory, without symbolic links.
    pub(crate) fn home(&self) -> Option<PathBuf> {
        self.home.as_ref().and_then(|home| home.canonicalize().ok())
    }

    /// How rules are read in a working directory, where `~` is the home directory.
    pub(crate) fn default_rules(&self, workdir: &Workdir) -> DefaultRules {
        let rules = DefaultRules::new(workdir);
        match self.home() {
            Some(home) => rules.home(home),
            None => rules,
        }
    }

    /// The file of the user's own rules, which need not be there.
    pub(crate) fn policy_file(&self) -> Option<PathBuf> {
        self.config.as_ref().map(|(config, _)| config.join(POLICY_FILE))
    }

    /// Where the configuration is, and how that is written.
    pub(crate) fn config(&self) -> Option<(&Path, &'static str)> {
        self.config.as_ref().map(|(path, written)| (path.as_path(), *written))
    }

    /// Where haft keeps what it has to remember; the directory need not be there.
    pub(crate) fn state(&self) -> Result<&Path> {
        self.state.as_deref().ok_or_else(|| {
            let message = "there is no directory to remember anything in; set HOME or XDG_STATE_HOME to an absolute path";
            UsageError(message.to_owned()).into()
        })
    }

    /// The database of grants, waiting calls and runs, which need not be there.
    ///
    /// It is named by `HAFT_STATE`, and is `haft.db` among the rest otherwise.
    ///
    /// # Errors
    ///
    /// When `HAFT_STATE` is no absolute path: it would be another file in each directory.
    pub(crate) fn state_file(&self) -> Result<Option<&Path>> {
        match &self.relative_state_file {
            None => Ok(self.state_file.as_deref()),
            Some(path) => {
                let path = path.display();
                let message =
                    format!("HAFT_STATE is `{path}`; set it to the absolute path of a file, or unset it");
                Err(UsageError(message).into())
            }
        }
    }

    /// The journal of what tools change in files, beside the database; it need not be there.
    ///
    /// # Errors
    ///
    /// As for [`UserDirectories::state_file`].
    pub(crate) fn changes_file(&self) -> Result<Option<PathBuf>> {
        Ok(self.state_file()?.map(|path| beside(path, "-changes")))
    }

    /// Where agents that work apart from those that delegate to them have their places; it need not be there.
    ///
    /// # Errors
    ///
    /// As for [`UserDirectories::state_file`].
    pub(crate) fn places(&self) -> Result<Option<PathBuf>> {
        Ok(self.state_file()?.map(|path| beside(path, "-places")))
    }

    /// Where what such agents have changed is kept until it is applied; it need not be there.
    ///
    /// # Errors
    ///
    /// As for [`UserDirectories::state_file`].
    pub(crate) fn patches(&self) -> Result<Option<PathBuf>> {
        Ok(self.state_file()?.map(|path| beside(path, "-patches")))
    }

    /// The places that hold haft's own policy and state, with what is put beside the database.
    pub(crate) fn own_places(&self) -> impl Iterator<Item = PathBuf> {
        let config = self.config.as_ref().map(|(path, _)| path.clone());
        let state_file = self.state_file.iter().flat_map(SqliteStore::places);
        let beside_it = self.state_file.iter().flat_map(|path| {
            let mut places = SqliteChanges::places(beside(path, "-changes"));
            places.extend([beside(path, "-places"), beside(path, "-patches")]);
            places
        });
        config.into_iter().chain(self.state.clone()).chain(state_file).chain(beside_it)
    }
}

/// Names what belongs to a database.
fn beside(state_file: &Path, ending: &str) -> PathBuf {
    let mut name = state_file.as_os_str().to_owned();
    name.push(ending);
    name.into()
}
