use crate::fixture::{Probe, outline, permissive, reply};
use expect_test::{Expect, expect};
use haft_core::Exposure;
use serde_json::json;

async fn check(tools: &[&str], called: &str, expect: Expect) {
    let executor = permissive(tools.iter().map(|name| Probe::new(name))).build();
    expect.assert_eq(&outline(&reply(&executor, called, json!({})).await));
}

#[tokio::test]
async fn an_unknown_tool_is_answered_with_the_nearest() {
    check(
        &["read_file", "write_file", "bash"],
        "read_fil",
        expect![[r#"
        error: unknown tool
        there is no tool `read_fil`; did you mean `read_file`?"#]],
    )
    .await;
    check(
        &["read_file", "write_file", "bash"],
        "ReadFile",
        expect![[r#"
        error: unknown tool
        there is no tool `ReadFile`; did you mean `read_file`?"#]],
    )
    .await;
    check(
        &["read_file", "write_file", "bash"],
        "file",
        expect![[r#"
        error: unknown tool
        there is no tool `file`; did you mean `read_file` or `write_file`?"#]],
    )
    .await;
    check(
        &["read_a", "read_b", "read_c", "read_d"],
        "read_x",
        expect![[r#"
        error: unknown tool
        there is no tool `read_x`; did you mean `read_a`, `read_b` or `read_c`?"#]],
    )
    .await;
}

#[tokio::test]
async fn an_unknown_tool_that_is_like_none_is_answered_with_all() {
    check(
        &["read_file", "write_file", "bash"],
        "frobnicate",
        expect![[r#"
        error: unknown tool
        there is no tool `frobnicate`; the tools are `bash`, `read_file` and `write_file`"#]],
    )
    .await;
    check(
        &["bash"],
        "frobnicate",
        expect![[r#"
        error: unknown tool
        there is no tool `frobnicate`; the only tool is `bash`"#]],
    )
    .await;
    check(
        &[],
        "frobnicate",
        expect![[r#"
            error: unknown tool
            there is no tool `frobnicate`, and there are no others; answer without tools"#]],
    )
    .await;
    let many: Vec<String> = (0..21).map(|number| format!("tool_{number}")).collect();
    check(
        &many.iter().map(String::as_str).collect::<Vec<_>>(),
        "frobnicate",
        expect![[r#"
        error: unknown tool
        there is no tool `frobnicate`; use one of the tools you were given"#]],
    )
    .await;
}

#[tokio::test]
async fn tools_that_are_only_found_are_told_of_and_hidden_ones_are_not() {
    let told = async |exposure| {
        let other = Probe::new("other").spec(|spec| spec.with_exposure(exposure));
        let executor = permissive([Probe::new("bash"), other]).build();
        reply(&executor, "frobnicate", json!({})).await.output.to_text()
    };
    assert_eq!(told(Exposure::Hidden).await, "there is no tool `frobnicate`; the only tool is `bash`");
    assert_eq!(
        told(Exposure::Deferred).await,
        "there is no tool `frobnicate`; the tools are `bash`, and those that a search for tools finds"
    );
}

#[tokio::test]
async fn what_is_no_name_at_all_is_answered_like_any_unknown_tool() {
    check(
        &["bash"],
        "",
        expect![[r#"
            error: unknown tool
            the call names no tool; the only tool is `bash`"#]],
    )
    .await;
    check(
        &["bash"],
        "functions.bash",
        expect![[r#"
        error: unknown tool
        there is no tool `functions.bash`; did you mean `bash`?"#]],
    )
    .await;
    check(
        &["bash"],
        "rm -rf /\n",
        expect![[r#"
            error: unknown tool
            there is no tool `rm -rf / `; the only tool is `bash`"#]],
    )
    .await;
    check(&["read"], &"é".repeat(100_000), expect![[r#"
        error: unknown tool
        there is no tool `éééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééé…`; the only tool is `read`"#]]).await;
}
