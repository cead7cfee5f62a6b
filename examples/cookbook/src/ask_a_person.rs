//! Ask a person in your own window
//!
//! An `Approver` is asked about every call that the policy neither allows nor denies. It gets what a person has to see: the tool, what
//! the call would touch and why that is not allowed, and a preview, such as a diff. While it waits, the call's clock stands still and
//! the calls beside it go on. Dropped, it takes its question back.

use crate::Done;
use async_trait::async_trait;
use haft::tools_core::{Approval, Approver, GrantTerm, Grants, MemoryGrants, PendingCall};
use haft::{Batch, CallScope, LocalExecutor, ToolCall, ToolExecutor as _, Workdir};
use serde_json::json;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};

/// Stands for the window: it takes questions, and sends what was clicked.
struct Window(mpsc::Sender<(String, oneshot::Sender<Approval>)>);

#[async_trait]
impl Approver for Window {
    async fn approve(&self, call: &PendingCall) -> Approval {
        let unmet: Vec<_> = call.unmet.iter().map(haft::tools_core::Unmet::printed).collect();
        let shown = format!("{} wants to {}\n{}", call.call.name, unmet.join(", "), call.preview.as_text());
        let (click, clicked) = oneshot::channel();
        if self.0.send((shown, click)).await.is_err() {
            return Approval::Deny { reason: "the window is closed".to_owned() };
        }
        // A window that is closed without a click has not denied anything: the call is kept, and can be answered later.
        clicked.await.unwrap_or(Approval::Later)
    }
}

pub(crate) async fn run() -> Done {
    let project = tempfile::tempdir()?;
    std::fs::write(project.path().join("notes.md"), "sow\nreap\n")?;
    let workdir = Workdir::open(project.path())?;
    let (questions, mut asked) = mpsc::channel::<(String, oneshot::Sender<Approval>)>(8);
    let executor = LocalExecutor::builder(haft::default_tools(&workdir)?)
        .approver(Window(questions))
        .grants(Grants::kept_in(Arc::new(MemoryGrants::new())))
        .build();

    // The person lets the first call run and whatever else of the run touches no more than it.
    let person = tokio::spawn(async move {
        while let Some((shown, click)) = asked.recv().await {
            println!("--- {shown}");
            let answer = if shown.starts_with("read_file") {
                Approval::ApproveFor { term: GrantTerm::Run }
            } else {
                Approval::Deny { reason: "leave the notes as they are".to_owned() }
            };
            // The call may be gone meanwhile, and then nobody waits for the answer.
            let _ = click.send(answer);
        }
    });
    let calls = [
        ("c1", "read_file", json!({ "path": "notes.md" })),
        ("c2", "read_file", json!({ "path": "notes.md", "limit": 1 })),
        ("c3", "edit_file", json!({ "path": "notes.md", "edits": [{ "old": "reap", "new": "weep" }] })),
    ];
    for (id, name, input) in calls {
        let batch =
            Batch::new(CallScope::new("run-1".parse()?), vec![ToolCall::new(id.parse()?, name, input)]);
        let replies = executor.execute_batch(batch).await.into_replies()?;
        println!("{id} {}: {}", replies[0].status, replies[0].output.to_text());
    }
    drop(executor);
    person.await?;
    Ok(())
}
