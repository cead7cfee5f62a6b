use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::confinement::{Confinement, Network};
use super::lack::SandboxLack;
use super::system;
use crate::program::Program;

/// Says what this machine can confine programs by, and does so.
///
/// ```
/// use haft_process::sandbox::{Confinement, Sandbox};
///
/// let confinement = Confinement::new().read("/usr").write("/work/project");
/// match Sandbox::probe().lacks(&confinement).as_slice() {
///     [] => println!("all of it holds here"),
///     lacks => lacks.iter().for_each(|lack| println!("weaker here: {lack}")),
/// }
/// // What it would be without any means, for a test of what is said then.
/// assert!(!Sandbox::missing().lacks(&confinement).is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each says of one part of a system whether it is there")]
pub struct Sandbox {
    /// The version of Landlock, 0 where there is none.
    pub(super) landlock: u32,
    /// Whether system calls can be filtered.
    pub(super) system_calls: bool,
    /// Whether this user can make namespaces.
    pub(super) namespaces: bool,
    /// Whether this user is the one whose processes Linux does not count.
    pub(super) is_root: bool,
    /// Where `bwrap` is, if this user can confine something by it.
    pub(super) bubblewrap: Option<PathBuf>,
    /// Whether there is the `sandbox-exec` of macOS.
    pub(super) seatbelt: bool,
}

impl Sandbox {
    /// Finds out what there is, by trying it; only the first time, which takes some milliseconds.
    pub fn probe() -> &'static Self {
        static PROBED: OnceLock<Sandbox> = OnceLock::new();
        PROBED.get_or_init(system::probe)
    }

    /// Makes one that has nothing, as on a machine whose kernel can confine no program.
    pub fn missing() -> Self {
        Self {
            landlock: 0,
            system_calls: false,
            namespaces: false,
            is_root: false,
            bubblewrap: None,
            seatbelt: false,
        }
    }

    /// Gives one that does without Landlock for files and without namespaces of its own, and so goes by bubblewrap, as on a
    /// machine where only that may make namespaces; `None` where that is not there.
    pub fn by_bubblewrap(&self) -> Option<Self> {
        self.bubblewrap.as_ref()?;
        Some(Self { namespaces: false, ..self.clone() })
    }

    /// Where bubblewrap is, if it is needed and there.
    pub(super) fn bubblewrap_in_use(&self) -> Option<&Path> {
        let is_needed = self.landlock == 0 || !self.namespaces;
        self.bubblewrap.as_deref().filter(|_| is_needed)
    }

    /// Lists what of a confinement would not hold here; nothing if all of it does.
    pub fn lacks(&self, confinement: &Confinement) -> Vec<SandboxLack> {
        if self.seatbelt {
            return vec![SandboxLack::Processes, SandboxLack::Memory];
        }
        if !cfg!(target_os = "linux") {
            return vec![SandboxLack::System];
        }
        let has_ports = matches!(confinement.network, Network::Ports(_));
        let has_tree = self.bubblewrap_in_use().is_some();
        let lacking = [
            (self.landlock < 1 && !has_tree, SandboxLack::Files),
            ((1..3).contains(&self.landlock) && !has_tree, SandboxLack::Truncation),
            (self.landlock < 4 && has_ports, SandboxLack::Ports),
            (self.landlock < 6, SandboxLack::Signals),
            (!self.system_calls, SandboxLack::SystemCalls),
            (!self.namespaces && !has_tree && !confinement.protected.is_empty(), SandboxLack::Protection),
            (!self.namespaces && !has_tree && !confinement.hidden.is_empty(), SandboxLack::Hiding),
            (!self.namespaces || self.is_root, SandboxLack::Processes),
        ];
        lacking.into_iter().filter_map(|(is_lacking, lack)| is_lacking.then_some(lack)).collect()
    }

    /// Has a program confined when it is started, as far as this machine can; see [`Sandbox::lacks`].
    ///
    /// It runs in `directory`, an absolute path, also if it was given another. Takes about a tenth of a millisecond here, and
    /// less than one in the new process.
    ///
    /// # Errors
    ///
    /// When the system has no descriptor or memory to spare, or a path has a NUL byte. What fails in the new process is an
    /// error of starting it: it never runs unconfined.
    pub fn confine(
        &self,
        program: Program,
        confinement: &Confinement,
        directory: &Path,
    ) -> io::Result<Program> {
        system::confine(self, program.directory(directory), confinement, directory)
    }

    /// Tells whether what a program may not read is not there for it, rather than refused to it.
    pub fn shows_only_what_may_be_read(&self) -> bool {
        self.bubblewrap_in_use().is_some()
    }

    /// Where the scratch directory of a confinement is for the program itself: what `TMPDIR` should be.
    pub fn temporary_directory(&self, confinement: &Confinement) -> Option<PathBuf> {
        let scratch = confinement.scratch.as_ref()?;
        let is_placed = (self.namespaces || self.bubblewrap_in_use().is_some())
            && confinement.scratch_places().any(|(place, _)| place == Path::new("/tmp"));
        Some(if is_placed { PathBuf::from("/tmp") } else { scratch.join("tmp") })
    }
}

impl fmt::Display for Sandbox {
    /// Lists what there is and what there is not, a line each.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.seatbelt {
            return write!(f, "sandbox-exec  yes; what haft makes of it was never tried on macOS");
        }
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
        match (&self.bubblewrap, self.bubblewrap_in_use()) {
            (_, Some(_)) => write!(f, "bubblewrap    yes, for files and a network of its own"),
            (Some(_), None) => write!(f, "bubblewrap    yes, and not needed"),
            (None, _) if self.landlock > 0 && self.namespaces => {
                write!(f, "bubblewrap    no, and not needed")
            }
            (None, _) => write!(f, "bubblewrap    no: `bwrap` is not installed, or this user cannot use it"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn on_macos_only_limits_are_lacking_and_nothing_is_without_sandbox_exec() {
        let confinement = Confinement::new().protect("/work/.git").network(Network::Ports([443].into()));
        let with = Sandbox { seatbelt: true, ..Sandbox::missing() };
        assert_eq!(with.lacks(&confinement), [SandboxLack::Processes, SandboxLack::Memory]);
        assert!(with.lacks(&confinement).iter().all(|lack| lack.is_of_limits()));
        assert!(with.to_string().contains("never tried"));
        assert!(Sandbox::missing().lacks(&confinement).iter().any(|lack| !lack.is_of_limits()));
    }
}
