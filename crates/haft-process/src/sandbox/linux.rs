//! Confining programs by Landlock, seccomp and namespaces.

mod calls;
mod filter;
mod landlock_rules;
mod namespaces;
mod setup;

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::getuid;

use self::filter::{Ip, Sockets};
use self::namespaces::Namespaces;
use self::setup::Setup;
use super::{Confinement, Network, Sandbox};
use crate::environment::Environment;

/// The port at which names are looked up, by UDP and, where an answer is long, by TCP (RFC 7766).
const DNS: u16 = 53;

pub(super) fn probe() -> Sandbox {
    Sandbox {
        landlock: calls::landlock_version(),
        system_calls: calls::has_filters()
            && cfg!(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")),
        namespaces: can_make_namespaces(),
        is_root: getuid().is_root(),
        bubblewrap: Environment::minimal().find_program("bwrap"),
    }
}

/// Tries to make them, with a mount in them, in a process that does nothing else.
fn can_make_namespaces() -> bool {
    let Ok(namespaces) = Namespaces::trial() else { return false };
    // The program is never started: that it came this far is told by an error.
    let mut command = Command::new("/bin/sh");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).env_clear();
    Setup { namespaces: Some(namespaces), is_trial: true, ..Setup::default() }.before_exec(&mut command);
    matches!(command.spawn(), Err(error) if setup::is_end_of_trial(&error))
}

pub(super) fn confine(
    sandbox: &Sandbox,
    command: &mut Command,
    confinement: &Confinement,
    directory: &Path,
) -> io::Result<()> {
    // A network of its own has its price, and nothing else may need namespaces.
    let is_own = confinement.network == Network::Loopback;
    let has_mounts = !confinement.protected.is_empty()
        || !confinement.hidden.is_empty()
        || confinement.scratch_places().next().is_some();
    let namespaces = if sandbox.namespaces && (is_own || has_mounts) {
        Some(Namespaces::of(confinement, directory)?)
    } else {
        None
    };
    let ip = match &confinement.network {
        Network::None => Ip::None,
        // Without a network of its own it would be everybody's.
        Network::Loopback if namespaces.is_none() => Ip::None,
        Network::Ports(ports) if ports.contains(&DNS) => Ip::TcpAndUdp,
        Network::Ports(_) => Ip::Tcp,
        Network::Loopback | Network::Any => Ip::Any,
    };
    let sockets = Sockets { ip, local: confinement.local_sockets, shared_memory: namespaces.is_some() };
    let ruleset = if sandbox.landlock > 0 { landlock_rules::ruleset(confinement)? } else { None };
    let filters = if sandbox.system_calls { Some(filter::filters(sockets)?) } else { None };
    let limits = setup::limits(confinement.limits, namespaces.is_some());
    Setup { namespaces, ruleset, filters, limits, is_trial: false }.before_exec(command);
    Ok(())
}
