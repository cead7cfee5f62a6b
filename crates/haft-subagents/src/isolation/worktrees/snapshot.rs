//! What the parent has, as a tree of a repository made here: the files that are there, whether or not they were committed.

use super::super::workplaces::WorkplaceError;
use super::git::{Git, Purpose, Repository};
use super::layout::{Layout, Ready, make_directory};
use super::made::{Made, failed, taken};
use super::{PlaceLimits, listed, listing, staged};
use haft_workdir::Workdir;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// How many submodules and the like are named.
const NAMED: usize = 20;

/// What file tools leave besides the files themselves: what was deleted, and what a killed process was writing.
pub(super) const OURS: &[u8] = b"\n.haft-trash\n.haft-*.tmp\n.haft-*.redo\n";

/// Is the repository in whose working tree a directory is.
#[derive(Debug)]
pub(super) struct Source {
    /// The directory that `.git` is in.
    top: PathBuf,
    /// Where the parent works, from there on.
    prefix: String,
    format: String,
    objects: PathBuf,
    exclude: PathBuf,
    shallow: PathBuf,
    head: Option<String>,
}

impl Source {
    /// Finds the repository of a directory; nothing where there is none.
    ///
    /// Which directory is its top is decided here by where `.git` is, since a repository's settings could name any. One that
    /// belongs to another user is passed over, since anybody may have put it into a directory that all can write to.
    pub(super) async fn find(git: &Git, root: &Path) -> Result<Option<Self>, WorkplaceError> {
        for top in root.ancestors() {
            let git_dir = top.join(".git");
            let Ok(prefix) = root.strip_prefix(top) else { continue };
            let Some(prefix) = prefix.to_str() else { continue };
            let is_inside = prefix.split('/').any(|name| name.eq_ignore_ascii_case(".git"));
            if is_inside || !is_own(&git_dir) {
                continue;
            }
            let repository = git.on(&git_dir, top);
            let purpose = Purpose::to("look at the repository");
            let asked = [
                "rev-parse",
                "--path-format=absolute",
                "--show-object-format",
                "--git-path",
                "objects",
                "--git-path",
                "info/exclude",
                "--git-path",
                "shallow",
            ];
            let told = repository.ask(&asked, &[], purpose).await?;
            let lines: Vec<&[u8]> = told.stdout.split(|byte| *byte == b'\n').collect();
            let path = |bytes: &[u8]| PathBuf::from(std::ffi::OsStr::from_bytes(bytes));
            // A directory that is called so and is none is passed over, as by git.
            let (0, [format, objects, exclude, shallow, b""]) = (told.code, lines.as_slice()) else {
                continue;
            };
            if !is_own(&path(objects)) {
                continue;
            }
            let head =
                repository.ask(&["rev-parse", "--quiet", "--verify", "HEAD^{commit}"], &[], purpose).await?;
            let head = if head.code == 0 { Some(line(&head.stdout)) } else { None };
            return Ok(Some(Self {
                top: top.to_owned(),
                prefix: prefix.to_owned(),
                format: String::from_utf8_lossy(format).into_owned(),
                objects: path(objects),
                exclude: path(exclude),
                shallow: path(shallow),
                head,
            }));
        }
        Ok(None)
    }

    /// Puts what the parent has into a place.
    pub(super) async fn check_out(
        &self,
        git: &Git,
        layout: &Layout,
        state: &Path,
        limits: &PlaceLimits,
    ) -> Result<Ready, WorkplaceError> {
        let mut exclude = [taken(&self.exclude).as_slice(), OURS].concat();
        if let Ok(state) = state.strip_prefix(&self.top) {
            exclude.extend(excluded(state));
        }
        let borrowed = vec![self.objects.clone()];
        let made = Made {
            format: &self.format,
            borrowed,
            exclude,
            is_verbatim: true,
            text_bytes: Some(limits.text_bytes),
            ..Made::default()
        };
        made.make(&layout.git())?;
        let parent = git.on(self.top.join(".git"), &self.top);
        let ours = git.on(layout.git(), &self.top);
        // With a sign in front, by which those are told that are not wanted in the working tree.
        let index = parent.run(&["ls-files", "-t", "--stage", "-z"], &[], staged(limits)).await?;
        let (files, _) = without_repositories(&wanted(&index));
        ours.run(&["update-index", "-z", "--index-info"], &files, Purpose::to("take over the index")).await?;
        self.measure(&ours, limits).await?;
        // Where the parent works below the top, nothing of what is beside that is looked at: what was added there is there.
        match self.prefix.as_str() {
            "" => add(&ours, &[]).await?,
            prefix if self.has_files(&ours, limits).await? => add(&ours, &["--", prefix]).await?,
            _ => {}
        }
        let missing = leave_out_repositories(&ours, staged(limits)).await?;
        let shown = missing.iter().map(|path| super::shown(path)).take(NAMED).collect();
        let tree = git.on(layout.git(), layout.tree());
        let base = settle(&tree, layout, &self.own(layout), self.head.as_deref()).await?;
        Ok(Ready { base, prefix: self.prefix.clone(), missing: shown, taken_up: false })
    }

    /// The repository that the child gets: it has the history and borrows all objects.
    fn own(&self, layout: &Layout) -> Made<'_> {
        Made {
            format: &self.format,
            borrowed: vec![layout.git().join("objects"), self.objects.clone()],
            exclude: self.readable_exclude(),
            shallow: hexadecimal(taken(&self.shallow)),
            is_verbatim: true,
            ..Made::default()
        }
    }

    /// What is left out, as far as it stands in a file below the top: a link could lead to what the child may not read.
    fn readable_exclude(&self) -> Vec<u8> {
        const MOST: u64 = 64 * 1024;
        let Ok(top) = Workdir::open(&self.top) else { return Vec::new() };
        let path = top.resolve(".git/info/exclude").ok();
        path.and_then(|path| top.read(&path, MOST).ok()).unwrap_or_default()
    }

    /// Looks at how much there is before any of it is read.
    async fn measure(&self, ours: &Repository, limits: &PlaceLimits) -> Result<(), WorkplaceError> {
        let mut names =
            ours.run(&["ls-files", "--cached", "--deduplicate", "-z"], &[], listing(limits)).await?;
        let mut arguments = vec!["ls-files", "--others", "--exclude-standard", "-z"];
        if !self.prefix.is_empty() {
            arguments.extend(["--", self.prefix.as_str()]);
        }
        names.extend(ours.run(&arguments, &[], listing(limits)).await?);
        measure(&self.top, names, limits).await
    }

    /// Tells whether there is a file where the parent works: git refuses to add what is not there at all.
    async fn has_files(&self, ours: &Repository, limits: &PlaceLimits) -> Result<bool, WorkplaceError> {
        let arguments =
            ["ls-files", "--cached", "--others", "--exclude-standard", "-z", "--", self.prefix.as_str()];
        Ok(!ours.run(&arguments, &[], listing(limits)).await?.is_empty())
    }
}

/// Refuses files that are too many or too large together.
pub(super) async fn measure(top: &Path, names: Vec<u8>, limits: &PlaceLimits) -> Result<(), WorkplaceError> {
    let (top, limits) = (top.to_owned(), limits.clone());
    let measured = tokio::task::spawn_blocking(move || {
        let (mut files, mut bytes) = (0_usize, 0_u64);
        for name in listed(&names) {
            files += 1;
            if files > limits.files {
                return Err(WorkplaceError::TooMuch { what: "files", most: limits.files as u64 });
            }
            let found = fs::symlink_metadata(top.join(std::ffi::OsStr::from_bytes(name)));
            let size = found.ok().filter(fs::Metadata::is_file).map_or(0, |found| found.len());
            bytes = bytes.saturating_add(size);
            if bytes > limits.bytes {
                return Err(WorkplaceError::TooMuch { what: "bytes of files", most: limits.bytes });
            }
        }
        Ok(())
    });
    measured
        .await
        .map_err(|error| WorkplaceError::Other { action: "measure the files", source: Box::new(error) })?
}

/// Takes what is in the working tree into the index; what cannot be read stays out.
pub(super) async fn add(repository: &Repository, more: &[&str]) -> Result<(), WorkplaceError> {
    let purpose = Purpose::to("take in the files");
    let arguments: Vec<&str> = ["add", "--all", "--ignore-errors"].iter().chain(more).copied().collect();
    let ended = repository.ask(&arguments, &[], purpose).await?;
    // 1 says that something could not be read, 128 that nothing was done.
    if matches!(ended.code, 0 | 1) { Ok(()) } else { Err(ended.refused(purpose)) }
}

/// Takes out of the index what is a repository of its own, and says what that was.
pub(super) async fn leave_out_repositories(
    repository: &Repository,
    listing: Purpose,
) -> Result<Vec<Vec<u8>>, WorkplaceError> {
    let index = repository.run(&["ls-files", "--stage", "-z"], &[], listing).await?;
    let (_, repositories) = without_repositories(&index);
    if repositories.is_empty() {
        return Ok(repositories);
    }
    let mut removed = Vec::new();
    for path in &repositories {
        removed.extend_from_slice(b"0 ");
        // The name of no object is as long as that of any other.
        removed.extend(std::iter::repeat_n(b'0', name_length(&index)));
        removed.push(b'\t');
        removed.extend_from_slice(path);
        removed.push(0);
    }
    let purpose = Purpose::to("leave out repositories");
    repository.run(&["update-index", "-z", "--index-info"], &removed, purpose).await?;
    Ok(repositories)
}

/// Writes the index as a tree and a commit, puts it where the child works, and makes the child's own repository.
pub(super) async fn settle(
    repository: &Repository,
    layout: &Layout,
    own: &Made<'_>,
    head: Option<&str>,
) -> Result<String, WorkplaceError> {
    make_directory(&layout.tree())?;
    let base =
        line(&repository.run(&["write-tree", "--missing-ok"], &[], Purpose::to("write the files")).await?);
    let mut commit = vec!["commit-tree", &base, "-m", "The files as they were at the start"];
    commit.extend(head.into_iter().flat_map(|head| ["-p", head]));
    let commit = line(&repository.run(&commit, &[], Purpose::to("write the files")).await?);
    let check_out = ["checkout-index", "--all", "--force", "--index", "--quiet"];
    repository.run(&check_out, &[], Purpose::to("check out the files")).await?;
    let git_dir = layout.tree().join(".git");
    Made { head: Some(&commit), ..own.clone() }.make(&git_dir)?;
    let (index, copy) = (layout.git().join("index"), git_dir.join("index"));
    match fs::copy(&index, &copy) {
        // There is none where there are no files.
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(failed("copy", &index, error)),
        _ => Ok(base),
    }
}

/// Tells whether there is something of this name that belongs to the user.
fn is_own(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.uid() == rustix::process::geteuid().as_raw())
}

/// Takes the signs off a list of an index, and those entries out that the working tree is not to have: sparse ones, whose objects
/// need not be there either.
fn wanted(index: &[u8]) -> Vec<u8> {
    let mut wanted = Vec::with_capacity(index.len());
    for entry in listed(index) {
        if let [sign, b' ', entry @ ..] = entry
            && *sign != b'S'
        {
            wanted.extend_from_slice(entry);
            wanted.push(0);
        }
    }
    wanted
}

/// Divides a list of an index into what is a file and what is a repository of its own.
fn without_repositories(index: &[u8]) -> (Vec<u8>, Vec<Vec<u8>>) {
    let (mut files, mut repositories) = (Vec::new(), Vec::new());
    for entry in listed(index) {
        if entry.starts_with(b"160000 ") {
            let path = entry.splitn(2, |byte| *byte == b'\t').nth(1);
            repositories.extend(path.map(<[u8]>::to_vec));
        } else {
            files.extend_from_slice(entry);
            files.push(0);
        }
    }
    (files, repositories)
}

/// How many digits the names of objects in a list of an index have.
fn name_length(index: &[u8]) -> usize {
    index.split(|byte| *byte == b' ').nth(1).map_or(40, <[u8]>::len)
}

/// A line of `exclude` that leaves out this directory.
fn excluded(directory: &Path) -> Vec<u8> {
    let mut line = b"\n/".to_vec();
    for byte in directory.as_os_str().as_bytes() {
        if matches!(byte, b'\\' | b'*' | b'?' | b'[' | b' ' | b'!' | b'#') {
            line.push(b'\\');
        }
        line.push(*byte);
    }
    line.extend_from_slice(b"/\n");
    line
}

/// Keeps a list of names of objects if it is one.
fn hexadecimal(bytes: Vec<u8>) -> Vec<u8> {
    let is_list = bytes.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'\n');
    if is_list { bytes } else { Vec::new() }
}

pub(super) fn line(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end().to_owned()
}
