use super::*;
use expect_test::{Expect, expect};
use proptest::prelude::*;

/// Checks which endpoints a pattern contains, which it touches only, and which are apart from it.
fn check(pattern: &str, contained: &[&str], touched: &[&str], apart: &[&str]) {
    let parsed: HostPattern = pattern.parse().unwrap();
    for (endpoints, expected) in
        [(contained, (true, true)), (touched, (false, true)), (apart, (false, false))]
    {
        for text in endpoints {
            let endpoint: Endpoint = text.parse().unwrap();
            let found = (parsed.contains(&endpoint), parsed.touches(&endpoint));
            assert_eq!(found, expected, "{pattern} contains and touches {text}");
        }
    }
}

fn check_refusal(pattern: &str, expected: &Expect) {
    let error = pattern.parse::<HostPattern>().unwrap_err();
    expected.assert_eq(&format!("`{}`: {error}", &pattern[error.range()]));
}

#[test]
fn a_name_is_that_host_however_it_is_written() {
    check(
        "API.GitHub.com",
        &["api.github.com:443", "API.github.COM.:80", "api。github.com:443"],
        &["api.github.com:22"],
        &["github.com:443", "x.api.github.com:443", "api.github.com.evil.org:443"],
    );
    check(
        "bücher.example",
        &["xn--bcher-kva.example:443", "BÜCHER.example:80"],
        &[],
        &["bucher.example:443"],
    );
}

#[test]
fn a_star_in_front_is_every_name_below() {
    check(
        "*.github.com",
        &["api.github.com:443", "a.b.github.com:80"],
        &["api.github.com:22"],
        &["github.com:443", "evilgithub.com:443", "github.com.evil.org:443"],
    );
}

#[test]
fn a_star_is_every_name_but_what_is_local() {
    check(
        "*",
        &["example.org:443"],
        &[
            "example.org:22",
            "localhost:80",
            "metadata.google.internal:80",
            "8.8.8.8:443",
            "169.254.169.254:80",
            "[::1]:80",
        ],
        &[],
    );
    check("*:*", &["example.org:22"], &["localhost:22"], &[]);
    check("*.localhost", &["a.localhost:80"], &[], &["localhost:80", "127.0.0.1:80"]);
}

#[test]
fn a_port_is_that_one() {
    check("example.org:8443", &["example.org:8443"], &[], &["example.org:443", "example.org:80"]);
    check("example.org:*", &["example.org:8443", "example.org:1"], &[], &["a.example.org:443"]);
}

#[test]
fn an_address_is_that_host_however_it_is_written() {
    check(
        "192.0.2.1",
        &["192.0.2.1:80", "0xc0.0.513:443", "3221225985:443", "[::ffff:192.0.2.1]:443"],
        &["192.0.2.1:22"],
        &["192.0.2.2:80"],
    );
    check("[2001:DB8::1]:53", &["[2001:db8:0::1]:53"], &[], &["[2001:db8::1]:80", "[2001:db8::2]:53"]);
    check(
        "10.0.0.0/8:*",
        &["10.255.0.1:22", "[::ffff:10.0.0.1]:1"],
        &[],
        &["11.0.0.0:80", "[::]:80", "ten.example:80"],
    );
    check("[fd00::/8]", &["[fdff::1]:80"], &["[fd00::1]:22"], &["[fe00::1]:80", "10.0.0.1:80"]);
    check("[::/0]", &["[2001:db8::1]:80"], &[], &["10.0.0.1:80"]);
    check("0.0.0.0/0", &["10.0.0.1:80"], &[], &["[2001:db8::1]:80"]);
}

#[test]
fn this_machine_is_touched_by_each_of_its_names() {
    check(
        "localhost",
        &["localhost:80"],
        &["127.0.0.1:80", "127.9.9.9:22", "[::1]:80", "0.0.0.0:80", "0:80", "a.localhost:80"],
        &["10.0.0.1:80"],
    );
    check(
        "127.0.0.0/8:3000",
        &["127.0.0.2:3000"],
        &["localhost:3000", "[::1]:3000", "0.0.0.0:3000"],
        &["localhost:80"],
    );
    check("[::1]", &["[0::1]:80"], &["localhost:80", "127.0.0.1:80"], &[]);
}

#[test]
fn says_what_is_wrong_and_what_to_write_instead() {
    check_refusal("", &expect!["``: the pattern names no host; write `*` for every name"]);
    check_refusal(":443", &expect!["``: the pattern names no host; write `*` for every name"]);
    check_refusal(
        "https://github.com",
        &expect!["`https://`: a pattern has no scheme; write the host alone, as in `api.example.org`"],
    );
    check_refusal(
        "github.com/a",
        &expect![
            "`github.com/a`: a host has no path, and a range of addresses has only numbers; write it as in `10.0.0.0/8` or `[fd00::/8]`"
        ],
    );
    check_refusal(
        "me@github.com",
        &expect![
            "`me@github.com`: this is not a host name; write a name as in `api.example.org`, without a scheme, user or path"
        ],
    );
    check_refusal(
        "*github.com",
        &expect![
            "`*github.com`: a `*` stands for whole names in front, and nowhere else; write `*.example.org`"
        ],
    );
    check_refusal(
        "api.*.com",
        &expect![
            "`api.*.com`: a `*` stands for whole names in front, and nowhere else; write `*.example.org`"
        ],
    );
    check_refusal(
        "*.*",
        &expect!["`*.*`: a `*` stands for whole names in front, and nowhere else; write `*.example.org`"],
    );
    check_refusal(
        "*.10.0.0.1",
        &expect!["`*.10.0.0.1`: there are no names below an address; write a range as in `10.0.0.0/8`"],
    );
    check_refusal(
        "a..b",
        &expect!["`a..b`: a host name cannot have an empty part; write it as in `api.example.org`"],
    );
    check_refusal(
        "example.org:http",
        &expect![
            "`http`: a port is a number from 1 to 65535, or `*` for any; write it as in `example.org:8080`"
        ],
    );
    check_refusal(
        "example.org:0",
        &expect![
            "`0`: a port is a number from 1 to 65535, or `*` for any; write it as in `example.org:8080`"
        ],
    );
    check_refusal(
        "example.org:",
        &expect!["``: a port is a number from 1 to 65535, or `*` for any; write it as in `example.org:8080`"],
    );
}

#[test]
fn says_how_addresses_are_written() {
    check_refusal("0x7f.1", &expect!["`0x7f.1`: this is the address `127.0.0.1`; write it so"]);
    check_refusal("2130706433", &expect!["`2130706433`: this is the address `127.0.0.1`; write it so"]);
    check_refusal(
        "[::ffff:127.0.0.1]",
        &expect!["`[::ffff:127.0.0.1]`: this is the address `127.0.0.1`; write it so"],
    );
    check_refusal(
        "::1",
        &expect![
            "`::1`: an IPv6 address stands in brackets; write it as in `[2001:db8::1]` or `[2001:db8::1]:443`"
        ],
    );
    check_refusal(
        "[fe80::1%eth0]",
        &expect![
            "`[fe80::1%eth0]`: this is not an IPv6 address; write one in brackets and without a zone, as in `[2001:db8::1]`"
        ],
    );
    check_refusal(
        "10.0.0.1/8",
        &expect!["`10.0.0.1/8`: this range starts at `10.0.0.0`; write `10.0.0.0/8`"],
    );
    check_refusal(
        "[fd00::1/8]",
        &expect!["`[fd00::1/8]`: this range starts at `fd00::`; write `[fd00::/8]`"],
    );
    check_refusal(
        "fd00::/8",
        &expect![
            "`fd00::/8`: an IPv6 address stands in brackets; write it as in `[2001:db8::1]` or `[2001:db8::1]:443`"
        ],
    );
    check_refusal(
        "[10.0.0.0/8]",
        &expect![
            "`[10.0.0.0/8]`: a range of IPv6 addresses stands in brackets, and one of IPv4 does not; write it as in `10.0.0.0/8` or `[fd00::/8]`"
        ],
    );
    check_refusal(
        "10.0.0.0/33",
        &expect![
            "`10.0.0.0/33`: the length of this range is a number from 0 to 32; write it as in `10.0.0.0/8` or `[fd00::/8]`"
        ],
    );
    check_refusal(
        "1.2.3.4.5",
        &expect![
            "`1.2.3.4.5`: this ends in a number and is not an IPv4 address; write one as in `192.0.2.1`"
        ],
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_printed_is_the_same_pattern(
        text in r"(\*\.|\*)?[a-zü.]{0,6}(:[0-9*]{0,3})?|\[?[0-9.:af]{1,9}(/[0-9]{1,3})?\]?(:80)?|\PC{0,8}",
    ) {
        match text.parse::<HostPattern>() {
            Ok(pattern) => prop_assert_eq!(pattern.to_string().parse(), Ok(pattern)),
            Err(error) => prop_assert!(text.get(error.range()).is_some()),
        }
    }
}
