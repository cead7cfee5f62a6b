use super::snapshot::Snapshot;
use super::texts::Texts;
use crate::user_directories::{POLICY_FILE, UserDirectories};
use haft::Workdir;
use std::path::{Path, PathBuf, absolute};

/// What stands, in what models read, for the directory of the file that the command line names.
const ELSEWHERE: &str = "…";

/// Says whom the names of policy files are for, which are told with every rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NamesFor {
    /// The person at the command line, who is told what they typed.
    People,
    /// Models, who need not know where anything is: the workspace's files are named from its directory, and of the file
    /// that the command line names, its name is told.
    Models,
}

/// Knows the names of policy files, and which files they are.
pub(super) struct Naming<'a> {
    pub(super) names: NamesFor,
    pub(super) workdir: &'a Workdir,
    /// The working directory as it was given.
    pub(super) given: &'a Path,
    pub(super) user: &'a UserDirectories,
}

impl Naming<'_> {
    /// Names the workspace's file.
    pub(super) fn workspace(&self) -> PathBuf {
        self.workspace_folder().join(POLICY_FILE)
    }

    /// Names the working directory, where nothing is the one that everything else is in.
    fn workspace_folder(&self) -> &Path {
        match self.names {
            NamesFor::People => self.given,
            NamesFor::Models => Path::new(""),
        }
    }

    /// Names the file that the command line names.
    pub(super) fn command_line(&self, path: &Path) -> PathBuf {
        match (self.names, path.file_name()) {
            (NamesFor::Models, Some(name)) => Path::new(ELSEWHERE).join(name),
            _ => path.to_owned(),
        }
    }

    /// Reads the files of these names, where the command line names this one; what is among the texts was read before.
    pub(super) fn snapshot(&self, command_line: Option<&Path>, texts: &Texts) -> Snapshot {
        let user = self.user.config().map(|(path, written)| (written.into(), path.to_owned()));
        let mut aliases: Vec<(PathBuf, PathBuf)> = user.into_iter().collect();
        if self.names == NamesFor::Models {
            let file = command_line.and_then(|path| absolute(path).ok());
            let folder = file.as_deref().and_then(Path::parent);
            aliases.extend(folder.map(|folder| (ELSEWHERE.into(), folder.to_owned())));
        }
        // Whoever they are for, the workspace's files are asked for by one path: what is trusted of them is what counts.
        aliases.push((self.workspace_folder().to_owned(), self.workdir.root_path().to_owned()));
        Snapshot::with_aliases(aliases, texts)
    }
}
