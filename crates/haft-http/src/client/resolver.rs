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
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            Ok(Box::new(permitted(found, &host, &policy)?.into_iter()) as Addrs)
        })
    }
}

/// Leaves out what is refused: of a name that leads to several addresses, the others may be connected to.
fn permitted(
    found: Vec<SocketAddr>,
    host: &Host,
    policy: &AddressPolicy,
) -> Result<Vec<SocketAddr>, Refused> {
    let (permitted, refused): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|found| policy.permits(host, found.ip()));
    match refused.first() {
        Some(refused) if permitted.is_empty() => Err(Refused { address: refused.ip() }),
        _ => Ok(permitted),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(found: &[&str], expected: Result<&[&str], &str>) {
        let parse = |addresses: &[&str]| -> Vec<SocketAddr> {
            addresses.iter().map(|address| SocketAddr::new(address.parse().unwrap(), 0)).collect()
        };
        let host = "rebinding.example".parse().unwrap();
        let permitted = permitted(parse(found), &host, &AddressPolicy::public());
        assert_eq!(
            permitted.map_err(|error| error.address.to_string()),
            expected.map(parse).map_err(str::to_owned)
        );
    }

    #[test]
    fn of_several_addresses_only_those_that_are_permitted_can_be_connected_to() {
        check(&["127.0.0.1", "8.8.8.8", "::1", "2606:4700::1111"], Ok(&["8.8.8.8", "2606:4700::1111"]));
        check(&["::ffff:169.254.169.254", "10.0.0.1"], Err("::ffff:169.254.169.254"));
        check(&["168.63.129.16"], Err("168.63.129.16"));
        check(&[], Ok(&[]));
    }

    #[tokio::test]
    async fn a_name_is_looked_up_and_checked_each_time() {
        let lead = async |policy| {
            let found = Guard(Arc::new(policy)).resolve("localhost".parse().unwrap()).await;
            found
                .map(|mut found| found.all(|found| found.ip().is_loopback()))
                .map_err(|error| error.is::<Refused>())
        };
        assert_eq!(lead(AddressPolicy::public()).await, Err(true));
        assert_eq!(lead(AddressPolicy::public().loopback()).await, Ok(true));
    }
}
