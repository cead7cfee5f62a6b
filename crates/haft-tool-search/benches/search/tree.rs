use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Makes the tree of sources once, and gives where it is.
pub(crate) fn sources() -> PathBuf {
    let tree = Path::new(env!("CARGO_TARGET_TMPDIR")).join("search-sources");
    let done = tree.join(".git");
    if !done.exists() {
        let home = env::var_os("CARGO_HOME").map(PathBuf::from);
        let home = home.or_else(|| env::home_dir().map(|home| home.join(".cargo"))).unwrap();
        for index in fs::read_dir(home.join("registry/src")).unwrap().flatten() {
            link_all(&index.path(), &tree).unwrap();
        }
        fs::create_dir_all(&done).unwrap();
    }
    tree
}

/// Links what is in a directory, or copies it where that is on another file system.
fn link_all(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type()?.is_dir() {
            link_all(&from, &to)?;
        } else if !to.exists() && fs::hard_link(&from, &to).is_err() {
            fs::copy(&from, &to)?;
        }
    }
    Ok(())
}

/// Makes a tree of many files with a line each, once, and gives where it is.
pub(crate) fn many(files: usize) -> PathBuf {
    const IN_ONE: usize = 1000;
    let tree = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("search-many-{files}"));
    let done = tree.join(".git");
    if !done.exists() {
        for directory in 0..files.div_ceil(IN_ONE) {
            let path = tree.join(format!("d{directory:04}"));
            fs::create_dir_all(&path).unwrap();
            for file in 0..IN_ONE.min(files - directory * IN_ONE) {
                fs::write(path.join(format!("f{file:04}.txt")), "needle\n").unwrap();
            }
        }
        fs::create_dir_all(&done).unwrap();
    }
    tree
}
