//! What the parent has where there is no repository, or none is wanted: a copy of the files that no rule ignores.

use super::super::workplaces::WorkplaceError;
use super::git::Git;
use super::layout::{Layout, Ready, make_directory};
use super::made::{Made, failed};
use super::snapshot::{OURS, add, leave_out_repositories, settle};
use super::{PlaceLimits, shown, staged};
use haft_workdir::{EntryKind, WalkOptions, Workdir, WorkdirPath};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, symlink};
use std::path::{Path, PathBuf};

/// How much is copied at once, in bytes.
const PIECE: usize = 64 * 1024;

/// How many entries that are not copied are named.
const NAMED: usize = 20;

/// Copies what is in a directory into a place.
pub(super) async fn copy(
    git: &Git,
    from: &Workdir,
    layout: &Layout,
    state: &Path,
    limits: &PlaceLimits,
) -> Result<Ready, WorkplaceError> {
    make_directory(&layout.tree())?;
    let copying = Copying {
        from: from.clone(),
        to: layout.tree(),
        state: state.to_owned(),
        limits: limits.clone(),
        files: 0,
        bytes: 0,
        missing: Vec::new(),
    };
    let copied = tokio::task::spawn_blocking(move || copying.run());
    let missing = copied
        .await
        .map_err(|error| WorkplaceError::Other { action: "copy the files", source: Box::new(error) })??;
    let ours = Made {
        exclude: OURS.to_vec(),
        is_verbatim: true,
        text_bytes: Some(limits.text_bytes),
        ..Made::default()
    };
    ours.make(&layout.git())?;
    let repository = git.on(layout.git(), layout.tree());
    // All that was copied counts, whatever git would ignore besides.
    add(&repository, &["--force"]).await?;
    leave_out_repositories(&repository, staged(limits)).await?;
    let borrowed = vec![layout.git().join("objects")];
    let own = Made { borrowed, is_verbatim: true, ..Made::default() };
    let base = settle(&repository, layout, &own, None).await?;
    Ok(Ready { base, prefix: String::new(), missing, taken_up: false })
}

struct Copying {
    from: Workdir,
    to: PathBuf,
    /// Where places are kept, which is not copied into one.
    state: PathBuf,
    limits: PlaceLimits,
    files: usize,
    bytes: u64,
    missing: Vec<String>,
}

impl Copying {
    fn run(mut self) -> Result<Vec<String>, WorkplaceError> {
        let root = self.from.resolve("").map_err(|error| other(Box::new(error)))?;
        let mut walk = self
            .from
            .walk(&root, WalkOptions::default().hidden(true))
            .map_err(|error| other(Box::new(error)))?;
        for entry in walk.by_ref() {
            match entry {
                Ok(entry) => self.entry(entry.path(), entry.kind())?,
                Err(error) => self.miss(error.path().as_str()),
            }
        }
        let nameless = walk.skipped().not_unicode;
        if nameless > 0 {
            self.missing.push(format!("{nameless} with names that are not UTF-8"));
        }
        Ok(self.missing)
    }

    fn entry(&mut self, path: &WorkdirPath, kind: EntryKind) -> Result<(), WorkplaceError> {
        let host = self.from.root_path().join(path.as_str());
        if host.starts_with(&self.state) {
            return Ok(());
        }
        self.files += 1;
        if self.files > self.limits.files {
            return Err(WorkplaceError::TooMuch { what: "files", most: self.limits.files as u64 });
        }
        let to = self.to.join(path.as_str());
        let made = match kind {
            EntryKind::Directory => fs::create_dir_all(&to),
            // Kept as it is: whoever follows it from the copy is told by their own root where it may lead.
            EntryKind::Symlink => fs::read_link(&host).and_then(|target| symlink(target, &to)),
            EntryKind::File => match self.from.open_file(path) {
                Ok(file) => self.file(file, &to)?,
                Err(_) => Err(io::ErrorKind::PermissionDenied.into()),
            },
            EntryKind::Other(_) => Err(io::ErrorKind::Unsupported.into()),
        };
        if made.is_err() {
            self.miss(path.as_str());
        }
        Ok(())
    }

    /// Copies a file; what cannot be read is missing, what cannot be written is an error.
    fn file(&mut self, mut from: File, to: &Path) -> Result<io::Result<()>, WorkplaceError> {
        let refused = |source| failed("write", to, source);
        let mode = match from.metadata() {
            Ok(metadata) => 0o600 | (metadata.mode() & 0o111),
            Err(error) => return Ok(Err(error)),
        };
        if let Some(parent) = to.parent() {
            fs::create_dir_all(parent).map_err(refused)?;
        }
        let mut into =
            OpenOptions::new().write(true).create_new(true).mode(mode).open(to).map_err(refused)?;
        let mut piece = vec![0; PIECE];
        loop {
            let count = match from.read(&mut piece) {
                Ok(0) => return Ok(Ok(())),
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Ok(fs::remove_file(to).and(Err(error))),
            };
            // Counted as it is read: a file can be larger than it says, or grow.
            self.bytes += count as u64;
            if self.bytes > self.limits.bytes {
                return Err(WorkplaceError::TooMuch { what: "bytes of files", most: self.limits.bytes });
            }
            into.write_all(&piece[..count]).map_err(refused)?;
        }
    }

    fn miss(&mut self, path: &str) {
        if self.missing.len() < NAMED {
            self.missing.push(shown(path.as_bytes()));
        }
    }
}

fn other(source: Box<dyn std::error::Error + Send + Sync>) -> WorkplaceError {
    WorkplaceError::Other { action: "copy the files", source }
}
