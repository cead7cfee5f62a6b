//! What a call asks for beyond what its script says.

use std::collections::BTreeSet;
use std::net::IpAddr;

use haft_core::ToolError;
use haft_process::sandbox::Network;
use haft_tools_core::{Access, Resource, Scheme};
use haft_workdir::{Shown, WorkdirPath};

use crate::analysis::{Asked, asked};
use crate::script::Surroundings;

/// Names sockets of this machine that have a path, as one resource: which of them a program uses cannot be confined.
pub(super) const LOCAL: Scheme = Scheme::new("local-sockets");

/// How many can be asked for at once.
const MOST: usize = 32;

const FORMS: &str = "write `read PATH`, `write PATH`, `connect HOST:PORT` or `connect local-sockets`";

/// Reads what is asked for.
pub(crate) fn requested(
    requests: &[String],
    surroundings: &Surroundings,
    directory: &WorkdirPath,
) -> Result<Vec<Access>, ToolError> {
    if requests.len() > MOST {
        return Err(ToolError::invalid_input(format!(
            "`access` has more than {MOST} entries; ask for what is needed"
        )));
    }
    let mut accesses = Vec::new();
    for request in requests {
        let refuse = || {
            let shown = Shown::new(request);
            ToolError::invalid_input(format!("`{shown}` of `access` is not understood; {FORMS}"))
        };
        let asked_for = match request.trim().split_once(' ').map(|(mode, rest)| (mode, rest.trim())) {
            Some((_, "")) | None => return Err(refuse()),
            Some(("connect", "local-sockets")) => {
                accesses.push(Access::connect(Resource::subtree(LOCAL, "")));
                continue;
            }
            Some(("read", path)) => Asked::Read(path),
            Some(("write", path)) => Asked::Write(path),
            Some(("connect", host)) => match host.rsplit_once(':').map(|(name, port)| (name, port.parse())) {
                Some((name, Ok(port))) if !name.is_empty() => Asked::Connect(name, port),
                _ => return Err(refuse()),
            },
            Some(_) => return Err(refuse()),
        };
        let found = asked(asked_for, surroundings, directory);
        accesses.extend(found.map_err(|why| {
            let shown = Shown::new(request);
            ToolError::invalid_input(format!(
                "`{shown}` of `access` cannot be used: {why}; name the place itself"
            ))
        })?);
    }
    Ok(accesses)
}

/// The ports of hosts that accesses connect to, with that at which the hosts' names are looked up; nothing where there are no
/// hosts among them.
pub(super) fn network<'a>(accesses: impl IntoIterator<Item = &'a Access>) -> Option<Network> {
    let mut ports = BTreeSet::new();
    for resource in accesses.into_iter().filter_map(Access::resource) {
        if resource.scheme().as_str() != "net" {
            continue;
        }
        match resource.path().rsplit_once(':').and_then(|(host, port)| Some((host, port.parse().ok()?))) {
            Some((host, port)) => ports.extend(ports_of(host, port)),
            // It was said that the port cannot be told.
            None => return Some(Network::Any),
        }
    }
    (!ports.is_empty()).then_some(Network::Ports(ports))
}

/// The ports that a connection to a host needs: its own, and that of names where the host has to be looked up.
pub(super) fn ports_of(host: &str, port: u16) -> impl Iterator<Item = u16> {
    const DNS: u16 = 53;
    let address = host.trim_start_matches('[').trim_end_matches(']');
    // That name stands in a file.
    let is_known = address == "localhost" || address.parse::<IpAddr>().is_ok();
    std::iter::once(port).chain((!is_known).then_some(DNS))
}
