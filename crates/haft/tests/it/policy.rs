//! Policies over the built-in tools, with the language of rules that programs use.

use haft::policy::{LoadedPolicy, PolicyLoader, Profile};
use haft::{Batch, CallScope, LocalExecutor, ToolCall, ToolExecutor as _, Workdir};
use serde_json::{Value, json};

/// Makes a working directory with a policy in it, and loads that with the built-in tools.
fn load(policy: &str) -> (tempfile::TempDir, Workdir, Result<LoadedPolicy, String>) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("src")).unwrap();
    std::fs::write(folder.path().join("src/lib.rs"), "fn main() {}\n").unwrap();
    let file = folder.path().join("policy.toml");
    std::fs::write(&file, policy).unwrap();
    let workdir = Workdir::open(folder.path()).unwrap();
    let tools = haft::default_tools(&workdir).unwrap();
    let language = haft::DefaultRules::new(&workdir).language();
    let loaded = PolicyLoader::new(language).command_line(&file).tools(&tools).load();
    (folder, workdir, loaded.map_err(|error| error.to_string()))
}

#[test]
fn tests_of_a_policy_prepare_calls_with_the_real_tools() {
    let (_folder, _, loaded) = load(
        r#"
profile = "workspace_write"

[permissions]
deny = ["write(*.lock)", "connect(*.example.org)"]

[[test]]
tool = "read_file"
input = { path = "src/lib.rs" }
expect = "allow"

[[test]]
tool = "write_file"
input = { path = "src/new.rs", content = "" }
expect = "allow"

[[test]]
tool = "write_file"
input = { path = "Cargo.lock", content = "" }
expect = "deny"

[[test]]
name = "hooks are protected in a writable root"
tool = "write_file"
input = { path = ".git/hooks/pre-commit", content = "" }
expect = "ask"

[[test]]
access = "write(.envrc)"
mode = "accept_edits"
expect = "ask"

[[test]]
access = "connect(api.example.org:443)"
expect = "deny"
"#,
    );
    let loaded = loaded.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((loaded.tests_passed, loaded.tests_not_run), (6, 0), "{:?}", loaded.notes);
}

#[test]
fn a_resource_opens_no_protected_place_past_its_patterns() {
    let (_folder, _, loaded) = load("[permissions]\nallow = [\"write(file:**)\"]\n");
    let error = loaded.unwrap_err();
    assert!(error.contains("`file:**` is a resource"), "{error}");
}

#[tokio::test]
async fn a_loaded_policy_decides_what_the_tools_do() {
    let (_folder, workdir, loaded) = load(
        "profile = \"read_only\"\n[permissions]\nallow = [\"write(notes.md)\"]\n[limits]\noutput_lines = 1\n",
    );
    let loaded = loaded.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(loaded.profile, Some(Profile::ReadOnly));
    let executor = loaded.apply(LocalExecutor::builder(haft::default_tools(&workdir).unwrap())).build();
    let call = |id: &str, name: &str, input: Value| ToolCall::new(id.parse().unwrap(), name, input);
    let calls = vec![
        call("read", "read_file", json!({ "path": "src/lib.rs" })),
        call("noted", "write_file", json!({ "path": "notes.md", "content": "a\n" })),
        call("written", "write_file", json!({ "path": "src/a.rs", "content": "a\n" })),
    ];
    let batch = Batch::new(CallScope::new("run-1".parse().unwrap()), calls);
    let replies = executor.execute_batch(batch).await.into_replies().unwrap();
    let statuses: Vec<String> = replies.iter().map(|reply| reply.status.to_string()).collect();
    assert_eq!(statuses, ["ok", "ok", "denied"]);
}
