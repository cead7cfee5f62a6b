use super::Texts;
use haft::policy::{LocalPolicySource, PolicySource};
use haft_testkit::Tree;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// Makes a link another file as soon as it was found out which file it is.
struct Swapped {
    link: PathBuf,
    target: PathBuf,
}

impl PolicySource for Swapped {
    fn read(&self, path: &Path) -> io::Result<String> {
        LocalPolicySource.read(path)
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        let canonical = LocalPolicySource.canonical(path);
        fs::remove_file(&self.link)?;
        symlink(&self.target, &self.link)?;
        canonical
    }
}

#[test]
fn no_text_is_kept_for_a_file_that_it_is_not_in() {
    let tree = Tree::new().file("user.toml", "of the user").file("workspace/evil.toml", "evil");
    let tree = tree.link("workspace/haft.toml", "../user.toml");
    let path = |name: &str| tree.path().join(name);
    let texts = Texts::default();
    let swapped = Swapped { link: path("workspace/haft.toml"), target: "evil.toml".into() };
    let user = (path("user.toml").canonicalize().unwrap(), "of the user".to_owned());
    assert_eq!(texts.read_from(&swapped, &swapped.link).unwrap(), user);
    assert_eq!(texts.read(&path("user.toml")).unwrap(), user);
    // The path stays what it was found to be.
    assert_eq!(texts.read(&swapped.link).unwrap(), user);
    assert_eq!(texts.canonical(&swapped.link).unwrap(), user.0);
}
