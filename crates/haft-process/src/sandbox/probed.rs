use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use super::confinement::{Confinement, Network};
use super::lack::SandboxLack;
use super::system;

/// Says what this machine can confine programs by, and does so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sandbox {
    /// The version of Landlock, 0 where there is none.
    pub(super) landlock: u32,
    /// Whether system calls can be filtered.
    pub(super) system_calls: bool,
    /// Whether this user can make namespaces.
    pub(super) namespaces: bool,
    /// Whether this user is the one whose processes Linux does not count.
    pub(super) is_root: bool,
    pub(super) bubblewrap: Option<PathBuf>,
}

impl Sandbox {
    /// Finds out what there is, by trying it; only the first time, which takes some milliseconds.
    pub fn probe() -> &'static Self {
        static PROBED: OnceLock<Sandbox> = OnceLock::new();
        PROBED.get_or_init(system::probe)
    }

    /// Makes one that has nothing, as on a system that cannot confine programs.
    pub fn missing() -> Self {
        Self { landlock: 0, system_calls: false, namespaces: false, is_root: false, bubblewrap: None }
    }

    /// Lists what of a confinement would not hold here; nothing if all of it does.
    pub fn lacks(&self, confinement: &Confinement) -> Vec<SandboxLack> {
        if !cfg!(target_os = "linux") {
            return vec![SandboxLack::System];
        }
        let has_ports = matches!(confinement.network, Network::Ports(_));
        let lacking = [
            (self.landlock < 1, SandboxLack::Files),
            ((1..3).contains(&self.landlock), SandboxLack::Truncation),
            (self.landlock < 4 && has_ports, SandboxLack::Ports),
            (self.landlock < 6, SandboxLack::Signals),
            (!self.system_calls, SandboxLack::SystemCalls),
            (!self.namespaces && !confinement.protected.is_empty(), SandboxLack::Protection),
            (!self.namespaces && !confinement.hidden.is_empty(), SandboxLack::Hiding),
            (!self.namespaces || self.is_root, SandboxLack::Processes),
        ];
        lacking.into_iter().filter_map(|(is_lacking, lack)| is_lacking.then_some(lack)).collect()
    }

    /// Has a command confined when it is started, as far as this machine can; see [`Sandbox::lacks`].
    ///
    /// It runs in `directory`, an absolute path, also if the command was given another. What the caller adds by `pre_exec`
    /// before this is not confined. Takes about a tenth of a millisecond here, and less than one in the new process.
    ///
    /// # Errors
    ///
    /// When the system has no descriptor or memory to spare, or a path has a NUL byte. What fails in the new process is an
    /// error of starting it: it never runs unconfined.
    pub fn confine(
        &self,
        command: &mut Command,
        confinement: &Confinement,
        directory: &Path,
    ) -> io::Result<()> {
        command.current_dir(directory);
        system::confine(self, command, confinement, directory)
    }

    /// Where the scratch directory of a confinement is for the program itself: what `TMPDIR` should be.
    pub fn temporary_directory(&self, confinement: &Confinement) -> Option<PathBuf> {
        let scratch = confinement.scratch.as_ref()?;
        let is_placed =
            self.namespaces && confinement.scratch_places().any(|(place, _)| place == Path::new("/tmp"));
        Some(if is_placed { PathBuf::from("/tmp") } else { scratch.join("tmp") })
    }
}

impl fmt::Display for Sandbox {
    /// Lists what there is and what there is not, a line each.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let yes_or = |is_there: bool, otherwise: &'static str| if is_there { "yes" } else { otherwise };
        match self.landlock {
            0 => writeln!(f, "landlock      no: {}", SandboxLack::Files)?,
            version => {
                let without = [(3, "truncation"), (4, "TCP ports"), (6, "signals")];
                let missing = without.into_iter().filter(|(since, _)| version < *since).map(|(_, what)| what);
                let missing: Vec<_> = missing.collect();
                write!(f, "landlock      yes, version {version}")?;
                if !missing.is_empty() {
                    write!(f, ", which knows nothing of {}", missing.join(", "))?;
                }
                writeln!(f)?;
            }
        }
        writeln!(f, "system calls  {}", yes_or(self.system_calls, "no: the kernel has no seccomp filters"))?;
        let refused = "no: the system does not let this user make user namespaces";
        writeln!(f, "namespaces    {}", yes_or(self.namespaces, refused))?;
        match &self.bubblewrap {
            Some(_) => write!(f, "bubblewrap    installed, and not needed"),
            None => write!(f, "bubblewrap    not installed, and not needed"),
        }
    }
}
