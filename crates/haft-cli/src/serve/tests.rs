use super::clients::Clients;
use super::directory::Directory;
use super::place::LeftOut;
use super::toolbox::{ServedToolsets, Settings};
use crate::changes::ChangeQuota;
use crate::kept_state::KeptState;
use crate::policy_setup::PolicyOptions;
use crate::user_directories::UserDirectories;
use expect_test::expect;
use haft::mcp::{Caller, Principal, Toolbox as _, Toolset};
use haft::store::RecordFilter;
use haft::tools_core::{Approval, Approver, AskedQuestion, CallOutcome, PendingCall, QuestionOutcome};
use haft::{Batch, LocalExecutor, ToolCall, ToolExecutor as _, Workdir};
use haft_testkit::Tree;
use serde_json::{Value, json};
use std::sync::Arc;

/// Serves a directory, with what is kept beside it, to clients of a file.
fn served(tree: &Tree, clients: &str) -> (ServedToolsets, Arc<KeptState>) {
    std::fs::write(tree.path().join("clients.toml"), clients).unwrap();
    let settings = Settings {
        directory: Directory::of(&Workdir::open(tree.path().join("work")).unwrap(), false),
        roots: Vec::new(),
        left_out: LeftOut { mcp: true, openapi: true },
        quota: ChangeQuota::default(),
        policy: PolicyOptions::default(),
        clients: Clients::of(Some(&tree.path().join("clients.toml"))).unwrap(),
        attended: None,
        cluster: None,
    };
    let state = KeptState::at(tree.path().join("state/haft.db"));
    state.store().unwrap();
    (ServedToolsets::new(settings, Arc::clone(&state), UserDirectories::default()), state)
}

fn tree() -> Tree {
    Tree::new().file("work/notes.md", "one\n").file("other/notes.md", "two\n")
}

fn caller(name: &str) -> Caller {
    Caller::new(if name == "local" { Principal::local() } else { Principal::new(name) })
}

/// Makes a call as it is made for a client that cannot be asked.
async fn call(toolset: &Toolset, name: &str, input: Value) -> String {
    let call = ToolCall::new("c1".parse().unwrap(), name, input);
    let batch = Batch::new(toolset.scope.clone(), vec![call]).with_registry((toolset.tools)());
    let replies = toolset.executor.execute_batch(batch).await.into_replies().unwrap();
    format!("{}: {}", replies[0].status, replies[0].output.to_text())
}

#[tokio::test(flavor = "multi_thread")]
async fn without_any_configuration_files_are_read_and_nothing_is_written() {
    let tree = tree();
    let (toolsets, state) = served(&tree, "");
    let mut changes = toolsets.changes().unwrap();
    toolsets.check().await.unwrap();
    let toolset = toolsets.toolset(&caller("local"), None).await.unwrap();
    assert!(changes.changed().await);
    let tools = (toolset.tools)();
    expect!["apply_patch bash edit_file find_files glob grep list_files outline read_file read_output run_program web_fetch write_file"]
        .assert_eq(&tools.names().collect::<Vec<_>>().join(" "));
    expect!["A policy decides about each call of these tools: the profile `read_only` looks, and changes nothing. What no rule allows is asked about: the user may be shown a form, and a call that is refused says how it can be allowed."].assert_eq(toolset.instructions.as_deref().unwrap());
    let read = call(&toolset, "read_file", json!({ "path": "notes.md" })).await;
    assert!(read.starts_with("ok: ") && read.contains("one"), "{read}");
    let written = call(&toolset, "write_file", json!({ "path": "a", "content": "a" })).await;
    assert!(written.starts_with("denied: ") && !tree.path().join("work/a").exists(), "{written}");

    // What is recorded says who called.
    let records = state.store().unwrap().records(&RecordFilter::new().most(10)).await.unwrap();
    assert_eq!(records.len(), 3);
    let run = toolset.scope.run();
    assert!(run.as_str().starts_with("mcp-") && run.as_str().len() == 36, "{run}");
    assert!(records.iter().all(|record| record.agent.as_deref() == Some("mcp:local") && record.run == *run));
    toolsets.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn each_client_has_its_own_policy_run_and_directory() {
    let tree = tree();
    let clients = "[clients.laptop]\nprofile = \"workspace_write\"\n[clients.other]\nworkdir = \"other\"\n";
    let (toolsets, _) = served(&tree, clients);
    let [local, laptop, other, unknown] = ["local", "laptop", "other", "unknown"].map(caller);
    let toolset = async |caller: &Caller| toolsets.toolset(caller, None).await.unwrap();
    let runs = [&local, &laptop, &other, &unknown].map(|caller| {
        let toolsets = toolsets.clone();
        async move { toolsets.toolset(caller, None).await.unwrap().scope.run().clone() }
    });
    let mut seen = std::collections::BTreeSet::new();
    for run in runs {
        assert!(seen.insert(run.await));
    }
    let writes = json!({ "path": "a", "content": "a" });
    assert!(call(&*toolset(&laptop).await, "write_file", writes.clone()).await.starts_with("ok: "));
    assert!(call(&*toolset(&unknown).await, "write_file", writes).await.starts_with("denied: "));
    let reads = json!({ "path": "notes.md" });
    assert!(call(&*toolset(&other).await, "read_file", reads).await.contains("two"));

    // The same for the same client, and one of its own for a session.
    assert!(Arc::ptr_eq(&toolset(&laptop).await, &toolset(&laptop).await));
    let session = caller("laptop").in_session("s1");
    assert_ne!(toolset(&session).await.scope.run(), toolset(&laptop).await.scope.run());
    assert!(Arc::ptr_eq(&toolset(&session).await, &toolset(&session).await));

    // Another process finds the same run again, or no answer would be found.
    let (again, _) = served(&tree, clients);
    let run = again.toolset(&laptop, None).await.unwrap().scope.run().clone();
    assert_eq!(&run, toolset(&laptop).await.scope.run());
    // Under another policy it is another.
    let (stricter, _) = served(&tree, "[clients.laptop]\nprofile = \"read_only\"\n");
    assert_ne!(run, *stricter.toolset(&laptop, None).await.unwrap().scope.run());
}

#[tokio::test(flavor = "multi_thread")]
async fn outputs_of_one_client_are_not_those_of_another() {
    let tree = tree();
    let text = "line\n".repeat(100_000);
    std::fs::write(tree.path().join("work/large.txt"), &text).unwrap();
    let (toolsets, _) = served(&tree, "");
    let own = toolsets.toolset(&caller("local"), None).await.unwrap();
    let other = toolsets.toolset(&caller("laptop"), None).await.unwrap();
    let outputs = own.outputs.as_ref().unwrap();
    let output = outputs.store(&own.scope, &"c1".parse().unwrap(), text).await.unwrap();
    let reads = json!({ "output": output.as_str(), "limit": 1 });
    let read = call(&own, "read_output", reads.clone()).await;
    assert!(read.starts_with("ok: "), "{read}");
    let read = call(&other, "read_output", reads).await;
    assert!(read.starts_with("error: "), "{read}");
}

/// Leaves everything for later.
struct Later;

#[async_trait::async_trait]
impl Approver for Later {
    async fn approve(&self, _: &PendingCall) -> Approval {
        Approval::Later
    }

    async fn answer(&self, _: &AskedQuestion) -> QuestionOutcome {
        QuestionOutcome::Nobody
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_waits_says_of_which_client_it_is_and_where_it_works() {
    let tree = tree();
    let (toolsets, state) = served(&tree, "");
    let toolset = toolsets.toolset(&caller("laptop"), None).await.unwrap();
    let executor = LocalExecutor::builder((toolset.tools)())
        .approver(Later)
        .pending(Arc::clone(&toolset.pending))
        .build();
    for name in ["a", "b"] {
        let call = ToolCall::new("c1".parse().unwrap(), "write_file", json!({ "path": name, "content": "" }));
        let outcomes =
            executor.execute_batch(Batch::new(toolset.scope.clone(), vec![call])).await.into_outcomes();
        assert!(matches!(outcomes[0], CallOutcome::Pending(_)));
    }
    let waiting = state.calls().await.unwrap();
    assert_eq!(waiting.len(), 2);
    for entry in waiting {
        assert_eq!(entry.call.unwrap().agent.as_deref(), Some("mcp:laptop"));
        let workdir = tree.path().join("work").canonicalize().unwrap();
        assert_eq!(entry.host["workdir"], json!(workdir));
        assert_eq!(entry.host["work"], json!({ "does": "serve", "client": "laptop" }));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_are_told_nothing_of_this_machine() {
    let tree = tree();
    let (toolsets, _) = served(&tree, "[clients.laptop]\nworkdir = \"missing\"\n");
    let refusal = toolsets.toolset(&caller("laptop"), None).await.err().unwrap();
    expect!["this client cannot be served now; the person who runs `haft serve` is told why in its log"]
        .assert_eq(&refusal);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_owners_first_root_is_worked_in() {
    let tree = tree();
    std::fs::create_dir(tree.path().join("work/sub")).unwrap();
    std::fs::write(tree.path().join("work/sub/notes.md"), "three\n").unwrap();
    let (toolsets, _) = served(&tree, "");
    let root = format!("file://{}", tree.path().canonicalize().unwrap().join("work/sub").display());
    for (name, expected) in [("local", "three"), ("laptop", "one")] {
        let toolset = toolsets.toolset(&caller(name), Some(std::slice::from_ref(&root))).await.unwrap();
        let read = call(&toolset, "read_file", json!({ "path": "notes.md" })).await;
        assert!(read.contains(expected), "{read}");
    }
}

/// Finds subschemas that are no objects, which some clients refuse.
fn bare(schema: &Value, path: &str, found: &mut Vec<String>) {
    let Value::Object(members) = schema else {
        return found.push(path.to_owned());
    };
    for (name, member) in members {
        let path = format!("{path}/{name}");
        match (name.as_str(), member) {
            ("properties" | "$defs" | "definitions" | "patternProperties", Value::Object(schemas)) => {
                for (name, schema) in schemas {
                    bare(schema, &format!("{path}/{name}"), found);
                }
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(schemas)) => {
                for schema in schemas {
                    bare(schema, &path, found);
                }
            }
            ("items" | "not" | "if" | "then" | "else" | "contains" | "propertyNames", schema) => {
                bare(schema, &path, found);
            }
            _ => {}
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_client_can_read_the_schemas() {
    let tree = tree();
    let (toolsets, _) = served(&tree, "");
    let toolset = toolsets.toolset(&caller("local"), None).await.unwrap();
    let mut found = Vec::new();
    for spec in (toolset.tools)().iter() {
        bare(spec.input_schema().as_value(), spec.name().as_str(), &mut found);
        spec.output_schema()
            .into_iter()
            .for_each(|schema| bare(schema.as_value(), spec.name().as_str(), &mut found));
    }
    assert_eq!(found, [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_in_the_mode_auto_is_not_served_by_tools_that_nothing_confines() {
    let tree = tree();
    let (toolsets, _) = served(&tree, "[clients.laptop]\nmode = \"auto\"\n");
    let error = toolsets.check().await.unwrap_err();
    assert_eq!(
        format!("{error:#}"),
        "the client `laptop` cannot be served: in the mode `auto` commands are confined; give `--sandbox prefer`"
    );
    assert!(toolsets.toolset(&caller("laptop"), None).await.is_err());
    assert!(toolsets.toolset(&caller("local"), None).await.is_ok());
}
