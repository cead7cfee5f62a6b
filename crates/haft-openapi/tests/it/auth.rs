#![expect(clippy::needless_raw_string_hashes, reason = "expect-test writes its snapshots with them")]

use crate::fixture::{Api, Heard, builder, call, named, read, say};
use expect_test::{Expect, expect};
use haft_openapi::{Credential, LoadOptions, OpenApiToolsBuilder};
use haft_tools_core::CallScope;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const SHOWN: [&str; 4] = ["authorization", "cookie", "x-key", "x-other"];

fn schemes() -> Value {
    json!({
        "header": { "type": "apiKey", "in": "header", "name": "X-Key" },
        "other": { "type": "apiKey", "in": "header", "name": "X-Other" },
        "query": { "type": "apiKey", "in": "query", "name": "api key" },
        "cookie": { "type": "apiKey", "in": "cookie", "name": "session" },
        "basic": { "type": "http", "scheme": "Basic" },
        "bearer": { "type": "http", "scheme": "bearer" },
        "word": { "type": "http", "scheme": "Token" },
        "openid": { "type": "openIdConnect", "openIdConnectUrl": "https://id.example/.well-known" },
        "code": { "type": "oauth2", "flows": { "authorizationCode": {
            "authorizationUrl": "https://id.example/a", "tokenUrl": "https://id.example/t", "scopes": {},
        } } },
        "digest": { "type": "http", "scheme": "digest" },
        "tls": { "type": "mutualTLS" },
    })
}

fn everything() -> BTreeMap<String, Credential> {
    let mut all = BTreeMap::from([("basic".to_owned(), Credential::basic("user", "pass:word"))]);
    for scheme in ["header", "other", "query", "cookie", "bearer", "word", "openid", "code", "digest", "tls"]
    {
        all.insert(scheme.to_owned(), Credential::secret(format!("{scheme}-s3cret/+")));
    }
    all
}

fn only(schemes: &[&str]) -> BTreeMap<String, Credential> {
    let mut all = everything();
    all.retain(|scheme, _| schemes.contains(&scheme.as_str()));
    all
}

fn with(api: &Api, operation: &Value, root: &Value) -> OpenApiToolsBuilder {
    let mut members = json!({
        "components": { "securitySchemes": schemes() }, "paths": { "/a": { "get": named(operation) } },
    });
    members.as_object_mut().unwrap().extend(root.as_object().unwrap().clone());
    api.tools(&members)
}

/// Calls an operation, and shows what was sent or what the model reads instead.
async fn check(root: Value, operation: Value, credentials: BTreeMap<String, Credential>, expected: Expect) {
    let api = Api::start(|_| say(204, "", "")).await;
    let tools = with(&api, &operation, &root).credentials(credentials);
    let tools = tools.allow_origin(api.origin().parse().unwrap()).build();
    let reply = call(&tools, json!({})).await;
    expected.assert_eq(&sent(&api.heard(), &read(&reply)));
}

fn sent(heard: &[Heard], reply: &str) -> String {
    match heard {
        [] => reply.to_owned(),
        [one] => one.shown(&SHOWN),
        more => panic!("{more:?}"),
    }
}

#[tokio::test]
async fn each_scheme_is_shown_in_its_place() {
    for (scheme, expected) in [
        (
            "header",
            expect![[r#"
            GET /a
            x-key: header-s3cret/+"#]],
        ),
        ("query", expect!["GET /a?api+key=query-s3cret%2F%2B"]),
        (
            "cookie",
            expect![[r#"
            GET /a
            cookie: session=cookie-s3cret/+"#]],
        ),
        (
            "basic",
            expect![[r#"
            GET /a
            authorization: Basic dXNlcjpwYXNzOndvcmQ="#]],
        ),
        (
            "bearer",
            expect![[r#"
            GET /a
            authorization: Bearer bearer-s3cret/+"#]],
        ),
        (
            "word",
            expect![[r#"
            GET /a
            authorization: Token word-s3cret/+"#]],
        ),
        (
            "openid",
            expect![[r#"
            GET /a
            authorization: Bearer openid-s3cret/+"#]],
        ),
        (
            "code",
            expect![[r#"
            GET /a
            authorization: Bearer code-s3cret/+"#]],
        ),
    ] {
        check(json!({}), json!({ "security": [{ scheme: [] }] }), everything(), expected).await;
    }
}

#[tokio::test]
async fn a_key_stands_beside_what_a_call_sends_itself() {
    let api = Api::start(|_| say(204, "", "")).await;
    let operation = json!({
        "security": [{ "query": [], "cookie": [] }],
        "parameters": [
            { "name": "q", "in": "query", "schema": { "type": "string" } },
            { "name": "lang", "in": "cookie", "schema": { "type": "string" } },
        ],
    });
    let tools = with(&api, &operation, &json!({})).credentials(everything());
    let tools = tools.allow_origin(api.origin().parse().unwrap()).build();
    call(&tools, json!({ "q": "a&b", "lang": "en" })).await;
    let heard = api.heard();
    let expected = "GET /a?q=a%26b&api+key=query-s3cret%2F%2B\ncookie: lang=en; session=cookie-s3cret/+";
    assert_eq!(heard[0].shown(&SHOWN), expected);
}

#[tokio::test]
async fn one_way_is_enough_and_all_of_it_is_needed() {
    let two_ways = json!({ "security": [{ "header": [], "other": [] }, { "bearer": [] }] });
    check(
        json!({}),
        two_ways.clone(),
        everything(),
        expect![[r#"
        GET /a
        x-key: header-s3cret/+
        x-other: other-s3cret/+"#]],
    )
    .await;
    check(
        json!({}),
        two_ways.clone(),
        only(&["header", "bearer"]),
        expect![[r#"
        GET /a
        authorization: Bearer bearer-s3cret/+"#]],
    )
    .await;
    check(json!({}), two_ways, only(&["header"]), expect!["Error(Unauthenticated): the API `api` wants a credential: `other`, for which there is none; or `bearer`, for which there is none; nothing was sent, ask the person who set it up to give one"]).await;
    let unknown = json!({ "security": [{ "digest": [] }, { "tls": [] }, { "nowhere": [] }] });
    check(json!({}), unknown, everything(), expect!["Error(Unauthenticated): the API `api` wants a credential: `digest`, which cannot be used: its scheme of HTTP needs more than a secret, and is not known here; or `tls`, which cannot be used: certificates of clients are not known here; or `nowhere`, which cannot be used: the document does not describe it; nothing was sent, ask the person who set it up to give one"]).await;
    check(json!({}), json!({ "security": [{ "bearer": [], "basic": [] }] }), everything(), expect!["Error(Failed): the credential `bearer` is sent in the header `authorization`, where something else is sent already; nothing was sent, go on without this call"]).await;
}

#[tokio::test]
async fn what_an_operation_says_stands_in_place_of_what_the_document_says() {
    let root = json!({ "security": [{ "header": [] }] });
    check(
        root.clone(),
        json!({}),
        everything(),
        expect![[r#"
        GET /a
        x-key: header-s3cret/+"#]],
    )
    .await;
    check(
        root.clone(),
        json!({ "security": [{ "bearer": [] }] }),
        everything(),
        expect![[r#"
        GET /a
        authorization: Bearer bearer-s3cret/+"#]],
    )
    .await;
    check(root, json!({ "security": [] }), everything(), expect!["GET /a"]).await;
}

#[tokio::test]
async fn what_need_not_be_shown_is_shown_where_it_is_there() {
    let optional = json!({ "security": [{}, { "header": [] }] });
    check(json!({}), optional.clone(), BTreeMap::new(), expect!["GET /a"]).await;
    check(
        json!({}),
        optional,
        everything(),
        expect![[r#"
        GET /a
        x-key: header-s3cret/+"#]],
    )
    .await;
    check(json!({}), json!({}), everything(), expect!["GET /a"]).await;
}

#[tokio::test]
async fn a_credential_of_another_kind_is_none() {
    let wrong = BTreeMap::from([("basic".to_owned(), Credential::secret("s3cret"))]);
    check(json!({}), json!({ "security": [{ "basic": [] }] }), wrong, expect!["Error(Unauthenticated): the API `api` wants a credential: `basic`, which cannot be used: it wants a user and a password, and was given a key or token; nothing was sent, ask the person who set it up to give one"]).await;
    for bad in ["a\nb-s3cret", "s3cret;x=1"] {
        let bad = BTreeMap::from([("cookie".to_owned(), Credential::secret(bad))]);
        check(json!({}), json!({ "security": [{ "cookie": [] }] }), bad, expect!["Error(Failed): the credential `cookie` has characters that cannot be sent; nothing was sent, ask the person who set this API up to look at it"]).await;
    }
}

#[tokio::test]
async fn a_credential_goes_to_no_origin_that_the_host_has_not_named() {
    let api = Api::start(|_| say(204, "", "")).await;
    let secured = json!({ "security": [{ "header": [] }] });
    let tools = with(&api, &secured, &json!({})).credentials(everything());
    let elsewhere = "https://elsewhere.example".parse().unwrap();
    let reply = read(&call(&tools.allow_origin(elsewhere).build(), json!({})).await);
    let told = format!(
        "Denied: the credential `header` of the API `api` may not be sent to `{}`, which nobody has allowed; nothing \
         was sent, ask the person who set it up to allow this origin if it is the right one",
        api.origin()
    );
    assert_eq!(reply, told);

    // Where it need not be shown it is not.
    let optional = json!({ "security": [{ "header": [] }, {}] });
    let tools = with(&api, &optional, &json!({})).credentials(everything()).build();
    call(&tools, json!({})).await;
    assert_eq!(sent(&api.heard(), ""), "GET /a");
}

#[tokio::test]
async fn the_origins_that_loading_names_are_allowed() {
    let api = Api::start(|_| say(204, "", "")).await;
    let document = api.document(&json!({
        "components": { "securitySchemes": schemes() }, "security": [{ "header": [] }],
        "paths": { "/a": { "get": { "operationId": "op" } } },
    }));
    let found_there = LoadOptions::default().base_url(format!("{}/openapi.json", api.origin()));
    let put_there = LoadOptions::default().server(format!("{}/v1", api.origin()));
    let from_elsewhere = LoadOptions::default().base_url("https://elsewhere.example/openapi.json");
    for (options, sent) in [(found_there, true), (put_there, true), (from_elsewhere, false)] {
        let before = api.heard().len();
        let tools = builder(document.clone(), &options).credentials(everything()).build();
        call(&tools, json!({})).await;
        assert_eq!(api.heard().len() > before, sent);
    }
}

#[tokio::test]
async fn a_redirect_takes_a_credential_nowhere_else() {
    let other = Api::start(|_| say(204, "", "")).await;
    let there = other.origin();
    let api = Api::start(move |heard| match heard.target.as_str() {
        "/a?api+key=query-s3cret%2F%2B" => say(302, "location: /b?api+key=old&x=1", ""),
        _ => say(302, &format!("location: {there}/c"), ""),
    })
    .await;
    let operation = json!({ "security": [{ "header": [], "query": [] }] });
    let tools = with(&api, &operation, &json!({})).credentials(everything());
    let tools = tools
        .allow_origin(api.origin().parse().unwrap())
        .allow_origin(other.origin().parse().unwrap())
        .build();
    call(&tools, json!({})).await;
    let heard = api.heard();
    assert_eq!(heard[1].shown(&SHOWN), "GET /b?x=1&api+key=query-s3cret%2F%2B\nx-key: header-s3cret/+");
    assert_eq!((heard.len(), other.heard().len()), (2, 0));
}

#[tokio::test]
async fn headers_of_the_host_go_to_allowed_origins_only() {
    let api = Api::start(|_| say(204, "", "")).await;
    let name = http::HeaderName::from_static("x-key");
    let tools = || api.operation("get", &json!({})).header(name.clone(), "mine-s3cret");
    call(&tools().build(), json!({})).await;
    call(&tools().allow_origin(api.origin().parse().unwrap()).build(), json!({})).await;
    let heard: Vec<_> = api.heard().iter().map(|heard| heard.header("x-key").map(str::to_owned)).collect();
    assert_eq!(heard, [None, Some("mine-s3cret".to_owned())]);
}

#[tokio::test]
async fn swagger_says_it_in_another_way() {
    let api = Api::start(|_| say(204, "", "")).await;
    for (scheme, expected) in [
        ("key", "GET /a?k=key-s3cret"),
        ("basic", "GET /a\nauthorization: Basic dTpwYXNz"),
        ("oauth", "GET /a\nauthorization: Bearer oauth-s3cret"),
    ] {
        let document = json!({
            "swagger": "2.0", "info": { "title": "T", "version": "1" }, "host": api.address.to_string(), "schemes": ["http"],
            "securityDefinitions": {
                "key": { "type": "apiKey", "in": "query", "name": "k" }, "basic": { "type": "basic" },
                "oauth": { "type": "oauth2", "flow": "accessCode", "authorizationUrl": "https://a.example/", "tokenUrl": "https://a.example/t", "scopes": {} },
            },
            "security": [{ scheme: [] }],
            "paths": { "/a": { "get": { "operationId": "op", "responses": {} } } },
        });
        let credentials = BTreeMap::from([
            ("key".to_owned(), Credential::secret("key-s3cret")),
            ("basic".to_owned(), Credential::basic("u", "pass")),
            ("oauth".to_owned(), Credential::secret("oauth-s3cret")),
        ]);
        let tools = builder(document, &LoadOptions::default()).credentials(credentials);
        call(&tools.allow_origin(api.origin().parse().unwrap()).build(), json!({})).await;
        assert_eq!(api.heard().last().unwrap().shown(&SHOWN), expected);
    }
}

#[tokio::test]
async fn a_person_is_shown_which_credentials_are_sent_and_none_of_them() {
    let api = Api::start(|_| say(204, "", "")).await;
    let operation = json!({ "security": [{ "header": [], "query": [], "cookie": [], "basic": [] }] });
    let tools = with(&api, &operation, &json!({})).credentials(everything());
    let tools = tools.header(http::HeaderName::from_static("x-mine"), "mine-s3cret");
    let tools = tools.allow_origin(api.origin().parse().unwrap()).build();
    let prepared = tools.tools()[0].prepare(&json!({}), &CallScope::new("r".parse().unwrap())).unwrap();
    let shown = prepared.preview().await.as_text().replace(&api.origin(), "ORIGIN");
    expect![[r#"
        GET ORIGIN/a
        accept: application/json, */*;q=0.5
        [and the credential `basic` as the header `authorization`]
        [and the credential `cookie` as `session` in the cookie]
        [and the credential `header` as `X-Key` in the header]
        [and the credential `query` as `api key` in the query]
        [and the header `x-mine`]
    "#]]
    .assert_eq(&shown);
    assert_eq!(api.heard().len(), 0);
}
