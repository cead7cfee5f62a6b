use crate::fixture::{Api, call, read, say};
use expect_test::{Expect, expect};
use serde_json::{Value, json};

/// Calls an operation with these parameters of the query, and shows what the model reads behind the reply.
async fn check(parameters: &[&str], headers: &'static str, body: Value, expected: Expect) {
    let body = body.to_string();
    let answer = body.clone();
    let all = format!("content-type: application/json\n{headers}");
    let api = Api::start(move |_| say(200, &all, &answer)).await;
    let parameters: Vec<Value> = parameters
        .iter()
        .map(|name| json!({ "name": name, "in": "query", "schema": { "type": ["string", "integer"] } }))
        .collect();
    let tools = api.operation("get", &json!({ "parameters": parameters })).build();
    let text = read(&call(&tools, json!({})).await);
    expected.assert_eq(text.strip_prefix(&body).unwrap().trim().replace(&api.origin(), "ORIGIN").as_str());
}

#[tokio::test]
async fn links_lead_on_in_arguments() {
    check(
        &["page", "per_page"],
        "link: </a?page=1>; rel=\"prev\", </a?page=3&per_page=30&x=1>; title=\"a, b\"; rel=\"last next\"",
        json!([]),
        expect![[r#"[there is more; to go on, call `api__op` again with the same arguments and {"page":3,"per_page":30}]"#]],
    )
    .await;
    // What is no number stays as it is.
    check(
        &["cursor"],
        "link: </a?cursor=007>; rel=next",
        json!([]),
        expect![[
            r#"[there is more; to go on, call `api__op` again with the same arguments and {"cursor":"007"}]"#
        ]],
    )
    .await;
    check(
        &["q"],
        "link: <https://elsewhere.example/a?page=2>; rel=next",
        json!([]),
        expect![
            "[there is more, at https://elsewhere.example/a?page=2; no argument of `api__op` leads there]"
        ],
    )
    .await;
    check(&["page"], "link: </a?page=1>; rel=prev", json!([]), expect![]).await;
}

#[tokio::test]
async fn cursors_lead_on_in_arguments() {
    check(&["page_token"], "", json!({ "nextPageToken": "t1" }), expect![[r#"[there is more; to go on, call `api__op` again with the same arguments and {"page_token":"t1"}]"#]]).await;
    check(
        &["cursor"],
        "",
        json!({ "response_metadata": { "next_cursor": "c=" } }),
        expect![[
            r#"[there is more; to go on, call `api__op` again with the same arguments and {"cursor":"c="}]"#
        ]],
    )
    .await;
    check(&["cursor"], "", json!({ "response_metadata": { "next_cursor": "" } }), expect![]).await;
    check(
        &["after"],
        "",
        json!({ "paging": { "cursors": { "after": "z" }, "next": "https://x.example/a?after=z" } }),
        expect![[
            r#"[there is more; to go on, call `api__op` again with the same arguments and {"after":"z"}]"#
        ]],
    )
    .await;
    check(&["start_cursor"], "", json!({ "has_more": true, "next_cursor": "n" }), expect![[r#"[there is more; to go on, call `api__op` again with the same arguments and {"start_cursor":"n"}]"#]]).await;
    check(&["start_cursor"], "", json!({ "has_more": false, "next_cursor": "n" }), expect![]).await;
    check(
        &["page"],
        "",
        json!({ "next": "/a?page=2" }),
        expect![[
            r#"[there is more; to go on, call `api__op` again with the same arguments and {"page":2}]"#
        ]],
    )
    .await;
    check(
        &["page"],
        "",
        json!({ "_links": { "next": { "href": "/a?page=2" } } }),
        expect![[
            r#"[there is more; to go on, call `api__op` again with the same arguments and {"page":2}]"#
        ]],
    )
    .await;
    check(
        &["page"],
        "",
        json!({ "meta": { "pagination": { "next_page": 4 } } }),
        expect![[
            r#"[there is more; to go on, call `api__op` again with the same arguments and {"page":4}]"#
        ]],
    )
    .await;
    check(
        &["starting_after"],
        "",
        json!({ "has_more": true, "data": [{ "id": "a" }, { "id": "b" }] }),
        expect![[r#"[there is more; to go on, call `api__op` again with the same arguments and {"starting_after":"b"}]"#]],
    )
    .await;
    check(
        &["offset", "limit"],
        "",
        json!({ "hasMore": true }),
        expect![
            "[there is more: the reply says `hasMore`; to go on, call `api__op` again with another `offset`]"
        ],
    )
    .await;
    check(
        &["$skiptoken"],
        "",
        json!({ "@odata.nextLink": "/a?$skiptoken=9" }),
        expect![[
            r#"[there is more; to go on, call `api__op` again with the same arguments and {"skiptoken":9}]"#
        ]],
    )
    .await;
    check(&[], "", json!({ "nextToken": "abc" }), expect![[r#"[there is more: the reply has `nextToken` "abc", and no argument of `api__op` is plainly for it]"#]]).await;
    check(&[], "", json!({ "has_more": true }), expect!["[there is more: the reply says `has_more`]"]).await;
}

#[tokio::test]
async fn what_only_looks_like_it_leads_nowhere() {
    check(&["q"], "", json!({ "next": "Tuesday", "cursor": "default", "after": 3 }), expect![]).await;
    check(&["page"], "", json!({ "next": null, "has_more": "yes" }), expect![]).await;
    check(&["cursor"], "", json!({ "next_cursor": "x".repeat(5000) }), expect![]).await;
}
