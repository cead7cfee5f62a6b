//! Test a tool of your own
//!
//! `haft-testkit` calls a tool as an agent would: through every stage of the executor, with everything permitted, so that a test sees
//! what a model reads, also of wrong arguments. A `Tree` is a directory of your making that is removed afterwards. What the tool tells
//! of what it will touch is tested apart from what it does: `declare` prepares a call and runs nothing.

use expect_test::expect;
use haft::{Access, CallContext, CallScope, Resource, ToolError, ToolRegistry, Workdir, tool_fn};
use haft_testkit::{Tree, call};
use serde_json::json;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Input {
    /// The file to count in.
    path: String,
}

/// The tool that is tested.
fn tools(workdir: Workdir) -> ToolRegistry {
    let accesses = |input: &Input| Ok(Access::read(Resource::exact(haft::FILE, input.path.as_str())).into());
    let count = tool_fn("count_lines", "Counts lines.", accesses, move |input: Input, _: CallContext| {
        let workdir = workdir.clone();
        async move {
            let path =
                workdir.resolve(&input.path).map_err(|error| ToolError::not_found(error.model_text()))?;
            let text =
                workdir.read(&path, 1 << 20).map_err(|error| ToolError::not_found(error.model_text()))?;
            Ok::<_, ToolError>(text.split(|byte| *byte == b'\n').count() - 1)
        }
    });
    ToolRegistry::new().with(count.expect("a valid tool")).expect("it is the only one")
}

#[tokio::test]
async fn counts_lines() {
    let tree = Tree::new().file("notes.md", "sow\nreap\n");
    let reply = call(&tools(tree.workdir()), "count_lines", json!({ "path": "notes.md" })).await;
    expect!["2"].assert_eq(&reply.output.to_text());
}

#[tokio::test]
async fn says_what_is_wrong() {
    let tree = Tree::new().file("notes.md", "");
    let said = async |input| call(&tools(tree.workdir()), "count_lines", input).await.output.to_text();
    expect![
        "the path `../secrets` is outside the working directory; use a path inside it, such as `src/main.rs`"
    ]
    .assert_eq(&said(json!({ "path": "../secrets" })).await);
    expect![[r"
        the arguments do not fit `count_lines`:
        - at the top: unknown property `file`; it takes `path`
        - at the top: the property `path` is missing
        correct them and call the tool again"]]
    .assert_eq(&said(json!({ "file": "notes.md" })).await);
}

#[test]
fn declares_what_it_reads() {
    let tree = Tree::new();
    let (tools, scope) = (tools(tree.workdir()), CallScope::new("run-1".parse().expect("an id")));
    let declared =
        tools.declare("count_lines", json!({ "path": "notes.md" }), &scope).expect("it can be prepared");
    let accesses: Vec<_> = declared.accesses.iter().map(ToString::to_string).collect();
    assert_eq!(accesses, ["read file:notes.md"]);
}
