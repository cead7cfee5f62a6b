//! Approve later, and go on in another process
//!
//! A call that has to be asked about is kept in a store before anybody is asked. Whoever answers is another process, and so is the one
//! that goes on: it claims the call, which only one can, prepares it anew, and runs it only if it is still exactly what was shown.
//! Here the program starts itself once as the person, and twice as the process that goes on.

use crate::Done;
use haft::store::SqliteStore;
use haft::tools_core::{Approval, CallOutcome, PendingStore as _, Resumption};
use haft::{Batch, CallScope, LocalExecutor, ToolCall, ToolExecutor as _, Workdir};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use tokio::process::Command;

pub(crate) async fn run(arguments: &[String]) -> Done {
    match arguments {
        [role, place] if role == "answer" => answer(Path::new(place)).await,
        [role, place, call] if role == "go-on" => go_on(Path::new(place), call).await,
        _ => ask().await,
    }
}

/// Makes a call that nobody is there to approve, and ends.
async fn ask() -> Done {
    let place = tempfile::tempdir()?;
    std::fs::write(place.path().join("notes.md"), "sow\nreap\n")?;
    let input = json!({ "path": "notes.md", "edits": [{ "old": "sow", "new": "plough, sow" }] });
    let call = ToolCall::new("c1".parse()?, "edit_file", input);
    let batch = Batch::new(CallScope::new("run-1".parse()?), vec![call]);
    let outcome = executor(place.path())?.execute_batch(batch).await;
    let [CallOutcome::Pending(pending)] = outcome.outcomes() else { return Err("it should wait".into()) };
    println!("{} waits", pending.call.name);

    let kept = serde_json::to_string(&pending)?;
    process(&["answer", place.path().to_str().ok_or("no text")?]).await?;
    // One of the two is too late: a call runs once at most.
    for _ in 0..2 {
        process(&["go-on", place.path().to_str().ok_or("no text")?, &kept]).await?;
    }
    println!("{}", std::fs::read_to_string(place.path().join("notes.md"))?.trim_end());
    Ok(())
}

/// Is the person, who sees what waits.
async fn answer(place: &Path) -> Done {
    let store = SqliteStore::open(place.join("haft.db"))?;
    for pending in store.waiting().await? {
        println!("{}", pending.preview.as_text().trim_end());
        store.answer(&pending.id, &Approval::Approve).await?;
    }
    Ok(())
}

/// Is the process that has the run.
async fn go_on(place: &Path, call: &str) -> Done {
    let pending: haft::tools_core::PendingCall = serde_json::from_str(call)?;
    let executor = executor(place)?;
    let approval = executor.pending().answer_to(&pending.id).await?.unwrap_or(Approval::Approve);
    match executor.resume(Resumption::new(pending.scope(), pending, approval)).await {
        Ok(CallOutcome::Replied(reply)) => println!("{}", reply.status),
        Ok(_) => println!("it waits again"),
        Err(haft::tools_core::ResumptionError::ResumedBefore { .. }) => {
            println!("it was gone on with before");
        }
        Err(refused) => return Err(refused.into()),
    }
    Ok(())
}

fn executor(place: &Path) -> Result<LocalExecutor, Box<dyn std::error::Error>> {
    let store = Arc::new(SqliteStore::open(place.join("haft.db"))?);
    let tools = haft::default_tools(&Workdir::open(place)?)?;
    let later = haft::tools_core::approver_fn(|_| Approval::Later);
    Ok(LocalExecutor::builder(tools).approver(later).pending(store).build())
}

async fn process(arguments: &[&str]) -> Done {
    let mut program = Command::new(std::env::current_exe()?);
    let output = program.arg("approve_later").args(arguments).output().await?;
    print!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    Ok(())
}
