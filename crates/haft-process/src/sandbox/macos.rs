//! Confining programs by `sandbox-exec`, as far as it is known from its documentation: this was never tried.

use std::io;
use std::path::Path;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::{Confinement, ResourceLimits, Sandbox, SeatbeltProfile};
use crate::preparation::Preparation;
use crate::program::Program;

/// What confines a program and becomes it.
const SANDBOX_EXEC: &str = "/usr/bin/sandbox-exec";

pub(super) fn probe() -> Sandbox {
    Sandbox { seatbelt: Path::new(SANDBOX_EXEC).exists(), ..Sandbox::missing() }
}

pub(super) fn confine(
    sandbox: &Sandbox,
    mut program: Program,
    confinement: &Confinement,
    _: &Path,
) -> io::Result<Program> {
    if !sandbox.seatbelt {
        return Ok(program);
    }
    let mut arguments = SeatbeltProfile::of(confinement).arguments();
    arguments.push(program.path.into());
    arguments.append(&mut program.arguments);
    program.path = SANDBOX_EXEC.into();
    // What the program is told that it is called cannot be said.
    program.name = None;
    program.arguments = arguments;
    program.preparations.push(limited(confinement.limits));
    Ok(program)
}

/// What bounds the size of files; there is nothing that bounds the memory, and processes are counted for the whole user.
#[expect(unsafe_code, reason = "a new process has to set its limits itself, before its program is executed")]
fn limited(limits: ResourceLimits) -> Preparation {
    let limit = move || {
        for (resource, most) in [(Resource::Core, 0), (Resource::Fsize, limits.file_bytes)] {
            let most = getrlimit(resource).maximum.map_or(most, |now| now.min(most));
            setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?;
        }
        Ok(())
    };
    // SAFETY: it makes system calls and nothing else.
    unsafe { Preparation::new(limit) }
}
