use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, NetPort, PathBeneath, PathFd, Ruleset, RulesetAttr as _,
    RulesetCreated, RulesetCreatedAttr as _, RulesetError, Scope, make_bitflags,
};

use crate::sandbox::{Confinement, Network};

/// The newest version whose rights are spoken of; of an older one the kernel has what it has.
const VERSION: ABI = ABI::V6;

/// Devices that hold nothing, or that a program makes for itself.
const DEVICES: [&str; 8] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/pts",
];

/// Makes the rules of a confinement; nothing where the kernel has no Landlock.
pub(super) fn ruleset(confinement: &Confinement) -> io::Result<Option<OwnedFd>> {
    let ports = match &confinement.network {
        Network::None | Network::Loopback | Network::Any => None,
        Network::Ports(ports) => Some(ports),
    };
    let rules = || -> Result<RulesetCreated, RulesetError> {
        let mut ruleset = Ruleset::default().handle_access(AccessFs::from_all(VERSION))?;
        if ports.is_some() {
            ruleset = ruleset.handle_access(AccessNet::from_all(VERSION))?;
        }
        // An abstract socket has no path that it could be allowed by.
        let mut rules = ruleset.scope(Scope::from_all(VERSION))?.create()?;
        for path in &confinement.reads {
            rules = allow(rules, path, reading())?;
        }
        for path in &confinement.writes {
            rules = allow(rules, path, writing())?;
        }
        // No disk: that would be all files.
        rules = allow(rules, Path::new("/dev"), AccessFs::ReadDir.into())?;
        for device in DEVICES {
            let rights = make_bitflags!(AccessFs::{ReadFile | ReadDir | WriteFile | Truncate | IoctlDev});
            rules = allow(rules, Path::new(device), rights)?;
        }
        if let Some(scratch) = &confinement.scratch {
            for name in ["tmp", "shm"] {
                rules = allow(rules, &scratch.join(name), writing())?;
            }
            for name in ["nothing", "no-file"] {
                rules = allow(rules, &scratch.join(name), reading())?;
            }
        }
        allow_ports(rules, confinement)
    };
    Ok(rules().map_err(io::Error::other)?.into())
}

/// Makes the rules of a confinement but for those about files, with which nothing can be mounted any more.
pub(super) fn without_files(confinement: &Confinement) -> io::Result<Option<OwnedFd>> {
    let rules = || -> Result<RulesetCreated, RulesetError> {
        let mut ruleset = Ruleset::default();
        if matches!(confinement.network, Network::Ports(_)) {
            ruleset = ruleset.handle_access(AccessNet::from_all(VERSION))?;
        }
        allow_ports(ruleset.scope(Scope::from_all(VERSION))?.create()?, confinement)
    };
    Ok(rules().map_err(io::Error::other)?.into())
}

fn allow_ports(mut rules: RulesetCreated, confinement: &Confinement) -> Result<RulesetCreated, RulesetError> {
    let Network::Ports(ports) = &confinement.network else { return Ok(rules) };
    for port in ports {
        rules = rules.add_rule(NetPort::new(*port, AccessNet::ConnectTcp))?;
    }
    // Port 0 stands for those that the system chooses.
    for port in std::iter::once(&0).chain(&confinement.serves) {
        rules = rules.add_rule(NetPort::new(*port, AccessNet::BindTcp))?;
    }
    Ok(rules)
}

fn reading() -> BitFlags<AccessFs> {
    make_bitflags!(AccessFs::{Execute | ReadFile | ReadDir})
}

/// Everything but making devices.
fn writing() -> BitFlags<AccessFs> {
    AccessFs::from_all(VERSION) & !make_bitflags!(AccessFs::{MakeChar | MakeBlock | IoctlDev})
}

/// Allows something at a path, if there is anything.
fn allow(
    rules: RulesetCreated,
    path: &Path,
    rights: BitFlags<AccessFs>,
) -> Result<RulesetCreated, RulesetError> {
    match PathFd::new(path) {
        Ok(found) => rules.add_rule(PathBeneath::new(found, rights)),
        // What is not there, or cannot be seen, is not allowed either.
        Err(_) => Ok(rules),
    }
}
