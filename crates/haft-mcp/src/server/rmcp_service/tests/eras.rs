//! What clients of either era are served over lines.

use super::stage::{Client, Host, meta};
use serde_json::{Value, json};
use std::time::Duration;

async fn open(host: &Host, capabilities: Value) -> Client {
    let mut client = Client::of(host);
    client.request(0, "server/discover", json!({ "_meta": meta(capabilities) })).await;
    let answer = client.next().await;
    assert_eq!(answer["result"]["instructions"], "All is allowed.", "{answer}");
    client
}

#[tokio::test]
async fn the_older_era_is_told_what_it_is_served() {
    let mut client = Client::of(&Host::new());
    let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "a", "version": "1" } });
    client.request(0, "initialize", params).await;
    let answer = client.next().await;
    expect_test::expect![[r#"
        {
          "capabilities": {
            "completions": {},
            "extensions": {
              "io.modelcontextprotocol/tasks": {}
            },
            "logging": {},
            "prompts": {
              "listChanged": true
            },
            "resources": {
              "listChanged": true,
              "subscribe": true
            },
            "tools": {
              "listChanged": true
            }
          },
          "instructions": "All is allowed.",
          "protocolVersion": "2025-06-18",
          "serverInfo": {
            "name": "haft",
            "version": "0.0.0"
          }
        }"#]]
    .assert_eq(&format!("{:#}", answer["result"]).replace(env!("CARGO_PKG_VERSION"), "0.0.0"));
}

#[tokio::test]
async fn a_question_is_a_request_in_the_older_era() {
    let mut client = Client::legacy(&Host::new(), json!({ "elicitation": {} })).await;
    client.call(1, "ask", "").await;
    let question = client.next().await;
    assert_eq!(
        (&question["method"], &question["params"]["message"]),
        (&json!("elicitation/create"), &json!("Who is it?"))
    );
    let answer = json!({ "action": "accept", "content": { "name": "Ada" } });
    client.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer })).await;
    assert_eq!(client.next().await["result"]["content"][0]["text"], "it is \"Ada\"");
}

#[tokio::test]
async fn a_question_is_withdrawn_when_its_call_is_cancelled() {
    let mut client = Client::legacy(&Host::new(), json!({ "elicitation": {} })).await;
    client.call(1, "ask", "").await;
    let question = client.next().await;
    client
        .send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } }))
        .await;
    let withdrawn = client.next().await;
    assert_eq!(
        (&withdrawn["method"], &withdrawn["params"]["requestId"]),
        (&json!("notifications/cancelled"), &question["id"])
    );
    // An answer that comes too late is nobody's.
    client.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "action": "accept" } })).await;
    client.call(2, "echo", "on").await;
    assert_eq!(client.next().await["id"], 2);
}

#[tokio::test]
async fn who_cannot_be_asked_is_not() {
    let mut client = Client::legacy(&Host::new(), json!({})).await;
    client.call(1, "ask", "").await;
    assert_eq!(client.next().await["result"]["content"][0]["text"], "the client cannot be asked this");
}

#[tokio::test]
async fn a_question_ends_the_round_in_the_newer_era() {
    let mut client = open(&Host::new(), json!({})).await;
    let able = meta(json!({ "elicitation": { "form": {} } }));
    let call = |answers: Value| {
        let mut params = json!({ "_meta": able, "name": "ask", "arguments": {} });
        params.as_object_mut().unwrap().extend(answers.as_object().unwrap().clone());
        params
    };
    client.request(1, "tools/call", call(json!({}))).await;
    let round = client.next().await["result"].clone();
    assert_eq!(round["resultType"], "input_required");
    assert_eq!(round["inputRequests"]["who"]["method"], "elicitation/create");
    let answers = json!({ "who": { "action": "accept", "content": { "name": "Ada" } } });
    let state = &round["requestState"];
    let tampered = format!("{}x", state.as_str().unwrap());
    client
        .request(2, "tools/call", call(json!({ "inputResponses": answers, "requestState": tampered })))
        .await;
    assert_eq!(client.next().await["error"]["code"], -32602);
    client.request(3, "tools/call", call(json!({ "inputResponses": answers, "requestState": state }))).await;
    assert_eq!(client.next().await["result"]["content"][0]["text"], "it is \"Ada\"");
}

/// Collects what is told until a request is answered.
async fn told(client: &mut Client) -> Vec<String> {
    let mut told = Vec::new();
    loop {
        let message = client.next().await;
        match message["method"].as_str() {
            Some("notifications/progress") => {
                told.push(format!("progress {}", message["params"]["progress"]));
            }
            Some("notifications/message") => told.push(format!("log {}", message["params"]["level"])),
            Some(other) => told.push(other.to_owned()),
            None => break told,
        }
    }
}

#[tokio::test]
async fn progress_and_log_come_before_the_answer_and_as_far_as_they_are_wanted() {
    let host = Host::new();
    let mut client = Client::legacy(&host, json!({})).await;
    client.call(1, "tell", "").await;
    assert_eq!(told(&mut client).await, ["log \"warning\""; 3]);
    client.request(2, "logging/setLevel", json!({ "level": "emergency" })).await;
    assert_eq!(client.next().await["id"], 2);
    let call = json!({ "_meta": { "progressToken": "t" }, "name": "tell", "arguments": {} });
    client.request(3, "tools/call", call).await;
    assert_eq!(told(&mut client).await, ["progress 25.0", "progress 50.0", "progress 75.0"]);

    let mut client = open(&host, json!({})).await;
    let mut quiet = meta(json!({}));
    client.request(1, "tools/call", json!({ "_meta": quiet, "name": "tell", "arguments": {} })).await;
    assert!(told(&mut client).await.is_empty());
    quiet["io.modelcontextprotocol/logLevel"] = json!("debug");
    client.request(2, "tools/call", json!({ "_meta": quiet, "name": "tell", "arguments": {} })).await;
    assert_eq!(told(&mut client).await.len(), 6);
}

#[tokio::test(start_paused = true)]
async fn changes_are_told_within_a_second_in_both_eras() {
    let host = Host::new();
    let mut older = Client::legacy(&host, json!({})).await;
    older.request(1, "resources/subscribe", json!({ "uri": "test://a" })).await;
    assert_eq!(older.next().await["id"], 1);
    let mut newer = open(&host, json!({})).await;
    let filter = json!({ "toolsListChanged": true, "resourceSubscriptions": ["test://a"] });
    newer
        .request(1, "subscriptions/listen", json!({ "_meta": meta(json!({})), "notifications": filter }))
        .await;
    assert_eq!(newer.next().await["method"], "notifications/subscriptions/acknowledged");

    let begun = tokio::time::Instant::now();
    host.add("added");
    for client in [&mut older, &mut newer] {
        assert_eq!(client.next().await["method"], "notifications/tools/list_changed");
    }
    host.document.send_replace(Some("test://other".to_owned()));
    tokio::time::sleep(Duration::from_millis(300)).await;
    host.document.send_replace(Some("test://a".to_owned()));
    for client in [&mut older, &mut newer] {
        let updated = client.next().await;
        assert_eq!(
            (&updated["method"], &updated["params"]["uri"]),
            (&json!("notifications/resources/updated"), &json!("test://a"))
        );
    }
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    newer.request(2, "tools/list", json!({ "_meta": meta(json!({})) })).await;
    let list = newer.next().await["result"].clone();
    let names: Vec<&str> =
        list["tools"].as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(names, ["added", "ask", "echo", "tell", "wait"]);
    assert_eq!((&list["ttlMs"], &list["cacheScope"]), (&json!(60_000), &json!("private")));

    newer.stop.cancel();
    assert_eq!(newer.next().await["id"], 1, "a subscription ends with its result");
}

#[tokio::test]
async fn a_thousand_tools_come_in_two_pages() {
    let host = Host::new();
    let tools = (0..1_000).map(|number| host.tool(&format!("tool_{number:04}")));
    host.tools.send_replace(haft_tools_core::ToolRegistry::of(tools).unwrap());
    let mut client = Client::legacy(&host, json!({})).await;
    client.request(1, "tools/list", json!({})).await;
    let first = client.next().await["result"].clone();
    assert_eq!(first["tools"].as_array().unwrap().len(), 500);
    client.request(2, "tools/list", json!({ "cursor": first["nextCursor"] })).await;
    let second = client.next().await["result"].clone();
    assert_eq!((second["tools"][499]["name"].as_str(), second.get("nextCursor")), (Some("tool_0999"), None));
    host.add("one_more");
    client.request(3, "tools/list", json!({ "cursor": first["nextCursor"] })).await;
    let mut answer = client.next().await;
    if answer["method"] == "notifications/tools/list_changed" {
        answer = client.next().await;
    }
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
}
