//! Names that are in nobody's way.

#![expect(dead_code, reason = "what is named like the usual is there to be in the way")]

use expect_test::expect;
use serde_json::json;

struct Option;
struct Result;
struct String;
struct Box;
struct Vec;
struct Arc;
struct Clone;
struct Debug;
struct Default;
struct From;
struct Into;
struct Send;
struct Sync;
struct Future;
struct Tool;
struct Accesses;
struct Arguments;
struct State;
mod core {}
mod std {}
mod serde {}
mod schemars {}
mod haft {}
#[expect(non_snake_case, reason = "named like the usual")]
fn Ok() {}
#[expect(non_snake_case, reason = "named like the usual")]
fn Err() {}

/// Whatever a module calls `Result`.
#[::haft::tool(accesses = none)]
async fn shadowed(
    /// A text.
    #[default("x")]
    text: ::std::string::String,
    /// A number.
    number: ::core::option::Option<u8>,
) -> ::core::result::Result<::std::string::String, ::haft::ToolError> {
    ::core::result::Result::Ok(format!("{text}{}", number.unwrap_or(7)))
}

/// Has arguments that are named like what the attribute writes.
#[::haft::tool(accesses = {
    let named = (state, arguments, accesses, context, input, scope.len());
    assert_eq!(named, (&1, &2, &3, &4, &5, 1));
    ::haft::Accesses::none()
})]
async fn named_alike(
    /// A number.
    state: u8,
    /// A number.
    arguments: u8,
    /// A number.
    accesses: u8,
    /// A number.
    context: u8,
    /// A number.
    input: u8,
    /// A text, which hides the scope of the call.
    scope: ::std::string::String,
    #[state] spec: &u8,
    #[state] name: u8,
    cx: ::haft::CallContext,
) -> ::std::string::String {
    format!("{state}{arguments}{accesses}{context}{input}{scope}{spec}{name}{}", cx.call_id())
}

/// Has a name that is a word of Rust.
#[::haft::tool(accesses = none)]
async fn r#loop(
    /// What kind.
    r#type: ::std::string::String,
    /// How.
    #[default(3)]
    r#as: u8,
    #[state] r#in: &u8,
) -> ::std::string::String {
    format!("{type}{as}{in}")
}

/// Is found in the single crates.
#[::haft::tool(crate = haft_tools_core, accesses = none, read_only, exposure = deferred)]
async fn single(
    /// A number.
    #[default]
    number: u8,
) -> ::core::result::Result<u8, haft_core::ToolError> {
    ::core::result::Result::Ok(number)
}

#[tokio::test]
async fn what_a_module_names_like_the_usual_is_not_in_the_way() {
    super::check(shadowed_tool(), json!({ "number": 1 }), expect!["ok: x1"]).await;
}

#[tokio::test]
async fn arguments_are_named_as_the_user_likes() {
    let input = json!({ "state": 1, "arguments": 2, "accesses": 3, "context": 4, "input": 5, "scope": "s" });
    super::check(named_alike_tool(6, 7), input, expect!["ok: 12345s67c1"]).await;
}

#[tokio::test]
async fn a_word_of_rust_is_named_without_its_mark() {
    super::check(loop_tool(9), json!({ "type": "t" }), expect!["ok: t39"]).await;
}

#[tokio::test]
async fn a_crate_of_another_name_is_found_where_it_is_said_to_be() {
    super::check(single_tool(), json!({}), expect!["ok: 0"]).await;
}
