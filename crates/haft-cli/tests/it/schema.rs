//! What commands print with `--json` is as their schemas say.

use crate::agent::{agent, keyed, reads, tree, writes};
use crate::haft;
use crate::mcp::User;
use crate::openapi::{api, configured};
use crate::service::{Service, Turn, Wire};
use haft_testkit::Tree;
use serde_json::Value;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::Write as _;
use std::process::{Command, Stdio};

/// What each of the tests below holds against its schema.
const OF_RUNS: &[&str] = &[
    "agent",
    "agent --chat",
    "approvals approve",
    "approvals list",
    "approvals show",
    "diff",
    "grants list",
    "grants revoke",
    "journal",
    "report",
    "resume",
    "resume RUN",
    "run",
    "undo",
    "undo --list",
];
const OF_CALLS: &[&str] = &[
    "approvals deny",
    "approvals edit",
    "call",
    "policy check",
    "policy explain",
    "policy test",
    "resume --drop",
    "resume RUN",
    "tools",
];
const OF_CONFIGURATION: &[&str] = &["config check", "config show", "doctor", "import", "init"];
const OF_SERVERS: &[&str] =
    &["mcp accept", "mcp call", "mcp list", "mcp logs", "mcp reject", "mcp status", "mcp tools"];
const OF_DOCUMENTS: &[&str] = &["openapi call", "openapi check", "openapi list", "openapi list DOCUMENT"];

pub(crate) const OF_WORKERS: &[&str] = &["worker"];

/// Holds what is printed against schemas; dropped, it wants all to have been held that it was made for.
pub(crate) struct Checks {
    wanted: &'static [&'static str],
    held: RefCell<BTreeSet<String>>,
}

impl Checks {
    pub(crate) fn of(wanted: &'static [&'static str]) -> Self {
        Self { wanted, held: RefCell::default() }
    }
}

impl Drop for Checks {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let wanted = self.wanted.iter().map(|command| (*command).to_owned()).collect();
            assert_eq!(*self.held.borrow(), wanted);
        }
    }
}

fn schema(command: &str) -> Value {
    let mut arguments = vec!["schema"];
    arguments.extend(command.split(' '));
    let output = haft(Tree::new().path(), &arguments).output().unwrap();
    assert!(output.status.success(), "{}", crate::shown(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

impl Checks {
    /// Checks that what is printed fits the schema of a command, and has members that only it has.
    pub(crate) fn check(&self, command: &str, printed: &[Value], needs: &[&str]) {
        self.held.borrow_mut().insert(command.to_owned());
        let schema = schema(command);
        let validator = jsonschema::validator_for(&schema).unwrap();
        assert!(!printed.is_empty(), "`{command}` printed nothing");
        for value in printed {
            let problems: Vec<String> = validator.iter_errors(value).map(|error| error.to_string()).collect();
            assert!(problems.is_empty(), "`{command}`: {problems:?}\n{value:#}");
        }
        // A schema that fits anything says nothing.
        for (other, what) in
            [(serde_json::json!(17), "a number"), (serde_json::json!({ "unlike": true }), "another object")]
        {
            assert!(!validator.is_valid(&other), "the schema of `{command}` takes {what}");
        }
        let text = printed.iter().map(Value::to_string).collect::<String>();
        for need in needs {
            assert!(text.contains(need), "`{command}` printed no {need}: {text}");
        }
    }
}

fn lines(mut command: Command, said: &str) -> Vec<Value> {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(said.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    String::from_utf8_lossy(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn whole(tree: &Tree, arguments: &[&str]) -> Vec<Value> {
    let output = keyed(tree, arguments).output().unwrap();
    let shown = crate::shown(&output);
    vec![
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{arguments:?}: {error}\n{shown}")),
    ]
}

/// What a command of a user prints, whatever it comes to.
fn of_user(user: &User, arguments: &[&str]) -> Vec<Value> {
    let output = user.command(arguments).output().unwrap();
    let shown = crate::shown(&output);
    vec![
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{arguments:?}: {error}\n{shown}")),
    ]
}

#[test]
fn every_schema_is_held_against_what_is_printed() {
    let listed = haft(Tree::new().path(), &["schema"]).output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let listed: BTreeSet<&str> = listed.lines().map(|line| line.split("  ").next().unwrap()).collect();
    let held = [OF_RUNS, OF_CALLS, OF_CONFIGURATION, OF_SERVERS, OF_DOCUMENTS, OF_WORKERS].concat();
    assert_eq!(listed, held.into_iter().collect());
}

#[test]
fn what_is_printed_of_runs_and_what_they_leave_is_as_the_schemas_say() {
    let checks = Checks::of(OF_RUNS);
    let turns =
        [reads("c1").thinking("Where?").saying("I look."), writes("c2"), Turn::text("Done."), writes("c3")];
    let (service, tree) = (Service::of(Wire::Anthropic, &turns), tree());
    let chat = agent(&tree, &service, Wire::Anthropic, &["--json"]);
    let said = "/help\n/tools\n/cost\n/mode plan\n/mode default\n/xyzzy\nWork.\n/approve\nMore.\n/undo\n";
    let printed = lines(chat, said);
    let needs = [
        "chat_started",
        "help",
        "\"cost\"",
        "refused",
        "text_delta",
        "summary",
        "waiting",
        "queued",
        "undone",
        "chat_ended",
    ];
    checks.check("agent --chat", &printed, &needs);

    checks.check("resume", &whole(&tree, &["resume", "--json"]), &["started_at_ms"]);
    checks.check("approvals list", &whole(&tree, &["approvals", "list", "--json"]), &["write_file"]);
    let (call, run) = crate::waiting::waiting(&tree);
    checks.check("approvals show", &whole(&tree, &["approvals", "show", &call, "--json"]), &["unmet"]);
    let approved = whole(&tree, &["approvals", "approve", &call, "--for", "workspace", "--json"]);
    checks.check("approvals approve", &approved, &[&run, "write_file", "\"approved\"", "\"workspace\""]);
    let printed = lines(keyed(&tree, &["resume", &run, "--json"]), "");
    checks.check("resume RUN", &printed, &["finished", "completed"]);
    checks.check("agent", &printed, &["finished", "completed"]);
    checks.check("run", &printed, &[]);

    checks.check("report", &whole(&tree, &["report", &run, "--json"]), &["\"calls\"", "Done."]);
    let grants = whole(&tree, &["grants", "list", "--json"]);
    checks.check("grants list", &grants, &["workspace"]);
    let grant = grants[0][0]["id"].as_str().unwrap();
    checks.check("grants revoke", &whole(&tree, &["grants", "revoke", grant, "--json"]), &[grant]);
    checks.check("grants revoke", &whole(&tree, &["grants", "revoke", "--all", "--json"]), &["[]"]);
    checks.check("journal", &whole(&tree, &["journal", "--json"]), &["ended", "waiting"]);
    checks.check("diff", &whole(&tree, &["diff", &run, "--json"]), &["a.txt"]);
    checks.check("undo --list", &whole(&tree, &["undo", "--json"]), &["in_force"]);
    checks.check("undo", &whole(&tree, &["undo", &run, "--dry-run", "--json"]), &["dry_run"]);
    checks.check("undo", &whole(&tree, &["undo", &run, "--json"]), &["undone_as"]);
    checks.check("undo", &whole(&tree, &["undo", &run, "--json"]), &["nothing_to_undo"]);
}

#[test]
fn what_is_printed_of_calls_tools_and_policies_is_as_the_schemas_say() {
    let checks = Checks::of(OF_CALLS);
    let policy =
        "[permissions]\nallow = [\"read(**)\"]\n\n[[test]]\naccess = \"read(a.txt)\"\nexpect = \"allow\"\n";
    let tree =
        Tree::new().file("notes.md", "one\n").file("policy.toml", policy).file("wrong.toml", "allow = 1\n");
    checks.check("tools", &whole(&tree, &["tools", "--json"]), &["read_file"]);
    let reads = ["call", "read_file", r#"{"path":"notes.md"}"#, "--json"];
    checks.check("call", &whole(&tree, &reads), &["replied"]);
    let waits = ["call", "write_file", r#"{"path":"a.txt","content":"a"}"#, "--json"];
    checks.check("call", &whole(&tree, &waits), &["pending"]);
    let (call, run) = crate::waiting::waiting(&tree);
    let denied = whole(&tree, &["approvals", "deny", &call, "--never", "--json"]);
    checks.check("approvals deny", &denied, &["\"denied\"", "\"workspace\"", "\"resume\""]);
    let edit = ["approvals", "edit", &call, "--input", r#"{"path":"b.txt","content":"b"}"#, "--json"];
    checks.check("approvals edit", &whole(&tree, &edit), &["\"edited\""]);
    checks.check("resume RUN", &whole(&tree, &["resume", &run, "--json"]), &["replied", "b.txt"]);
    whole(&tree, &["call", "write_file", r#"{"path":"c.txt","content":"c"}"#, "--json"]);
    let (_, run) = crate::waiting::waiting(&tree);
    checks.check("resume --drop", &whole(&tree, &["resume", &run, "--drop", "--json"]), &["dropped"]);
    let checked = whole(&tree, &["policy", "check", "policy.toml", "wrong.toml", "--json"]);
    checks.check("policy check", &checked, &["problems"]);
    checks.check("policy test", &whole(&tree, &["policy", "test", "policy.toml", "--json"]), &["passed"]);
    let explained = whole(&tree, &["policy", "explain", "cat notes.md && rm x", "--json"]);
    checks.check("policy explain", &explained, &["\"ask\"", "\"rule\"", "\"change\""]);
    let script = "ls\n{\"tool\":\"read_file\",\"input\":{\"path\":\"notes.md\"}}\n{\"tool\":1,\"input\":2}\n";
    let explained = lines(keyed(&tree, &["policy", "explain", "--stdin", "--json"]), script);
    assert_eq!(explained.len(), 3);
    checks.check("policy explain", &explained, &["\"allow\"", "\"error\""]);
}

#[test]
fn what_is_printed_of_the_configuration_is_as_the_schemas_say() {
    let checks = Checks::of(OF_CONFIGURATION);
    let user = User::new();
    user.write_file("Cargo.toml", "[package]\n");
    user.write(r#"{"mcpServers":{"time":{"command":"mcp-server-time","env":{"KEY":"sk-1"}}}}"#);
    let printed = of_user(&user, &["init", "--print", "--json"]);
    checks.check("init", &printed, &["\"written\":false", "cargo build", "Rust"]);
    checks.check("init", &of_user(&user, &["init", "--json"]), &["\"written\":true", "\"trusted\":true"]);
    checks.check(
        "init",
        &of_user(&user, &["init", "--user", "--json"]),
        &["/haft/haft.toml", "\"trusted\":true"],
    );
    checks.check("import", &of_user(&user, &["import", "--json"]), &["mcp.servers.time", "\"left\""]);
    checks.check("config show", &of_user(&user, &["config", "show", "--json"]), &["in_force", "workspace"]);
    checks.check("config check", &of_user(&user, &["config", "check", "--json"]), &["haft.toml"]);
    checks.check("doctor", &of_user(&user, &["doctor", "--json"]), &["severity", "workdir"]);
    user.write_file("haft.toml", "[tools]\nselect = 1\n[mcp.servers.a]\ncommand = 1\n");
    checks.check("config check", &of_user(&user, &["config", "check", "--json"]), &["haft.toml:2"]);
}

#[test]
fn what_is_printed_of_servers_is_as_the_schemas_say() {
    let checks = Checks::of(OF_SERVERS);
    let user = User::new();
    user.add_echo();
    user.write(r#"{"mcpServers":{"web":{"url":"https://example.com/mcp"},"bad":{"command":1}}}"#);
    checks.check("mcp list", &of_user(&user, &["mcp", "list", "--json"]), &["\"stdio\"", "\"untrusted\""]);
    checks.check(
        "mcp status",
        &of_user(&user, &["mcp", "status", "echo", "--json"]),
        &["\"ready\"", "legacy"],
    );
    checks.check("mcp tools", &of_user(&user, &["mcp", "tools", "--json"]), &["echo__say"]);
    checks.check("mcp logs", &of_user(&user, &["mcp", "logs", "echo", "--json"]), &["stderr"]);
    let call = ["mcp", "call", "echo", "say", r#"{"text":"hello"}"#, "--yes", "--json"];
    checks.check("mcp call", &of_user(&user, &call), &["replied", "hello"]);
    user.describe("Says something else.");
    let waits = of_user(&user, &["mcp", "accept", "echo", "--json"]);
    checks.check("mcp accept", &waits, &["\"accepted\":false", "Says something else."]);
    let handle = format!("say@{}", waits[0][0]["digest"].as_str().unwrap());
    let accepted = of_user(&user, &["mcp", "accept", "echo", &handle, "--json"]);
    checks.check("mcp accept", &accepted, &["\"accepted\":true"]);
    let rejected = of_user(&user, &["mcp", "reject", "echo", "say", "--json"]);
    checks.check("mcp reject", &rejected, &["\"rejected\":true"]);
}

#[test]
fn what_is_printed_of_documents_is_as_the_schemas_say() {
    let checks = Checks::of(OF_DOCUMENTS);
    let (address, api) = api(1);
    let user = configured(&address);
    let checked = of_user(&user, &["openapi", "check", "broken.json", "--json"]);
    checks.check("openapi check", &checked, &["\"skipped\"", "not_chosen", "no_server"]);
    checks.check("openapi list", &of_user(&user, &["openapi", "list", "--json"]), &["pets.yaml"]);
    let specs = of_user(&user, &["openapi", "list", "pets", "--json"]);
    checks.check("openapi list DOCUMENT", &specs, &["pets__showPet"]);
    let call = ["openapi", "call", "pets", "showPet", "--input", r#"{"id":"7"}"#, "--yes", "--json"];
    checks.check("openapi call", &of_user(&user, &call), &["replied", "the key"]);
    api.join().unwrap();
}

#[test]
fn a_command_without_a_schema_is_named() {
    let tree = Tree::new();
    let output = haft(tree.path(), &["schema", "serve"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(crate::shown(&output).contains("nothing is said of what `serve` prints"));
    let listed = haft(tree.path(), &["schema"]).output().unwrap();
    assert!(String::from_utf8_lossy(&listed.stdout).contains("approvals list"));
}
