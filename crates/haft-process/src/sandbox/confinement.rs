use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::scratch::Scratch;
use crate::environment::Environment;

/// What programs read of a system without it being anybody's: themselves, their libraries and settings.
#[cfg(not(target_os = "macos"))]
const SYSTEM: [&str; 28] = [
    "/bin",
    "/etc",
    "/home/linuxbrew/.linuxbrew",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
    "/nix/var/nix/profiles",
    "/opt",
    "/proc",
    "/run/current-system",
    "/run/NetworkManager/resolv.conf",
    "/run/resolvconf",
    "/run/systemd/resolve",
    "/sbin",
    "/snap",
    "/sys",
    "/usr",
    "/var/cache/fontconfig",
    "/var/cache/man",
    "/var/db",
    "/var/lib/alternatives",
    "/var/lib/apt",
    "/var/lib/dpkg",
    "/var/lib/locales",
    "/var/lib/pacman",
    "/var/lib/rpm",
];

/// The same of macOS.
#[cfg(target_os = "macos")]
const SYSTEM: [&str; 16] = [
    "/Applications/Xcode.app",
    "/Library/Apple",
    "/Library/Developer",
    "/Library/Fonts",
    "/Library/Frameworks",
    "/Library/Java",
    "/System",
    "/bin",
    "/etc",
    "/nix/store",
    "/opt",
    "/sbin",
    "/usr",
    "/var/db/dyld",
    "/var/db/timezone",
    "/var/select",
];

/// What tool chains keep in a home directory, as far as there are no credentials in it.
const OF_HOME: [&str; 33] = [
    ".asdf",
    ".bun",
    ".cargo/.global-cache",
    ".cargo/.package-cache",
    ".cargo/.package-cache-mutate",
    ".cargo/bin",
    ".cargo/config",
    ".cargo/config.toml",
    ".cargo/env",
    ".cargo/git",
    ".cargo/registry",
    ".config/git",
    ".deno",
    ".gitconfig",
    ".gitignore",
    ".gitignore_global",
    ".local/bin",
    ".local/lib",
    ".local/share/fnm",
    ".local/share/mise",
    ".local/share/pipx",
    ".local/share/pnpm",
    ".local/share/uv",
    ".nix-profile",
    ".nvm",
    ".pyenv",
    ".rbenv",
    ".rustup",
    ".sdkman",
    ".volta",
    "go",
    "miniconda3",
    "miniforge3",
];

/// Variables that name where a tool chain is installed.
const TOOL_CHAINS: [&str; 22] = [
    "ANDROID_HOME",
    "BUN_INSTALL",
    "CONDA_PREFIX",
    "CURL_CA_BUNDLE",
    "DENO_DIR",
    "DOTNET_ROOT",
    "GEM_HOME",
    "GOMODCACHE",
    "GOPATH",
    "GOROOT",
    "JAVA_HOME",
    "MAVEN_HOME",
    "NODE_EXTRA_CA_CERTS",
    "NVM_DIR",
    "PIPX_HOME",
    "PYENV_ROOT",
    "RBENV_ROOT",
    "RUSTUP_HOME",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "VIRTUAL_ENV",
    "VOLTA_HOME",
];

/// What lies in cargo's directory beside credentials.
const OF_CARGO: [&str; 9] = [
    ".global-cache",
    ".package-cache",
    ".package-cache-mutate",
    "bin",
    "config",
    "config.toml",
    "env",
    "git",
    "registry",
];

/// Says which sockets a program may have.
///
/// ```
/// use haft_process::sandbox::{Confinement, Network};
///
/// // For a test suite that starts a server of its own, and for a command that fetches what it builds.
/// let tests = Confinement::new().network(Network::Loopback);
/// let build = Confinement::new().network(Network::Ports([53, 443].into()));
/// # let _ = (tests, build);
/// // Whoever says nothing of it gives none.
/// assert_eq!(Network::default(), Network::None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Network {
    /// None; only pairs of sockets that are connected with one another from the start.
    #[default]
    None,
    /// Those of a network of its own, in which there is nobody but itself: it can serve and ask on `127.0.0.1` and `::1`.
    ///
    /// Where there can be no such network it has none.
    Loopback,
    /// TCP to these ports of any host, and nothing else of IP. It can serve on ports that the system chooses, and on those
    /// of [`Confinement::serve`].
    ///
    /// With port 53 among them names can be looked up, and for that there is UDP, which reaches any port.
    Ports(BTreeSet<u16>),
    /// Whatever IP has.
    Any,
}

/// Says how much a program may use.
///
/// What it starts is counted with it, but for the memory and the size of files, of which each process has its own.
///
/// ```
/// use haft_process::sandbox::{Confinement, ResourceLimits};
///
/// let limits = ResourceLimits { memory_bytes: 1 << 30, ..ResourceLimits::default() };
/// let confinement = Confinement::new().limits(limits);
/// # let _ = confinement;
/// assert_eq!((limits.memory_bytes, limits.processes), (1 << 30, 4096));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResourceLimits {
    /// Bytes of memory that one process may write to (`RLIMIT_DATA`, setrlimit(2)).
    pub memory_bytes: u64,
    /// Processes and threads at one time.
    pub processes: u64,
    /// Bytes of the largest file that can be written.
    pub file_bytes: u64,
}

impl Default for ResourceLimits {
    /// 16 GiB of memory, 4,096 processes and threads, and files of 64 GiB: enough for builds, and not for a fork bomb.
    fn default() -> Self {
        Self { memory_bytes: 16 << 30, processes: 4096, file_bytes: 64 << 30 }
    }
}

/// Says what a program may read, write and connect to; nothing but what is said here.
///
/// Paths are absolute host paths, and mean what they lead to when the program is started; those that are not there are
/// passed over. A directory stands for all below it. Whatever may be written may be read.
///
/// ```
/// use haft_process::sandbox::{Confinement, Network};
/// use std::path::Path;
///
/// let confinement = Confinement::new()
///     .read("/usr")
///     .write("/work/project")
///     .protect("/work/project/.git/hooks")
///     .network(Network::Ports([443].into()));
/// assert!(confinement.may_write(Path::new("/work/project/src/lib.rs")));
/// assert!(!confinement.may_write(Path::new("/work/project/.git/hooks/pre-commit")));
/// assert!(!confinement.may_read(Path::new("/home/ann/.ssh/id_ed25519")));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Confinement {
    pub(super) reads: Vec<PathBuf>,
    pub(super) writes: Vec<PathBuf>,
    pub(super) protected: Vec<PathBuf>,
    pub(super) hidden: Vec<PathBuf>,
    pub(super) network: Network,
    pub(super) serves: BTreeSet<u16>,
    pub(super) local_sockets: bool,
    pub(super) scratch: Option<PathBuf>,
    pub(super) limits: ResourceLimits,
}

impl Confinement {
    /// Allows nothing, not even to start a program: its file and its libraries have to be read.
    pub fn new() -> Self {
        Self::default()
    }

    /// Allows to read what programs consist of: system directories, and the tool chains that an environment names.
    ///
    /// Of the home directory these are the usual places of tool chains and the settings of git, and neither credentials
    /// nor caches.
    pub fn of_programs(environment: &Environment) -> Self {
        let variable = |name: &str| environment.variable(name).map(PathBuf::from);
        let mut reads: Vec<PathBuf> = SYSTEM.iter().map(PathBuf::from).collect();
        let home = variable("HOME").filter(|home| home.is_absolute() && home.parent().is_some());
        reads.extend(home.iter().flat_map(|home| OF_HOME.iter().map(|below| home.join(below))));
        reads.extend(TOOL_CHAINS.iter().filter_map(|name| variable(name)));
        let cargo = variable("CARGO_HOME");
        reads.extend(cargo.iter().flat_map(|cargo| OF_CARGO.iter().map(|below| cargo.join(below))));
        for directory in variable("PATH").iter().flat_map(std::env::split_paths) {
            // What is in `bin` needs the `lib` beside it; but not all of a home directory.
            let above = directory.parent().filter(|above| is_tool_chain(above, home.as_deref()));
            reads.extend(above.map(Path::to_owned));
            reads.push(directory);
        }
        let is_usable =
            |path: &PathBuf| path.is_absolute() && Some(path) != home.as_ref() && path.parent().is_some();
        reads.retain(is_usable);
        Self { reads, ..Self::default() }
    }

    /// Allows to read a file, or a directory and all below it, and to execute what is there.
    pub fn read(mut self, path: impl Into<PathBuf>) -> Self {
        self.reads.push(path.into());
        self
    }

    /// Allows to write a file, or to make, change and remove what is in a directory.
    pub fn write(mut self, path: impl Into<PathBuf>) -> Self {
        self.writes.push(path.into());
        self
    }

    /// Keeps a file, or a directory and all below it, from being written although it lies in one that may be.
    ///
    /// It can be neither changed, removed nor renamed, nor can the directories that it lies in be renamed. This needs user
    /// namespaces, and holds for what is there when the program starts.
    pub fn protect(mut self, path: impl Into<PathBuf>) -> Self {
        self.protected.push(path.into());
        self
    }

    /// Shows nothing of a file or directory although it lies in one that may be read.
    ///
    /// This needs user namespaces and a [scratch directory](Self::scratch).
    pub fn hide(mut self, path: impl Into<PathBuf>) -> Self {
        self.hidden.push(path.into());
        self
    }

    /// Says which sockets it may have; [`Network::None`] if nothing is said.
    pub fn network(mut self, network: Network) -> Self {
        self.network = network;
        self
    }

    /// Allows to serve TCP on a port, beside those that the system chooses, where the network is [`Network::Ports`].
    ///
    /// Others have no need of it: whoever has no network serves nobody, and elsewhere no port is confined.
    pub fn serve(mut self, port: u16) -> Self {
        self.serves.insert(port);
        self
    }

    /// Allows to connect to any socket of this machine that has a path.
    ///
    /// Behind some of them is somebody who does more than this allows: a session's bus, a container engine, an agent that
    /// signs.
    pub fn local_sockets(mut self) -> Self {
        self.local_sockets = true;
        self
    }

    /// Gives it a directory of its own in the place of `/tmp`, `/var/tmp` and `/dev/shm`.
    ///
    /// Where there are no user namespaces, or something else in one of those is to be read or written, it is not put in
    /// that place, and may be written where it is. [`Sandbox::temporary_directory`] says where programs find it.
    ///
    /// [`Sandbox::temporary_directory`]: super::Sandbox::temporary_directory
    pub fn scratch(mut self, scratch: &Scratch) -> Self {
        self.scratch = Some(scratch.path().to_owned());
        self
    }

    /// Bounds how much it may use.
    pub fn limits(mut self, limits: ResourceLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Tells whether what is at a path may be read, going by what is written here.
    pub fn may_read(&self, path: &Path) -> bool {
        let is_in = |paths: &[PathBuf]| paths.iter().any(|allowed| path.starts_with(allowed));
        (is_in(&self.reads) || is_in(&self.writes)) && !is_in(&self.hidden)
    }

    /// Tells whether what is at a path may be written, going by what is written here.
    pub fn may_write(&self, path: &Path) -> bool {
        let is_in = |paths: &[PathBuf]| paths.iter().any(|allowed| path.starts_with(allowed));
        is_in(&self.writes) && !is_in(&self.protected) && !is_in(&self.hidden)
    }

    /// Lists the directories whose place the scratch directory takes, each with what is put there.
    pub(super) fn scratch_places(&self) -> impl Iterator<Item = (&'static Path, PathBuf)> {
        let places = [("/tmp", "tmp"), ("/var/tmp", "tmp"), ("/dev/shm", "shm")];
        places.into_iter().filter_map(|(place, name)| {
            let (scratch, place) = (self.scratch.as_ref()?, Path::new(place));
            let is_free = !self.reads.iter().chain(&self.writes).any(|path| path.starts_with(place));
            is_free.then(|| (place, scratch.join(name)))
        })
    }
}

/// Tells whether a directory that holds a directory of programs is a tool chain's alone.
fn is_tool_chain(directory: &Path, home: Option<&Path>) -> bool {
    home.is_some_and(|home| {
        directory.strip_prefix(home).is_ok_and(|below| {
            !below.as_os_str().is_empty() && below != Path::new(".local") && below != Path::new(".cargo")
        })
    })
}
