//! Record a session, and play it again as a test
//!
//! `RecordingModel` writes what a model says, one JSON object a line. Played again by `ScriptedModel`, it meets the real tools: the calls
//! are really made, and where their replies end otherwise than they did, or a call is missing, the run says what differs. So a session
//! that went well once is a test of tools, policy and loop which needs no network and no key.

use crate::Done;
use haft::agent::{Agent, RunEnd};
use haft::model::{RecordingModel, ScriptedModel, Session};
use haft::{AccessMode, CallScope, LocalExecutor, Policy, Resource, Rule, Workdir};
use std::fs::File;
use std::path::Path;

/// Stands for the provider.
const SAID: &str = r#"
{"calls": [{"id": "c1", "name": "read_file", "input": {"path": "notes.md"}}]}
{"text": "They say to sow and to reap."}
"#;

pub(crate) async fn run() -> Done {
    let project = tempfile::tempdir()?;
    std::fs::write(project.path().join("notes.md"), "sow, reap\n")?;
    let file = project.path().join("session.jsonl");

    let provider = ScriptedModel::new(Session::parse(SAID, "said.jsonl")?);
    let recorded = Agent::new(RecordingModel::new(provider, File::create(&file)?), executor(project.path())?);
    recorded.run(CallScope::new("run-1".parse()?), "What do the notes say?").await;
    println!("{}", std::fs::read_to_string(&file)?.trim_end());

    // The same tools: it plays to its end.
    println!("{}", played(&file, project.path()).await?);
    // The file is gone: the call ends otherwise than it did when the session was recorded.
    std::fs::remove_file(project.path().join("notes.md"))?;
    println!("{}", played(&file, project.path()).await?);
    Ok(())
}

async fn played(file: &Path, project: &Path) -> Result<String, Box<dyn std::error::Error>> {
    let agent = Agent::new(ScriptedModel::new(Session::read(file)?), executor(project)?);
    let state = agent.run(CallScope::new("run-2".parse()?), "What do the notes say?").await;
    Ok(match state.end() {
        Some(RunEnd::Completed) => "played to its end".to_owned(),
        Some(end) => format!("{end:?}").replace(&*file.to_string_lossy(), "session.jsonl"),
        None => "it waits".to_owned(),
    })
}

fn executor(project: &Path) -> Result<LocalExecutor, Box<dyn std::error::Error>> {
    let tools = haft::default_tools(&Workdir::open(project)?)?;
    let reads = Rule::access(AccessMode::Read, Resource::subtree(haft::FILE, ""));
    Ok(LocalExecutor::builder(tools).policy(Policy::new().allow(reads)).build())
}
