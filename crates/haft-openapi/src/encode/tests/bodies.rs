//! Bodies of requests.

use super::{check, check_with, document, encode};
use crate::{Document, FormStyle, LoadOptions};
use expect_test::expect;
use serde_json::json;

const JSON: &str = r#""parameters": [{"name": "id", "in": "query"}], "requestBody": {"required": true, "content": {
    "application/json": {"schema": {"type": "object", "required": ["id"], "properties": {
        "id": {"type": "string"}, "a b": {"type": "object", "properties": {"@c": {"type": "integer"}}},
        "seen": {"type": "string", "readOnly": true}}}}}}"#;

#[test]
fn a_parameter_and_a_property_of_one_name_both_arrive() {
    check(
        &document("/a", "post", JSON),
        &json!({ "id": "query", "body_id": "body", "a_b": { "_c_5e3b9c1a": 1 } }),
        &expect![[r#"
            POST https://api.example/v1/a?id=query
            content-type: application/json

            {"a b":{"_c_5e3b9c1a":1},"id":"body"}"#]],
    );
}

#[test]
fn properties_get_their_real_names_back() {
    let document = Document::from_text(&document("/a", "post", JSON), &LoadOptions::default()).unwrap();
    let operation = document.operation("op").unwrap();
    let schema = operation.input_schema();
    let inner = &schema.schema().as_value()["properties"]["a_b"]["properties"];
    let key = inner.as_object().unwrap().keys().next().unwrap().clone();
    assert_ne!(key, "@c");
    let request = operation.encode(&json!({ "body_id": "1", "a_b": { key: 5 } })).unwrap();
    assert_eq!(request.body(), r#"{"a b":{"@c":5},"id":"1"}"#);
}

const FORM: &str = r#""requestBody": {"content": {"application/x-www-form-urlencoded": {
    "schema": {"type": "object", "properties": {"a": {}, "list": {}, "deep": {}, "piped": {}, "json": {}}},
    "encoding": {"deep": {"style": "deepObject", "explode": true}, "piped": {"style": "pipeDelimited", "explode": false},
        "json": {"contentType": "application/json"}}}}}"#;

#[test]
fn forms_are_written_as_their_encoding_says() {
    let arguments = json!({
        "a": "x&y=z +", "list": [1, "2,3"], "deep": { "b": { "c": [4] } }, "piped": [5, 6], "json": [7], });
    check(
        &document("/a", "post", FORM),
        &arguments,
        &expect![[r#"
        POST https://api.example/v1/a
        content-type: application/x-www-form-urlencoded

        a=x%26y%3Dz%20%2B&deep%5Bb%5D%5Bc%5D%5B0%5D=4&json=%5B7%5D&list=1&list=2%2C3&piped=5%7C6"#]],
    );
    let nested = json!({ "list": [{ "a": 1 }, 2], "a": { "b": [3] } });
    for (style, expected) in [
        (
            FormStyle::Spec,
            expect![[r#"
            POST https://api.example/v1/a
            content-type: application/x-www-form-urlencoded

            a=%7B%22b%22%3A%5B3%5D%7D&list=%7B%22a%22%3A1%7D&list=2"#]],
        ),
        (
            FormStyle::Brackets,
            expect![[r#"
            POST https://api.example/v1/a
            content-type: application/x-www-form-urlencoded

            a%5Bb%5D%5B%5D=3&list%5B%5D%5Ba%5D=1&list%5B%5D=2"#]],
        ),
        (
            FormStyle::Indexed,
            expect![[r#"
            POST https://api.example/v1/a
            content-type: application/x-www-form-urlencoded

            a%5Bb%5D%5B0%5D=3&list%5B0%5D%5Ba%5D=1&list%5B1%5D=2"#]],
        ),
    ] {
        check_with(&LoadOptions::default().forms(style), &document("/a", "post", FORM), &nested, &expected);
    }
}

#[test]
fn forms_of_several_parts_have_files() {
    let text = document(
        "/a",
        "post",
        r#""requestBody": {"content": {"multipart/form-data": {"schema": {"type": "object", "properties": {
            "file": {"type": "string", "format": "binary"}, "data": {"type": "object"}, "name": {"type": "string"}}},
            "encoding": {"file": {"contentType": "image/png"}}}}}"#,
    );
    check(
        &text,
        &json!({ "file": { "base64": "aGk", "filename": "a\"\r\nb.png" }, "data": { "a": [1] }, "name": "x" }),
        &expect![[r#"
            POST https://api.example/v1/a
            content-type: multipart/form-data; boundary=haft-9d2fb20858af6c8c2d25d78f6ab55bf6

            --haft-9d2fb20858af6c8c2d25d78f6ab55bf6␍
            Content-Disposition: form-data; name="data"␍
            Content-Type: application/json␍
            ␍
            {"a":[1]}␍
            --haft-9d2fb20858af6c8c2d25d78f6ab55bf6␍
            Content-Disposition: form-data; name="file"; filename="a%22%0D%0Ab.png"␍
            Content-Type: image/png␍
            ␍
            hi␍
            --haft-9d2fb20858af6c8c2d25d78f6ab55bf6␍
            Content-Disposition: form-data; name="name"␍
            ␍
            x␍
            --haft-9d2fb20858af6c8c2d25d78f6ab55bf6--␍
        "#]],
    );
    check(&text, &json!({ "file": { "base64": "…" } }), &expect!["at `/file/base64`: it is not base64"]);
    check(
        &text,
        &json!({ "file": { "base64": "", "content_type": "a/b\r\nEvil: 1" } }),
        &expect![[r#"
        POST https://api.example/v1/a
        content-type: multipart/form-data; boundary=haft-155e092e338d04bc4606426093405825

        --haft-155e092e338d04bc4606426093405825␍
        Content-Disposition: form-data; name="file"; filename="file"␍
        Content-Type: image/png␍
        ␍
        ␍
        --haft-155e092e338d04bc4606426093405825--␍
    "#]],
    );
}

#[test]
fn bodies_of_bytes_text_and_nothing_are_sent() {
    let body = |content_type: &str| {
        document("/a", "put", &format!("\"requestBody\": {{\"content\": {{\"{content_type}\": {{}}}}}}"))
    };
    check(
        &body("application/octet-stream"),
        &json!({ "body": { "base64": "aGk=" } }),
        &expect![[r#"
        PUT https://api.example/v1/a
        content-type: application/octet-stream

        hi"#]],
    );
    check(
        &body("image/*"),
        &json!({ "body": "text" }),
        &expect![[r#"
        PUT https://api.example/v1/a
        content-type: application/octet-stream

        text"#]],
    );
    check(
        &body("application/xml"),
        &json!({ "body": "<a/>" }),
        &expect![[r#"
        PUT https://api.example/v1/a
        content-type: application/xml

        <a/>"#]],
    );
    check(
        &body("*/*"),
        &json!({ "body": { "a": null } }),
        &expect![[r#"
        PUT https://api.example/v1/a
        content-type: application/json

        {"a":null}"#]],
    );
    check(&body("application/json"), &json!({}), &expect!["PUT https://api.example/v1/a"]);
    check(
        &body("application/vnd.a.b+json; v=1"),
        &json!({ "body": [1] }),
        &expect![[r#"
        PUT https://api.example/v1/a
        content-type: application/vnd.a.b+json; v=1

        [1]"#]],
    );
}

#[test]
fn fields_of_forms_are_written_in_the_style_that_is_said_in_part() {
    let text = document(
        "/a",
        "post",
        r#""requestBody": {"content": {"application/x-www-form-urlencoded": {
            "schema": {"type": "object", "properties": {"tags": {}, "p": {}, "o": {}, "url": {}, "s": {}}},
            "encoding": {"tags": {"explode": false}, "p": {"style": "pipeDelimited"}, "o": {"style": "form"},
                "url": {"allowReserved": true, "contentType": "application/json"}, "s": {"style": "spaceDelimited"}}}}}"#,
    );
    let arguments = json!({ "tags": ["a", "b"], "p": [5, 6], "o": { "R": 1, "G": 2 }, "url": ["/a", "b"], "s": ["a", "b"] });
    check(
        &text,
        &arguments,
        &expect![[r#"
        POST https://api.example/v1/a
        content-type: application/x-www-form-urlencoded

        G=2&R=1&p=5%7C6&s=a%20b&tags=a,b&url=/a&url=b"#]],
    );
    check(
        &text,
        &json!({ "o": { "Tags": 1 } }),
        &expect!["at `/o`: `Tags` is another parameter and cannot be set here"],
    );
}

#[test]
fn files_are_known_by_their_media_type_and_pointed_at_where_they_are() {
    let body = |more: &str| {
        document(
            "/a",
            "post",
            &format!(
                r#""requestBody": {{"content": {{"multipart/form-data": {{"schema": {{"type": "object", {more} "properties": {{
                    "of_encoding": {{"type": "string"}}, "of_schema": {{"contentMediaType": "image/*"}},
                    "list": {{"type": "array", "items": {{"type": "string", "format": "binary"}}}},
                    "text": {{"type": "string", "contentEncoding": "base64", "contentMediaType": "image/png"}},
                    "data": {{"type": "object", "properties": {{"in": {{"type": "string", "format": "binary"}}}}}}}}}},
                    "encoding": {{"of_encoding": {{"contentType": "image/png"}}}}}}}}}}"#
            ),
        )
    };
    for text in [body(""), body(r#""required": ["text"],"#)] {
        let document = Document::from_text(&text, &LoadOptions::default()).unwrap();
        let schema = document.operation("op").unwrap().input_schema().into_schema();
        let properties = &schema.as_value()["properties"];
        let whole = properties.get("body");
        let properties = whole.map_or(properties, |body| &body["properties"]);
        let has_base64 = |name: &str| properties[name].to_string().contains("base64\"");
        let files = ["of_encoding", "of_schema", "list", "text", "data"].map(has_base64);
        assert_eq!(files, [true, true, true, true, false], "{properties}");
        assert!(properties["text"].get("anyOf").is_none());
        let argument = json!({ "list": [{ "base64": "aGk" }, { "base64": "…" }] });
        let argument = if whole.is_some() { json!({ "body": argument }) } else { argument };
        let pointer = if whole.is_some() { "/body/list/1/base64" } else { "/list/1/base64" };
        let error = encode(&text, &argument, &LoadOptions::default()).unwrap_err();
        assert_eq!(error.to_string(), format!("at `{pointer}`: it is not base64"));
    }
    let bytes = document("/a", "put", r#""requestBody": {"content": {"image/png": {}}}"#);
    check(
        &bytes,
        &json!({ "body": { "filename": "a" } }),
        &expect!["at `/body/base64`: it is required, and a text"],
    );
}
