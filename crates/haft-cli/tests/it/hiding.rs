//! What is printed of calls that wait holds no secret that is configured, and what runs is what was asked for.

use crate::served::{Served, post, tool_call};
use crate::{haft, shown};
use haft_testkit::Tree;
use serde_json::{Value, json};
use std::fs::Permissions;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

/// The key of a provider, and the headers of spans of the user and of the workspace.
const SECRETS: [&str; 2] = ["of-a-provider-1", "of a \"quoted\" one"];

const CONFIGURATION: &str = r#"
[providers.ours]
like = "openai"
base_url = "https://models.example/v1"
key = "OUR_KEY"

[mcp.servers.program]
command = "/bin/false"
env = { PASSPHRASE = "of a \"quoted\" one" }
"#;

fn tree() -> Tree {
    Tree::new()
        .directory("work")
        .directory("elsewhere")
        .directory("state")
        .file("config/haft/haft.toml", CONFIGURATION)
}

/// Makes a command in one of the directories; the configuration is the user's, so that it counts wherever that is.
fn command(tree: &Tree, folder: &str, arguments: &[&str]) -> Command {
    let at = |folder: &str| tree.path().join(folder);
    let mut command = haft(&at(folder), arguments);
    command.env("XDG_CONFIG_HOME", at("config")).env("XDG_STATE_HOME", at("state"));
    command.env("HAFT_STATE", at("state/haft.db")).env("OUR_KEY", SECRETS[0]);
    command
}

#[track_caller]
fn said(tree: &Tree, folder: &str, code: i32, arguments: &[&str]) -> String {
    let output = command(tree, folder, arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", shown(&output));
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Checks that a secret is in a text in no way in which it is printed there, and that it says that there was one.
#[track_caller]
fn hides(what: &str, text: &str) {
    for secret in SECRETS {
        let escaped = secret.replace('"', "\\\"");
        for form in [secret, &escaped, &escaped.replace('\\', "\\\\")] {
            assert!(!text.contains(form), "{what} shows `{form}`: {text}");
        }
    }
    assert!(text.contains("[redacted]"), "{what}: {text}");
}

#[test]
fn secrets_of_calls_that_wait_are_not_printed_and_are_in_what_runs() {
    let tree = tree();
    let text = SECRETS.join(" and ");
    let calls = [
        ("write_file", json!({ "path": "of-a-provider-1.txt", "content": format!("{text}\n") })),
        ("bash", json!({ "command": "echo 'of a \"quoted\" one' > of-a-provider-1.log" })),
    ];
    for (tool, input) in &calls {
        said(&tree, "work", 3, &["call", tool, &input.to_string()]);
    }
    // They are hidden wherever it is looked from.
    for folder in ["work", "elsewhere"] {
        hides("the list", &said(&tree, folder, 0, &["approvals", "list"]));
        let list = said(&tree, folder, 0, &["approvals", "list", "--json"]);
        hides("the list for programs", &list);
        let list: Value = serde_json::from_str(&list).unwrap();
        for entry in list.as_array().unwrap() {
            let id = entry["call"]["id"].as_str().unwrap();
            hides("a call", &said(&tree, folder, 0, &["approvals", "show", id]));
            hides("a call for programs", &said(&tree, folder, 0, &["approvals", "show", id, "--json"]));
        }
    }
    // So is an answer that is not gone on with, which here holds other arguments.
    let list: Value =
        serde_json::from_str(&said(&tree, "work", 0, &["approvals", "list", "--json"])).unwrap();
    let find = |tool: &str| {
        let of_tool = |entry: &&Value| entry["call"]["call"]["name"] == tool;
        let call = &list.as_array().unwrap().iter().find(of_tool).unwrap()["call"];
        (call["id"].as_str().unwrap().to_owned(), call["run"].as_str().unwrap().to_owned())
    };
    let ((writes, writing), (runs, running)) = (find("write_file"), find("bash"));
    let edited = json!({ "path": "edited.txt", "content": format!("now {text}\n") }).to_string();
    said(&tree, "work", 0, &["approvals", "edit", &writes, "--input", &edited]);
    hides("an answer", &said(&tree, "work", 0, &["approvals", "show", &writes, "--json"]));
    hides("answers", &said(&tree, "work", 0, &["approvals", "list", "--json"]));
    // What is approved is what was asked for, and not what was shown.
    said(&tree, "work", 0, &["resume", &writing]);
    assert_eq!(tree.read("work/edited.txt"), format!("now {text}\n"));
    said(&tree, "work", 0, &["approvals", "approve", &runs]);
    said(&tree, "work", 0, &["resume", &running]);
    assert_eq!(tree.read("work/of-a-provider-1.log"), "of a \"quoted\" one\n");
}

#[test]
fn tokens_of_clients_are_shown_to_no_client() {
    let token = |name: &str| format!("{name:x<40}");
    let tree = Tree::new()
        .file("work/leak.txt", &format!("guest has {}\n", token("guest")))
        .file("tokens", &format!("laptop {}\nguest {}\n", token("laptop"), token("guest")));
    let tokens = tree.path().join("tokens");
    std::fs::set_permissions(&tokens, Permissions::from_mode(0o600)).unwrap();
    let mut command = haft(&tree.path().join("work"), &["serve", "--http", "127.0.0.1:0", "--token-file"]);
    let served = Served::run(command.arg(&tokens));
    let bearer = format!("Bearer {}", token("laptop"));
    let call = tool_call(1, "read_file", &json!({ "path": "leak.txt" }));
    let mut told = String::new();
    post(served.address(), &call, &[("authorization", &bearer)]).read_to_string(&mut told).unwrap();
    assert!(told.contains("guest has [redacted]") && !told.contains(&token("guest")), "{told}");
}
