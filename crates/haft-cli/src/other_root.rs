use crate::exit::UsageError;
use crate::user_directories::UserDirectories;
use anyhow::{Context as _, Result};
use haft::Workdir;
use haft::workdir::RootAccess;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf, absolute};
use std::str::FromStr;

/// Says which directory the tools work in beside the working directory, and what they may do there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OtherRoot {
    path: PathBuf,
    #[serde(default)]
    read_only: bool,
}

impl FromStr for OtherRoot {
    type Err = String;

    /// Reads `DIR`, `DIR:ro` or `DIR:rw`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (path, read_only) = match text.rsplit_once(':') {
            Some((path, "ro")) => (path, true),
            Some((path, "rw")) => (path, false),
            _ => (text, false),
        };
        if path.is_empty() {
            return Err("name a directory, as in `../docs:ro`".to_owned());
        }
        Ok(Self { path: path.into(), read_only })
    }
}

impl OtherRoot {
    /// Adds directories to the one that the tools work in.
    pub(crate) fn add(roots: &[Self], workdir: Workdir) -> Result<Workdir> {
        roots.iter().try_fold(workdir, |workdir, root| {
            let access = if root.read_only { RootAccess::ReadOnly } else { RootAccess::ReadWrite };
            workdir.with_root(&root.path, access).with_context(|| {
                let shown = root.path.display();
                UsageError(format!(
                    "cannot work in `{shown}`; name an existing directory with `--root`, or in `roots` of `haft.toml`"
                ))
            })
        })
    }

    /// Writes it as it is read.
    pub(crate) fn written(&self) -> Result<String> {
        let shown = self.path.display();
        let path = self.path.to_str().with_context(|| {
            UsageError(format!("the path `{shown}` is not UTF-8, so it cannot be written down; rename it"))
        })?;
        // The path itself may end so.
        Ok(format!("{path}:{}", if self.read_only { "ro" } else { "rw" }))
    }

    /// Has a path begin where one begins that is written in a file of this folder.
    pub(crate) fn below(self, folder: &Path) -> Self {
        Self { path: UserDirectories::found(folder, &self.path), ..self }
    }

    /// Names the directories from anywhere, so that another process finds them.
    pub(crate) fn absolute(roots: Vec<Self>) -> Result<Vec<Self>> {
        let absolute = |root: Self| Ok(Self { path: absolute(&root.path)?, ..root });
        roots
            .into_iter()
            .map(absolute)
            .collect::<Result<_>>()
            .context("cannot tell where the roots are; write their whole paths")
    }
}

#[cfg(test)]
mod tests {
    use super::OtherRoot;
    use haft::Workdir;
    use haft_testkit::Tree;

    fn check(text: &str, path: &str, read_only: bool) {
        let root = OtherRoot { path: path.into(), read_only };
        assert_eq!(text.parse().as_ref(), Ok(&root), "{text}");
        assert_eq!(root.written().unwrap().parse(), Ok(root), "{text}");
    }

    #[test]
    fn reads_a_directory_and_what_may_be_done_there() {
        check("docs", "docs", false);
        check("docs:ro", "docs", true);
        check("/srv/docs:rw", "/srv/docs", false);
        check("a:b", "a:b", false);
        check("a:ro:ro", "a:ro", true);
        assert!("".parse::<OtherRoot>().is_err() && ":ro".parse::<OtherRoot>().is_err());
    }

    #[test]
    fn says_which_directory_is_missing() {
        let tree = Tree::new();
        let workdir = Workdir::open(tree.path()).unwrap();
        let error = OtherRoot::add(&["missing-directory:ro".parse().unwrap()], workdir).unwrap_err();
        assert_eq!(
            error.to_string(),
            "cannot work in `missing-directory`; name an existing directory with `--root`, or in `roots` of `haft.toml`"
        );
    }
}
