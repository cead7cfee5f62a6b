use crate::exit::UsageError;
use crate::user_directories::UserDirectories;
use anyhow::{Result, bail};
use haft::Workdir;
use haft::mcp::Principal;
use percent_encoding::percent_decode_str;
use std::path::{Path, PathBuf};

/// The most of a client's roots that are looked at.
const MOST_ROOTS: usize = 16;

/// Says in which directory the tools of a client work.
#[derive(Debug, Clone)]
pub(super) struct Directory {
    /// The one that the command line names, or the current one.
    start: PathBuf,
    /// Whether clients have no say.
    is_fixed: bool,
    home: Option<PathBuf>,
}

impl Directory {
    pub(super) fn of(start: &Workdir, is_fixed: bool) -> Self {
        let home = UserDirectories::from_environment().home();
        Self { start: start.root_path().to_owned(), is_fixed, home }
    }

    /// Tells whether clients have a say.
    pub(super) fn may_be_chosen(&self) -> bool {
        !self.is_fixed
    }

    /// Chooses the directory for a client: the first of its roots that may be, or the one to start in.
    ///
    /// Only who has this machine for their own has roots on it.
    pub(super) fn choose(&self, principal: &Principal, roots: Option<&[String]>) -> PathBuf {
        if self.is_fixed || *principal != Principal::local() {
            return self.start.clone();
        }
        let mut roots = roots.unwrap_or_default().iter().take(MOST_ROOTS);
        let chosen = roots.find_map(|root| self.accept(root));
        chosen.unwrap_or_else(|| self.start.clone())
    }

    /// Accepts an existing directory that is below the person's own or below the one to start in.
    fn accept(&self, root: &str) -> Option<PathBuf> {
        let path = path_of(root)?.canonicalize().ok()?;
        let is_below = |above: &Path| path.starts_with(above) && above.parent().is_some();
        // The home directory itself is as much as nobody means to hand over.
        let is_own = self.home.as_deref().is_some_and(|home| is_below(home) && path != home);
        (path.is_dir() && path.to_str().is_some() && (is_own || is_below(&self.start))).then_some(path)
    }

    /// Accepts the directory that a client's own settings name.
    pub(super) fn named(path: &Path) -> Result<PathBuf> {
        match path.canonicalize() {
            Ok(path) if path.is_dir() && path.to_str().is_some() => Ok(path),
            _ => bail!(UsageError(format!(
                "`{}` is not a directory that tools can work in; correct the file of clients",
                path.display()
            ))),
        }
    }
}

/// Reads the path of a `file:` address of this machine.
fn path_of(root: &str) -> Option<PathBuf> {
    let rest = root.strip_prefix("file://")?;
    let rest = rest.strip_prefix("localhost").unwrap_or(rest);
    if !rest.starts_with('/') || rest.contains(['?', '#']) || !is_well_encoded(rest) {
        return None;
    }
    let path = percent_decode_str(rest).decode_utf8().ok().filter(|path| !path.contains('\0'))?;
    Some(PathBuf::from(&*path))
}

/// Tells whether each `%` stands before two hexadecimal digits.
fn is_well_encoded(text: &str) -> bool {
    let is_code = |rest: &str| rest.len() > 1 && rest.bytes().take(2).all(|digit| digit.is_ascii_hexdigit());
    text.split('%').skip(1).all(is_code)
}

#[cfg(test)]
mod tests {
    use super::Directory;
    use haft::mcp::Principal;
    use haft_testkit::Tree;
    use std::path::Path;

    #[test]
    fn roots_are_taken_of_the_owner_alone_and_where_they_may_be() {
        let tree = Tree::new()
            .file("home/project one/a", "")
            .file("start/sub/a", "")
            .file("start/sub%zz/a", "")
            .file("else/a", "")
            .link("start/out", "../else");

        let path = |name: &str| tree.path().canonicalize().unwrap().join(name);
        let directory = Directory { start: path("start"), is_fixed: false, home: Some(path("home")) };
        let file = |name: &str| format!("file://{}", path(name).display()).replace(' ', "%20");
        let chosen = |who: &Principal, roots: &[String]| {
            let chosen = directory.choose(who, Some(roots));
            chosen.strip_prefix(path("")).unwrap().display().to_string()
        };
        let owner = Principal::local();
        assert_eq!(chosen(&owner, &[file("home/project one")]), "home/project one");
        assert_eq!(chosen(&owner, &[file("start/sub")]), "start/sub");
        assert_eq!(chosen(&owner, &[file("start")]), "start");
        assert_eq!(
            chosen(&owner, &[file("else"), file("home/project one"), file("start/sub")]),
            "home/project one"
        );
        for wrong in [
            file("else"),
            file("home"),
            file("home/missing"),
            file("home/project one/a"),
            file("start/out"),
            file("home/project one/../../else"),
            path("home/project one").display().to_string(),
            "file:///".to_owned(),
            "file://elsewhere/home".to_owned(),
            "file:///home%00".to_owned(),
            "file:///%".to_owned(),
            format!("{}%zz", file("start/sub")),
            "https://example.org/".to_owned(),
            String::new(),
        ] {
            assert_eq!(chosen(&owner, std::slice::from_ref(&wrong)), "start", "{wrong}");
        }
        assert_eq!(chosen(&Principal::new("laptop"), &[file("home/project one")]), "start");
        assert_eq!(directory.choose(&owner, None), path("start"));
        let fixed = Directory { is_fixed: true, ..directory.clone() };
        assert_eq!(fixed.choose(&owner, Some(&[file("home/project one")])), path("start"));
        assert!(Directory::named(Path::new("/nonexistent")).is_err());
    }
}
