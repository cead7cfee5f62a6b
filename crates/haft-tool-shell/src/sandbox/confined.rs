use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::aside::move_aside;
use super::declared::Declared;
use super::repository::Repository;
use super::{ShellSandbox, denial, places, requests};
use crate::script::{Script, Surroundings};
use haft_core::ToolError;
use haft_process::sandbox::{Confinement, Network, Sandbox, SandboxLack};
use haft_process::{Environment, Program};
use haft_tools_core::{Access, AccessMode, Resource};
use haft_workdir::RootAccess;

/// Where variables of the environment say that a proxy is.
const PROXIES: [&str; 4] = ["HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy"];

/// Holds one script's bounds while it runs.
#[derive(Debug)]
pub(crate) struct Confined {
    sandbox: Sandbox,
    confinement: Confinement,
    directory: PathBuf,
    root: PathBuf,
    lacks: Vec<SandboxLack>,
    watched: Vec<Watched>,
    repositories: Vec<Repository>,
}

/// A place that was made, with the name that it has now, unless it is still there.
struct Made {
    name: String,
    aside: Option<String>,
}

/// A protected place that no mount can hold: it was not there, or it is a link.
#[derive(Debug)]
struct Watched {
    /// Where it lies in.
    root: PathBuf,
    place: PathBuf,
    /// What it led to.
    target: Option<PathBuf>,
    /// Whether what it lies in was there.
    has_parent: bool,
}

impl ShellSandbox {
    /// Makes the bounds of a script that runs in a host directory, or refuses it where they cannot be had.
    pub(crate) fn confined(&self, script: &Script, directory: &Path) -> Result<Confined, ToolError> {
        let surroundings = &*script.surroundings;
        let mut bounds = Bounds::new(self, surroundings, script.is_understood);
        let port = script.waiting.port();
        bounds.allow(script.accesses.iter(), port);
        bounds.protect(script.accesses.iter(), directory);
        if let Some(port) = port {
            bounds.confinement = std::mem::take(&mut bounds.confinement).serve(port);
        }
        let Bounds { confinement, watched, repositories, .. } = bounds;
        let lacks = self.sandbox.lacks(&confinement);
        let why: Vec<&str> =
            lacks.iter().filter(|lack| !lack.is_of_limits()).map(|lack| lack.model_text()).collect();
        if self.is_required && !why.is_empty() {
            return Err(ToolError::unavailable(format!(
                "commands may only run in a sandbox, which this machine does not have: {}; do without commands, or ask the \
                 user to change that",
                why.join("; ")
            )));
        }
        let (sandbox, directory) = (self.sandbox.clone(), directory.to_owned());
        let root = surroundings.workdir.root_path().to_owned();
        Ok(Confined { sandbox, confinement, directory, root, lacks, watched, repositories })
    }
}

impl Confined {
    /// Has a program run within the bounds, and gives the environment that goes with them.
    pub(crate) fn confine(
        &self,
        program: Program,
        environment: &Environment,
    ) -> io::Result<(Program, Environment)> {
        let program = self.sandbox.confine(program, &self.confinement, &self.directory)?;
        let mut environment = environment.clone();
        if let Some(temporary) = self.sandbox.temporary_directory(&self.confinement) {
            let cache = temporary.join(".cache");
            for (name, value) in [("TMPDIR", temporary), ("XDG_CACHE_HOME", cache)] {
                environment = environment.with(name, value).map_err(io::Error::other)?;
            }
        }
        Ok((program, environment))
    }

    /// Says what the model should know, once the script has ended: what was denied, and what was set aside.
    pub(crate) fn remarks(&mut self, output: &str, has_failed: bool) -> String {
        let mut remarks = String::new();
        for Made { name, aside } in self.set_aside() {
            // Writing to a string cannot fail.
            let _ = match aside {
                Some(aside) => writeln!(
                    remarks,
                    "[the command made `{name}`, a protected place, so it was renamed to `{aside}`; if it is needed \
                     there, run the command again with \"access\": [\"write {name}\"], which the user is asked about]"
                ),
                None => writeln!(
                    remarks,
                    "[the command made `{name}`, a protected place, and it could not be renamed; tell the user to look at it \
                     and to remove it before anything else is run here]"
                ),
            };
        }
        if has_failed {
            let Self { sandbox, confinement, directory, root, .. } = self;
            let hides = sandbox.shows_only_what_may_be_read();
            remarks.push_str(&denial::explain(output, (confinement, hides), directory, root));
        }
        remarks
    }

    /// What is weaker than it should be, for the host.
    pub(crate) fn weaker(&self) -> Vec<String> {
        self.lacks.iter().map(ToString::to_string).collect()
    }

    /// Renames what was made in protected places, and gives the names that it had.
    fn set_aside(&mut self) -> Vec<Made> {
        let (watched, repositories) =
            (std::mem::take(&mut self.watched), std::mem::take(&mut self.repositories));
        // What was not there is there now, or a link leads elsewhere.
        let was_made = |watched: &Watched| match (fs::read_link(&watched.place).ok(), &watched.target) {
            (found, Some(target)) => {
                found.as_ref() != Some(target) && watched.place.symlink_metadata().is_ok()
            }
            (_, None) => watched.place.symlink_metadata().is_ok(),
        };
        let made = watched.into_iter().filter(was_made);
        let made = made.map(|Watched { root, place, has_parent, .. }| {
            let place = if has_parent { place } else { link_to(&root, place) };
            (root, place)
        });
        let in_repositories = repositories.iter().flat_map(|repository| {
            repository.made().into_iter().map(|place| (repository.root.clone(), place))
        });
        let made: BTreeSet<(PathBuf, PathBuf)> = made.chain(in_repositories).collect();
        let moved = made.into_iter().filter_map(|(root, place)| {
            let shown =
                |place: &Path| place.strip_prefix(&root).unwrap_or(place).to_string_lossy().into_owned();
            let name = shown(&place);
            match move_aside(&root, &place) {
                Ok(aside) => Some(Made { name, aside: Some(shown(&aside)) }),
                // It went with what it lay in.
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                Err(_) => Some(Made { name, aside: None }),
            }
        });
        moved.collect()
    }
}

impl Drop for Confined {
    fn drop(&mut self) {
        self.set_aside();
    }
}

/// Bounds that are being made.
struct Bounds<'a> {
    sandbox: &'a ShellSandbox,
    surroundings: &'a Surroundings,
    is_understood: bool,
    confinement: Confinement,
    /// Directories that may be written, in which protected places are looked for.
    writable: BTreeSet<PathBuf>,
    watched: Vec<Watched>,
    repositories: Vec<Repository>,
}

impl<'a> Bounds<'a> {
    fn new(sandbox: &'a ShellSandbox, surroundings: &'a Surroundings, is_understood: bool) -> Self {
        let mut confinement = Confinement::of_programs(&surroundings.environment).limits(sandbox.limits);
        for path in &sandbox.reads {
            confinement = confinement.read(path);
        }
        for path in &sandbox.hidden {
            confinement = confinement.hide(path);
        }
        if let Some(scratch) = sandbox.scratch.as_deref() {
            confinement = confinement.scratch(scratch);
        }
        let mut bounds = Self {
            sandbox,
            surroundings,
            is_understood,
            confinement,
            writable: BTreeSet::new(),
            watched: Vec::new(),
            repositories: Vec::new(),
        };
        for (root, access) in &surroundings.roots {
            bounds.read(root);
            if *access == RootAccess::ReadWrite && !is_understood {
                bounds.write(root);
            }
        }
        for directory in places::git_directories(surroundings.workdir.root_path()) {
            bounds.read(&directory);
            if !is_understood {
                bounds.write(&directory);
            }
        }
        if !is_understood {
            sandbox.writes.iter().for_each(|path| bounds.write(path));
        }
        bounds
    }

    fn read(&mut self, path: &Path) {
        self.confinement = std::mem::take(&mut self.confinement).read(path);
    }

    fn write(&mut self, path: &Path) {
        self.confinement = std::mem::take(&mut self.confinement).write(path);
        self.writable.insert(path.to_owned());
    }

    /// Opens what was declared, but for the port that is tried from outside: the script serves there.
    fn allow<'b>(
        &mut self,
        accesses: impl DoubleEndedIterator<Item = &'b Access> + Clone,
        served: Option<u16>,
    ) {
        for (mode, resource) in accesses.clone().filter_map(|access| access.mode().zip(access.resource())) {
            let Some(path) = self.host_path(resource) else { continue };
            match mode {
                AccessMode::Read => self.read(&path),
                AccessMode::Write if resource.scheme().as_str() == "file" => self.write_inside(&path),
                AccessMode::Write => self.write_outside(&path),
                AccessMode::Execute | AccessMode::Connect | AccessMode::Call => {}
            }
        }
        let mut confinement = std::mem::take(&mut self.confinement);
        let has_local =
            |access: &Access| access.resource().is_some_and(|found| *found.scheme() == requests::LOCAL);
        if accesses.clone().any(has_local) {
            confinement = confinement.local_sockets();
        }
        let mut tried = served.map(|port| format!("127.0.0.1:{port}"));
        // It is declared behind all that the script does itself.
        let connects = accesses.rev().filter(|access| {
            let is_it = access.resource().map(Resource::path) == tried.as_deref() && tried.is_some();
            if is_it {
                tried = None;
            }
            !is_it
        });
        let network = match (requests::network(connects), self.is_understood) {
            (Some(Network::Ports(mut ports)), _) => {
                ports.extend(self.proxies());
                Network::Ports(ports)
            }
            (Some(network), _) => network,
            // Where it serves it is reached from outside, so the network is not its own.
            (None, _) if served.is_some() => Network::Ports(BTreeSet::new()),
            (None, true) => Network::None,
            (None, false) => Network::Loopback,
        };
        self.confinement = confinement.network(network);
    }

    /// Where a file is that a resource names.
    fn host_path(&self, resource: &Resource) -> Option<PathBuf> {
        match resource.scheme().as_str() {
            "file" => Some(self.surroundings.workdir.root_path().join(resource.path())),
            "outside" => Some(PathBuf::from(resource.path())),
            _ => None,
        }
    }

    fn write_inside(&mut self, path: &Path) {
        let root = self.surroundings.workdir.root_path().to_owned();
        let is_directory = path.symlink_metadata().is_ok_and(|found| found.is_dir());
        let from = if is_directory { Some(path) } else { path.parent() };
        let existing = from.into_iter().flat_map(Path::ancestors).find(|above| above.is_dir());
        let opened = existing.filter(|above| above.starts_with(&root)).unwrap_or(&root);
        // What lies in a part that is only read stays so.
        let innermost = self.surroundings.roots.iter().filter(|(place, _)| opened.starts_with(place));
        let access = innermost.max_by_key(|(place, _)| place.as_os_str().len()).map(|(_, access)| *access);
        if access != Some(RootAccess::ReadOnly) {
            self.write(opened);
        }
    }

    fn write_outside(&mut self, path: &Path) {
        if path.exists() {
            return self.write(path);
        }
        let Some(above) = path.ancestors().skip(1).find(|above| above.is_dir()) else { return };
        let home = self.surroundings.environment.variable("HOME").map(Path::new);
        let is_shared = above.parent().is_none()
            || home.is_some_and(|home| home.starts_with(above))
            || Confinement::of_programs(&Environment::minimal()).may_read(above);
        if !is_shared {
            self.write(above);
        }
    }

    /// The ports that proxies need.
    fn proxies(&self) -> impl Iterator<Item = u16> {
        let environment = &self.surroundings.environment;
        let values = PROXIES.into_iter().filter_map(|name| environment.variable(name)?.to_str());
        let parts = values.filter_map(|proxy| {
            let address = proxy.split_once("://").map_or(proxy, |(_, rest)| rest);
            let address = address.split('/').next().unwrap_or_default();
            let (host, port) = address.rsplit_once(':')?;
            Some((host.rsplit('@').next().unwrap_or(host), port.parse().ok()?))
        });
        parts.flat_map(|(host, port)| requests::ports_of(host, port))
    }

    /// Protects what is to be protected in the directories that may be written, but for what was declared.
    fn protect<'b>(&mut self, accesses: impl Iterator<Item = &'b Access> + Clone, directory: &Path) {
        let declared: Declared = accesses
            .filter(|access| access.mode() == Some(AccessMode::Write))
            .filter_map(Access::resource)
            .filter_map(|resource| Some((self.host_path(resource)?, resource.is_subtree())))
            .collect();
        let mut places: BTreeSet<(PathBuf, PathBuf)> = BTreeSet::new();
        let mut repositories: Vec<(PathBuf, PathBuf)> = Vec::new();
        let roots: Vec<PathBuf> = self.surroundings.roots.iter().map(|(root, _)| root.clone()).collect();
        for root in &roots {
            let below = directory.ancestors().take_while(|above| above.starts_with(root));
            let looked_at: BTreeSet<&Path> = below.chain([root.as_path()]).collect();
            for at in looked_at {
                for found in self.sandbox.protected.iter().map(|pattern| pattern.places(at)) {
                    places.extend(found.all().map(|place| (root.clone(), place)));
                }
                repositories.push((root.clone(), at.join(".git")));
            }
        }
        for directory in places::git_directories(self.surroundings.workdir.root_path()) {
            let inside = self.sandbox.protected.iter().filter_map(|pattern| pattern.inside(".git"));
            let found = inside.flat_map(|pattern| pattern.places(&directory).all().collect::<Vec<_>>());
            places.extend(found.map(|place| (directory.clone(), place)));
            repositories.push((directory.clone(), directory));
        }
        self.watch_repositories(repositories, &places, &declared);
        let paths = self.sandbox.protected_paths.iter();
        places.extend(paths.filter_map(|path| Some((path.parent()?.to_owned(), path.clone()))));
        let read_only = self.surroundings.roots.iter().filter(|(_, access)| *access == RootAccess::ReadOnly);
        let read_only: Vec<PathBuf> = read_only.map(|(root, _)| root.clone()).collect();
        // Where it is a file, it says where the hooks and the settings are.
        let links = roots.iter().map(|root| (root.clone(), root.join(".git")));
        places.extend(links.filter(|(_, link)| link.symlink_metadata().is_ok_and(|found| found.is_file())));
        let places: Vec<_> = places
            .into_iter()
            .filter(|(_, place)| self.is_writable(place) && !declared.covers(place))
            .collect();
        for (root, place) in places {
            match fs::symlink_metadata(&place) {
                Ok(found) if found.is_symlink() => {
                    self.protect_place(&place);
                    let target = fs::read_link(&place).ok();
                    self.watched.push(Watched { root, place, target, has_parent: true });
                }
                Ok(_) => self.protect_place(&place),
                // What could be made is looked for when the script has ended, but for what a repository has that the script makes.
                Err(_) => {
                    let has_parent = place.parent().is_some_and(Path::is_dir);
                    let (root, place) = if has_parent { really(&roots, root, place) } else { (root, place) };
                    if has_parent || !is_of_repository(&place) {
                        self.watched.push(Watched { root, place, target: None, has_parent });
                    }
                }
            }
        }
        for root in read_only.iter().filter(|root| self.writable.iter().any(|path| root.starts_with(path))) {
            self.confinement = std::mem::take(&mut self.confinement).protect(root);
        }
    }

    /// Takes note of directories of git's that are there and may be written, with the places that are protected in them so far.
    fn watch_repositories(
        &mut self,
        repositories: Vec<(PathBuf, PathBuf)>,
        places: &BTreeSet<(PathBuf, PathBuf)>,
        declared: &Declared,
    ) {
        for (root, directory) in repositories {
            let is_there = directory.symlink_metadata().is_ok_and(|found| found.is_dir());
            if is_there && self.is_writable(&directory) {
                let inside = self.sandbox.protected.iter().filter_map(|pattern| pattern.inside(".git"));
                let known = places.iter().map(|(_, place)| place);
                let known = known.filter(|place| place.starts_with(&directory)).cloned().collect();
                self.repositories.push(Repository::before(
                    (root, directory),
                    inside,
                    known,
                    declared.clone(),
                ));
            }
        }
    }

    fn is_writable(&self, place: &Path) -> bool {
        self.writable.iter().any(|path| place.starts_with(path))
    }

    fn protect_place(&mut self, place: &Path) {
        self.confinement = std::mem::take(&mut self.confinement).protect(place);
    }
}

/// Says where a place is, whose directory may be there by links, as below a root.
fn really(roots: &[PathBuf], root: PathBuf, place: PathBuf) -> (PathBuf, PathBuf) {
    let real = place.parent().and_then(|above| Some(above.canonicalize().ok()?.join(place.file_name()?)));
    let below = |real: &Path| roots.iter().find(|root| real.starts_with(root)).cloned();
    match real.and_then(|real| Some((below(&real)?, real))) {
        Some(found) => found,
        None => (root, place),
    }
}

/// Gives the first link on the way to a place, by which it was made without being written itself; else the place.
fn link_to(root: &Path, place: PathBuf) -> PathBuf {
    let above: Vec<&Path> = place.ancestors().skip(1).take_while(|above| *above != root).collect();
    let link = above.into_iter().rev().find(|above| above.is_symlink()).map(Path::to_owned);
    link.unwrap_or(place)
}

/// Tells whether a place lies in a directory of git's.
fn is_of_repository(place: &Path) -> bool {
    place.components().any(|part| part.as_os_str() == ".git")
}
