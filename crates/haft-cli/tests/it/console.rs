//! `haft serve --console`: calls that wait are answered on the page, and nobody else gets at them.

use crate::served::{end, post, tool_call};
use crate::{check, haft};
use expect_test::expect;
use haft_testkit::Tree;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Is a server with a page, which a browser has opened; dropped, it is ended.
struct Console {
    child: Option<Child>,
    tree: Tree,
    mcp: String,
    page: String,
    cookie: String,
    key: String,
    /// What the browser was let in with.
    opened: String,
    /// What it has written to its standard error since it serves.
    log: Arc<Mutex<String>>,
}

impl Console {
    fn start() -> Self {
        Self::of(Tree::new().file("notes.md", "one\n"), &[])
    }

    fn of(tree: Tree, arguments: &[&str]) -> Self {
        Self::with(tree, arguments, |_| {})
    }

    fn with(tree: Tree, arguments: &[&str], prepare: impl FnOnce(&mut Command)) -> Self {
        let mut command = haft(tree.path(), &["serve", "--http", "127.0.0.1:0", "--console"]);
        prepare(&mut command);
        let mut child = command.args(arguments).stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap());
        let mut printed = |start: &str| loop {
            let mut line = String::new();
            assert!(said.read_line(&mut line).unwrap() > 0, "it does not say `{start}`");
            if let Some(rest) = line.trim_end().strip_prefix(start) {
                break rest.to_owned();
            }
        };
        let address = printed("Console at http://");
        let mcp = printed("Serving at http://").trim_end_matches("/mcp").to_owned();
        // Closed, it would have the server fail to say something.
        let log = Arc::new(Mutex::new(String::new()));
        let kept = Arc::clone(&log);
        std::thread::spawn(move || {
            let mut line = String::new();
            while said.read_line(&mut line).is_ok_and(|bytes| bytes > 0) {
                std::io::stderr().write_all(line.as_bytes()).unwrap();
                kept.lock().unwrap().push_str(&line);
                line.clear();
            }
        });
        let (page, rest) = address.split_once('/').unwrap();
        let (opened, key) = rest.split_once('#').unwrap();
        let told = ask(page, &format!("GET /{opened} HTTP/1.1\r\nhost: {page}\r\nconnection: close\r\n\r\n"));
        assert!(told.starts_with("HTTP/1.1 303 ") && told.contains("\r\nlocation: /\r\n"), "{told}");
        let cookie = told.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
        let cookie = cookie.split(';').next().unwrap().to_owned();
        let (page, key, opened) = (page.to_owned(), key.to_owned(), opened.to_owned());
        Self { child: Some(child), tree, mcp, page, cookie, key, opened, log }
    }

    /// The headers of a request of the page.
    fn headers(&self) -> String {
        let Self { page, cookie, key, .. } = self;
        format!(
            "host: {page}\r\ncookie: {cookie}\r\nx-haft-console: {key}\r\norigin: http://{page}\r\n\
             sec-fetch-site: same-origin\r\nconnection: close\r\n"
        )
    }

    /// Asks for what is known once it is another state than this one.
    fn live(&self, seen: &str) -> Value {
        let told = ask(&self.page, &format!("GET /live?seen={seen} HTTP/1.1\r\n{}\r\n", self.headers()));
        let (head, body) = told.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200 "), "{told}");
        serde_json::from_str(body).unwrap()
    }

    /// Follows what is known until it is so.
    fn until(&self, is_so: impl Fn(&Value) -> bool) -> Value {
        let mut seen = String::new();
        let start = Instant::now();
        loop {
            assert!(start.elapsed() < Duration::from_mins(1), "it does not come to that");
            let live = self.live(&seen);
            if live["waiting"].is_array() && is_so(&live) {
                return live;
            }
            live["version"].as_str().unwrap().clone_into(&mut seen);
        }
    }

    /// The one call that waits.
    fn waiting(&self) -> Value {
        self.until(|live| live["waiting"].as_array().is_some_and(|waiting| waiting.len() == 1))["waiting"][0]
            .clone()
    }

    fn change(&self, path: &str, body: &Value) -> (u16, String) {
        let body = body.to_string();
        let told = ask(
            &self.page,
            &format!(
                "POST {path} HTTP/1.1\r\n{}content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
                self.headers(),
                body.len()
            ),
        );
        let status = told[9..12].parse().unwrap();
        let said: Value = serde_json::from_str(told.split_once("\r\n\r\n").unwrap().1).unwrap();
        (status, said["said"].as_str().unwrap().to_owned())
    }

    fn answer(&self, call: &Value, says: &Value) -> (u16, String) {
        let mut body = json!({ "id": call["id"], "digest": call["digest"] });
        body.as_object_mut().unwrap().extend(says.as_object().unwrap().clone());
        self.change("/answer", &body)
    }

    /// Makes a call as a client that cannot show a form, which waits for its reply meanwhile.
    fn call(&self, tool: &str, arguments: &Value) -> JoinHandle<Value> {
        let (mcp, call) = (self.mcp.clone(), tool_call(1, tool, arguments));
        std::thread::spawn(move || {
            let mut told = String::new();
            post(&mcp, &call, &[]).read_to_string(&mut told).unwrap();
            let line =
                told.lines().find(|line| line.contains("\"jsonrpc\"")).unwrap_or_else(|| panic!("{told}"));
            let reply: Value = serde_json::from_str(line.trim_start_matches("data: ")).unwrap();
            reply["result"].clone()
        })
    }

    /// Has it end as a person would, with all written that it has to say.
    fn end(&mut self) {
        if let Some(child) = self.child.take() {
            end(child);
        }
    }

    fn file(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.tree.path().join(name)).ok()
    }
}

impl Drop for Console {
    fn drop(&mut self) {
        self.end();
    }
}

/// Sends a request as it is written, and gives all that comes back.
fn ask(address: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut told = Vec::new();
    // What was refused may be cut off before all of it was sent.
    let _ = stream.read_to_end(&mut told);
    String::from_utf8(told).unwrap()
}

fn text(reply: &Value) -> &str {
    reply["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {reply}"))
}

fn write(name: &str, content: &str) -> Value {
    json!({ "path": name, "content": content })
}

#[test]
fn a_call_that_its_client_waits_for_goes_on_when_the_page_approves_it_and_only_then() {
    let console = Console::start();
    let call = console.call("write_file", &write("a.txt", "a\n"));
    let waiting = console.waiting();
    assert_eq!(waiting["tool"], "write_file");
    assert_eq!(waiting["accesses"][0]["access"], "write file:a.txt");
    assert_eq!(waiting["preview"]["kind"], "diff");
    assert!(waiting["preview"]["text"]["text"].as_str().unwrap().contains("+a"), "{waiting}");
    assert_eq!(console.file("a.txt"), None);
    assert!(!call.is_finished());
    assert_eq!(
        console.answer(&waiting, &json!({ "answer": "approve" })),
        (200, "approved `write_file`".to_owned())
    );
    let reply = call.join().unwrap();
    assert_ne!(reply["isError"], true, "{reply}");
    assert_eq!(console.file("a.txt").as_deref(), Some("a\n"));
    // It is on the timeline, with who let it.
    let live = console.until(|live| live["report"]["calls"][0]["status"] == "ok");
    assert_eq!(live["report"]["calls"].as_array().map(Vec::len), Some(1), "{live}");
    let shown = &live["report"]["calls"][0];
    assert_eq!((&shown["called_as"], &shown["asked"]), (&json!("write_file"), &json!(true)));
    assert_eq!(shown["decided"]["answer"], "approved");
}

#[test]
fn a_call_is_denied_with_a_reason_and_a_second_decision_loses() {
    let console = Console::start();
    let call = console.call("write_file", &write("a.txt", "a\n"));
    let waiting = console.waiting();
    let deny = json!({ "answer": "deny", "reason": "not today" });
    assert_eq!(console.answer(&waiting, &deny), (200, "denied `write_file`".to_owned()));
    let (status, said) = console.answer(&waiting, &json!({ "answer": "approve" }));
    assert_eq!(status, 409);
    assert!(said.ends_with("your answer does not count"), "{said}");
    let reply = call.join().unwrap();
    assert_eq!(reply["isError"], true);
    assert!(text(&reply).contains("not approved: not today"), "{reply}");
    assert_eq!(console.file("a.txt"), None);
    let (status, said) = console.answer(&waiting, &json!({ "answer": "approve" }));
    assert_eq!(
        (status, &*said),
        (
            409,
            "this call waits no more: it was decided, was cancelled or goes on already; your answer does not count"
        )
    );
}

#[test]
fn a_call_runs_with_the_arguments_that_were_edited_and_not_with_bad_ones() {
    let console = Console::start();
    let call = console.call("write_file", &write("a.txt", "a\n"));
    let waiting = console.waiting();
    let edited: Value = serde_json::from_str(waiting["edit"].as_str().unwrap()).unwrap();
    assert_eq!(edited, write("a.txt", "a\n"));
    for (input, why) in [
        ("{", "not JSON"),
        ("{}", "cannot be made"),
        ("{\"path\":\"../x\",\"content\":\"\"}", "cannot be made"),
    ] {
        let (status, said) = console.answer(&waiting, &json!({ "answer": "edit", "input": input }));
        assert!(status == 409 && said.contains(why), "{input}: {said}");
    }
    let says = json!({ "answer": "edit", "input": write("b.txt", "b\n").to_string() });
    let told = console.answer(&waiting, &says);
    assert_eq!(told, (200, "approved with other arguments `write_file`".to_owned()));
    let reply = call.join().unwrap();
    assert_ne!(reply["isError"], true, "{reply}");
    assert_eq!((console.file("a.txt"), console.file("b.txt").as_deref()), (None, Some("b\n")));
}

#[test]
fn an_approval_is_for_exactly_what_was_shown() {
    let console = Console::start();
    let call = console.call("write_file", &write("a.txt", "a\n"));
    let waiting = console.waiting();
    let mut other = waiting.clone();
    let digest = waiting["digest"].as_str().unwrap();
    other["digest"] = json!(digest.chars().rev().collect::<String>());
    let (status, said) = console.answer(&other, &json!({ "answer": "approve" }));
    assert_eq!(
        (status, &*said),
        (409, "what this call would do is no longer what you were shown; look at it again, then decide")
    );
    assert_eq!(console.file("a.txt"), None);
    assert_eq!(console.answer(&waiting, &json!({ "answer": "approve" })).0, 200);
    let reply = call.join().unwrap();
    assert_ne!(reply["isError"], true, "{reply}");
}

#[test]
fn an_answer_is_remembered_as_shown_and_revoked() {
    let console = Console::start();
    let call = console.call("write_file", &write("a.txt", "a\n"));
    let waiting = console.waiting();
    let rule = waiting["accesses"][0]["grant"].clone();
    let says = json!({ "answer": "approve", "term": "workspace" });
    assert_eq!(console.answer(&waiting, &says).0, 200);
    call.join().unwrap();
    let live = console.until(|live| live["grants"].as_array().is_some_and(|grants| !grants.is_empty()));
    assert_eq!(live["grants"].as_array().map(Vec::len), Some(1), "{live}");
    let grant = &live["grants"][0];
    assert_eq!(
        (&grant["rule"], &grant["never"], &grant["agent"]),
        (&rule, &json!(false), &json!("mcp:anyone"))
    );
    let revoke = json!({ "id": grant["id"] });
    assert_eq!(console.change("/revoke", &revoke), (200, "revoked".to_owned()));
    assert_eq!(console.change("/revoke", &revoke), (409, "there is no such grant any more".to_owned()));
    console.until(|live| live["grants"].as_array().is_some_and(Vec::is_empty));
}

#[test]
fn what_is_refused_is_refused_alike_whatever_was_wrong() {
    let console = Console::start();
    let Console { page, cookie, key, opened, .. } = &console;
    let refused = |request: &str| {
        let told = ask(page, request);
        let lines =
            told.lines().filter(|line| !line.starts_with("date: ") && !line.starts_with("connection: "));
        lines.collect::<Vec<_>>().join("\n")
    };
    let usual = refused(&format!("GET / HTTP/1.1\r\nhost: {page}\r\nconnection: close\r\n\r\n"));
    expect![[r#"
        HTTP/1.1 403 Forbidden
        content-type: text/plain; charset=utf-8
        cache-control: no-store
        x-content-type-options: nosniff
        x-frame-options: DENY
        referrer-policy: no-referrer
        cross-origin-resource-policy: same-origin
        cross-origin-opener-policy: same-origin
        content-security-policy: default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'
        content-length: 8

        refused"#]]
    .assert_eq(&usual);
    let ours = console.headers();
    let other_host = ours.replacen(&format!("host: {page}"), "host: evil.example", 1);
    let cross_site = ours.replace("same-origin", "cross-site");
    let other_origin = ours.replace("origin: http://127.0.0.1", "origin: https://evil.example");
    let no_key = ours.replace(&**key, "");
    let no_cookie = ours.replace(&**cookie, "a=b");
    let body = "content-type: application/json\r\ncontent-length: 2\r\n\r\n{}";
    for request in [
        format!("GET /{opened} HTTP/1.1\r\nhost: {page}\r\nconnection: close\r\n\r\n"),
        format!("GET / HTTP/1.1\r\nhost: evil.example\r\ncookie: {cookie}\r\nconnection: close\r\n\r\n"),
        format!("GET /live HTTP/1.1\r\nhost: {page}\r\ncookie: {cookie}\r\nconnection: close\r\n\r\n"),
        format!("DELETE / HTTP/1.1\r\n{ours}\r\n"),
        format!("GET /nothing HTTP/1.1\r\n{ours}\r\n"),
        format!("GET /answer HTTP/1.1\r\n{ours}\r\n"),
        format!("POST /answer HTTP/1.1\r\n{other_host}{body}"),
        format!("POST /answer HTTP/1.1\r\n{cross_site}{body}"),
        format!("POST /answer HTTP/1.1\r\n{other_origin}{body}"),
        format!("POST /answer HTTP/1.1\r\n{no_key}{body}"),
        format!("POST /answer HTTP/1.1\r\n{no_cookie}{body}"),
        format!(
            "POST /answer HTTP/1.1\r\n{ours}content-type: application/x-www-form-urlencoded\r\ncontent-length: 2\r\n\r\n{{}}"
        ),
    ] {
        assert_eq!(refused(&request), usual, "{request}");
    }
}

#[test]
fn what_is_too_long_too_slow_or_too_much_is_ended() {
    let console = Console::start();
    let told = ask(
        &console.page,
        &format!(
            "POST /answer HTTP/1.1\r\n{}content-type: application/json\r\ncontent-length: 300000\r\n\r\n{}",
            console.headers(),
            "x".repeat(300_000)
        ),
    );
    assert!(told.starts_with("HTTP/1.1 413 ") || told.is_empty(), "{told}");
    let long = format!("GET / HTTP/1.1\r\nhost: {}\r\na: {}\r\n\r\n", console.page, "x".repeat(100_000));
    let told = ask(&console.page, &long);
    assert!(told.is_empty() || told.starts_with("HTTP/1.1 431 "), "{told}");
    assert_eq!(console.change("/answer", &json!({ "id": "p" })).0, 409);
    // These say nothing more, and are ended; meanwhile there is room for no other.
    let began = Instant::now();
    let mut slow: Vec<TcpStream> = (0..32).map(|_| TcpStream::connect(&console.page).unwrap()).collect();
    for stream in &mut slow {
        stream.write_all(b"GET / HTTP/1.1\r\nhost: a").unwrap();
    }
    let told = ask(&console.page, "GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    // As long as the head of a request may take, there is none.
    assert!(told.is_empty() || began.elapsed() >= Duration::from_secs(5), "{told}");
    let start = Instant::now();
    for mut stream in slow {
        let mut told = Vec::new();
        let _ = stream.read_to_end(&mut told);
    }
    assert!(start.elapsed() < Duration::from_secs(30));
    assert!(console.live("")["version"].is_string());
}

#[test]
fn the_console_is_for_this_machine_alone() {
    let tree = Tree::new();
    check(
        tree.path(),
        &["serve", "--console", "0.0.0.0:0"],
        expect![[r"
            stderr: error: others can reach `0.0.0.0:0`, and whoever is let in there can let calls run; use `--console 127.0.0.1:0`
            exit 2
        "]],
    );
    check(
        tree.path(),
        &["serve", "--console", "[::]:0"],
        expect![[r"
            stderr: error: others can reach `[::]:0`, and whoever is let in there can let calls run; use `--console 127.0.0.1:0`
            exit 2
        "]],
    );
}

#[test]
fn standard_output_stays_the_protocol_s_beside_a_console_and_ends_with_its_client() {
    let tree = Tree::new();
    let output = haft(tree.path(), &["serve", "--console"]).output().unwrap();
    assert!(output.status.success() && output.stdout.is_empty());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.starts_with("Console at http://127.0.0.1:"), "{said}");
}

/// Secrets that are configured for a provider, a server, a service and a document, each with what it is found by.
const SECRETS: [&str; 6] = [
    "of-a-provider-1",
    "of-a-server-2",
    "of-a-service-3",
    "of-a-document-4",
    "of-a-collector-5",
    "of a \"quoted\" one",
];

/// Is a console of a user who has configured what these secrets are for.
fn console_with_secrets() -> (Console, tempfile::TempDir) {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("config/haft");
    std::fs::create_dir_all(&folder).unwrap();
    let configuration = r#"
[permissions]
allow = ["exec(@reads)", "read(**)"]

[providers.ours]
like = "openai"
base_url = "https://models.example/v1"
key = "OUR_KEY"

[mcp.servers.program]
command = "/bin/false"
env = { API_TOKEN = "${SERVER_TOKEN}", PASSPHRASE = "of a \"quoted\" one" }

[mcp.servers.service]
url = "https://127.0.0.1:9/mcp"
headers = { Authorization = "Bearer ${SERVICE_TOKEN}" }

[openapi.pets]
document = "pets.json"
credentials.key = "${PETS_KEY}"

[telemetry]
endpoint = "https://collector.example"
header = ["api-key: $COLLECTOR_KEY"]
"#;
    std::fs::write(folder.join("haft.toml"), configuration).unwrap();
    let document = r#"{"openapi":"3.1.0","info":{"title":"Pets","version":"1"},"paths":{}}"#;
    std::fs::write(folder.join("pets.json"), document).unwrap();
    let log = home.path().join("access.log");
    let tree = Tree::new().file("leak.txt", &SECRETS.join("\n"));
    let console = Console::with(tree, &["--access-log", log.to_str().unwrap()], |command| {
        command.env("XDG_CONFIG_HOME", home.path().join("config"));
        command.env("XDG_STATE_HOME", home.path().join("state"));
        command.env("OUR_KEY", SECRETS[0]).env("SERVER_TOKEN", SECRETS[1]);
        command.env("SERVICE_TOKEN", SECRETS[2]).env("PETS_KEY", SECRETS[3]);
        command.env("COLLECTOR_KEY", SECRETS[4]).env("OTEL_SDK_DISABLED", "true");
    });
    (console, home)
}

/// Checks that no secret is in a text, in any way in which JSON could write it.
#[track_caller]
fn hides(what: &str, text: &str) {
    for secret in SECRETS {
        let escaped = secret.replace('"', "\\\"");
        for form in [secret, &escaped, &escaped.replace('\\', "\\\\")] {
            assert!(!text.contains(form), "{what} shows `{form}`: {text}");
        }
    }
}

#[test]
fn secrets_in_arguments_and_outputs_reach_neither_the_page_nor_the_journal_nor_a_log() {
    let (mut console, home) = console_with_secrets();
    // In arguments that are asked about, in their preview and in what they would touch.
    let leaks = SECRETS.join(" ");
    let call = console.call("write_file", &write("a-of-a-server-2.txt", &leaks));
    let waiting = console.waiting();
    hides("the call that waits", &waiting.to_string());
    assert!(waiting["input"]["text"].as_str().unwrap().contains("[redacted]"), "{waiting}");
    // What is shown is not what would run, so it is not edited there.
    assert_eq!((&waiting["edit"], &waiting["holds_secret"]), (&Value::Null, &json!(true)));
    let (status, told) =
        console.answer(&waiting, &json!({ "answer": "edit", "input": "{\"of-a-service-3\":1}" }));
    assert_eq!(status, 409);
    hides("the answer to an edit", &told);
    assert_eq!(console.answer(&waiting, &json!({ "answer": "approve" })).0, 200);
    hides("the reply", &call.join().unwrap().to_string());
    // It ran with what was sent, and not with what was shown.
    assert_eq!(console.file("a-of-a-server-2.txt").as_deref(), Some(&*leaks));
    // In an output, and in the words of an error.
    for (tool, arguments) in [
        ("bash", json!({ "command": "cat leak.txt" })),
        ("read_file", json!({ "path": "leak.txt" })),
        ("read_file", json!({ "path": "of-a-provider-1" })),
    ] {
        let reply = console.call(tool, &arguments).join().unwrap().to_string();
        hides(&format!("the reply of {tool}"), &reply);
    }
    // In the name of a tool that there is none of, which only its client is told again.
    console.call("of-a-document-4", &json!({})).join().unwrap();
    let live = console.until(|live| live["report"]["calls"].as_array().is_some_and(|calls| calls.len() >= 4));
    hides("the page", &live.to_string());
    let journal = haft(console.tree.path(), &["journal", "--json"]).output().unwrap();
    let journal = String::from_utf8(journal.stdout).unwrap();
    assert!(journal.contains("write_file"), "{journal}");
    hides("the journal", &journal);
    hides("the log", &console.log.lock().unwrap());
    console.end();
    let log = std::fs::read_to_string(home.path().join("access.log")).unwrap();
    assert!(log.contains("read_file"), "{log}");
    hides("the access log", &log);
}
