//! From the words that name files to the accesses of them.

use super::Analysis;
use super::directory::Current;
use crate::catalogue::{Host, Target, Word};
use crate::syntax::scan;
use haft_tools_core::{Access, AccessMode, Resource, Scheme};
use haft_workdir::{ResolveError, WorkdirPath};
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Names what is below the working directory, as the tools that touch files name it.
const FILE: Scheme = Scheme::new("file");

/// Names what is not below it, by an absolute path.
const OUTSIDE: Scheme = Scheme::new("outside");

/// Names hosts.
const NET: Scheme = Scheme::new("net");

/// Where a path leads.
pub(super) enum Place {
    Inside(WorkdirPath),
    /// The path as it was written, and where it really leads if that is elsewhere.
    Outside(String, Option<String>),
}

impl Analysis<'_> {
    /// Declares a file or a tree that a command touches.
    pub(super) fn target(&mut self, mode: AccessMode, target: &Target) {
        let (word, is_tree) = match target {
            Target::File(word) => (word, false),
            Target::Tree(word) => (word, true),
        };
        if word.is_literal {
            return self.path(mode, &word.text, is_tree);
        }
        match directory_of_pattern(&word.text, self.home.as_deref()) {
            Some(directory) => self.path(mode, &directory, true),
            None => self.opaque(format!("which file `{}` is", word.text)),
        }
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
        self.path(mode, &word.text, false);
    }

    /// Declares a path that is read or written.
    pub(super) fn path(&mut self, mode: AccessMode, path: &str, is_tree: bool) {
        if path.is_empty() || is_stream(path) {
            return;
        }
        match self.place(path) {
            Ok(Place::Inside(path)) => {
                let path = if path.is_root() { "" } else { path.as_str() };
                self.access(Access::new(mode, resource(FILE, path, is_tree)));
            }
            Ok(Place::Outside(path, really)) => {
                for path in [Some(path), really].into_iter().flatten() {
                    self.access(Access::new(mode, resource(OUTSIDE, &path, is_tree)));
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

fn resource(scheme: Scheme, path: &str, is_tree: bool) -> Resource {
    if is_tree { Resource::subtree(scheme, path) } else { Resource::exact(scheme, path) }
}

/// Tells whether a path is a stream that is open anyway, or holds nothing.
fn is_stream(path: &str) -> bool {
    matches!(path, "/dev/null" | "/dev/stdin" | "/dev/stdout" | "/dev/stderr" | "/dev/tty")
        || path
            .strip_prefix("/dev/fd/")
            .is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Finds the directory below which everything lies that a pattern of file names stands for.
fn directory_of_pattern(source: &str, home: Option<&str>) -> Option<String> {
    let (word, end) = scan(source, 0, 0, home).ok()?;
    if end != source.len() || !word.is_pattern || word.is_literal || source.contains("..") {
        return None;
    }
    let directory = word.text.rfind('/').map_or("", |slash| &word.text[..=slash]);
    (!word.text.is_empty()).then(|| if directory.is_empty() { ".".to_owned() } else { directory.to_owned() })
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
