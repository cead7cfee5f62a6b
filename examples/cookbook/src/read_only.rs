//! Give an agent tools that only read
//!
//! Leaving tools out says what a model is told of; the mode `plan` says what is permitted, whatever it calls: nothing that writes,
//! executes or connects. Both are switches of yours: a model can narrow the mode, and not widen it.

use crate::Done;
use haft::tools_core::{Mode, ModeSwitch};
use haft::{
    AccessMode, Batch, CallScope, LocalExecutor, Policy, Resource, Rule, ToolCall, ToolExecutor as _, Workdir,
};
use serde_json::json;

pub(crate) async fn run() -> Done {
    let project = tempfile::tempdir()?;
    std::fs::write(project.path().join("notes.md"), "# Notes\nsow, reap\n")?;
    let workdir = Workdir::open(project.path())?;

    let tools =
        haft::default_tools(&workdir)?.filtered(&"read_file grep glob list_files write_file".parse()?);
    println!("{}", tools.names().collect::<Vec<_>>().join(" "));
    let everything = |mode| Rule::access(mode, Resource::subtree(haft::FILE, ""));
    let policy = Policy::new().allow(everything(AccessMode::Read)).allow(everything(AccessMode::Write));
    let mode = ModeSwitch::new(Mode::Plan);
    let executor = LocalExecutor::builder(tools).policy(policy).mode(&mode).build();

    let scope = CallScope::new("run-1".parse()?);
    let write = json!({ "path": "plan.md", "content": "harvest\n" });
    let calls = [
        ("c1", "read_file", json!({ "path": "notes.md" })),
        ("c2", "read_file", json!({ "path": "../secrets" })),
        ("c3", "write_file", write.clone()),
    ];
    let calls = calls.into_iter().map(|(id, name, input)| Ok(ToolCall::new(id.parse()?, name, input)));
    let calls = calls.collect::<Result<Vec<_>, haft::core::IdError>>()?;
    for reply in executor.execute_batch(Batch::new(scope.clone(), calls)).await.into_replies()? {
        println!("{} {}: {}", reply.call_id, reply.status, reply.output.to_text());
    }

    // A person has looked at the plan.
    mode.set(Mode::Default);
    let batch = Batch::new(scope, vec![ToolCall::new("c4".parse()?, "write_file", write)]);
    println!("c4 {}", executor.execute_batch(batch).await.into_replies()?[0].status);
    Ok(())
}
