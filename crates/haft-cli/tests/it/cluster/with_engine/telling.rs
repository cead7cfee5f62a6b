use crate::cluster::client::Front;
use crate::cluster::engine::{Engine, PATIENCE};
use crate::cluster::nginx::{Nginx, Ports};
use crate::cluster::worker::WorkerProcess;
use crate::served::{post, tool_call};
use haft_testkit::Tree;
use serde_json::{Value, json};
use std::io::{BufReader, Read as _, Write as _};
use std::net::TcpStream;

/// Reads messages until one is there that is looked for, and gives all of them.
fn read_until(stream: &mut impl std::io::BufRead, is_it: impl Fn(&Value) -> bool) -> Vec<Value> {
    let (mut read, mut line) = (Vec::new(), String::new());
    loop {
        line.clear();
        assert_ne!(stream.read_line(&mut line).unwrap(), 0, "it is not there: {read:?}");
        let Some(Ok(message)) = line.strip_prefix("data: ").map(serde_json::from_str::<Value>) else {
            continue;
        };
        let is_last = is_it(&message);
        read.push(message);
        if is_last {
            return read;
        }
    }
}

#[test]
#[ignore = "needs the server that `cargo xtask durable` installs"]
fn a_client_is_told_how_far_its_call_has_got_by_way_of_the_nginx_that_lets_nothing_else_through() {
    let machine = Tree::new().file("lax.toml", "[permissions]\nallow = [\"bash\"]\n");
    let front = Tree::new();
    let engine = Engine::start();
    let ports = Ports::new();
    let _nginx = Nginx::start(&ports, &engine);
    let news = format!("http://127.0.0.1:{}", ports.news);
    let _worker =
        WorkerProcess::start(machine.path(), &engine, &["--policy", "lax.toml", "--restate", &news]);
    let client = Front::start(front.path(), &engine, &[]);
    let script = "echo compiling; while [ ! -e go ]; do sleep 0.05; done; echo whole";
    let mut call = tool_call(1, "bash", &json!({ "command": script }));
    call["params"]["_meta"]["progressToken"] = json!("t");
    let stream = post(client.address(), &call, &[]);
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut stream = BufReader::new(stream);
    let said = read_until(&mut stream, |message| {
        message["method"] == "notifications/progress" && message["params"]["message"] == "compiling"
    });
    assert_eq!(said.last().unwrap()["params"]["progressToken"], "t");
    std::fs::write(machine.path().join("go"), "").unwrap();
    let rest = read_until(&mut stream, |message| message.get("result").is_some());
    let text = rest.last().unwrap()["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("compiling\nwhole\n"), "{text}");

    // A command of a tool could say that, and no more: it can neither answer nor make a call, nor see what waits.
    let id = client.waits("write_file", &json!({ "path": "x", "content": "y" }));
    let key = id.split_once('/').unwrap().1.rsplit_once(':').unwrap().0.replace('/', "%2F");
    let asked = |request: &str| {
        let mut stream = TcpStream::connect(("127.0.0.1", ports.news)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let head = "host: x\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: 2";
        write!(stream, "{request} HTTP/1.1\r\n{head}\r\n\r\n{{}}").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.lines().next().unwrap_or_default().to_owned()
    };
    for denied in [
        format!("POST /restate/call/tools/{key}/decide"),
        format!("POST /restate/call/tools/{key}/run"),
        format!("POST /restate/send/tools/{key}/run"),
        format!("POST /restate/send/tools/{key}/hear"),
        format!("POST /tools/{key}/decide"),
        format!("POST /restate/call/tools/{key}/decide?x=/hear"),
        format!("POST /restate/call/tools/{key}/decide/../hear"),
        format!("POST /restate/call/tools/{key}/hear/../decide"),
        format!("POST /restate/call/tools/{key}/decide%2F..%2Fhear"),
        format!("POST //restate/call/tools/{key}/hear"),
        format!("GET /restate/call/tools/{key}/hear"),
        format!("POST /restate/call/tools/{key}/decide#/hear"),
        format!("POST /restate/call/other/{key}/hear"),
        format!("POST /restate/call/tools/{key}/hear?x"),
        "GET /restate/health".to_owned(),
        "POST /query".to_owned(),
    ] {
        let answer = asked(&denied);
        assert!(answer.contains(" 403 "), "{denied}: {answer}");
    }
    // The engine has this one, and finds that it says nothing.
    let passed = asked(&format!("POST /restate/call/tools/{key}/hear"));
    assert!(passed.starts_with("HTTP/1.1 ") && !passed.contains(" 403 "), "{passed}");
    assert!(client.approvals(&["list"]).contains(&id));
}
