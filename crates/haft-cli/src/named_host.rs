use anyhow::Result;
use haft::http::{AddressPolicy, HttpClient};
use url::Host;

/// Is the host of a service that is asked because a person, or haft itself, has named it.
pub(crate) struct NamedHost {
    host: Host<String>,
    /// Whether a person has: then it may be one of a private network.
    is_by_person: bool,
}

impl NamedHost {
    pub(crate) fn new(host: Host<String>, is_by_person: bool) -> Self {
        Self { host, is_by_person }
    }

    pub(crate) fn is(&self, domain: &str) -> bool {
        matches!(&self.host, Host::Domain(name) if name == domain)
    }

    /// Tells whether nothing that is sent there leaves this machine.
    pub(crate) fn is_this_machine(&self) -> bool {
        match &self.host {
            Host::Domain(name) => name == "localhost" || name.ends_with(".localhost"),
            Host::Ipv4(address) => address.is_loopback(),
            Host::Ipv6(address) => address.is_loopback(),
        }
    }

    /// Makes a client that reaches it and the public internet.
    pub(crate) fn client(&self) -> Result<HttpClient> {
        let policy = AddressPolicy::public();
        if self.is_this_machine() {
            return Ok(HttpClient::new(policy.loopback())?);
        }
        let policy = match self.host.to_string().parse() {
            Ok(host) if self.is_by_person => policy.host(host),
            _ => policy,
        };
        Ok(HttpClient::builder(policy).environment_proxies(true).build()?)
    }
}
