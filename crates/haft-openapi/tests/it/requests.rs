use crate::fixture::{Api, call, read, registry, say, say_json};
use haft_core::{Exposure, Origin};
use haft_openapi::{LoadOptions, OperationLimits, Selection};
use haft_tools_core::{CallScope, Catalog, Preview};
use serde_json::{Value, json};
use std::time::Duration;

fn pet() -> Value {
    json!({ "paths": { "/pets/{id}": {
        "parameters": [{ "name": "id", "in": "path", "required": true, "schema": { "type": "string" } }],
        "get": { "operationId": "showPet", "summary": "Shows a pet." },
        "put": {
            "operationId": "changePet", "description": "Changes it.",
            "requestBody": { "content": { "application/json": { "schema": {
                "type": "object", "properties": { "name": { "type": "string" } },
            } } } },
        },
    } } })
}

#[tokio::test]
async fn a_call_is_a_request() {
    let api = Api::start(|_| say_json(&json!({ "name": "Rex" }))).await;
    let tools = api.tools(&pet()).build();
    let reply =
        haft_testkit::call(&registry(&tools), "api__changePet", json!({ "id": "a/b", "name": "R" })).await;
    assert_eq!(read(&reply), r#"{"name":"Rex"}"#);
    assert_eq!(reply.output.structured, Some(json!({ "name": "Rex" })));
    assert_eq!(reply.output.details["status"], 200);
    let heard = api.heard();
    assert_eq!(heard[0].shown(&["content-type"]), "PUT /pets/a%2Fb\ncontent-type: application/json");
    assert_eq!(heard[0].body, r#"{"name":"R"}"#);
}

#[tokio::test]
async fn tools_are_named_by_their_document_and_declare_what_they_touch() {
    let api = Api::start(|_| say(204, "", "")).await;
    let tools = api.tools(&pet()).build();
    let catalog = Catalog::builder().source(tools.clone()).build().unwrap();
    assert_eq!(catalog.refresh().await.added.len(), 2);
    let all = tools.tools();
    let specs: Vec<_> = all.iter().map(|tool| tool.spec()).collect();
    let names: Vec<&str> = specs.iter().map(|spec| spec.name().as_str()).collect();
    assert_eq!(names, ["api__changePet", "api__showPet"]);
    let origin = Origin::OpenApi { document: "api".to_owned(), operation: "showPet".to_owned() };
    assert_eq!(*specs[1].origin(), origin);
    assert!(specs[1].hints().read_only && !specs[0].hints().read_only);
    assert_eq!(specs[0].exposure(), Exposure::Direct);

    let scope = CallScope::new("r".parse().unwrap());
    let prepared = all[0].prepare(&json!({ "id": "x", "name": "a\u{202e}b" }), &scope).unwrap();
    let accesses: Vec<String> = prepared.accesses().iter().map(ToString::to_string).collect();
    assert_eq!(accesses, [format!("connect net:{}", api.address), "call openapi:api/changePet".to_owned()]);
    let Preview::Request(shown) = prepared.preview().await else { panic!("a request is shown") };
    let expected = format!(
        "PUT {}/pets/x\naccept: application/json, */*;q=0.5\ncontent-type: application/json\n\n{{\"name\":\"a\\u{{202e}}b\"}}",
        api.origin()
    );
    assert_eq!(shown, expected);
    assert!(prepared.is_repeatable());
    assert_eq!(prepared.timeout(), Some(Duration::from_mins(2)));

    let show = all[1].prepare(&json!({ "id": "x" }), &scope).unwrap();
    assert!(show.accesses().conflict_with(prepared.accesses()));
    assert!(!show.accesses().conflict_with(show.accesses()));
    assert!(prepared.accesses().conflict_with(prepared.accesses()));
    assert_eq!(api.heard().len(), 0);
}

#[tokio::test]
async fn what_cannot_be_sent_is_said_so_that_it_can_be_mended() {
    let api = Api::start(|_| say(204, "", "")).await;
    let tools = api.tools(&pet()).build();
    let scope = CallScope::new("r".parse().unwrap());
    let error = tools.tools()[1].prepare(&json!({ "id": ".." }), &scope).unwrap_err();
    assert!(error.message().ends_with("; correct them and call the tool again"), "{}", error.message());
    assert!(error.message().starts_with("`api__showPet` cannot be called with these arguments: at `/id`:"));
}

#[tokio::test]
async fn many_tools_are_found_by_searching() {
    let api = Api::start(|_| say(204, "", "")).await;
    let exposure = |above| {
        let tools = api.tools(&pet()).defer_above(above).build();
        tools.tools()[0].spec().exposure()
    };
    assert_eq!((exposure(1), exposure(2)), (Exposure::Deferred, Exposure::Direct));
    let chosen = api.tools(&pet()).selection(Selection::default().operations(["showPet"])).build();
    assert_eq!(chosen.tools().len(), 1);
}

#[tokio::test]
async fn a_schema_with_a_pattern_that_nobody_reads_is_registered_all_the_same() {
    let api = Api::start(|_| say(204, "", "")).await;
    let parameter = json!({ "name": "q", "in": "query", "schema": { "type": "string", "pattern": "(?<" } });
    let tools = api.operation("get", &json!({ "parameters": [parameter] })).build();
    assert_eq!(registry(&tools).len(), 1);
    let reply = call(&tools, json!({ "q": "x" })).await;
    assert_eq!(read(&reply), "HTTP 204: it was done; the reply is empty");
}

#[tokio::test]
async fn redirects_are_followed_within_the_origin_only() {
    let api = Api::start(|heard| match heard.target.as_str() {
        "/a" => say(302, "location: /b?x=1", ""),
        "/b?x=1" => say(307, "location: https://elsewhere.example/c", ""),
        "/for-ever" => say(302, "location: /for-ever", ""),
        _ => say(500, "", ""),
    })
    .await;
    let tools = api.operation("get", &json!({})).build();
    let told = "HTTP 307: the API leads to https://elsewhere.example/c, which was not followed: redirects are followed \
                only for GET and HEAD, only to the same server, and only a few times; go on without `api__op`, or ask the user about that address";
    assert_eq!(read(&call(&tools, json!({})).await), told);
    assert_eq!(api.heard().len(), 2);

    let posted = api.operation("post", &json!({})).build();
    assert!(
        read(&call(&posted, json!({})).await).starts_with("HTTP 302: the API leads to /b?x=1, which was not")
    );

    let tools = api.tools(&json!({ "paths": { "/for-ever": { "get": { "operationId": "op" } } } })).build();
    assert!(
        read(&call(&tools, json!({})).await)
            .starts_with("HTTP 302: the API leads to /for-ever, which was not")
    );
    assert_eq!(api.heard().len(), 2 + 1 + 6);
}

#[tokio::test]
async fn what_is_not_answered_in_time_is_not_waited_for() {
    let api = Api::start(|_| crate::fixture::Say::Open(Vec::new())).await;
    let limits =
        OperationLimits { first_byte_timeout: Duration::from_millis(50), ..OperationLimits::default() };
    let tools = api.operation("post", &json!({})).limits(limits).build();
    let reply = read(&call(&tools, json!({})).await);
    let told = "it may have been done all the same; see what has been done before you repeat it";
    assert!(reply.contains("`api__op` was not answered within") && reply.ends_with(told), "{reply}");
}

#[tokio::test]
async fn a_server_that_is_not_there_is_said_to_be_so() {
    // Nobody listens there, and nobody else can have it meanwhile.
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let document = json!({
        "openapi": "3.1.0", "servers": [{ "url": format!("http://{}", socket.local_addr().unwrap()) }],
        "paths": { "/a": { "post": { "operationId": "op" } } },
    });
    let tools = crate::fixture::builder(document, &LoadOptions::default()).build();
    let reply = read(&call(&tools, json!({})).await);
    assert!(reply.contains("there is no connection to `127.0.0.1`; nothing was done"), "{reply}");
}
