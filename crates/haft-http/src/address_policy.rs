use crate::Host;
use crate::host::AZURE;
use std::net::{IpAddr, Ipv4Addr};

/// Says to which addresses a client may connect: to those of the public internet, and to what is named besides.
///
/// It is asked with the address that a connection is really made to, so that no name can lead elsewhere than it says, now
/// or when it is looked up again.
///
/// ```
/// use haft_http::{AddressPolicy, Host};
///
/// let name: Host = "intranet.example".parse()?;
/// let (public, private) = ("8.8.8.8".parse()?, "10.0.0.1".parse()?);
/// assert!(AddressPolicy::public().permits(&name, public));
/// assert!(!AddressPolicy::public().permits(&name, private));
/// assert!(AddressPolicy::public().host(name.clone()).permits(&name, private));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddressPolicy {
    loopback: bool,
    private: bool,
    hosts: Vec<Host>,
}

impl AddressPolicy {
    /// Permits the addresses of the public internet, by the registries of IANA, and no other.
    ///
    /// Refused are this machine, private and link-local networks, those behind carriers (RFC 6598), multicast, where clouds
    /// hand out credentials, and every IPv6 address that holds such an IPv4 address: mapped (RFC 4291) and of NAT64 (RFC
    /// 6052). The other forms in which IPv6 holds IPv4 are refused altogether: compatible (RFC 4291), 6to4 (RFC 3056), Teredo
    /// (RFC 4380), and a network's own NAT64 (RFC 8215).
    pub fn public() -> Self {
        Self { loopback: false, private: false, hosts: Vec::new() }
    }

    /// Permits this machine, too.
    pub fn loopback(mut self) -> Self {
        self.loopback = true;
        self
    }

    /// Permits this machine and private networks (RFC 1918, RFC 4193, RFC 6598), too.
    ///
    /// Where the services are that hand a cloud machine its credentials stays refused: link-local addresses (RFC 3927, RFC
    /// 4291) and those of private ranges that clouds use so.
    pub fn private(mut self) -> Self {
        self.loopback = true;
        self.private = true;
        self
    }

    /// Permits this host on this machine and in private networks, too: for one that a person has named.
    ///
    /// A name does not lead to where clouds hand out credentials, nor to link-local addresses, since whoever answers for it
    /// may let it lead anywhere. An address leads to itself, whatever it is.
    pub fn host(mut self, host: Host) -> Self {
        self.hosts.push(host);
        self
    }

    /// Tells whether a connection for `host` may be made to `address`.
    pub fn permits(&self, host: &Host, address: IpAddr) -> bool {
        let canonical = address.to_canonical();
        !Host::of_address(canonical).is_local()
            || (self.loopback && canonical.is_loopback())
            || (self.private && is_private(canonical) && !is_metadata(canonical))
            || (self.hosts.contains(host) && (host.address().is_some() || may_be_led_to(canonical)))
    }
}

/// Permits the public internet only.
impl Default for AddressPolicy {
    fn default() -> Self {
        Self::public()
    }
}

/// Tells whether a name that a person has named may lead to an address that is not public.
fn may_be_led_to(address: IpAddr) -> bool {
    match address {
        // Oracle's machines find theirs at the last one.
        IpAddr::V4(v4) => {
            !v4.is_link_local() && v4 != AZURE && !is_metadata(address) && v4.octets() != [192, 0, 0, 192]
        }
        IpAddr::V6(v6) => match v6.segments() {
            [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
                may_be_led_to(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)).into())
            }
            _ => v6.is_loopback() || (is_private(address) && !is_metadata(address)),
        },
    }
}

fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => {
            let [a, b, ..] = address.octets();
            address.is_private() || matches!((a, b), (100, 64..=127))
        }
        IpAddr::V6(address) => address.is_unique_local(),
    }
}

/// Tells whether a cloud uses an address of a private range to hand its machines their credentials.
///
/// From the documentation of Alibaba Cloud (100.100.100.200), AWS (`fd00:ec2::254`; `fd00:ec2::23` for pods), Google Cloud
/// (`fd20:ce::254`) and Scaleway (`fd00:42::42`). The others use link-local addresses, or such as are nowhere permitted.
fn is_metadata(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.octets() == [100, 100, 100, 200],
        IpAddr::V6(address) => {
            let [a, b, ..] = address.segments();
            matches!((a, b), (0xfd00, 0xec2 | 0x42) | (0xfd20, 0xce))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::net::{Ipv4Addr, Ipv6Addr};

    fn check(policies: &[&AddressPolicy], address: &str, expected: bool) {
        let host = "a.example".parse().unwrap();
        for policy in policies {
            assert_eq!(policy.permits(&host, address.parse().unwrap()), expected, "{policy:?} {address}");
        }
    }

    #[test]
    fn permits_each_kind_of_address_only_when_it_is_named() {
        let (public, loopback, private) =
            (AddressPolicy::public(), AddressPolicy::public().loopback(), AddressPolicy::public().private());
        for address in ["8.8.8.8", "2606:4700::1111"] {
            check(&[&public, &loopback, &private], address, true);
        }
        for address in ["127.0.0.1", "127.1.2.3", "::1", "::ffff:127.0.0.1"] {
            check(&[&public], address, false);
            check(&[&loopback, &private], address, true);
        }
        for address in ["10.0.0.1", "192.168.1.1", "100.64.0.1", "fd00::1"] {
            check(&[&public, &loopback], address, false);
            check(&[&private], address, true);
        }
        for address in ["0.0.0.0", "::", "224.0.0.1", "ff02::1", "64:ff9b::10.0.0.1", "::10.0.0.1"] {
            check(&[&public, &loopback, &private], address, false);
        }
    }

    #[test]
    fn where_clouds_hand_out_credentials_is_permitted_to_nobody() {
        let (public, private) = (AddressPolicy::public(), AddressPolicy::public().private());
        // Whoever answers for a name may let it lead there, whether a person has named it or not.
        let named = AddressPolicy::public().host("a.example".parse().unwrap());
        for address in [
            "169.254.169.254",
            "169.254.170.2",
            "fe80::a9fe:a9fe",
            "168.63.129.16",
            "100.100.100.200",
            "192.0.0.192",
            "fd00:ec2::254",
            "fd00:ec2::23",
            "fd20:ce::254",
            "fd00:42::42",
            "::ffff:169.254.169.254",
            "::ffff:100.100.100.200",
            "::169.254.169.254",
            "64:ff9b::169.254.169.254",
            "64:ff9b:1::169.254.169.254",
            "2002:a9fe:a9fe::1",
        ] {
            check(&[&public, &private, &named], address, false);
        }
    }

    #[test]
    fn a_named_host_may_be_private_and_no_other() {
        let policy = AddressPolicy::public().host("a.example".parse().unwrap());
        for address in ["127.0.0.1", "::1", "10.0.0.1", "fd00::1", "64:ff9b::10.0.0.1"] {
            check(&[&policy], address, true);
        }
        assert!(!policy.permits(&"b.example".parse().unwrap(), "10.0.0.1".parse().unwrap()));
    }

    #[test]
    fn an_address_that_a_person_has_named_is_permitted_whatever_it_is() {
        let (host, address) =
            ("169.254.169.254".parse::<Host>().unwrap(), "169.254.169.254".parse().unwrap());
        assert!(AddressPolicy::public().host(host.clone()).permits(&host, address));
        assert!(!AddressPolicy::public().permits(&host, address));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn no_address_is_reached_by_writing_it_in_another(
            bits in prop_oneof![
                any::<u32>(),
                (0..0x100_0000_u32).prop_map(|rest| 0x0a00_0000 | rest),
                (0..0x1_0000_u32).prop_map(|rest| 0xa9fe_0000 | rest),
                Just(0x7f00_0001),
                Just(0xa83f_8110),
                Just(0x6464_64c8),
            ],
            rest in any::<u32>(),
        ) {
            let (policy, host) = (AddressPolicy::public().private(), "a.example".parse().unwrap());
            let (v4, rest) = (Ipv4Addr::from_bits(bits), u128::from(rest));
            let permitted = AddressPolicy::public().permits(&host, v4.into());
            let v4_bits = u128::from(bits);
            let wide = |address: u128| IpAddr::from(Ipv6Addr::from_bits(address));
            // Mapped, and NAT64: as public as what they hold.
            prop_assert_eq!(policy.permits(&host, wide(0xffff << 32 | v4_bits)), policy.permits(&host, v4.into()));
            prop_assert_eq!(policy.permits(&host, wide(0x64_ff9b << 96 | v4_bits)), permitted);
            // Compatible, translated, a network's own NAT64 in two of its forms, 6to4, Teredo: to nobody. Loopback of IPv6
            // looks like the first of them.
            for address in [
                v4_bits.max(2),
                0xffff << 48 | v4_bits,
                0x64_ff9b_0001 << 80 | v4_bits,
                0x64_ff9b_0001 << 80 | (v4_bits >> 16) << 64 | (v4_bits & 0xffff) << 40,
                0x2002 << 112 | v4_bits << 80 | rest,
                0x2001 << 112 | rest << 64 | (v4_bits ^ 0xffff_ffff),
            ] {
                prop_assert!(!policy.permits(&host, wide(address)), "{}", wide(address));
            }
        }
    }
}
