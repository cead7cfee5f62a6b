use super::{Change, Gate, Wanted, json, refused};
use http::{Request, StatusCode, request};

const PORT: u16 = 4711;

fn gate() -> Gate {
    Gate::new(([127, 0, 0, 1], PORT).into()).unwrap()
}

/// Lets a browser in; gives its cookie and the key of its page.
fn let_in(gate: &Gate) -> (String, String) {
    let address = gate.address();
    let (once, key) = address.strip_prefix("http://127.0.0.1:4711/?once=").unwrap().split_once('#').unwrap();
    let opening =
        head("GET", &format!("/?once={once}"), &[("sec-fetch-site", "none"), ("sec-fetch-dest", "document")]);
    let Some(Wanted::Cookie(cookie)) = gate.pass(&opening) else { panic!("it is let in") };
    assert_eq!(gate.pass(&opening), None, "an address works once");
    let cookie = gate.cookie(&cookie);
    assert!(cookie.ends_with("; Path=/; HttpOnly; SameSite=Strict"), "{cookie}");
    (cookie.split(';').next().unwrap().to_owned(), key.to_owned())
}

/// Is the head of a request for this console; a header that is named again takes the place of the usual one.
fn head(method: &str, path: &str, headers: &[(&str, &str)]) -> request::Parts {
    let is_named = headers.iter().any(|(name, _)| *name == "host");
    let usual = [("host", "127.0.0.1:4711")];
    let usual = if is_named { &[][..] } else { &usual[..] };
    only_head(method, path, &[usual, headers].concat())
}

/// Is the head of a request with these headers and no other.
fn only_head(method: &str, path: &str, headers: &[(&str, &str)]) -> request::Parts {
    let request = Request::builder().method(method).uri(path);
    let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
    request.body(()).unwrap().into_parts().0
}

/// Is a change as the page asks for it, but for some headers; an empty one is left out.
fn changed(
    gate: &Gate,
    (cookie, key): &(String, String),
    path: &str,
    other: &[(&str, &str)],
) -> Option<Wanted> {
    let usual = [
        ("host", "127.0.0.1:4711"),
        ("cookie", cookie),
        ("x-haft-console", key),
        ("origin", "http://127.0.0.1:4711"),
        ("sec-fetch-site", "same-origin"),
        ("content-type", "application/json"),
    ];
    let is_other = |name: &str| other.iter().any(|(other, _)| *other == name);
    let usual = usual.into_iter().filter(|(name, _)| !is_other(name));
    let headers: Vec<_> = usual.chain(other.iter().copied()).filter(|(_, value)| !value.is_empty()).collect();
    gate.pass(&only_head("POST", path, &headers))
}

#[test]
fn a_page_that_was_let_in_sees_and_changes() {
    let gate = gate();
    let page = let_in(&gate);
    for (path, change) in
        [("/answer", Change::Answer), ("/revoke", Change::Revoke), ("/accept", Change::Accept)]
    {
        assert_eq!(changed(&gate, &page, path, &[]), Some(Wanted::Change(change)));
    }
    let (cookie, key) = &page;
    let live = head("GET", "/live?seen=a", &[("cookie", cookie), ("x-haft-console", key)]);
    assert_eq!(gate.pass(&live), Some(Wanted::Live { seen: "a".to_owned() }));
    assert_eq!(gate.pass(&head("GET", "/", &[("cookie", cookie)])), Some(Wanted::Page));
    // Other cookies of this machine come along.
    let several = format!("a=b; {cookie}; haft-console-1=c");
    assert_eq!(gate.pass(&head("GET", "/", &[("cookie", &several)])), Some(Wanted::Page));
    let by_name = [("host", "localhost:4711"), ("origin", "http://localhost:4711")];
    assert_eq!(changed(&gate, &page, "/answer", &by_name), Some(Wanted::Change(Change::Answer)));
}

#[test]
fn a_change_that_another_page_or_program_asks_for_is_refused() {
    let gate = gate();
    let page = let_in(&gate);
    let other = format!("haft-console-4711={}", page.1);
    for (attack, headers) in [
        (
            "a form of another site",
            &[("origin", "https://evil.example"), ("sec-fetch-site", "cross-site")][..],
        ),
        (
            "another port of this machine",
            &[("origin", "http://127.0.0.1:8000"), ("sec-fetch-site", "same-site")],
        ),
        ("a page without an origin", &[("origin", "null")]),
        ("no origin at all", &[("origin", "")]),
        ("another site, as the browser says", &[("sec-fetch-site", "cross-site")]),
        ("the same site, which any port is", &[("sec-fetch-site", "same-site")]),
        ("an address that was typed", &[("sec-fetch-site", "none")]),
        ("a name that leads here", &[("host", "evil.example:4711"), ("origin", "http://evil.example:4711")]),
        ("a name without the port", &[("host", "127.0.0.1")]),
        ("another port", &[("host", "127.0.0.1:80")]),
        ("no host", &[("host", "")]),
        ("the host of all addresses", &[("host", "0.0.0.0:4711"), ("origin", "http://0.0.0.0:4711")]),
        ("without the key of the page", &[("x-haft-console", "")]),
        ("with another key", &[("x-haft-console", "00")]),
        ("without a cookie", &[("cookie", "")]),
        ("with the key as the cookie", &[("cookie", &other)]),
        ("with the cookie of another console", &[("cookie", "haft-console-4712=1")]),
        ("the type of a form", &[("content-type", "text/plain")]),
        ("a type with more to it", &[("content-type", "application/json;charset=utf-8")]),
        ("no type", &[("content-type", "")]),
        ("two hosts", &[("host", "127.0.0.1:4711"), ("host", "evil.example")]),
        ("two origins", &[("origin", "http://127.0.0.1:4711"), ("origin", "https://evil.example")]),
        ("two lengths", &[("content-length", "1"), ("content-length", "2")]),
    ] {
        assert_eq!(changed(&gate, &page, "/answer", headers), None, "{attack}");
    }
    for path in [
        "/",
        "/live",
        "/answer/",
        "/answer?a",
        "/Answer",
        "//answer",
        "/other",
        "http://127.0.0.1:4711/answer",
    ] {
        assert_eq!(changed(&gate, &page, path, &[]), None, "{path}");
    }
}

#[test]
fn what_is_known_is_shown_to_no_other_page_and_in_no_frame() {
    let gate = gate();
    let (cookie, key) = let_in(&gate);
    let ours = [("cookie", &*cookie), ("x-haft-console", &*key)];
    for (method, path, more) in [
        ("GET", "/live", &[("sec-fetch-site", "cross-site")][..]),
        ("GET", "/live", &[("origin", "https://evil.example")]),
        ("GET", "/live", &[("host", "evil.example:4711")]),
        ("GET", "/", &[("sec-fetch-dest", "iframe")]),
        ("GET", "/", &[("sec-fetch-dest", "script")]),
        ("GET", "/", &[("sec-fetch-site", "cross-site")]),
        ("GET", "/?once=", &[]),
        ("GET", "/?once=0000000000000000000000000000000000000000000000000000000000000000", &[]),
        ("GET", "/?other", &[]),
        ("GET", "/answer", &[]),
        ("HEAD", "/", &[]),
        ("OPTIONS", "/answer", &[]),
        ("PUT", "/answer", &[]),
        ("TRACE", "/", &[]),
    ] {
        let headers: Vec<_> = ours.iter().chain(more).copied().collect();
        assert_eq!(gate.pass(&head(method, path, &headers)), None, "{method} {path} {more:?}");
    }
    assert_eq!(gate.pass(&head("GET", "/", &[])), None);
    assert_eq!(gate.pass(&head("GET", "/live", &[("cookie", &cookie)])), None);
    assert_eq!(gate.pass(&head("GET", "/live", &[("x-haft-console", &key)])), None);
}

#[test]
fn every_answer_says_that_nobody_else_may_have_it() {
    let answer = json(StatusCode::OK, &serde_json::json!({}));
    for answer in [refused(), answer] {
        let headers = answer.headers();
        for (name, value) in [
            ("cache-control", "no-store"),
            ("x-content-type-options", "nosniff"),
            ("x-frame-options", "DENY"),
            ("referrer-policy", "no-referrer"),
            ("cross-origin-resource-policy", "same-origin"),
            ("cross-origin-opener-policy", "same-origin"),
            (
                "content-security-policy",
                "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
            ),
        ] {
            assert_eq!(headers.get(name).unwrap(), value, "{name}");
        }
        assert!(!headers.contains_key("access-control-allow-origin"));
    }
}
