use std::fs;

use expect_test::{Expect, expect};
use haft_core::{Blob, Content, ErrorKind, Origin, ReplyStatus, ToolOutput};
use haft_tools_core::{Before, LayerAnswer};
use serde_json::{Value, json};

use crate::harness::{Asking, Scene, after, bash, before};

/// Compares what the hook in a directory was told, which it wrote to the file `told`.
fn check(asking: &Asking, expected: &Expect) {
    expected.assert_eq(&fs::read_to_string(asking.path().join("told")).expect("the hook was asked"));
}

#[tokio::test]
async fn tells_of_a_call_before_it_runs() {
    let asking = Asking::new([before("cat > told")]);
    assert_eq!(asking.before(&bash()).await, Before::proceed());
    check(
        &asking,
        &expect![[r#"
        {"version":1,"when":"before","call_id":"c1","run":"run-1","tool":{"name":"bash","title":"A tool","origin":{"kind":"builtin"}},"input":{"command":"ls"},"accesses":["write file:src/lib.rs","opaque (a script\\u{7} that is not analysed)"]}
    "#]],
    );
}

#[tokio::test]
async fn tells_on_whose_behalf_a_foreign_tool_is_called() {
    let asking = Asking::new([before("cat > told")]);
    let mut call = Scene::of("github__create_issue", json!({ "title": "\u{1b}[2J\0 ü" }));
    call.spec =
        call.spec.with_origin(Origin::Mcp { server: "github".to_owned(), tool: "create issue".to_owned() });
    call.scope = call.scope.child("run-2".parse().unwrap()).with_agent("explorer");
    assert_eq!(asking.before(&call).await, Before::proceed());
    check(
        &asking,
        &expect![[r#"
        {"version":1,"when":"before","call_id":"c1","run":"run-2","parent_run":"run-1","agent":"explorer","tool":{"name":"github__create_issue","title":"A tool","origin":{"kind":"mcp","server":"github","tool":"create issue"}},"input":{"title":"\u001b[2J\u0000 ü"},"accesses":["write file:src/lib.rs","opaque (a script\\u{7} that is not analysed)"]}
    "#]],
    );
}

#[tokio::test]
async fn tells_how_a_call_was_answered() {
    let asking = Asking::new([after("cat > told")]);
    let output = ToolOutput::json(json!({ "files": 3 })).with_details(json!("of the host"));
    asking.after(&bash(), output).await;
    check(
        &asking,
        &expect![[r#"
        {"version":1,"when":"after","call_id":"c1","run":"run-1","tool":{"name":"bash","title":"A tool","origin":{"kind":"builtin"}},"input":{"command":"ls"},"accesses":["write file:src/lib.rs","opaque (a script\\u{7} that is not analysed)"],"status":"ok","output":{"text":"{\"files\":3}","structured":{"files":3}}}
    "#]],
    );

    let parts = vec![
        Content::text("first"),
        Content::image(Blob::from(vec![1, 2, 3]), "image/png"),
        Content::ResourceLink { uri: "x:y".to_owned(), name: "y".to_owned(), mime_type: None, size: None },
    ];
    let failed = LayerAnswer::new(ReplyStatus::Error(ErrorKind::NotFound), ToolOutput::new(parts.clone()));
    asking.after(&bash(), failed).await;
    check(
        &asking,
        &expect![[r#"
        {"version":1,"when":"after","call_id":"c1","run":"run-1","tool":{"name":"bash","title":"A tool","origin":{"kind":"builtin"}},"input":{"command":"ls"},"accesses":["write file:src/lib.rs","opaque (a script\\u{7} that is not analysed)"],"status":{"error":"not_found"},"output":{"text":"first\n[image image/png, 3 bytes]\nx:y"}}
    "#]],
    );
    let told: Value = serde_json::from_slice(&fs::read(asking.path().join("told")).unwrap()).unwrap();
    assert_eq!(told["output"]["text"], ToolOutput::new(parts).to_text());
}

#[tokio::test]
async fn bounds_what_it_tells_of_an_output() {
    let asking = Asking::new([after("cat > told")]);
    let large = "€".repeat(500_000);
    let answer = LayerAnswer::from(ToolOutput::text(large.clone()).with_structured(json!(large)));
    assert_eq!(asking.after(&bash(), answer.clone()).await, answer);
    let mut told: Value = serde_json::from_slice(&fs::read(asking.path().join("told")).unwrap()).unwrap();
    let text = told["output"]["text"].take();
    assert_eq!(text.as_str().unwrap(), "€".repeat(349_525), "1 MiB in whole characters");
    assert_eq!(told["output"], json!({ "text": null, "omitted_text_bytes": 1_500_000 - 349_525 * 3 }));
}

#[tokio::test]
async fn gives_the_variables_that_are_listed_and_no_other_secret() {
    let script =
        "env | grep -v '^PWD=\\|^HAFT_CALL=' | grep 'HOME\\|PATH\\|TOKEN\\|NONE' | sort > told; pwd >> told";
    let asking = Asking::new([before(script).env(["GITHUB_TOKEN", "NONE_SUCH"])]);
    assert_eq!(asking.before(&bash()).await, Before::proceed());
    let told = fs::read_to_string(asking.path().join("told")).unwrap();
    let told = told.replace(&asking.path().canonicalize().unwrap().display().to_string(), "DIRECTORY");
    expect![[r#"
        GITHUB_TOKEN=hunter2
        HOME=/home/ann
        PATH=/usr/bin:/bin
        DIRECTORY
    "#]]
    .assert_eq(&told);
}

#[tokio::test]
async fn does_not_wait_for_a_program_that_reads_nothing() {
    let mut call = bash();
    call.call.input = json!({ "content": "x".repeat(1024 * 1024) });
    for script in
        ["exit 0", "exec 0<&-; exit 0", "head -c 1 > /dev/null", "sleep 60 & exit 0", "wc -c > told"]
    {
        let asking = Asking::new([before(script)]);
        assert_eq!(asking.before(&call).await, Before::proceed(), "{script}");
        assert_eq!(asking.reports(), "", "{script}");
    }
}
