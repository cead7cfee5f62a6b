use haft_http::{Endpoint, EndpointError, HostPattern, HostPatternError, HostPatternSet};
use haft_tools_core::{PatternError, PatternSet, PatternSyntax, Resource, Scheme};

/// The scheme of hosts; its paths are a host and a port.
const NET: Scheme = Scheme::new("net");

/// Reads the patterns of `connect(..)` rules, which are those of [`HostPattern`].
///
/// They are compared with `net:HOST:PORT` resources, whose hosts are brought into one spelling before. Where a resource
/// says less than one host and one port, or is none, an allowing rule is of no avail and every denying one counts.
///
/// ```
/// use haft_policy::HostPatterns;
/// use haft_tools_core::{PatternSyntax, Resource, Scheme};
///
/// const NET: Scheme = Scheme::new("net");
/// let patterns = HostPatterns.compile(&["api.github.com".into(), "*.github.com:*".into()])?;
/// assert_eq!(patterns.first_containing(&Resource::exact(NET, "API.GitHub.com:443")), Some(0));
/// assert_eq!(patterns.first_containing(&Resource::exact(NET, "api.github.com:22")), Some(1));
/// assert_eq!(patterns.first_touching(&Resource::exact(NET, "api.github.com:22")), Some(0));
/// # Ok::<(), haft_tools_core::PatternError>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct HostPatterns;

impl PatternSyntax for HostPatterns {
    fn speaks_of(&self, scheme: &Scheme) -> bool {
        *scheme == NET
    }

    fn compile(&self, patterns: &[Box<str>]) -> Result<Box<dyn PatternSet>, PatternError> {
        let mut parsed: Vec<HostPattern> = Vec::with_capacity(patterns.len());
        for (index, text) in patterns.iter().enumerate() {
            let refuse = |error: HostPatternError| PatternError::new(index, error.range(), error.reason());
            parsed.push(text.parse().map_err(refuse)?);
        }
        Ok(Box::new(CompiledHosts { count: parsed.len(), set: HostPatternSet::new(parsed) }))
    }

    /// Reads a host and a port.
    fn resource(&self, text: &str) -> Result<Resource, PatternError> {
        let endpoint: Endpoint = text.parse().map_err(|error: EndpointError| {
            let reason = match &error {
                EndpointError::Host(host) => host.to_string(),
                error => error.to_string(),
            };
            PatternError::new(0, 0..text.len(), reason)
        })?;
        Ok(Resource::exact(NET, endpoint.to_string()))
    }

    /// Suggests the host and port alone, and nothing for addresses of this machine and of private networks, such as that of
    /// a cloud's metadata service: what they lead to is another thing on each machine.
    fn suggest(&self, resource: &Resource) -> Option<String> {
        let Told::Endpoint(endpoint) = Told::by(resource) else { return None };
        let host = endpoint.host();
        let is_shown = !host.is_local() || host.name() == Some("localhost");
        (is_shown && endpoint.port() > 0).then(|| endpoint.to_string())
    }

    fn remark(&self, resource: &Resource) -> Option<String> {
        let Told::Endpoint(endpoint) = Told::by(resource) else { return None };
        let host = endpoint.host();
        host.is_local().then(|| format!("`{host}` is not of the public internet: `*` does not allow it"))
    }
}

#[derive(Debug)]
struct CompiledHosts {
    count: usize,
    set: HostPatternSet,
}

impl PatternSet for CompiledHosts {
    fn first_containing(&self, resource: &Resource) -> Option<usize> {
        match Told::by(resource) {
            Told::Endpoint(endpoint) => self.set.first_containing(&endpoint),
            Told::Unclear | Told::Nothing => None,
        }
    }

    fn first_touching(&self, resource: &Resource) -> Option<usize> {
        match Told::by(resource) {
            Told::Endpoint(endpoint) => self.set.first_touching(&endpoint),
            Told::Unclear => (self.count > 0).then_some(0),
            Told::Nothing => None,
        }
    }
}

/// What a resource says about hosts.
enum Told {
    Endpoint(Endpoint),
    /// It is of hosts, but not of one host and port.
    Unclear,
    /// It is not of hosts.
    Nothing,
}

impl Told {
    fn by(resource: &Resource) -> Self {
        if *resource.scheme() != NET {
            return Self::Nothing;
        }
        match resource.path().parse() {
            Ok(endpoint) if !resource.is_subtree() => Self::Endpoint(endpoint),
            _ => Self::Unclear,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compile(patterns: &[&str]) -> Box<dyn PatternSet> {
        HostPatterns.compile(&patterns.iter().map(|pattern| (*pattern).into()).collect::<Vec<_>>()).unwrap()
    }

    fn check(pattern: &str, resource: &str, expected: (bool, bool)) {
        let (set, resource) = (compile(&[pattern]), resource.parse().unwrap());
        let found = (set.first_containing(&resource).is_some(), set.first_touching(&resource).is_some());
        assert_eq!(found, expected, "{pattern} contains and touches {resource}");
    }

    #[test]
    fn compares_endpoints() {
        check("*.github.com", "net:api.GitHub.com.:443", (true, true));
        check("*.github.com", "net:api.github.com:22", (false, true));
        check("127.0.0.1:*", "net:0x7f.1:80", (true, true));
        check("[::1]", "net:[0::1]:80", (true, true));
        check("github.com", "net:example.org:443", (false, false));
    }

    #[test]
    fn what_cannot_be_told_is_touched_and_not_contained() {
        for resource in
            ["net:github.com", "net:**", "net:github.com:443/**", "net:a b:80", "net:", "net:::1:80"]
        {
            check("*:*", resource, (false, true));
            check("example.org", resource, (false, true));
        }
        check("*:*", "file:example.org:80", (false, false));
        assert_eq!(compile(&[]).first_touching(&Resource::subtree(NET, "")), None);
    }

    #[test]
    fn says_which_pattern_is_refused_and_where() {
        let error = HostPatterns.compile(&["a.b".into(), "a.b:http".into()]).unwrap_err();
        assert_eq!((error.index(), error.range()), (1, 4..8));
        assert_eq!(
            error.reason(),
            "a port is a number from 1 to 65535, or `*` for any; write it as in `example.org:8080`"
        );
    }

    #[test]
    fn reads_hosts_as_people_write_them() {
        let read = |text: &str| HostPatterns.resource(text).map(|resource| resource.to_string());
        assert_eq!(read("API.github.com:443"), Ok("net:api.github.com:443".to_owned()));
        assert_eq!(read("[0::1]:80"), Ok("net:[::1]:80".to_owned()));
        let refused = |text: &str| read(text).unwrap_err().to_string();
        assert_eq!(
            refused("github.com"),
            "an endpoint ends in a port from 0 to 65535, as in `api.example.org:443`"
        );
        assert_eq!(
            refused("a..b:80"),
            "a host name cannot have an empty part; write it as in `api.example.org`"
        );
        assert!(HostPatterns.speaks_of(&NET) && !HostPatterns.speaks_of(&Scheme::new("file")));
    }

    #[test]
    fn says_what_a_star_does_not_allow() {
        let remark = |resource: &str| HostPatterns.remark(&resource.parse().unwrap());
        let expected = "`169.254.169.254` is not of the public internet: `*` does not allow it";
        assert_eq!(remark("net:0xa9fea9fe:80").as_deref(), Some(expected));
        assert_eq!(remark("net:example.org:80"), None);
    }

    #[test]
    fn suggests_one_host_and_port() {
        let check = |resource: &str, expected: Option<&str>| {
            let resource = resource.parse().unwrap();
            assert_eq!(HostPatterns.suggest(&resource).as_deref(), expected, "{resource}");
            if let Some(pattern) = expected {
                assert_eq!(compile(&[pattern]).first_containing(&resource), Some(0), "{pattern}");
            }
        };
        check("net:API.github.com:443", Some("api.github.com:443"));
        check("net:localhost:3000", Some("localhost:3000"));
        check("net:8.8.8.8:53", Some("8.8.8.8:53"));
        check("net:[2606:4700::1111]:443", Some("[2606:4700::1111]:443"));
        for resource in [
            "net:169.254.169.254:80",
            "net:0xa9fea9fe:80",
            "net:[::ffff:10.0.0.1]:80",
            "net:127.0.0.1:80",
            "net:[fe80::1]:80",
            "net:metadata.google.internal:80",
            "net:**",
            "net:example.org",
            "net:example.org:0",
            "file:a:80",
        ] {
            check(resource, None);
        }
    }
}
