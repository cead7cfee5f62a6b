use super::*;
use expect_test::{Expect, expect};

/// What macOS makes of a path: some directories are links, and what is called `missing` is not there.
fn resolve(path: &Path) -> Option<PathBuf> {
    let is_missing = path.components().any(|part| part.as_os_str() == "missing");
    let moved = ["/tmp", "/var", "/etc"].iter().any(|link| path.starts_with(link));
    let resolved =
        if moved { Path::new("/private").join(path.strip_prefix("/").ok()?) } else { path.to_owned() };
    (!is_missing).then_some(resolved)
}

fn profile(confinement: &Confinement) -> SeatbeltProfile {
    SeatbeltProfile::with(confinement, resolve)
}

/// Checks what a profile says behind what all say, and its parameters.
fn check(confinement: &Confinement, expected: &Expect) {
    let profile = profile(confinement);
    let mut shown = profile.text().strip_prefix(BASE).expect("all begin so").to_owned();
    for (name, path) in profile.parameters() {
        let _ = writeln!(shown, "{name} = {}", path.display());
    }
    expected.assert_eq(&shown);
}

#[test]
fn nothing_is_allowed_by_default() {
    check(&Confinement::new(), &expect![""]);
    assert!(BASE.starts_with("(version 1)\n(deny default)\n"));
    assert!(!BASE.contains("file-write*") && !BASE.contains("network") && !BASE.contains("process-exec"));
}

#[test]
fn files_are_those_that_were_allowed_where_they_really_are() {
    check(
        &Confinement::new()
            .read("/usr")
            .read("/etc")
            .read("/missing")
            .write("/work/project")
            .write("/tmp/out"),
        &expect![[r#"
            (allow file-read* process-exec file-map-executable
                (subpath (param "READ_0"))
                (subpath (param "READ_1")))
            (allow file-read* file-write* process-exec file-map-executable
                (subpath (param "WRITE_0"))
                (subpath (param "WRITE_1")))
            READ_0 = /private/etc
            READ_1 = /usr
            WRITE_0 = /private/tmp/out
            WRITE_1 = /work/project
        "#]],
    );
}

#[test]
fn what_is_protected_or_hidden_is_denied_after_all_that_is_allowed() {
    check(
        &Confinement::new()
            .write("/work/project")
            .protect("/work/project/.git/hooks")
            .protect("/work/project/.git/missing/hooks")
            .protect("/elsewhere/.envrc")
            .hide("/work/project/.env"),
        &expect![[r#"
            (allow file-read* file-write* process-exec file-map-executable
                (subpath (param "WRITE_0")))
            (deny file-write*
                (subpath (param "PROTECTED_0"))
                (subpath (param "PROTECTED_1"))
                (subpath (param "PROTECTED_2")))
            (deny file-write-unlink
                (literal (param "ABOVE_0"))
                (literal (param "ABOVE_1")))
            (deny file-read* file-write* process-exec file-map-executable
                (subpath (param "HIDDEN_0")))
            WRITE_0 = /work/project
            PROTECTED_0 = /elsewhere/.envrc
            PROTECTED_1 = /work/project/.git/hooks
            PROTECTED_2 = /work/project/.git/missing/hooks
            ABOVE_0 = /work/project/.git
            ABOVE_1 = /work/project/.git/missing
            HIDDEN_0 = /work/project/.env
        "#]],
    );
}

#[test]
fn the_network_is_by_ports() {
    let network = |network| Confinement::new().network(network);
    check(&network(Network::None).serve(8000), &expect![[""]]);
    check(&network(Network::Loopback), &expect![[""]]);
    check(
        &network(Network::Ports([443, 8443].into())).serve(3000),
        &expect![[r#"
        (allow network-outbound (remote tcp "*:443"))
        (allow network-outbound (remote tcp "*:8443"))
        (allow network-bind network-inbound (local tcp "*:3000"))
    "#]],
    );
    check(
        &network(Network::Ports([53, 443].into())).local_sockets(),
        &expect![[r#"
        (allow network-outbound (remote tcp "*:53"))
        (allow network-outbound (remote tcp "*:443"))
        (allow network-outbound (literal "/private/var/run/mDNSResponder"))
        (allow network-outbound (remote udp "*:53"))
        (allow mach-lookup
            (global-name "com.apple.SystemConfiguration.configd") (global-name "com.apple.SystemConfiguration.DNSConfiguration")
            (global-name "com.apple.trustd.agent"))
        (allow network-outbound (remote unix-socket))
    "#]],
    );
    check(
        &network(Network::Any),
        &expect![[r#"
        (allow network-outbound (remote ip "*:*"))
        (allow network-bind network-inbound (local ip "*:*"))
        (allow network-outbound (literal "/private/var/run/mDNSResponder"))
        (allow network-outbound (remote udp "*:53"))
        (allow mach-lookup
            (global-name "com.apple.SystemConfiguration.configd") (global-name "com.apple.SystemConfiguration.DNSConfiguration")
            (global-name "com.apple.trustd.agent"))
    "#]],
    );
}

/// Names that would end a text, a list or a comment, or stand for another parameter, if they stood in the profile.
const HOSTILE: [&str; 10] = [
    "a\"b",
    "a\\",
    "a\\\"))(allow default)(deny file-read* (subpath \"",
    "a) (allow default",
    "a\n(allow default)\n",
    "a\r;b",
    ";(allow default)",
    "#\"a\"",
    "(param \"WRITE_0\")",
    "-DWRITE_0=é \u{202e}",
];

#[test]
fn no_name_of_a_file_becomes_a_part_of_the_profile() {
    let of = |name: &str| {
        let path = |folder: &str| Path::new(folder).join(name);
        let confinement = Confinement::new().read(path("/read")).write(path("/write"));
        profile(&confinement.protect(path("/write").join(name).join("inner")).hide(path("/hidden")))
    };
    let harmless = of("name");
    for name in HOSTILE {
        let hostile = of(name);
        assert_eq!(hostile.text(), harmless.text(), "{name:?}");
        let paths: Vec<&Path> = hostile.parameters().map(|(_, path)| path).collect();
        let below = Path::new("/write").join(name).join(name);
        let expected = [
            Path::new("/read").join(name),
            Path::new("/write").join(name),
            below.join("inner"),
            below,
            Path::new("/hidden").join(name),
        ];
        assert_eq!(paths, expected, "{name:?}");
        // Each is one argument, whose name ends at the first `=`.
        let arguments = hostile.arguments();
        assert_eq!(arguments.len(), 2 + expected.len() + 1, "{name:?}");
        for (argument, (name, path)) in arguments[2..].iter().zip(hostile.parameters()) {
            assert_eq!(argument.to_str(), Some(format!("-D{name}={}", path.display()).as_str()));
        }
        assert_eq!(arguments.last().and_then(|last| last.to_str()), Some("--"));
    }
}

#[test]
fn the_lists_of_a_profile_are_closed() {
    let all = Confinement::of_programs(&crate::Environment::minimal())
        .write("/work")
        .protect("/work/a/b")
        .hide("/work/c")
        .network(Network::Ports([53].into()))
        .serve(1)
        .local_sockets();
    for network in [Network::Any, Network::Ports([53, 80].into()), Network::None] {
        let text = profile(&all.clone().network(network)).text().to_owned();
        let mut depth = 0_usize;
        for (number, part) in text.split('"').enumerate() {
            // Every second part is a text.
            for character in part.chars().filter(|_| number % 2 == 0) {
                match character {
                    '(' => depth += 1,
                    ')' => depth = depth.checked_sub(1).expect("no list ends twice"),
                    _ => {}
                }
            }
        }
        assert_eq!((depth, text.matches('"').count() % 2), (0, 0));
    }
}

#[test]
fn a_directory_of_its_own_can_be_written() {
    let place = tempfile::tempdir().unwrap();
    let scratch = super::super::Scratch::in_directory(place.path()).unwrap();
    let profile = profile(&Confinement::new().scratch(&scratch));
    let paths: Vec<_> = profile.parameters().map(|(name, path)| (name.to_owned(), path.to_owned())).collect();
    let of_scratch = |name: &str| resolve(&scratch.path().join(name)).unwrap();
    assert_eq!(
        paths,
        [("SCRATCH_0".to_owned(), of_scratch("shm")), ("SCRATCH_1".to_owned(), of_scratch("tmp"))]
    );
}
