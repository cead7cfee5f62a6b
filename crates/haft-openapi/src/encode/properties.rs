//! Whatever arguments are, the request is the one that the document describes.

use super::tests::document;
use crate::{Document, EncodeError, LoadOptions, Operation};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use url::Url;

/// Texts that servers, proxies and parsers take for something else.
fn nasty() -> impl Strategy<Value = String> {
    prop_oneof![
        proptest::sample::select(vec![
            "",
            ".",
            "..",
            "../x",
            "/",
            "//evil.example",
            "\\\\evil",
            "a/b",
            "%2e%2e",
            "%2F",
            "%",
            "%25",
            "?",
            "#",
            "&",
            "=",
            ";",
            "a=b&c=d",
            "+",
            " ",
            "\r\n",
            "\r\nHost: evil",
            "\0",
            "@evil",
            ":80",
            "é",
            "\u{202e}",
            "a;b",
            ",",
            "|",
            "[x]",
            "]",
            "q2",
            "secret",
            "fixed",
            "__proto__",
            "http://evil.example/",
        ])
        .prop_map(str::to_owned),
        ".{0,12}",
        "[./%2eEfF\\\\;,&=#?]{0,8}",
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        6 => nasty().prop_map(Value::String),
        1 => any::<i64>().prop_map(Value::from),
        1 => any::<f64>().prop_map(Value::from),
        1 => any::<bool>().prop_map(Value::from),
        1 => Just(Value::Null),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((nasty(), inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

fn operation(text: &str) -> Operation {
    let document = Document::from_text(text, &LoadOptions::default()).unwrap();
    document.operation("op").unwrap_or_else(|| panic!("{:?}", document.problems()))
}

fn of_path(style: &str, explode: bool) -> Operation {
    operation(&document(
        "/a/{p}/b.{q}/c",
        "get",
        &format!(
            r#""parameters": [
                {{"name": "p", "in": "path", "style": "{style}", "explode": {explode}}},
                {{"name": "q", "in": "path", "style": "{style}", "explode": {explode}}}]"#
        ),
    ))
}

fn of_query(style: &str, explode: bool, reserved: bool) -> Operation {
    operation(&document(
        "/a?fixed=1",
        "get",
        &format!(
            r#""parameters": [
                {{"name": "q1", "in": "query", "style": "{style}", "explode": {explode}, "allowReserved": {reserved}}},
                {{"name": "q2", "in": "query"}},
                {{"name": "c1", "in": "cookie"}},
                {{"name": "X-One", "in": "header"}}]"#
        ),
    ))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_value_leaves_its_segment(
        style in proptest::sample::select(vec!["simple", "label", "matrix"]),
        explode in any::<bool>(),
        p in value(),
        q in value(),
    ) {
        let operation = of_path(style, explode);
        match operation.encode(&json!({ "p": p, "q": q })) {
            Err(EncodeError::Argument { pointer, .. }) => prop_assert!(pointer == "/p" || pointer == "/q"),
            Err(error) => prop_assert!(false, "{}", error),
            Ok(request) => {
                let url = Url::parse(request.url()).unwrap();
                prop_assert_eq!(url.origin().ascii_serialization(), "https://api.example");
                // A parser that follows dots and one that does not must see the same.
                prop_assert_eq!(url.as_str(), request.url());
                prop_assert!(url.query().is_none() && url.fragment().is_none());
                let segments: Vec<&str> = url.path_segments().unwrap().collect();
                prop_assert_eq!(segments.len(), 5);
                prop_assert_eq!((segments[0], segments[1], segments[4]), ("v1", "a", "c"));
                prop_assert!(segments[3].starts_with("b."));
                prop_assert!(request.into_request().is_ok());
            }
        }
    }

    #[test]
    fn no_value_sets_another_parameter(
        style in proptest::sample::select(vec!["form", "spaceDelimited", "pipeDelimited", "deepObject"]),
        explode in any::<bool>(),
        reserved in any::<bool>(),
        one in value(),
        cookie in nasty(),
        header in value(),
    ) {
        let is_object = one.is_object();
        let operation = of_query(style, explode, reserved);
        let names: Vec<String> = one.as_object().map(|members| members.keys().cloned().collect()).unwrap_or_default();
        match operation.encode(&json!({ "q1": one, "q2": "own", "c1": cookie, "X-One": header })) {
            Err(EncodeError::Argument { pointer, .. }) => prop_assert!(pointer == "/q1" || pointer == "/X-One"),
            Err(error) => prop_assert!(false, "{}", error),
            Ok(request) => {
                let url = Url::parse(request.url()).unwrap();
                prop_assert_eq!(url.origin().ascii_serialization(), "https://api.example");
                prop_assert_eq!(url.path(), "/v1/a");
                prop_assert!(url.fragment().is_none());
                let mut q2 = 0;
                let mut fixed = 0;
                for (name, value) in url.query_pairs() {
                    match name.as_ref() {
                        "q1" => {}
                        "q2" => {
                            q2 += 1;
                            prop_assert_eq!(value, "own");
                        }
                        "fixed" => {
                            fixed += 1;
                            prop_assert_eq!(value, "1");
                        }
                        other => {
                            let is_nested = style == "deepObject" && other.starts_with("q1[");
                            let is_member = explode && is_object && names.iter().any(|name| name == other);
                            prop_assert!(is_nested || is_member, "{} in {}", other, url);
                        }
                    }
                }
                prop_assert_eq!((q2, fixed), (1, 1));
                for (name, value) in request.headers() {
                    prop_assert!(["accept", "cookie", "x-one"].contains(&name.as_str()));
                    prop_assert!(!value.as_bytes().iter().any(|byte| matches!(byte, b'\r' | b'\n' | 0)));
                }
                let cookies = request.headers().get("cookie").unwrap().to_str().unwrap();
                prop_assert!(cookies.starts_with("c1=") && !cookies.contains(';'));
                prop_assert!(request.into_request().is_ok());
            }
        }
    }

    #[test]
    fn a_text_in_a_query_arrives_as_it_was(text in nasty(), reserved in any::<bool>()) {
        let operation = of_query("form", true, reserved);
        let request = operation.encode(&json!({ "q1": text })).unwrap();
        let url = Url::parse(request.url()).unwrap();
        let arrived = url.query_pairs().find(|(name, _)| name == "q1").map(|(_, value)| value.into_owned());
        prop_assert_eq!(arrived, Some(text));
    }

    #[test]
    fn a_form_has_the_fields_it_was_given(fields in proptest::collection::btree_map(nasty(), nasty(), 1..5)) {
        let operation = operation(&document(
            "/a",
            "post",
            r#""requestBody": {"required": true, "content": {"application/x-www-form-urlencoded": {"schema": {"type": "object"}}}}"#,
        ));
        let request = operation.encode(&json!({ "body": fields })).unwrap();
        let arrived: Vec<(String, String)> = url::form_urlencoded::parse(request.body()).into_owned().collect();
        prop_assert_eq!(arrived, fields.into_iter().collect::<Vec<_>>());
    }

    #[test]
    fn no_content_ends_its_part(fields in proptest::collection::btree_map("[a-z\"\r\n]{1,4}", ".{0,20}", 1..4)) {
        let operation = operation(&document(
            "/a",
            "post",
            r#""requestBody": {"required": true, "content": {"multipart/form-data": {"schema": {"type": "object"}}}}"#,
        ));
        let request = operation.encode(&json!({ "body": fields })).unwrap();
        let content_type = request.headers()["content-type"].to_str().unwrap();
        let boundary = content_type.split("boundary=").nth(1).unwrap();
        let body = String::from_utf8(request.body().to_vec()).unwrap();
        let parts: Vec<&str> = body.split(&format!("--{boundary}")).collect();
        prop_assert_eq!(parts.len(), fields.len() + 2);
        for (part, content) in parts[1..].iter().zip(fields.values()) {
            let (head, rest) = part.split_once("\r\n\r\n").unwrap();
            prop_assert_eq!(head.lines().count(), 2);
            prop_assert_eq!(rest.strip_suffix("\r\n").unwrap(), content);
        }
    }
}
