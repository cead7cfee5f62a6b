use super::*;
use expect_test::{Expect, expect};
use std::fmt::Write as _;

fn table(toml: &str) -> TelemetryTable {
    toml::from_str(toml).unwrap()
}

/// Finds where spans are sent by a person's own table and these variables, and prints it.
fn check(toml: &str, variables: &[(&str, &str)], expected: Expect) {
    check_of(toml, Layer::User, variables, expected);
}

#[expect(clippy::needless_pass_by_value, reason = "snapshots read better without a reference")]
fn check_of(toml: &str, layer: Layer, variables: &[(&str, &str)], expected: Expect) {
    let table = (!toml.is_empty()).then(|| (table(toml), layer));
    let variable = |name: &str| {
        let found = variables.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    };
    let printed = match Sent::of(table.as_ref(), &variable) {
        Ok(None) => "nothing is sent".to_owned(),
        Ok(Some(sent)) => {
            let mut printed = format!("{} within {:?}", sent.url, sent.timeout);
            for (name, value) in &sent.headers {
                write!(printed, "; {name}: {}{}", value.to_str().unwrap(), hidden(value)).unwrap();
            }
            if sent.content { printed + "; with content" } else { printed }
        }
        Err(error) => format!("error: {error:#}"),
    };
    expected.assert_eq(&printed);
}

fn hidden(value: &HeaderValue) -> &'static str {
    if value.is_sensitive() { " (hidden)" } else { "" }
}

#[test]
fn nothing_is_sent_unless_somebody_says_where() {
    check("", &[], expect!["nothing is sent"]);
    check("content = true", &[("OTEL_EXPORTER_OTLP_HEADERS", "a=b")], expect!["nothing is sent"]);
    let endpoint = "endpoint = 'http://127.0.0.1:4318'";
    check(endpoint, &[("OTEL_SDK_DISABLED", "TRUE")], expect!["nothing is sent"]);
    check(endpoint, &[("OTEL_TRACES_EXPORTER", "none")], expect!["nothing is sent"]);
    check(endpoint, &[("OTEL_SDK_DISABLED", "no")], expect!["http://127.0.0.1:4318/v1/traces within 10s"]);
}

#[test]
fn the_path_is_added_where_it_is_not_there() {
    check(
        "endpoint = 'https://x.example/otlp/'",
        &[],
        expect!["https://x.example/otlp/v1/traces within 10s"],
    );
    check("endpoint = 'https://x.example/v1/traces'", &[], expect!["https://x.example/v1/traces within 10s"]);
    let of = |name| [(name, "https://x.example/collect")];
    check("", &of("OTEL_EXPORTER_OTLP_ENDPOINT"), expect!["https://x.example/collect/v1/traces within 10s"]);
    check("", &of("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"), expect!["https://x.example/collect within 10s"]);
}

#[test]
fn the_environment_goes_before_the_file_and_headers_stay_with_their_place() {
    let file = "endpoint = 'https://file.example'\nheader = ['x-team: ours']\ncontent = true";
    check(
        file,
        &[],
        expect!["https://file.example/v1/traces within 10s; x-team: ours (hidden); with content"],
    );
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "https://all.example"),
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://traces.example/"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "api-key=a%20b, x-org = 7"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "2500"),
    ];
    check(
        file,
        &variables,
        expect![
            "https://traces.example/ within 2.5s; api-key: a b (hidden); x-org: 7 (hidden); with content"
        ],
    );
    check(
        file,
        &variables[2..],
        expect![
            "https://file.example/v1/traces within 2.5s; x-team: ours (hidden); api-key: a b (hidden); x-org: 7 (hidden); with content"
        ],
    );
}

#[test]
fn a_key_of_the_environment_goes_to_no_place_that_a_workspace_names() {
    let variables = [("OTEL_EXPORTER_OTLP_HEADERS", "api-key=secret")];
    check_of(
        "endpoint = 'https://theirs.example'",
        Layer::Workspace,
        &variables,
        expect!["https://theirs.example/v1/traces within 10s"],
    );
}

#[test]
fn what_would_be_there_for_all_to_read_is_refused() {
    let plain = "endpoint = 'http://collector.internal:4318'\n";
    check(plain, &[], expect!["http://collector.internal:4318/v1/traces within 10s"]);
    check(
        &format!("{plain}content = true"),
        &[],
        expect![
            "error: `endpoint` of `[telemetry]` is asked over `http`, and arguments and results would be there for all to read; write `https`, or send none"
        ],
    );
    check(
        &format!("{plain}header = ['api-key: x']"),
        &[],
        expect![
            "error: `endpoint` of `[telemetry]` is asked over `http`, and headers would be there for all to read; write `https`, or send none"
        ],
    );
    for here in ["localhost", "127.0.0.1", "[::1]"] {
        let toml = format!("endpoint = 'http://{here}:4318'\nheader = ['x-a: b']\ncontent = true");
        let sent = Sent::of(Some(&(table(&toml), Layer::User)), &|_| None).unwrap().unwrap();
        assert_eq!(sent.url.as_str(), format!("http://{here}:4318/v1/traces"));
    }
}

#[test]
fn what_cannot_be_used_is_named_and_no_value_is_shown() {
    for (endpoint, why) in [
        ("", "it is not an absolute URL; write one as in `http://127.0.0.1:4318`"),
        ("collector", "it is not an absolute URL; write one as in `http://127.0.0.1:4318`"),
        ("localhost:4318", "it is neither `http` nor `https`; write one as in `http://127.0.0.1:4318`"),
        ("ftp://x.example", "it is neither `http` nor `https`; write one as in `http://127.0.0.1:4318`"),
        ("https://me:secret@x.example", "it holds a user or a password; send it in a header"),
        (
            "https://x.example?key=secret",
            "it holds more than a path; write one as in `http://127.0.0.1:4318`",
        ),
    ] {
        let table = table(&format!("endpoint = '{endpoint}'"));
        let error = Sent::of(Some(&(table, Layer::User)), &|_| None).unwrap_err();
        assert_eq!(format!("{error:#}"), format!("cannot use `endpoint` of `[telemetry]`: {why}"));
    }
    let at = ("OTEL_EXPORTER_OTLP_ENDPOINT", "https://x.example");
    let with = |name, value| [at, (name, value)];
    check(
        "",
        &with("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
        expect![
            "error: `OTEL_EXPORTER_OTLP_PROTOCOL` asks for another protocol than `http/protobuf`, the one that haft speaks; unset it, and name the port that the collector has for it, which is 4318 mostly"
        ],
    );
    check(
        "",
        &with("OTEL_EXPORTER_OTLP_TIMEOUT", "soon"),
        expect!["error: `OTEL_EXPORTER_OTLP_TIMEOUT` is not a time; write milliseconds, from 1 to 600000"],
    );
    check(
        "",
        &with("OTEL_EXPORTER_OTLP_HEADERS", "secret"),
        expect![
            "error: `OTEL_EXPORTER_OTLP_HEADERS` holds what is not a header; write `NAME=VALUE`, with commas between"
        ],
    );
    check(
        "",
        &with("OTEL_EXPORTER_OTLP_HEADERS", "a secret=x"),
        expect!["error: `OTEL_EXPORTER_OTLP_HEADERS` holds a name that no header has; correct it"],
    );
    check(
        "",
        &with("OTEL_EXPORTER_OTLP_HEADERS", "key=secret%0Anext"),
        expect![
            "error: the header `key` of `OTEL_EXPORTER_OTLP_HEADERS` has a value that cannot be sent; correct it"
        ],
    );
    check(
        "endpoint = 'https://x.example'\nheader = ['api-key: $HAFT_NOT_SET_ANYWHERE']",
        &[],
        expect![
            "error: the header `api-key` is made of the variable `HAFT_NOT_SET_ANYWHERE`, which is not set; set it"
        ],
    );
}
