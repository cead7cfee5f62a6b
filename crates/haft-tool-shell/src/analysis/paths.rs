//! From the words that name files to the accesses of them.

use super::Analysis;
use super::directory::Current;
use crate::catalog::{Host, Target, Word};
use crate::syntax::scan;
use haft_tools_core::{Access, AccessMode, Resource, Scheme};
use haft_workdir::{EntryKind, ResolveError, WorkdirPath};
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Names what is below the working directory, as the tools that touch files name it.
const FILE: Scheme = Scheme::new("file");

/// Names what is not below it, by an absolute path.
const OUTSIDE: Scheme = Scheme::new("outside");

/// Names hosts.
const NET: Scheme = Scheme::new("net");

/// How many files are looked at for links among them.
const MOST_ENTRIES: usize = 4096;

/// Where a path leads.
pub(super) enum Place {
    Inside(WorkdirPath),
    /// The path as it was written, and where it really leads if that is elsewhere.
    Outside(String, Option<String>),
}

/// How much of a path is touched.
#[derive(Clone, Copy)]
pub(super) enum Reach {
    /// What is at the path.
    Itself,
    /// That and all below it.
    Tree,
    /// That, and the names of what is below it.
    Names,
}

impl Analysis<'_> {
    /// Declares a file or a tree that a command touches.
    pub(super) fn target(&mut self, mode: AccessMode, target: &Target) {
        let (word, reach) = match target {
            Target::File(word) => (word, Reach::Itself),
            Target::Tree(word) => (word, Reach::Tree),
            Target::Listing(word) => (word, Reach::Names),
        };
        if word.is_literal {
            return self.path(mode, &word.text, reach);
        }
        match Pattern::of(&word.text, self.home.as_deref()) {
            Some(pattern) => {
                self.path(mode, &pattern.directory, Reach::Tree);
                self.links(&pattern);
            }
            None => self.opaque(format!("which file `{}` is", word.text)),
        }
    }

    /// Looks for links among what a pattern stands for, which could lead anywhere.
    fn links(&mut self, pattern: &Pattern) {
        let Ok(Place::Inside(top)) = self.place(&pattern.directory) else { return };
        let workdir = &self.surroundings.workdir;
        let mut count = 0;
        let mut directories = vec![(top.clone(), 0)];
        while let Some((directory, depth)) = directories.pop() {
            for entry in workdir.read_dir(&directory).unwrap_or_default() {
                count += 1;
                if count > MOST_ENTRIES {
                    return self.opaque(format!("what `{}` stands for: too many files", pattern.source));
                }
                if depth == 0 && !pattern.could_begin(entry.name()) {
                    continue;
                }
                let is_below = match entry.kind() {
                    EntryKind::Symlink => {
                        let path = entry.path().map(|path| workdir.resolve(path.as_str()));
                        path.is_some_and(|path| path.is_ok_and(|path| is_below(&path, &top)))
                    }
                    _ => true,
                };
                if !is_below {
                    let source = &pattern.source;
                    return self.opaque(format!("what `{source}` stands for: a link leads elsewhere"));
                }
                if let (EntryKind::Directory, Some(path)) = (entry.kind(), entry.path())
                    && depth < pattern.depth
                {
                    directories.push((path.clone(), depth + 1));
                }
            }
        }
    }

    /// Tells whether words name plain files below the working directory, and no links to such.
    pub(super) fn is_plain_file(&self, target: &Target) -> bool {
        let (Target::File(word) | Target::Tree(word) | Target::Listing(word)) = target;
        if !word.is_literal {
            return false;
        }
        let Ok(Place::Inside(path)) = self.place(&word.text) else { return false };
        !self.passes_link(&word.text, path.as_str())
            && matches!(self.surroundings.workdir.kind(&path), Ok(EntryKind::File))
    }

    pub(super) fn host(&mut self, host: &Host) {
        if !host.name.is_literal {
            return self.opaque(format!("which host `{}` is", host.name.text));
        }
        let name = host.name.text.to_ascii_lowercase();
        if let Some(port) = host.port {
            self.access(Access::connect(Resource::exact(NET, format!("{name}:{port}"))));
        } else {
            self.access(Access::connect(Resource::exact(NET, name.as_str())));
            self.opaque(format!("which port of `{name}` it connects to"));
        }
    }

    pub(super) fn redirect_from(&mut self, word: &Word) {
        self.redirection(AccessMode::Read, word);
    }

    pub(super) fn redirect_to(&mut self, word: &Word) {
        self.redirection(AccessMode::Write, word);
    }

    fn redirection(&mut self, mode: AccessMode, word: &Word) {
        if !word.is_literal {
            return self.opaque(format!("which file `{}` is", word.text));
        }
        // Bash connects to these; on most systems they do not exist.
        let net = ["/dev/tcp/", "/dev/udp/"].into_iter().find_map(|prefix| word.text.strip_prefix(prefix));
        if let Some((host, port)) = net.and_then(|rest| rest.split_once('/')) {
            let name = Word::literal(host);
            return self.host(&Host { name, port: port.parse().ok() });
        }
        self.path(mode, &word.text, Reach::Itself);
    }

    /// Declares a path that is read or written.
    pub(super) fn path(&mut self, mode: AccessMode, path: &str, reach: Reach) {
        if path.is_empty() || is_stream(path) {
            return;
        }
        match self.place(path) {
            Ok(Place::Inside(path)) => {
                let path = if path.is_root() { "" } else { path.as_str() };
                self.access(reach.access(mode, FILE, path));
            }
            Ok(Place::Outside(path, really)) => {
                for path in [Some(path), really].into_iter().flatten() {
                    self.access(reach.access(mode, OUTSIDE, &path));
                }
            }
            Err(why) => self.opaque(format!("where `{path}` leads: {why}")),
        }
    }

    /// Finds where a path leads.
    pub(super) fn place(&self, path: &str) -> Result<Place, &'static str> {
        let full = match &self.current {
            _ if path.starts_with('/') => path.to_owned(),
            Current::Inside { path: current, .. } if current.is_empty() => path.to_owned(),
            Current::Inside { path: current, .. } | Current::Outside { path: current, .. } => {
                format!("{}/{path}", current.trim_end_matches('/'))
            }
            Current::Unknown => return Err("the directory is not known"),
        };
        let workdir = &self.surroundings.workdir;
        match workdir.resolve(&full) {
            Ok(path) => Ok(Place::Inside(path)),
            Err(ResolveError::Outside { .. }) => {
                let path = lexically(&workdir.root_path().join(&full)).ok_or("it is not text")?;
                let really = really(Path::new(&path)).ok_or("it cannot be looked up")?;
                // A path that leads back in through a link has two names.
                if let Ok(inside) = workdir.resolve(&really)
                    && really != path
                {
                    return Ok(Place::Inside(inside));
                }
                // `..` behind a link is somewhere else than it is written.
                let is_plain = !full.trim_start_matches("../").split('/').any(|part| part == "..");
                if !is_plain && really != path {
                    return Err("it goes up again behind a link");
                }
                let elsewhere = (really != path).then_some(really);
                Ok(Place::Outside(path, elsewhere))
            }
            Err(ResolveError::NotADirectory { .. }) => Err("it uses a file as a directory"),
            Err(ResolveError::LinkOutside { .. }) => Err("it leaves the working directory through a link"),
            Err(_) => Err("it cannot be resolved"),
        }
    }
}

impl Reach {
    fn access(self, mode: AccessMode, scheme: Scheme, path: &str) -> Access {
        match self {
            Self::Itself => Access::new(mode, Resource::exact(scheme, path)),
            Self::Tree => Access::new(mode, Resource::subtree(scheme, path)),
            // What is decided is whether the directory may be looked into. What is made or removed below it shows there.
            Self::Names => {
                let below = Resource::subtree(scheme.clone(), path);
                Access::new(mode, Resource::exact(scheme, path)).ordered_in(&below)
            }
        }
    }
}

/// Tells whether a path is a stream that is open anyway, or holds nothing.
fn is_stream(path: &str) -> bool {
    matches!(path, "/dev/null" | "/dev/stdin" | "/dev/stdout" | "/dev/stderr" | "/dev/tty")
        || path
            .strip_prefix("/dev/fd/")
            .is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// A pattern of file names.
struct Pattern {
    source: String,
    /// Below it lies everything that the pattern stands for.
    directory: String,
    /// What the names in it begin with.
    beginning: String,
    /// How many directories further down it goes.
    depth: usize,
}

impl Pattern {
    fn of(source: &str, home: Option<&str>) -> Option<Self> {
        let (word, end) = scan(source, 0, 0, home).ok()?;
        if end != source.len() || !word.is_pattern || word.is_literal || source.contains("..") {
            return None;
        }
        // It could be an absolute path.
        if word.text.is_empty() {
            return None;
        }
        let (directory, beginning) = match word.text.rfind('/') {
            Some(slash) => word.text.split_at(slash + 1),
            None => (".", word.text.as_str()),
        };
        let slashes = |text: &str| text.matches('/').count();
        let depth = slashes(source).saturating_sub(slashes(&word.text));
        let (directory, beginning) = (directory.to_owned(), beginning.to_owned());
        Some(Self { source: source.to_owned(), directory, beginning, depth })
    }

    /// Tells whether a name in the directory is one that it could stand for, or begin with.
    fn could_begin(&self, name: &str) -> bool {
        // A dot at the beginning has to stand there, which it can between braces.
        let is_hidden =
            name.starts_with('.') && !self.beginning.starts_with('.') && !self.source.contains('{');
        name.starts_with(&self.beginning) && !is_hidden
    }
}

fn is_below(path: &WorkdirPath, directory: &WorkdirPath) -> bool {
    let rest = path.as_str().strip_prefix(directory.as_str());
    directory.is_root() || rest.is_some_and(|rest| rest.starts_with('/'))
}

/// Takes `.` and `..` out of an absolute path, without looking at the file system.
fn lexically(path: &Path) -> Option<String> {
    let mut clean = PathBuf::from("/");
    for component in path.components() {
        match component {
            Component::ParentDir => {
                clean.pop();
            }
            Component::Normal(name) => clean.push(name),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    clean.to_str().map(str::to_owned)
}

/// Follows the links of a path as far as it exists.
fn really(path: &Path) -> Option<String> {
    let mut missing = Vec::new();
    let mut existing = path;
    loop {
        if let Ok(mut found) = fs::canonicalize(existing) {
            found.extend(missing.iter().rev());
            return found.to_str().map(str::to_owned);
        }
        // A link that leads nowhere is there all the same, and writing to it makes what it leads to.
        if fs::symlink_metadata(existing).is_ok() && missing.is_empty() {
            return None;
        }
        missing.push(existing.file_name()?);
        existing = existing.parent()?;
    }
}
