use crate::host_pattern::{Hosts, Network, Ports, this_machine};
use crate::{Endpoint, HostPattern};
use ahash::AHashMap;
use std::net::IpAddr;

/// Many patterns, tried all at once.
///
/// A look-up costs one search in a table for each name in a host, or for each length of range among the patterns, however
/// many patterns there are.
///
/// ```
/// use haft_http::{HostPattern, HostPatternSet};
///
/// let patterns = ["*.example.org", "api.example.org:8443", "10.0.0.0/8"].map(str::parse::<HostPattern>);
/// let set = HostPatternSet::new(patterns.into_iter().collect::<Result<Vec<_>, _>>()?);
/// assert_eq!(set.first_containing(&"api.example.org:443".parse()?), Some(0));
/// assert_eq!(set.first_containing(&"10.1.2.3:443".parse()?), Some(2));
/// assert_eq!(set.first_containing(&"example.com:443".parse()?), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct HostPatternSet {
    all: Vec<Entry>,
    names: AHashMap<Box<str>, Vec<Entry>>,
    below: AHashMap<Box<str>, Vec<Entry>>,
    networks: AHashMap<Network, Vec<Entry>>,
    /// The lengths of the ranges that there are.
    lengths: Vec<u8>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    index: usize,
    ports: Ports,
}

/// What a look-up is for, and what it found so far.
#[derive(Clone, Copy)]
struct Search {
    port: u16,
    fits: fn(Ports, u16) -> bool,
    first: Option<usize>,
}

impl Search {
    /// Looks at entries in their order.
    fn among(&mut self, entries: Option<&Vec<Entry>>) {
        let fitting =
            entries.and_then(|entries| entries.iter().find(|entry| (self.fits)(entry.ports, self.port)));
        if let Some(Entry { index, .. }) = fitting {
            self.first = Some(self.first.map_or(*index, |first| first.min(*index)));
        }
    }
}

impl HostPatternSet {
    /// Files patterns; they are known by their place in the list.
    pub fn new(patterns: impl IntoIterator<Item = HostPattern>) -> Self {
        let mut set = Self::default();
        for (index, HostPattern { hosts, ports }) in patterns.into_iter().enumerate() {
            let entries = match hosts {
                Hosts::All => &mut set.all,
                Hosts::Name(name) => set.names.entry(name).or_default(),
                Hosts::Below(above) => set.below.entry(above).or_default(),
                Hosts::Addresses(network) => {
                    if !set.lengths.contains(&network.length) {
                        set.lengths.push(network.length);
                    }
                    set.networks.entry(network).or_default()
                }
            };
            entries.push(Entry { index, ports });
        }
        set
    }

    /// Finds the first pattern that [contains](HostPattern::contains) an endpoint.
    pub fn first_containing(&self, endpoint: &Endpoint) -> Option<usize> {
        let mut search = Search { port: endpoint.port(), fits: Ports::contain, first: None };
        let host = endpoint.host();
        if let Some(name) = host.name() {
            if !self.all.is_empty() && !host.is_local() {
                search.among(Some(&self.all));
            }
            search.among(self.names.get(name));
            self.search_above(name, &mut search);
        }
        self.search_networks(host.address(), &mut search);
        search.first
    }

    /// Finds the first pattern that [touches](HostPattern::touches) an endpoint.
    pub fn first_touching(&self, endpoint: &Endpoint) -> Option<usize> {
        let mut search = Search { port: endpoint.port(), fits: Ports::touch, first: None };
        let host = endpoint.host();
        let aliases = this_machine(host);
        search.among(Some(&self.all));
        if let Some(name) = host.name() {
            search.among(self.names.get(name));
            self.search_above(name, &mut search);
        }
        if let Some(name) = aliases.name {
            search.among(self.names.get(name));
        }
        for address in host.address().iter().chain(aliases.addresses) {
            self.search_networks(Some(*address), &mut search);
        }
        search.first
    }

    /// Looks for patterns of all names below one that the given name is below.
    fn search_above(&self, name: &str, search: &mut Search) {
        if self.below.is_empty() {
            return;
        }
        for (dot, _) in name.match_indices('.') {
            search.among(self.below.get(&name[dot + 1..]));
        }
    }

    fn search_networks(&self, address: Option<IpAddr>, search: &mut Search) {
        let Some(address) = address else { return };
        for network in self.lengths.iter().filter_map(|length| Network::around(address, *length)) {
            search.among(self.networks.get(&network));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PATTERNS: [&str; 21] = [
        "*",
        "*:*",
        "*:22",
        "a.b",
        "a.b:*",
        "a.b:22",
        "*.b",
        "*.b:22",
        "*.a.b",
        "*.c:*",
        "localhost",
        "localhost:*",
        "127.0.0.1",
        "127.0.0.0/8:*",
        "10.0.0.0/8",
        "10.1.0.0/16:22",
        "0.0.0.0/0",
        "[::1]",
        "[fd00::/8]:*",
        "[::/0]",
        "*.localhost",
    ];

    const HOSTS: [&str; 15] = [
        "a.b",
        "b",
        "x.a.b",
        "a.c",
        "x.y.c",
        "localhost",
        "a.localhost",
        "127.0.0.1",
        "127.0.0.2",
        "0.0.0.0",
        "10.0.0.1",
        "10.1.0.1",
        "[::1]",
        "[fd00::1]",
        "m.internal",
    ];

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn agrees_with_trying_one_after_the_other(
            patterns in prop::collection::vec(prop::sample::select(PATTERNS.to_vec()), 0..8),
        ) {
            let patterns: Vec<HostPattern> = patterns.iter().map(|pattern| pattern.parse().unwrap()).collect();
            let set = HostPatternSet::new(patterns.clone());
            for endpoint in HOSTS.iter().flat_map(|host| [22, 80].map(|port| format!("{host}:{port}"))) {
                let endpoint: Endpoint = endpoint.parse().unwrap();
                let contained = patterns.iter().position(|pattern| pattern.contains(&endpoint));
                let touched = patterns.iter().position(|pattern| pattern.touches(&endpoint));
                let found = (set.first_containing(&endpoint), set.first_touching(&endpoint));
                prop_assert_eq!(found, (contained, touched), "{}", endpoint);
                // What is allowed could not be denied otherwise.
                prop_assert!(patterns.iter().all(|pattern| !pattern.contains(&endpoint) || pattern.touches(&endpoint)));
            }
        }
    }
}
