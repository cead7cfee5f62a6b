use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;

use seccompiler::BpfProgram;

use super::calls;
use super::namespaces::Namespaces;
use crate::program::Program;
use crate::sandbox::ResourceLimits;

/// What a trial ends with, in the place of starting a program: no call that it makes does.
const END_OF_TRIAL: i32 = libc::ENOTNAM;

/// What is done in a new process, all of it prepared.
#[derive(Default)]
pub(super) struct Setup {
    pub(super) namespaces: Option<Namespaces>,
    pub(super) ruleset: Option<OwnedFd>,
    pub(super) filters: Option<Arc<[BpfProgram]>>,
    pub(super) limits: Vec<(libc::c_uint, u64)>,
    pub(super) is_trial: bool,
    /// Whether what is executed needs the powers of root, and takes them from what it executes itself.
    pub(super) keeps_powers: bool,
}

impl Setup {
    pub(super) fn before_exec(self, mut program: Program) -> Program {
        program.preparations.push(calls::preparation(move || self.run()));
        program
    }

    /// Makes system calls alone.
    fn run(&self) -> io::Result<()> {
        calls::forbid_new_privileges()?;
        // First, because Landlock refuses mounts, and the filter what makes namespaces.
        if let Some(namespaces) = &self.namespaces {
            namespaces.enter()?;
        }
        if !self.keeps_powers {
            calls::drop_capabilities();
        }
        for (resource, most) in &self.limits {
            calls::limit(*resource, *most)?;
        }
        if let Some(ruleset) = &self.ruleset {
            calls::restrict_self(ruleset.as_fd())?;
        }
        for filter in self.filters.iter().flat_map(|filters| filters.iter()) {
            seccompiler::apply_filter(filter).map_err(|error| match error {
                seccompiler::Error::Prctl(error) | seccompiler::Error::Seccomp(error) => error,
                _ => io::Error::from_raw_os_error(libc::EINVAL),
            })?;
        }
        if self.is_trial { Err(io::Error::from_raw_os_error(END_OF_TRIAL)) } else { Ok(()) }
    }
}

/// Tells whether an error is the one that a trial ends with when all went well.
pub(super) fn is_end_of_trial(error: &io::Error) -> bool {
    error.raw_os_error() == Some(END_OF_TRIAL)
}

/// Lists the limits of a process. That of processes counts all of the user's outside of a namespace, and so is not set there.
pub(super) fn limits(limits: ResourceLimits, is_apart: bool) -> Vec<(libc::c_uint, u64)> {
    let ResourceLimits { memory_bytes, processes, file_bytes } = limits;
    let mut all = vec![
        (libc::RLIMIT_CORE as libc::c_uint, 0),
        (libc::RLIMIT_DATA as libc::c_uint, memory_bytes),
        (libc::RLIMIT_FSIZE as libc::c_uint, file_bytes),
    ];
    if is_apart {
        all.push((libc::RLIMIT_NPROC as libc::c_uint, processes));
    }
    all
}
