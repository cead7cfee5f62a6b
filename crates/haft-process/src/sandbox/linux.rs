//! Confining programs by Landlock, seccomp and namespaces.

mod bubblewrap;
mod calls;
mod filter;
mod landlock_rules;
mod namespaces;
mod setup;

use std::io;
use std::path::Path;
use std::process::Command;

use rustix::process::getuid;

use self::filter::{Ip, Sockets};
use self::namespaces::Namespaces;
use self::setup::Setup;
use super::{Confinement, Network, Sandbox};
use crate::program::Program;

/// The port at which names are looked up, by UDP and, where an answer is long, by TCP (RFC 7766).
const DNS: u16 = 53;

pub(super) fn probe() -> Sandbox {
    Sandbox {
        landlock: calls::landlock_version(),
        system_calls: calls::has_filters()
            && cfg!(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")),
        namespaces: can_make_namespaces(),
        is_root: getuid().is_root(),
        bubblewrap: bubblewrap::find(),
        seatbelt: false,
    }
}

/// Tries to make them, with a mount in them, in a process that does nothing else.
fn can_make_namespaces() -> bool {
    let Ok(namespaces) = Namespaces::trial() else { return false };
    // The program is never started: that it came this far is told by an error.
    let trial = Setup { namespaces: Some(namespaces), is_trial: true, ..Setup::default() };
    let tried = Command::from(trial.before_exec(Program::new("/bin/sh"))).env_clear().spawn();
    matches!(tried, Err(error) if setup::is_end_of_trial(&error))
}

pub(super) fn confine(
    sandbox: &Sandbox,
    program: Program,
    confinement: &Confinement,
    directory: &Path,
) -> io::Result<Program> {
    // A network of its own has its price, and nothing else may need namespaces.
    let is_own = confinement.network == Network::Loopback;
    let has_mounts = !confinement.protected.is_empty()
        || !confinement.hidden.is_empty()
        || confinement.scratch_places().next().is_some();
    let bubblewrap = sandbox.bubblewrap_in_use();
    let namespaces = if bubblewrap.is_none() && sandbox.namespaces && (is_own || has_mounts) {
        Some(Namespaces::of(confinement, directory)?)
    } else {
        None
    };
    let is_apart = namespaces.is_some() || bubblewrap.is_some();
    let ip = match &confinement.network {
        Network::None => Ip::None,
        // Without a network of its own it would be everybody's.
        Network::Loopback if !is_apart => Ip::None,
        Network::Ports(ports) if ports.contains(&DNS) => Ip::TcpAndUdp,
        Network::Ports(_) => Ip::Tcp,
        Network::Loopback | Network::Any => Ip::Any,
    };
    let sockets = Sockets { ip, local: confinement.local_sockets, shared_memory: is_apart };
    let filters = if sandbox.system_calls { Some(filter::filters(sockets)?) } else { None };
    let limits = setup::limits(confinement.limits, namespaces.is_some());
    if let Some(bubblewrap) = bubblewrap {
        let ruleset = if sandbox.landlock > 0 { landlock_rules::without_files(confinement)? } else { None };
        let setup = Setup { ruleset, limits, keeps_powers: true, ..Setup::default() };
        let filters = filters.as_deref().unwrap_or_default();
        return bubblewrap::confine(bubblewrap, setup.before_exec(program), confinement, directory, filters);
    }
    let ruleset = if sandbox.landlock > 0 { landlock_rules::ruleset(confinement)? } else { None };
    Ok(Setup { namespaces, ruleset, filters, limits, ..Setup::default() }.before_exec(program))
}
