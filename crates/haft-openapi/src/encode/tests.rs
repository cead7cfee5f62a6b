#![expect(clippy::needless_raw_string_hashes, reason = "expect-test writes its snapshots with them")]

mod bodies;

use crate::{Document, EncodeError, LoadOptions, RequestParts};
use expect_test::{Expect, expect};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Makes a document with one operation `op`, whose path and rest are said.
pub(super) fn document(path: &str, method: &str, rest: &str) -> String {
    format!(
        "{{\"openapi\": \"3.1.0\", \"servers\": [{{\"url\": \"https://api.example/v1/\"}}], \"paths\": {{\"{path}\": \
         {{\"{method}\": {{\"operationId\": \"op\", {rest}}}}}}}}}"
    )
}

fn encode(text: &str, arguments: &Value, options: &LoadOptions) -> Result<RequestParts, EncodeError> {
    let document = Document::from_text(text, options).expect("the test has a document");
    let operation = document.operation("op").unwrap_or_else(|| panic!("{:?}", document.problems()));
    operation.encode(arguments)
}

fn shown(request: &RequestParts) -> String {
    let mut shown = format!("{} {}", request.method(), request.url());
    for (name, value) in request.headers() {
        if name != "accept" {
            let _ = write!(shown, "\n{name}: {}", String::from_utf8_lossy(value.as_bytes()));
        }
    }
    if !request.body().is_empty() {
        let _ = write!(shown, "\n\n{}", String::from_utf8_lossy(request.body()).replace('\r', "␍"));
    }
    shown
}

#[track_caller]
fn check_with(options: &LoadOptions, text: &str, arguments: &Value, expected: &Expect) {
    let shown = match encode(text, arguments, options) {
        Ok(request) => shown(&request),
        Err(error) => error.to_string(),
    };
    expected.assert_eq(&shown);
}

#[track_caller]
fn check(text: &str, arguments: &Value, expected: &Expect) {
    check_with(&LoadOptions::default(), text, arguments, expected);
}

/// Shows a value in every style that a place has.
#[track_caller]
fn check_styles(place: &str, styles: &[&str], value: &Value, expected: &Expect) {
    let mut all = String::new();
    for style in styles {
        for explode in [false, true] {
            let path = if place == "path" { "/a/{p}/b" } else { "/a" };
            let text = document(
                path,
                "get",
                &format!(
                    "\"parameters\": [{{\"name\": \"p\", \"in\": \"{place}\", \"style\": \"{style}\", \"explode\": \
                     {explode}, \"schema\": {{}}}}]"
                ),
            );
            let request = match encode(&text, &json!({ "p": value }), &LoadOptions::default()) {
                Ok(request) => shown(&request).replace("GET https://api.example/v1", ""),
                Err(error) => error.to_string(),
            };
            let _ = writeln!(all, "{style} {explode}: {}", request.replace('\n', " "));
        }
    }
    expected.assert_eq(&all);
}

#[test]
fn parameters_of_paths_are_written_in_all_styles() {
    let styles = ["simple", "label", "matrix"];
    check_styles(
        "path",
        &styles,
        &json!("a/b c"),
        &expect![[r#"
        simple false: /a/a%2Fb%20c/b
        simple true: /a/a%2Fb%20c/b
        label false: /a/.a%2Fb%20c/b
        label true: /a/.a%2Fb%20c/b
        matrix false: /a/;p=a%2Fb%20c/b
        matrix true: /a/;p=a%2Fb%20c/b
    "#]],
    );
    check_styles(
        "path",
        &styles,
        &json!(["a,b", 2, null, true]),
        &expect![[r#"
        simple false: /a/a%2Cb,2,true/b
        simple true: /a/a%2Cb,2,true/b
        label false: /a/.a%2Cb,2,true/b
        label true: /a/.a%2Cb.2.true/b
        matrix false: /a/;p=a%2Cb,2,true/b
        matrix true: /a/;p=a%2Cb;p=2;p=true/b
    "#]],
    );
    check_styles(
        "path",
        &styles,
        &json!({ "r": 1, "g;": "x=y" }),
        &expect![[r#"
        simple false: /a/g%3B,x%3Dy,r,1/b
        simple true: /a/g%3B=x%3Dy,r=1/b
        label false: /a/.g%3B,x%3Dy,r,1/b
        label true: /a/.g%3B=x%3Dy.r=1/b
        matrix false: /a/;p=g%3B,x%3Dy,r,1/b
        matrix true: /a/;g%3B=x%3Dy;r=1/b
    "#]],
    );
}

#[test]
fn parameters_of_queries_are_written_in_all_styles() {
    let styles = ["form", "spaceDelimited", "pipeDelimited", "deepObject"];
    check_styles(
        "query",
        &styles,
        &json!("a&b=c#d"),
        &expect![[r#"
        form false: /a?p=a%26b%3Dc%23d
        form true: /a?p=a%26b%3Dc%23d
        spaceDelimited false: /a?p=a%26b%3Dc%23d
        spaceDelimited true: /a?p=a%26b%3Dc%23d
        pipeDelimited false: /a?p=a%26b%3Dc%23d
        pipeDelimited true: /a?p=a%26b%3Dc%23d
        deepObject false: /a?p=a%26b%3Dc%23d
        deepObject true: /a?p=a%26b%3Dc%23d
    "#]],
    );
    check_styles(
        "query",
        &styles,
        &json!(["a,b", 2, "c d|e"]),
        &expect![[r#"
        form false: /a?p=a%2Cb,2,c%20d%7Ce
        form true: /a?p=a%2Cb&p=2&p=c%20d%7Ce
        spaceDelimited false: /a?p=a%2Cb%202%20c%20d%7Ce
        spaceDelimited true: /a?p=a%2Cb&p=2&p=c%20d%7Ce
        pipeDelimited false: /a?p=a%2Cb%7C2%7Cc%20d%7Ce
        pipeDelimited true: /a?p=a%2Cb&p=2&p=c%20d%7Ce
        deepObject false: /a?p%5B0%5D=a%2Cb&p%5B1%5D=2&p%5B2%5D=c%20d%7Ce
        deepObject true: /a?p%5B0%5D=a%2Cb&p%5B1%5D=2&p%5B2%5D=c%20d%7Ce
    "#]],
    );
    check_styles(
        "query",
        &styles,
        &json!({ "r": 1, "g&": ["x", { "y": "z" }] }),
        &expect![[r#"
        form false: /a?p=g%26,%5B%22x%22%2C%7B%22y%22%3A%22z%22%7D%5D,r,1
        form true: /a?g%26=%5B%22x%22%2C%7B%22y%22%3A%22z%22%7D%5D&r=1
        spaceDelimited false: /a?p=g%26%20%5B%22x%22%2C%7B%22y%22%3A%22z%22%7D%5D%20r%201
        spaceDelimited true: /a?g%26=%5B%22x%22%2C%7B%22y%22%3A%22z%22%7D%5D&r=1
        pipeDelimited false: /a?p=g%26%7C%5B%22x%22%2C%7B%22y%22%3A%22z%22%7D%5D%7Cr%7C1
        pipeDelimited true: /a?g%26=%5B%22x%22%2C%7B%22y%22%3A%22z%22%7D%5D&r=1
        deepObject false: /a?p%5Bg%26%5D%5B0%5D=x&p%5Bg%26%5D%5B1%5D%5By%5D=z&p%5Br%5D=1
        deepObject true: /a?p%5Bg%26%5D%5B0%5D=x&p%5Bg%26%5D%5B1%5D%5By%5D=z&p%5Br%5D=1
    "#]],
    );
    check_styles(
        "query",
        &styles,
        &json!([]),
        &expect![[r#"
        form false: /a
        form true: /a
        spaceDelimited false: /a
        spaceDelimited true: /a
        pipeDelimited false: /a
        pipeDelimited true: /a
        deepObject false: /a
        deepObject true: /a
    "#]],
    );
}

#[test]
fn parameters_of_headers_and_cookies_are_written() {
    check_styles(
        "header",
        &["simple"],
        &json!(["a b", 2]),
        &expect![[r#"
        simple false: /a p: a b,2
        simple true: /a p: a b,2
    "#]],
    );
    check_styles(
        "header",
        &["simple"],
        &json!({ "a": 1, "b": "c" }),
        &expect![[r#"
        simple false: /a p: a,1,b,c
        simple true: /a p: a=1,b=c
    "#]],
    );
    check_styles(
        "header",
        &["simple"],
        &json!("a\r\nEvil: 1"),
        &expect![[r#"
        simple false: at `/p`: it has a control character, such as a line end; leave it out
        simple true: at `/p`: it has a control character, such as a line end; leave it out
    "#]],
    );
    check_styles(
        "cookie",
        &["form"],
        &json!(["a; b", 2]),
        &expect![[r#"
        form false: /a cookie: p=a%3B%20b,2
        form true: /a cookie: p=a%3B%20b; p=2
    "#]],
    );
    check_styles(
        "cookie",
        &["form"],
        &json!({ "a": 1, "b": "c;d=e" }),
        &expect![[r#"
        form false: /a cookie: p=a,1,b,c%3Bd%3De
        form true: /a cookie: a=1; b=c%3Bd%3De
    "#]],
    );
}

#[test]
fn what_would_leave_its_place_is_encoded_or_refused() {
    let text = document("/a/{p}", "get", r#""parameters": [{"name": "p", "in": "path", "schema": {}}]"#);
    for (value, expected) in [
        ("../x", expect!["GET https://api.example/v1/a/..%2Fx"]),
        ("%2e%2e", expect!["GET https://api.example/v1/a/%252e%252e"]),
        ("//evil", expect!["GET https://api.example/v1/a/%2F%2Fevil"]),
        ("a\\b", expect!["GET https://api.example/v1/a/a%5Cb"]),
        ("..", expect!["at `/p`: it stands for a part of the path and cannot be empty, `.` or `..`"]),
        (".", expect!["at `/p`: it stands for a part of the path and cannot be empty, `.` or `..`"]),
        ("", expect!["at `/p`: it stands for a part of the path and cannot be empty, `.` or `..`"]),
        ("a\r\nb", expect!["GET https://api.example/v1/a/a%0D%0Ab"]),
        ("?a=b#c", expect!["GET https://api.example/v1/a/%3Fa%3Db%23c"]),
    ] {
        check(&text, &json!({ "p": value }), &expected);
    }
    let text = document("/%2e{p}/x", "get", r#""parameters": [{"name": "p", "in": "path", "schema": {}}]"#);
    check(
        &text,
        &json!({ "p": "." }),
        &expect!["at `/p`: it stands for a part of the path and cannot be empty, `.` or `..`"],
    );
    check(&text, &json!({ "p": "e" }), &expect!["GET https://api.example/v1/%2ee/x"]);
}

#[test]
fn paths_may_have_a_query_a_fragment_and_several_parameters_in_a_segment() {
    let parameters = r#""parameters": [{"name": "a", "in": "path"}, {"name": "b", "in": "path"}, {"name": "c", "in": "query"}]"#;
    check(
        &document("/x/{a}..{b}.json?kind=1&b={b}#tag", "get", parameters),
        &json!({ "a": "1/2", "b": "3&4", "c": "5" }),
        &expect!["GET https://api.example/v1/x/1%2F2..3%264.json?kind=1&b=3%264&c=5"],
    );
    check(
        &document("/files/{path+}", "get", ""),
        &json!({ "path": "a/b" }),
        &expect!["GET https://api.example/v1/files/a%2Fb"],
    );
    check(&document("x y", "get", r#""tags": []"#), &json!({}), &expect!["GET https://api.example/v1/x%20y"]);
}

#[test]
fn an_exploded_object_cannot_set_another_parameter() {
    let text = document(
        "/a?fixed=1",
        "get",
        r#""parameters": [
            {"name": "free", "in": "query", "schema": {"type": "object"}},
            {"name": "other", "in": "query", "schema": {}}]"#,
    );
    check(&text, &json!({ "free": { "mine": 1 } }), &expect!["GET https://api.example/v1/a?fixed=1&mine=1"]);
    check(
        &text,
        &json!({ "free": { "other": 1 } }),
        &expect!["at `/free`: `other` is another parameter and cannot be set here"],
    );
    check(
        &text,
        &json!({ "free": { "fixed": 2 } }),
        &expect!["at `/free`: `fixed` is another parameter and cannot be set here"],
    );
}

#[test]
fn reserved_characters_stay_where_that_is_allowed_and_cannot_end_the_value() {
    let text =
        document("/a", "get", r#""parameters": [{"name": "p", "in": "query", "allowReserved": true}]"#);
    check(
        &text,
        &json!({ "p": "http://x/?a=b&c#d+e;f,g%20" }),
        &expect!["GET https://api.example/v1/a?p=http://x/?a=b%26c%23d%2Be%3Bf,g%2520"],
    );
}

#[test]
fn parameters_may_have_a_media_type_or_be_the_whole_query() {
    let text = document(
        "/a",
        "get",
        r#""parameters": [{"name": "p", "in": "query", "content": {"application/json": {"schema": {"type": "object"}}}}]"#,
    );
    check(
        &text,
        &json!({ "p": { "a": "b&c" } }),
        &expect!["GET https://api.example/v1/a?p=%7B%22a%22%3A%22b%26c%22%7D"],
    );
    let text = document(
        "/a",
        "get",
        r#""parameters": [{"name": "all", "in": "querystring", "content": {"application/x-www-form-urlencoded": {}}}]"#,
    );
    check(
        &text,
        &json!({ "all": { "a": "b&c", "d": [1, 2] } }),
        &expect!["GET https://api.example/v1/a?a=b%26c&d=1&d=2"],
    );
}

#[test]
fn missing_and_unknown_arguments_are_refused_and_null_is_none() {
    let text = document(
        "/a/{p}",
        "get",
        r#""parameters": [{"name": "q", "in": "query", "required": true}, {"name": "r", "in": "query"}]"#,
    );
    check(&text, &json!({ "q": 1 }), &expect!["at `/p`: it is required"]);
    check(&text, &json!({ "p": 1.0, "r": 2 }), &expect!["at `/q`: it is required"]);
    check(&text, &json!({ "p": 1.0, "q": 1.5, "r": null }), &expect!["GET https://api.example/v1/a/1?q=1.5"]);
    check(&text, &json!({ "p": 1, "q": 1, "s/t": 1 }), &expect!["at `/s~1t`: there is no such argument"]);
    check(&text, &json!([1]), &expect!["at ``: the arguments must be an object"]);
}

#[test]
fn an_exploded_object_cannot_set_what_a_server_takes_for_another_parameter() {
    let text = document(
        "/a?fi%78ed=1&b%5B%5D=2",
        "get",
        r#""parameters": [
            {"name": "free", "in": "query", "schema": {"type": "object"}},
            {"name": "filter", "in": "query", "style": "deepObject", "schema": {"type": "object"}},
            {"name": "other_one", "in": "query", "schema": {}}]"#,
    )
    .replacen(
        '{',
        r#"{"components": {"securitySchemes": {"k": {"type": "apiKey", "in": "query", "name": "api_key"}}},"#,
        1,
    );
    let refused: Vec<&str> = [
        "filter[role]",
        "FILTER",
        "other.one",
        "Other_One",
        " other_one",
        "other one[x]",
        "api_key[]",
        "api.key",
        "fixed",
        "Fixed",
        "b",
        "b[]",
        "[filter",
    ]
    .into_iter()
    .filter(|key| encode(&text, &json!({ "free": { *key: 1 } }), &LoadOptions::default()).is_ok())
    .collect();
    assert!(refused.is_empty(), "{refused:?} are sent");
    check(
        &text,
        &json!({ "free": { "mine": 1, "free": 2 } }),
        &expect!["GET https://api.example/v1/a?fi%78ed=1&b%5B%5D=2&free=2&mine=1"],
    );
    let whole = document(
        "/a?comp=list",
        "get",
        r#""parameters": [{"name": "all", "in": "querystring", "content": {"application/x-www-form-urlencoded": {}}}]"#,
    );
    check(&whole, &json!({ "all": { "comp": "delete" } }), &expect!["at `/all`: `comp` cannot be set here"]);
    check(
        &whole,
        &json!({ "all": { "page": 1 } }),
        &expect!["GET https://api.example/v1/a?comp=list&page=1"],
    );
}

#[test]
fn names_that_are_repeated_make_no_more_of_an_argument_than_can_be_sent() {
    let deep =
        document("/a", "get", r#""parameters": [{"name": "p", "in": "query", "style": "deepObject"}]"#);
    let long = "k".repeat(500_000);
    check(
        &deep,
        &json!({ "p": { long.as_str(): vec![0; 250_000] } }),
        &expect!["at `/p`: a name in it is too long, or it is nested too deeply"],
    );
    let nested = (0..100).fold(json!(vec![0; 1_000]), |inner, _| json!({ "k".repeat(50): inner }));
    check(
        &deep,
        &json!({ "p": nested }),
        &expect!["at `/p`: a name in it is too long, or it is nested too deeply"],
    );
    let name = "n".repeat(900);
    let list = document("/a", "get", &format!(r#""parameters": [{{"name": "{name}", "in": "query"}}]"#));
    let key =
        Document::from_text(&list, &LoadOptions::default()).unwrap().operation("op").unwrap().input_schema();
    let key = key.schema().as_value()["properties"].as_object().unwrap().keys().next().unwrap().clone();
    let error =
        encode(&list, &json!({ key: vec![0; 500_000] }), &LoadOptions::default()).unwrap_err().to_string();
    assert!(
        error.ends_with("it is too large once it is written as it has to be; send less at once"),
        "{error}"
    );
    let parts = document(
        "/a",
        "post",
        r#""requestBody": {"content": {"multipart/form-data": {"schema": {"type": "object"}}}}"#,
    );
    check(
        &parts,
        &json!({ "body": { long.as_str(): [1, 2] } }),
        &expect![
            "at `/body/kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk`: its name is too long"
        ],
    );
    check(
        &parts,
        &json!({ "body": { "a": vec![1; 10_001] } }),
        &expect!["at `/body/a`: it has more than 10000 items"],
    );
}

#[test]
fn lists_of_swagger_have_their_separators_everywhere() {
    let text = r#"{"swagger": "2.0", "host": "api.example", "paths": {"/a/{p}": {"get": {"operationId": "op", "parameters": [
        {"name": "p", "in": "path", "required": true, "type": "array", "collectionFormat": "pipes"},
        {"name": "H", "in": "header", "type": "array", "collectionFormat": "ssv"},
        {"name": "q", "in": "query", "type": "array", "collectionFormat": "tsv"}]}}}}"#;
    check(
        text,
        &json!({ "p": ["a|", "b"], "H": [1, 2], "q": [3, 4] }),
        &expect![[r#"
        GET https://api.example/a/a%7C%7Cb?q=3%094
        h: 1 2"#]],
    );
}

#[test]
fn cookies_of_their_own_style_are_written_as_they_are() {
    check_styles(
        "cookie",
        &["cookie"],
        &json!("a=b/c%20; d"),
        &expect![[r#"
        cookie false: /a cookie: p=a=b/c%20%3B%20d
        cookie true: /a cookie: p=a=b/c%20%3B%20d
    "#]],
    );
    check_styles(
        "cookie",
        &["cookie"],
        &json!(["a|b", "c,d"]),
        &expect![[r#"
        cookie false: /a cookie: p=a|b,c%2Cd
        cookie true: /a cookie: p=a|b; p=c%2Cd
    "#]],
    );
}
