use std::borrow::Cow;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// How long a name and a label of it may be, in bytes (RFC 1035, section 2.3.4).
const LONGEST_NAME: usize = 253;
const LONGEST_LABEL: usize = 63;

/// Where Azure's machines ask for their configuration, wherever they run.
pub(crate) const AZURE: Ipv4Addr = Ipv4Addr::new(168, 63, 129, 16);

/// A host by its name or its address, in the one spelling that all others of it are brought into.
///
/// Names are in lower case and ASCII: an internationalised name is its Punycode, as a browser would send it (UTS 46). A dot
/// at the end is dropped. What ends in a number is an IPv4 address, in any of the forms that programs take (`127.1`,
/// `0x7f.0.0.1`, `2130706433`, as in the URL standard). IPv6 addresses stand in brackets; one that holds an IPv4 address
/// (`[::ffff:127.0.0.1]`) is that.
///
/// ```
/// use haft_http::Host;
///
/// for (written, host) in [
///     ("GitHub.COM.", "github.com"),
///     ("bücher.example", "xn--bcher-kva.example"),
///     ("0x7f.1", "127.0.0.1"),
///     ("[::FFFF:127.0.0.1]", "127.0.0.1"),
///     ("[0:0::1]", "[::1]"),
/// ] {
///     assert_eq!(written.parse::<Host>()?.to_string(), host);
/// }
/// # Ok::<(), haft_http::HostError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Host(Kind);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Kind {
    Name(Box<str>),
    Address(IpAddr),
}

/// Says why a text is not a host.
///
/// ```
/// use haft_http::{Host, HostError};
///
/// assert_eq!("my host".parse::<Host>(), Err(HostError::Name));
/// assert_eq!("192.0.2".parse::<Host>().map(|host| host.to_string()).as_deref(), Ok("192.0.0.2"));
/// let error = "192.0.2.999".parse::<Host>().unwrap_err();
/// assert_eq!(error, HostError::Ipv4);
/// assert_eq!(
///     error.to_string(),
///     "this ends in a number and is not an IPv4 address; write one as in `192.0.2.1`",
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// There is nothing, or nothing between two dots.
    #[error("a host name cannot have an empty part; write it as in `api.example.org`")]
    Empty,
    /// The name or a part of it is longer than a name may be.
    #[error("a host name has at most 253 bytes, and 63 between two dots; write a shorter one")]
    TooLong,
    /// It has a character that no host has, or is not what an internationalised name can be.
    #[error("this is not a host name; write a name as in `api.example.org`, without a scheme, user or path")]
    Name,
    /// It ends in a number and is not an IPv4 address.
    #[error("this ends in a number and is not an IPv4 address; write one as in `192.0.2.1`")]
    Ipv4,
    /// It has a colon or brackets and is not an IPv6 address.
    #[error("this is not an IPv6 address; write one in brackets and without a zone, as in `[2001:db8::1]`")]
    Ipv6,
}

impl Host {
    /// The name, if it is none of an address.
    pub fn name(&self) -> Option<&str> {
        match &self.0 {
            Kind::Name(name) => Some(name),
            Kind::Address(_) => None,
        }
    }

    /// The address, if it is no name.
    pub fn address(&self) -> Option<IpAddr> {
        match &self.0 {
            Kind::Name(_) => None,
            Kind::Address(address) => Some(*address),
        }
    }

    /// Tells whether it is plainly no host of the public internet: this machine, a private network, or none at all.
    ///
    /// These are the names `localhost`, `*.localhost` (RFC 6761), `*.local` (RFC 6762), `*.internal` (reserved by ICANN in
    /// 2024; clouds name their metadata services so) and `*.home.arpa` (RFC 8375), and every address that is not globally
    /// reachable by the registries of IANA, or holds one that is not (IPv4 in IPv6, NAT64); besides, `168.63.129.16`, where
    /// Azure's machines find theirs. Where another name leads is not known here.
    pub fn is_local(&self) -> bool {
        match &self.0 {
            Kind::Name(name) => ["localhost", "local", "internal", "home.arpa"].iter().any(|local| {
                name.strip_suffix(local).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
            }),
            Kind::Address(IpAddr::V4(address)) => !is_public_v4(*address),
            Kind::Address(IpAddr::V6(address)) => !is_public_v6(*address),
        }
    }

    pub(crate) fn of_address(address: IpAddr) -> Self {
        Self(Kind::Address(address.to_canonical()))
    }
}

/// Tells whether an address is outside of the ranges of RFC 6890 and its successors.
///
/// These are this network (RFC 791), private ones (RFC 1918), those behind carriers (RFC 6598), loopback (RFC 1122),
/// link-local (RFC 3927), the IETF's own (RFC 6890), documentation (RFC 5737), 6to4 relays (RFC 7526), benchmarks (RFC 2544),
/// multicast (RFC 5771), reserved and broadcast (RFC 1112, RFC 919). The address by which Azure speaks to its machines is one
/// of the public range that leads nowhere else.
fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    !(address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_documentation()
        || address == AZURE
        || matches!(
            (a, b, c),
            (0 | 224.., ..) | (100, 64..=127, _) | (192, 0, 0) | (192, 88, 99) | (198, 18 | 19, _)
        ))
}

/// Tells whether an address is of the range that is given out, and holds no other address in it.
///
/// Outside of that range (RFC 4291, `2000::/3`) are loopback, link-local, private (RFC 4193) and multicast addresses and IPv4
/// addresses in the compatible and the translated form (RFC 4291, RFC 2765). Within it are Teredo and what else the IETF
/// keeps (RFC 2928, RFC 4380), 6to4 (RFC 3056) and documentation (RFC 3849, RFC 9637). An address of NAT64 (RFC 6052) is as
/// public as the IPv4 address it leads to: networks without IPv4 reach all of that so. Where one of a network's own NAT64
/// leads (RFC 8215) only that network knows.
fn is_public_v6(address: Ipv6Addr) -> bool {
    let [a, b, ..] = address.segments();
    match address.segments() {
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            is_public_v4(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)))
        }
        _ => {
            (0x2000..0x4000).contains(&a)
                && !matches!((a, b), (0x2001, 0..=0x01ff | 0x0db8) | (0x2002, _) | (0x3fff, 0..=0x0fff))
        }
    }
}

impl FromStr for Host {
    type Err = HostError;

    fn from_str(text: &str) -> Result<Self, HostError> {
        if let Some(inner) = text.strip_prefix('[') {
            let address = inner.strip_suffix(']').and_then(|address| address.parse::<Ipv6Addr>().ok());
            return address.map(|address| Self::of_address(address.into())).ok_or(HostError::Ipv6);
        }
        if text.contains([':', ']']) {
            // An address has none of these, and what has them is a URL, or a part of one.
            return Err(if text.contains(['/', '@']) { HostError::Name } else { HostError::Ipv6 });
        }
        let ascii = to_ascii(text)?;
        let name = ascii.strip_suffix('.').unwrap_or(&ascii);
        if name.is_empty() {
            return Err(HostError::Empty);
        }
        let last = name.rsplit('.').next().unwrap_or_default();
        if is_number(last) {
            return ipv4(name).map(|address| Self::of_address(address.into())).ok_or(HostError::Ipv4);
        }
        if name.len() > LONGEST_NAME || name.split('.').any(|label| label.len() > LONGEST_LABEL) {
            return Err(HostError::TooLong);
        }
        if name.split('.').any(str::is_empty) {
            return Err(HostError::Empty);
        }
        Ok(Self(Kind::Name(name.into())))
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Name(name) => f.write_str(name),
            Kind::Address(IpAddr::V4(address)) => address.fmt(f),
            Kind::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
        }
    }
}

/// Brings a name into its ASCII form; only letters, digits, `-`, `_` and `.` are left.
fn to_ascii(text: &str) -> Result<Cow<'_, str>, HostError> {
    let is_plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.');
    if text.bytes().all(is_plain) && !text.contains("xn--") {
        return Ok(Cow::Borrowed(text));
    }
    let ascii =
        idna::domain_to_ascii_cow(text.as_bytes(), idna::AsciiDenyList::URL).map_err(|_| HostError::Name)?;
    if ascii.bytes().all(is_plain) { Ok(ascii) } else { Err(HostError::Name) }
}

/// Tells whether a label makes what it ends an IPv4 address ("ends in a number" of the URL standard).
fn is_number(label: &str) -> bool {
    match label.strip_prefix("0x") {
        Some(digits) => digits.bytes().all(|digit| digit.is_ascii_hexdigit()),
        None => !label.is_empty() && label.bytes().all(|digit| digit.is_ascii_digit()),
    }
}

/// Reads an IPv4 address of one to four numbers, decimal, octal or hexadecimal, the last of which fills what is left.
fn ipv4(text: &str) -> Option<Ipv4Addr> {
    if let Ok(address) = text.parse() {
        return Some(address);
    }
    let numbers: Vec<u32> = text.split('.').map(number).collect::<Option<_>>()?;
    let (last, first) = numbers.split_last()?;
    if first.len() > 3 || first.iter().any(|number| *number > 255) {
        return None;
    }
    let left = 8 * (4 - u32::try_from(first.len()).ok()?);
    if u64::from(*last) >= 1 << left {
        return None;
    }
    let high = first.iter().fold(0_u64, |address, number| address << 8 | u64::from(*number)) << left;
    Some(Ipv4Addr::from_bits(u32::try_from(high | u64::from(*last)).ok()?))
}

fn number(text: &str) -> Option<u32> {
    let (digits, radix) = match text.strip_prefix("0x") {
        Some("") => return Some(0),
        Some(digits) => (digits, 16),
        None if text.len() > 1 && text.starts_with('0') => (&text[1..], 8),
        None => (text, 10),
    };
    let is_digit = |digit: char| digit.is_digit(radix);
    digits.chars().all(is_digit).then(|| u32::from_str_radix(digits, radix).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(text: &str, expected: Result<&str, HostError>) {
        let host = text.parse::<Host>().map(|host| host.to_string());
        assert_eq!(host, expected.map(str::to_owned), "{text}");
    }

    #[test]
    fn brings_names_into_one_spelling() {
        check("API.GitHub.com", Ok("api.github.com"));
        check("github.com.", Ok("github.com"));
        check("Bücher.example", Ok("xn--bcher-kva.example"));
        check("XN--BCHER-KVA.example", Ok("xn--bcher-kva.example"));
        check("github。com", Ok("github.com"));
        check("ｇithub.com", Ok("github.com"));
        check("git\u{ad}hub.com", Ok("github.com"));
        check("_dmarc.example-.org", Ok("_dmarc.example-.org"));
        check("localhost", Ok("localhost"));
    }

    #[test]
    fn brings_addresses_into_one_spelling() {
        for text in [
            "127.0.0.1",
            "127.1",
            "127.0.1",
            "0x7f.1",
            "0X7F000001",
            "2130706433",
            "017700000001",
            "0177.0.0.01",
            "127.0.0.1.",
            "１２７.0.0.1",
            "[::ffff:127.0.0.1]",
            "[::FFFF:7f00:1]",
        ] {
            check(text, Ok("127.0.0.1"));
        }
        check("0", Ok("0.0.0.0"));
        check("1.0x", Ok("1.0.0.0"));
        check("[2001:DB8:0:0::1]", Ok("[2001:db8::1]"));
    }

    #[test]
    fn refuses_what_is_no_host() {
        for text in ["", ".", "a..b", ".a"] {
            check(text, Err(HostError::Empty));
        }
        for text in [
            "a b",
            "a/b",
            "https//a",
            "a@b",
            "a%2eb",
            "a*b",
            "xn--a",
            "a\0",
            "a#b",
            "https://a.example",
            "me:secret@a",
        ] {
            check(text, Err(HostError::Name));
        }
        for text in ["1.2.3.4.5", "256.0.0.1", "1.256.0.0x", "a.1", "1.2.3.08", "4294967296", "0x1ffffffff"] {
            check(text, Err(HostError::Ipv4));
        }
        for text in ["[::1", "::1", "[fe80::1%eth0]", "[127.0.0.1]", "a:80", "a]"] {
            check(text, Err(HostError::Ipv6));
        }
        check(&"a".repeat(64), Err(HostError::TooLong));
        check(&"a.".repeat(128), Err(HostError::TooLong));
    }

    #[test]
    fn knows_what_is_not_of_the_public_internet() {
        let check = |texts: &[&str], expected: bool| {
            for text in texts {
                assert_eq!(text.parse::<Host>().unwrap().is_local(), expected, "{text}");
            }
        };
        check(
            &[
                "localhost",
                "a.localhost",
                "printer.local",
                "metadata.google.internal",
                "router.home.arpa",
                "127.0.0.1",
                "0.0.0.0",
                "10.1.2.3",
                "172.16.0.1",
                "192.168.0.1",
                "169.254.169.254",
                "100.100.100.200",
                "168.63.129.16",
                "192.0.0.192",
                "192.0.2.1",
                "192.88.99.1",
                "198.18.0.1",
                "198.51.100.1",
                "203.0.113.1",
                "224.0.0.1",
                "239.255.255.250",
                "240.0.0.1",
                "255.255.255.255",
                "[::]",
                "[::1]",
                "[fe80::1]",
                "[fd00:ec2::254]",
                "[ff02::1]",
                "[fec0::1]",
                "[100::1]",
                "[5f00::1]",
                "[3fff::1]",
                "[2001:db8::1]",
                // IPv4 in IPv6: mapped, compatible, translated, NAT64, 6to4, Teredo.
                "[::ffff:10.0.0.1]",
                "[::ffff:168.63.129.16]",
                "[::127.0.0.1]",
                "[::8.8.8.8]",
                "[::ffff:0:127.0.0.1]",
                "[64:ff9b::7f00:1]",
                "[64:ff9b::169.254.169.254]",
                "[64:ff9b:0:1::8.8.8.8]",
                "[64:ff9b:1::8.8.8.8]",
                "[64:ff9b:1:a00:0:100::]",
                "[2002:7f00:1::]",
                "[2002:808:808::1]",
                "[2001:0:4136:e378:8000:63bf:80ff:fffe]",
            ],
            true,
        );
        check(
            &[
                "example.org",
                "mylocalhost",
                "local.example",
                "8.8.8.8",
                "172.32.0.1",
                "100.128.0.1",
                "168.63.129.17",
                "[2606:4700::1111]",
                "[::ffff:8.8.8.8]",
                "[64:ff9b::8.8.8.8]",
            ],
            false,
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_is_printed_is_the_same_host(text in r"[a-zA-Z0-9.ü。\[\]:x-]{0,12}|\PC{0,8}|(0x|0)?[0-9a-f]{1,3}(\.(0x|0)?[0-9a-f]{1,3}){0,3}") {
            if let Ok(host) = text.parse::<Host>() {
                prop_assert_eq!(host.to_string().parse(), Ok(host));
            }
        }
    }
}
