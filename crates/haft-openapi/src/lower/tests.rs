#![expect(clippy::needless_raw_string_hashes, reason = "expect-test writes its snapshots with them")]

use crate::{Document, LoadOptions};
use expect_test::{Expect, expect};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Shows what there is in a document, what each operation sends for its arguments' names, and what is wrong.
#[track_caller]
fn check_with(options: &LoadOptions, text: &str, expected: &Expect) {
    let mut shown = String::new();
    match Document::from_text(text, options) {
        Err(error) => shown = error.to_string(),
        Ok(document) => {
            for operation in document.operations() {
                let schema = operation.input_schema().into_schema();
                let properties = schema.as_value()["properties"].as_object().unwrap().clone();
                let arguments: serde_json::Map<_, _> =
                    properties.keys().map(|key| (key.clone(), json!(format!("<{key}>")))).collect();
                let sent = match operation.encode(&arguments.into()) {
                    Ok(request) => {
                        format!(
                            "{} {}",
                            request.url(),
                            String::from_utf8_lossy(request.body()).replace('\r', "␍")
                        )
                    }
                    Err(error) => error.to_string(),
                };
                let _ = writeln!(shown, "{}: {} {}", operation.name(), operation.method(), sent.trim_end());
            }
            for problem in document.problems() {
                let _ = writeln!(shown, "{:?}: {problem}", problem.severity());
            }
        }
    }
    expected.assert_eq(&shown);
}

#[track_caller]
fn check(text: &str, expected: &Expect) {
    check_with(&LoadOptions::default().server("https://x.example"), text, expected);
}

#[test]
fn a_path_that_leads_elsewhere_is_none() {
    check(
        r##"
openapi: 3.0.0
paths:
  /.: { get: { operationId: same } }
  /a/..: { get: { operationId: up } }
  /../admin: { get: { operationId: beside } }
  /a/%2e%2E/b: { get: { operationId: encoded } }
  /a/.%2e: { get: { operationId: half } }
  /a/..?b=..: { get: { operationId: query } }
  /a/...: { get: { operationId: dots } }
  /a/.well-known/..b: { get: { operationId: names } }
  /a?b=/..: { get: { operationId: behind } }
"##,
        &expect![[r#"
            behind: GET https://x.example/a?b=/..
            dots: GET https://x.example/a/...
            names: GET https://x.example/a/.well-known/..b
            Skipped: GET /.: the path has a segment `.` or `..`, which leads elsewhere; write the path that is meant (at `/paths/~1./get`)
            Skipped: GET /../admin: the path has a segment `.` or `..`, which leads elsewhere; write the path that is meant (at `/paths/~1..~1admin/get`)
            Skipped: GET /a/%2e%2E/b: the path has a segment `.` or `..`, which leads elsewhere; write the path that is meant (at `/paths/~1a~1%2e%2E~1b/get`)
            Skipped: GET /a/.%2e: the path has a segment `.` or `..`, which leads elsewhere; write the path that is meant (at `/paths/~1a~1.%2e/get`)
            Skipped: GET /a/..: the path has a segment `.` or `..`, which leads elsewhere; write the path that is meant (at `/paths/~1a~1../get`)
            Skipped: GET /a/..?b=..: the path has a segment `.` or `..`, which leads elsewhere; write the path that is meant (at `/paths/~1a~1..?b=../get`)
        "#]],
    );
}

#[test]
fn what_is_wrong_with_one_operation_costs_the_others_nothing() {
    check(
        r##"
openapi: 3.0.0
paths:
  /good: { get: { operationId: good } }
  /ref: { get: { operationId: ref, parameters: [ { $ref: "#/components/parameters/none" } ] } }
  /list: { get: [], post: { parameters: [ 5 ] }, put: { parameters: { a: b } } }
  /in: { get: { parameters: [ { name: a, in: sky, required: true } ] }, put: { parameters: [ { name: b, in: sky } ] } }
  /nameless: { get: { parameters: [ { in: query, required: true } ] } }
  /item: { $ref: "#/nowhere" }
  /body: { post: { requestBody: { $ref: "#/nowhere" } }, put: { requestBody: {} } }
  /circle: { get: { parameters: [ { $ref: "#/components/parameters/circle" } ] } }
  /path: 5
  x-paths: 5
components: { parameters: { circle: { $ref: "#/components/parameters/circle" } } }
"##,
        &expect![[r#"
            good: GET https://x.example/good
            put_body: PUT https://x.example/body
            put_in: PUT https://x.example/in
            put_list: PUT https://x.example/list
            Skipped: the reference `#/nowhere` leads nowhere (at `/paths/~1item`)
            Skipped: a path must be an object (at `/paths/~1path`)
            Note: PUT /body: the body has no content; none is sent (at `/paths/~1body/put/requestBody`)
            Skipped: POST /body: the reference `#/nowhere` leads nowhere (at `/paths/~1body/post/requestBody`)
            Skipped: GET /circle: the reference `#/components/parameters/circle` leads back to itself (at `/paths/~1circle/get/parameters/0`)
            Skipped: GET /in: a required parameter does not say clearly where it belongs (at `/paths/~1in/get/parameters/0`)
            Note: PUT /in: a parameter does not say clearly where it belongs; it is left out (at `/paths/~1in/put/parameters/0`)
            Skipped: GET /list: an operation must be an object (at `/paths/~1list/get`)
            Note: PUT /list: the parameters are not a list; they are passed over (at `/paths/~1list/put/parameters`)
            Skipped: POST /list: a parameter must be an object (at `/paths/~1list/post/parameters/0`)
            Skipped: GET /nameless: a required parameter has no name (at `/paths/~1nameless/get/parameters/0`)
            Skipped: GET /ref: the reference `#/components/parameters/none` leads nowhere (at `/paths/~1ref/get/parameters/0`)
        "#]],
    );
}

#[test]
fn what_is_no_document_is_refused_and_what_could_be_one_is_read() {
    check("[1]", &expect!["this is not an OpenAPI document: it is not an object"]);
    check("a: b", &expect!["this is not an OpenAPI document: it says neither a known version nor paths"]);
    check(
        "swagger: '1.2'",
        &expect!["this is not an OpenAPI document: it is of Swagger 1, which had other files"],
    );
    check(
        "openapi: 3.0\npaths: { /a: { get: {} } }",
        &expect![[r#"
        get_a: GET https://x.example/a
    "#]],
    );
    check(
        "paths: { /a: { get: {} } }",
        &expect![[r#"
        get_a: GET https://x.example/a
        Note: it does not say which version it is of; read as 3.1 (at ``)
    "#]],
    );
    check("openapi: 3.1.0", &expect![[""]]);
    check(
        "openapi: 3.1.0\npaths: [1]",
        &expect![[r#"
        Skipped: the paths must be an object (at `/paths`)
    "#]],
    );
    check(
        "openapi: [3]\npaths: { /a: { get: { parameters: null, requestBody: null, responses: 5, tags: 5, servers: x } } }",
        &expect![[r#"
            get_a: GET https://x.example/a
            Note: it does not say which version it is of; read as 3.1 (at ``)
            Note: GET /a: the body has no content; none is sent (at `/paths/~1a/get/requestBody`)
        "#]],
    );
}

#[test]
fn parameters_are_inherited_and_overridden() {
    check(
        r##"
openapi: 3.0.0
paths:
  /a/{id}:
    parameters:
      - { name: id, in: path, required: true, schema: { type: string } }
      - { name: x, in: query, required: true, style: pipeDelimited }
      - { name: gone, in: path }
    get:
      parameters:
        - { name: x, in: query, allowReserved: true }
        - { name: x, in: query }
        - { name: x, in: header }
        - { name: y, in: query, style: matrix }
        - { name: id, in: path, required: true, style: label }
        - { name: id, in: path, required: true, style: matrix }
  /b/{free}: { delete: {} }
"##,
        &expect![[r#"
            delete_b_free: DELETE https://x.example/b/%3Cfree%3E
            get_a_id: GET https://x.example/a/.%3Cid%3E?x=%3Cx%3E&y=%3Cy%3E
            Note: GET /a/{id}: the parameter is listed before; the first one counts (at `/paths/~1a~1{id}/get/parameters/1`)
            Note: GET /a/{id}: no query parameter has that style; the usual one is used (at `/paths/~1a~1{id}/get/parameters/3`)
            Note: GET /a/{id}: the parameter is listed before; the first one counts (at `/paths/~1a~1{id}/get/parameters/5`)
            Note: GET /a/{id}: the path has no place for its parameter `gone` (at `/paths/~1a~1{id}/get`)
            Note: DELETE /b/{free}: nothing describes `free` in the path; it is taken for a text (at `/paths/~1b~1{free}/delete`)
        "#]],
    );
}

#[test]
fn what_the_client_says_is_no_argument() {
    check(
        r##"
openapi: 3.0.0
paths:
  /a:
    get:
      parameters:
        - { name: Authorization, in: header, required: true }
        - { name: accept, in: header }
        - { name: Content-Type, in: header }
        - { name: Host, in: header }
        - { name: api_key, in: query }
        - { name: X-KEY, in: header }
        - { name: "bad name", in: header }
        - { name: ok, in: query }
  /b: { get: { security: [], parameters: [ { name: api_key, in: query, required: true } ] } }
  /c: { get: { security: [ { b: [] } ], parameters: [ { name: api_key, in: query }, { name: x-KEY, in: header } ] } }
  /d: { get: { security: { a: [] }, parameters: [ { name: api_key, in: query } ] } }
components: { securitySchemes: {
  a: { type: " apiKey", in: query, name: "api_key " }, b: { type: apiKey, in: header, name: x-key }, c: 5 } }
"##,
        &expect![[r#"
            get_a: GET https://x.example/a?ok=%3Cok%3E
            get_b: GET https://x.example/b?api_key=%3Capi_key%3E
            get_c: GET https://x.example/c?api_key=%3Capi_key%3E
            get_d: GET https://x.example/d
            Note: GET /a: the client sends a key as `api_key`; it is not an argument (at `/paths/~1a/get/parameters/4`)
            Note: GET /a: the client sends a key as `X-KEY`; it is not an argument (at `/paths/~1a/get/parameters/5`)
            Note: GET /a: a parameter has a name that no header can have; it is left out (at `/paths/~1a/get/parameters/6`)
            Note: GET /c: the client sends a key as `x-KEY`; it is not an argument (at `/paths/~1c/get/parameters/1`)
            Note: GET /d: the client sends a key as `api_key`; it is not an argument (at `/paths/~1d/get/parameters/0`)
        "#]],
    );
}

#[test]
fn servers_stand_at_three_levels_and_may_be_relative() {
    let text = r#"
openapi: 3.0.0
servers: [ { url: "https://{region}.example/{v}/", variables: { region: { default: us }, v: { default: 2 } } } ]
paths:
  /root: { get: {} }
  /path: { servers: [ { url: "/other?x=1" } ], get: {}, put: { servers: [ { url: "https://own.example" } ] } }
  /unset: { servers: [ { url: "https://{a}.example" } ], get: {} }
  /odd: { get: { servers: [ { url: "ftp://x" } ] }, put: { servers: [ { url: "https://u:p@x" } ] } }
  /none: { get: { servers: [] } }
"#;
    check_with(
        &LoadOptions::default().server_variable("region", "eu"),
        text,
        &expect![[r#"
        get_none: GET https://eu.example/2/none
        get_odd: GET it is not said which server the operation is on: `ftp://x` is not an address of HTTP
        get_path: GET it is not said which server the operation is on: the document says `/other?x=1`, and not which host that is on
        get_root: GET https://eu.example/2/root
        get_unset: GET it is not said which server the operation is on: `https://{a}.example` has a variable without a value
        put_odd: PUT it is not said which server the operation is on: the address holds a user or a password
        put_path: PUT https://own.example/path
    "#]],
    );
    check_with(
        &LoadOptions::default().base_url("http://h.example:8080/docs/api.json"),
        text,
        &expect![[r#"
        get_none: GET https://us.example/2/none
        get_odd: GET it is not said which server the operation is on: `ftp://x` is not an address of HTTP
        get_path: GET http://h.example:8080/other/path
        get_root: GET https://us.example/2/root
        get_unset: GET it is not said which server the operation is on: `https://{a}.example` has a variable without a value
        put_odd: PUT it is not said which server the operation is on: the address holds a user or a password
        put_path: PUT https://own.example/path
    "#]],
    );
}

#[test]
fn swagger_2_is_read_like_its_successors() {
    check_with(
        &LoadOptions::default(),
        r##"
swagger: "2.0"
host: api.example
basePath: /v2
schemes: [http, https]
consumes: [application/xml, application/json]
paths:
  /pets/{id}:
    get:
      parameters:
        - { name: id, in: path, type: integer, required: true }
        - { name: tags, in: query, type: array, items: { type: string }, collectionFormat: multi }
    post:
      parameters:
        - { name: id, in: path, type: string, required: true }
        - { name: payload, in: body, required: true, schema: { $ref: "#/definitions/Pet" } }
    put:
      parameters:
        - { name: id, in: path, type: string, required: true }
        - { name: a, in: formData, type: string, required: true }
        - { name: b, in: formData, type: array, items: { type: string }, collectionFormat: csv }
    patch:
      parameters:
        - { name: id, in: path, type: string, required: true }
        - { name: upload, in: formData, type: file }
definitions:
  Pet: { type: object, required: [name], properties: { name: { type: string }, id: { type: integer, readOnly: true } } }
"##,
        &expect![[r#"
            get_pets_id: GET https://api.example/v2/pets/%3Cid%3E?tags=%3Ctags%3E
            patch_pets_id: PATCH https://api.example/v2/pets/%3Cid%3E --haft-74471ba9d05826a947c5a1eaa0a6e4b9␍
            Content-Disposition: form-data; name="upload"; filename="upload"␍
            Content-Type: application/octet-stream␍
            ␍
            <upload>␍
            --haft-74471ba9d05826a947c5a1eaa0a6e4b9--␍
            post_pets_id: POST https://api.example/v2/pets/%3Cid%3E {"name":"<name>"}
            put_pets_id: PUT https://api.example/v2/pets/%3Cid%3E a=%3Ca%3E&b=%3Cb%3E
        "#]],
    );
}

#[test]
fn bodies_are_spread_over_arguments_where_nothing_is_lost() {
    check(
        r##"
openapi: 3.0.0
paths:
  /a:
    post: { operationId: spread, requestBody: { required: true, content: { application/json: { schema: {
      required: [a], properties: { a: {}, b: {} } } } } } }
    put: { operationId: optional, requestBody: { content: { application/json: { schema: {
      required: [a], properties: { a: {}, b: {} } } } } } }
    patch: { operationId: open, requestBody: { content: { application/json: { schema: {
      additionalProperties: {}, properties: { a: {} } } } } } }
    delete: { operationId: preferred, requestBody: { content: {
      text/plain: {}, multipart/form-data: {}, application/json: { schema: { type: array } }, "bad\n": {} } } }
"##,
        &expect![[r#"
            open: PATCH https://x.example/a "<body>"
            optional: PUT https://x.example/a "<body>"
            preferred: DELETE https://x.example/a "<body>"
            spread: POST https://x.example/a {"a":"<a>","b":"<b>"}
            Note: DELETE /a: this is not a media type; this form of the body is passed over (at `/paths/~1a/delete/requestBody/content/bad`)
        "#]],
    );
}

#[test]
fn what_else_may_be_answered_is_no_good_reply() {
    let good = |responses: Value, version: &str| {
        let value = json!({ "openapi": version, "paths": { "/a": { "get": { "responses": responses } } } });
        let value = match version {
            "2.0" => json!({ "swagger": "2.0", "paths": value["paths"] }),
            _ => value,
        };
        let document = Document::from_value(value, &LoadOptions::default()).unwrap();
        let schema = document.operation("get_a").unwrap().output_schema();
        schema.map(|schema| schema.into_schema().as_value().to_string())
    };
    let of = |schema: Value| json!({ "content": { "application/json": { "schema": schema } } });
    let error = json!({ "type": "object", "properties": { "error": {} } });
    assert_eq!(good(json!({ "204": {}, "default": of(error.clone()) }), "3.0.0"), None);
    assert_eq!(good(json!({ "204": {}, "default": { "schema": error.clone() } }), "2.0"), None);
    let shown = r#"{"properties":{"error":{}},"type":"object"}"#;
    assert_eq!(good(json!({ "default": of(error) }), "3.0.0").as_deref(), Some(shown));
}

#[test]
fn methods_of_3_2_and_paths_of_azure_are_found() {
    check(
        r##"
openapi: 3.2.0
paths:
  /a: { query: { operationId: q }, additionalOperations: { LINK: { operationId: l }, "BAD METHOD": {}, CONNECT: {}, Query: {} } }
  b: { get: { operationId: b } }
x-ms-paths:
  /a?comp=x: { get: { operationId: azure } }
  b: { get: { operationId: b } }
"##,
        &expect![[r#"
            azure: GET https://x.example/a?comp=x
            b_10a1c209508c: GET https://x.example/b
            b_816921999eae: GET https://x.example/b
            l: LINK https://x.example/a
            q: QUERY https://x.example/a
            Skipped: this is not a method that can be used (at `/paths/~1a/additionalOperations/BAD METHOD`)
            Skipped: this is not a method that can be used (at `/paths/~1a/additionalOperations/CONNECT`)
            Skipped: this is not a method that can be used (at `/paths/~1a/additionalOperations/Query`)
            Note: the path does not begin with `/`; one is put before it (at `/paths/b`)
            Note: the path does not begin with `/`; one is put before it (at `/x-ms-paths/b`)
        "#]],
    );
}

#[test]
fn references_lead_to_files_below_a_directory_only() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("outside.yaml", "a: { name: out, in: query }");
    write(
        "api/openapi.yaml",
        r##"
openapi: 3.0.0
servers: [ { url: "https://x.example" } ]
paths:
  /a: { $ref: "paths/a.yaml" }
  /b: { get: { parameters: [ { $ref: "../outside.yaml#/a" } ] } }
  /c: { get: { parameters: [ { $ref: "https://evil.example/x.yaml#/a" } ] } }
  /d: { get: { parameters: [ { $ref: "missing.yaml" } ] } }
"##,
    );
    write("api/paths/a.yaml", "get: { parameters: [ { $ref: '../parts.yaml#/p' } ] }");
    write("api/parts.yaml", "p: { name: p, in: query, schema: { $ref: '#/s' } }\ns: { type: integer }");
    let directory = folder.path().join("api");
    let options = LoadOptions::default().references(crate::References::Directory(directory.clone()));
    let document = Document::from_file(directory.join("openapi.yaml"), &options).unwrap();
    let operation = document.operation("get_a").unwrap();
    let schema = operation.input_schema().into_schema();
    assert_eq!(schema.as_value()["$defs"], json!({ "s": { "type": "integer" } }));
    let problems: Vec<String> = document.problems().iter().map(ToString::to_string).collect();
    expect![[r#"
        `../outside.yaml` is outside the directory of references (at ``)
        `https://evil.example/x.yaml` is on another host; it is not read (at ``)
        `missing.yaml` cannot be found (at ``)
        GET /b: the reference `../outside.yaml#/a` leads to a file that is not read (at `/paths/~1b/get/parameters/0`)
        GET /c: the reference `https://evil.example/x.yaml#/a` leads to a file that is not read (at `/paths/~1c/get/parameters/0`)
        GET /d: the reference `missing.yaml` leads to a file that is not read (at `/paths/~1d/get/parameters/0`)"#]].assert_eq(&problems.join("\n"));
}

#[cfg(unix)]
#[test]
fn a_pipe_among_the_files_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let made = std::process::Command::new("mkfifo").arg(folder.path().join("pipe.yaml")).status();
    assert!(made.is_ok_and(|status| status.success()));
    let options =
        LoadOptions::default().references(crate::References::Directory(folder.path().to_path_buf()));
    let text = "openapi: 3.0.0\npaths: { /a: { $ref: pipe.yaml } }";
    let document = Document::from_text(text, &options).unwrap();
    expect!["`pipe.yaml` is not a file (at ``)"].assert_eq(&document.problems()[0].to_string());
}

#[test]
fn files_count_together() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("openapi.yaml");
    std::fs::write(folder.path().join("a.json"), "[1, 2, 3]").unwrap();
    std::fs::write(folder.path().join("b.json"), "[1, 2, 3, 4]").unwrap();
    std::fs::write(&path, "openapi: 3.0.0\npaths: {}\nx: [ { $ref: a.json }, { $ref: b.json } ]").unwrap();
    let options =
        LoadOptions::default().references(crate::References::Directory(folder.path().to_path_buf()));
    let problems = |options: &LoadOptions| {
        let document = Document::from_file(&path, options).unwrap();
        document.problems().iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    expect!["`b.json` cannot be used: cannot read the document: it has more values than are read at line 1 column 10 (at ``)"].assert_eq(&problems(&options.clone().most_nodes(8).most_bytes(usize::MAX)));
    expect![[""]].assert_eq(&problems(&options.most_nodes(9).most_bytes(usize::MAX)));
}

#[test]
fn vendors_switch_and_name_operations() {
    let text = r##"
openapi: 3.0.0
paths:
  /a: { get: { operationId: a, x-mcp: { name: better, description: Best. }, summary: A } }
  /b: { x-speakeasy-mcp: { disabled: true }, get: { operationId: b }, put: { operationId: c, x-mcp: true } }
"##;
    let document = Document::from_text(text, &LoadOptions::default()).unwrap();
    let chosen: Vec<String> =
        document.select(&crate::Selection::default()).map(|operation| operation.name().to_string()).collect();
    assert_eq!(chosen, ["better", "c"]);
    let better = document.operation("better").unwrap();
    assert_eq!(better.description(), "A\n\nBest.");
    assert_eq!(better.id(), Some("a"));
}
