//! Looks names up and leaves out the addresses that a policy refuses.

use crate::{AddressPolicy, Host};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

/// Stands between a name and the connections that are made for it: nothing else gives the client an address of a name.
pub(super) struct Guard(pub(super) Arc<AddressPolicy>);

/// Says that a name leads to refused addresses only; one of them is named.
#[derive(Debug, thiserror::Error)]
#[error("{address} is not permitted")]
pub(super) struct Refused {
    pub(super) address: IpAddr,
}

impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let policy = Arc::clone(&self.0);
        Box::pin(async move {
            let host: Host = name.as_str().parse()?;
            let found: Vec<SocketAddr> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            let (permitted, refused): (Vec<_>, Vec<_>) =
                found.into_iter().partition(|found| policy.permits(&host, found.ip()));
            match (permitted.is_empty(), refused.first()) {
                (true, Some(refused)) => Err(Refused { address: refused.ip() }.into()),
                _ => Ok(Box::new(permitted.into_iter()) as Addrs),
            }
        })
    }
}
