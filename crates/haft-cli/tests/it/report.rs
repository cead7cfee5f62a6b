//! What a run looks like afterwards: as a page, as data and as a trace.

use crate::agent::{agent, ended, reads, tree, writes};
use crate::service::{Answer, Service, Turn, Wire};
use crate::waiting::{json, say, waiting};
use crate::{haft, shown};
use expect_test::{Expect, expect};
use haft_testkit::Tree;
use serde_json::{Value, json as value};
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::Path;

const WRITE: [&str; 3] = ["call", "write_file", r#"{"path":"a.txt","content":"x\n"}"#];

/// Has the journal be kept from now on, as it is from the first call that waits.
fn keep_journal(tree: &Tree) {
    say(tree, 3, &WRITE);
    let (_, run) = waiting(tree);
    say(tree, 0, &["resume", &run, "--drop"]);
}

/// Replaces what differs from run to run.
fn stable(value: &mut Value) {
    let last = |text: &Value, end| {
        text.as_str().and_then(|text| text.rsplit(end).next()).unwrap_or_default().to_owned()
    };
    let first =
        |text: &Value| text.as_str().and_then(|text| text.lines().next()).unwrap_or_default().to_owned();
    match value {
        Value::Object(members) => {
            for (name, member) in members.iter_mut() {
                match name.as_str() {
                    "digest" | "haft" | "workdir" => *member = value!("…"),
                    name if name.ends_with("_us") || name.ends_with("_ms") => *member = value!("…"),
                    // What commands print has times and names of directories in it.
                    "bytes_kept" | "bytes_total" => *member = value!("…"),
                    // What the tool says of it in all is its own affair.
                    "output" if member.is_string() => *member = value!(first(member)),
                    "does" => *member = value!(last(member, '/')),
                    _ => stable(member),
                }
            }
        }
        Value::Array(members) => members.iter_mut().for_each(stable),
        Value::String(text) if text.starts_with("run-") => "RUN".clone_into(text),
        _ => {}
    }
}

#[expect(clippy::needless_pass_by_value, reason = "snapshots read better without a reference")]
fn check_data(tree: &Tree, arguments: &[&str], expected: Expect) -> Value {
    let data = json(tree, &[&["report", "--json"], arguments].concat());
    let mut printed = data.clone();
    stable(&mut printed);
    let lists = [printed["turns"].take(), printed["calls"].take()];
    let lines = lists.iter().flat_map(|list| list.as_array().unwrap()).map(|member| format!("{member}\n"));
    let lines: String = lines.collect();
    expected.assert_eq(&format!("{}\n{lines}", serde_json::to_string_pretty(&printed).unwrap()));
    data
}

/// The times of each call add up to what it took.
fn check_times(data: &Value) {
    for call in data["calls"].as_array().unwrap() {
        let time = |name: &str| call[name].as_u64().unwrap_or_default();
        assert_eq!(call["timings"], "measured", "{call}");
        assert_eq!(time("waited_us") + time("asked_us") + time("ran_us"), time("took_us"), "{call}");
        assert!(time("at_us") > 1_700_000_000_000_000, "{call}");
    }
}

#[test]
fn a_played_session_has_what_the_journal_has() {
    let tree = Tree::new();
    keep_journal(&tree);
    let session = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/sessions/fix-failing-test");
    say(&tree, 0, &["run", session.to_str().unwrap()]);
    let data = check_data(
        &tree,
        &[],
        expect![[r#"
        {
          "calls": null,
          "haft": "…",
          "made_at_ms": "…",
          "notes": [
            "Only the journal is kept of the run: not what it was asked to do, and not how it ended. Runs of `haft agent`, and those that waited for an approval, are kept whole.",
            "The arguments of all 8 calls are not kept: the journal records none.",
            "The outputs of all 8 calls are not kept: the journal records none."
          ],
          "run": "RUN",
          "runs": [
            {
              "budgets": [],
              "end": "unknown",
              "run": "RUN"
            }
          ],
          "totals": {
            "asked": 4,
            "asked_us": "…",
            "calls": 8,
            "denied": 0,
            "failed": 1,
            "open": 0,
            "ran_us": "…",
            "waited_us": "…"
          },
          "turns": null,
          "version": 1
        }
        {"accesses":["read file:**"],"asked":false,"asked_us":"…","at_us":"…","bytes_kept":"…","bytes_total":"…","called_as":"glob","decided":{"by":"rule","decision":"allow","rules":["read(**)"]},"digest":"…","id":"c1","origin":"builtin","ran_us":"…","run":0,"status":"ok","timings":"measured","took_us":"…","tool":"glob","waited_us":"…"}
        {"accesses":["read file:src/**","read file:.gitignore","read file:.ignore","read file:.git/info/exclude"],"asked":false,"asked_us":"…","at_us":"…","bytes_kept":"…","bytes_total":"…","called_as":"grep","decided":{"by":"rule","decision":"allow","rules":["read(**)"]},"digest":"…","id":"c2","origin":"builtin","ran_us":"…","run":0,"status":"ok","timings":"measured","took_us":"…","tool":"grep","waited_us":"…"}
        {"accesses":["read file:src/parse.rs"],"asked":false,"asked_us":"…","at_us":"…","bytes_kept":"…","bytes_total":"…","called_as":"read_file","decided":{"by":"rule","decision":"allow","rules":["read(**)"]},"digest":"…","id":"c3","origin":"builtin","ran_us":"…","run":0,"status":"ok","timings":"measured","took_us":"…","tool":"read_file","waited_us":"…"}
        {"accesses":["read file:src/unit.rs"],"asked":false,"asked_us":"…","at_us":"…","bytes_kept":"…","bytes_total":"…","called_as":"read_file","decided":{"by":"rule","decision":"allow","rules":["read(**)"]},"digest":"…","id":"c4","origin":"builtin","ran_us":"…","run":0,"status":"ok","timings":"measured","took_us":"…","tool":"read_file","waited_us":"…"}
        {"accesses":["exec exec:cargo test --offline --quiet"],"asked":true,"asked_us":"…","at_us":"…","bytes_kept":"…","bytes_total":"…","called_as":"bash","decided":{"answer":"approved","by":"person"},"digest":"…","id":"c5","origin":"builtin","ran_us":"…","run":0,"status":"ok","timings":"measured","took_us":"…","tool":"bash","waited_us":"…"}
        {"accesses":["read file:src/parse.rs","write file:src/parse.rs"],"asked":true,"asked_us":"…","at_us":"…","bytes_kept":"…","bytes_total":"…","called_as":"edit_file","decided":{"answer":"approved","by":"person"},"digest":"…","error":"invalid_input","id":"c6","origin":"builtin","ran_us":"…","run":0,"status":"error","timings":"measured","took_us":"…","tool":"edit_file","waited_us":"…"}
        {"accesses":["read file:src/parse.rs","write file:src/parse.rs"],"asked":true,"asked_us":"…","at_us":"…","bytes_kept":"…","bytes_total":"…","called_as":"edit_file","decided":{"answer":"approved","by":"person"},"diff":{"from":"changes","text":"diff --git a/src/parse.rs b/src/parse.rs\n--- a/src/parse.rs\n+++ b/src/parse.rs\n@@ -29,7 +29,8 @@\n         rest = &rest[digits..];\n         let (suffix, length) = UNITS\n             .iter()\n-            .find(|(suffix, _)| rest.starts_with(suffix))\n+            .filter(|(suffix, _)| rest.starts_with(suffix))\n+            .max_by_key(|(suffix, _)| suffix.len())\n             .ok_or_else(|| ParseError::UnknownUnit(rest.to_string()))?;\n         total = number\n             .checked_mul(*length)\n"},"digest":"…","id":"c7","origin":"builtin","ran_us":"…","run":0,"status":"ok","timings":"measured","took_us":"…","tool":"edit_file","waited_us":"…"}
        {"accesses":["exec exec:cargo test --offline --test spans"],"asked":true,"asked_us":"…","at_us":"…","bytes_kept":"…","bytes_total":"…","called_as":"bash","decided":{"answer":"approved","by":"person"},"digest":"…","id":"c8","origin":"builtin","ran_us":"…","run":0,"status":"ok","timings":"measured","took_us":"…","tool":"bash","waited_us":"…"}
    "#]],
    );
    check_times(&data);
}

#[test]
fn an_agents_run_has_all_that_its_model_was_told() {
    let turns = [reads("c1").saying("I look."), writes("c1"), Turn::text("It says one.")];
    let (service, tree) = (Service::of(Wire::Anthropic, &turns), tree());
    keep_journal(&tree);
    let options = ["--profile", "workspace_write", "--max-turns", "9", "What do the notes say?"];
    ended(&agent(&tree, &service, Wire::Anthropic, &options).output().unwrap(), 0);
    let data = check_data(
        &tree,
        &[],
        expect![[r#"
        {
          "calls": null,
          "haft": "…",
          "made_at_ms": "…",
          "notes": [],
          "run": "RUN",
          "runs": [
            {
              "budgets": [
                {
                  "kind": "turns",
                  "limit": 9,
                  "spent": 3
                }
              ],
              "does": "test-model",
              "end": "completed",
              "ended_at_ms": "…",
              "model": "anthropic/test-model",
              "run": "RUN",
              "said": "It says one.",
              "started_at_ms": "…",
              "task": "What do the notes say?",
              "turns": 3,
              "usage": {
                "input": 3000,
                "output": 30
              },
              "workdir": "…"
            }
          ],
          "totals": {
            "asked": 0,
            "asked_us": "…",
            "calls": 2,
            "denied": 0,
            "failed": 0,
            "open": 0,
            "ran_us": "…",
            "usage": {
              "input": 3000,
              "output": 30
            },
            "waited_us": "…"
          },
          "turns": null,
          "version": 1
        }
        {"at_us":"…","model":"test-model","run":0,"took_us":"…","turn":1,"usage":{"input":1000,"output":10}}
        {"at_us":"…","model":"test-model","run":0,"took_us":"…","turn":2,"usage":{"input":1000,"output":10}}
        {"at_us":"…","model":"test-model","run":0,"took_us":"…","turn":3,"usage":{"input":1000,"output":10}}
        {"about":"notes.md","accesses":["read file:notes.md"],"asked":false,"asked_us":"…","at_us":"…","bytes_kept":"…","bytes_total":"…","called_as":"read_file","decided":{"by":"rule","decision":"allow","rules":["read(**)"]},"digest":"…","id":"c1","input":{"path":"notes.md"},"origin":"builtin","output":"notes.md: 2 lines, 8 bytes","ran_us":"…","run":0,"status":"ok","timings":"measured","took_us":"…","tool":"read_file","turn":1,"waited_us":"…"}
        {"about":"a.txt content=a\\n","accesses":["write file:a.txt"],"asked":false,"asked_us":"…","at_us":"…","bytes_kept":"…","bytes_total":"…","called_as":"write_file","decided":{"by":"rule","decision":"allow","rules":["write(**)"]},"diff":{"from":"reply","text":"--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+a\n"},"digest":"…","id":"c1","input":{"content":"a\n","path":"a.txt"},"origin":"builtin","output":"created `a.txt`: 1 line, 2 bytes","ran_us":"…","run":0,"status":"ok","timings":"measured","took_us":"…","tool":"write_file","turn":2,"waited_us":"…"}
    "#]],
    );
    check_times(&data);
}

#[test]
fn what_was_asked_about_and_answered_later_is_asking() {
    let tree = Tree::new();
    say(&tree, 3, &WRITE);
    let (id, run) = waiting(&tree);
    let open = json(&tree, &["report", &run, "--json"]);
    assert_eq!(
        (&open["calls"][0]["status"], &open["totals"]["open"]),
        (&value!("waiting"), &value!(1)),
        "{open}"
    );
    assert_eq!(open["calls"][0]["input"]["path"], "a.txt");
    say(&tree, 0, &["approvals", "approve", &id]);
    say(&tree, 0, &["resume", &run]);
    let done = json(&tree, &["report", &run[..run.len() - 1], "--json"]);
    let call = &done["calls"][0];
    assert_eq!(
        (&call["status"], &call["asked"], &done["totals"]["asked"]),
        (&value!("ok"), &value!(true), &value!(1))
    );
    assert!(call["asked_us"].as_u64() > Some(1_000), "{call}");
    check_times(&done);
}

#[test]
fn a_page_is_a_file_of_ones_own() {
    let tree = Tree::new();
    say(&tree, 3, &WRITE);
    let (_, run) = waiting(&tree);
    let said = say(&tree, 0, &["report"]);
    let name = format!("haft-report-{run}.html");
    assert!(said.starts_with(tree.path().join(&name).to_str().unwrap()), "{said}");
    assert!(said.contains("  1 call\n"), "{said}");
    let page = tree.read(&name);
    assert!(page.starts_with("<!doctype html>") && page.contains("write_file"));
    let mode = std::fs::metadata(tree.path().join(&name)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    // It is written anew, and to other places.
    say(&tree, 0, &["report", "--output", &name]);
    let printed = haft(tree.path(), &["report", "--output", "-"]).output().unwrap();
    assert!(printed.stdout.starts_with(b"<!doctype html>"));
    let refused = say(&tree, 2, &["report", "--output", "gone/page.html"]);
    assert!(
        refused.contains("cannot write `gone/page.html`; name another file with `--output`, or `-`"),
        "{refused}"
    );
    say(&tree, 2, &["report", "--output", "."]);
    let refused = say(&tree, 2, &["report", "--open", "--output", "-"]);
    assert!(refused.contains("leave out `--open`, or name a file with `--output`"), "{refused}");
}

#[test]
fn what_is_no_file_is_written_to() {
    let tree = Tree::new();
    say(&tree, 3, &WRITE);
    let pipe = tree.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let read = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::read_to_string(pipe).unwrap()
    });
    say(&tree, 0, &["report", "--output", "pipe"]);
    assert!(std::fs::symlink_metadata(&pipe).unwrap().file_type().is_fifo());
    assert!(read.join().unwrap().starts_with("<!doctype html>"));
}

#[test]
fn a_dropped_run_waits_for_nobody() {
    let tree = Tree::new();
    say(&tree, 3, &WRITE);
    let (_, run) = waiting(&tree);
    say(&tree, 0, &["resume", &run, "--drop"]);
    let data = json(&tree, &["report", &run, "--json"]);
    assert_eq!(data["calls"][0]["status"], "unfinished", "{data}");
    assert_eq!(data["notes"][0], "The run was dropped, or its state is not kept.", "{data}");
}

#[test]
fn where_there_is_no_desktop_the_page_is_named() {
    let tree = Tree::new();
    say(&tree, 3, &WRITE);
    let mut command = haft(tree.path(), &["report", "--open", "--output", "page.html"]);
    let said = shown(&command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY").output().unwrap());
    assert!(said.contains("page.html  1 call"), "{said}");
    assert!(
        said.contains("the page is not opened, since there is no desktop here; open the file in a browser"),
        "{said}"
    );
}

#[test]
fn a_trace_is_one_that_chrome_reads() {
    let turns = r#"{"calls":[{"id":"c1","name":"read_file","input":{"path":"notes.md"}},{"id":"c2","name":"list_files","input":{}}]}
{"calls":[{"id":"c3","name":"write_file","input":{"path":"a.txt","content":"a"}}]}
{"text":"Done."}
"#;
    let tree = Tree::new().file("look/session.jsonl", turns).file("look/project/notes.md", "one\n");
    keep_journal(&tree);
    say(&tree, 0, &["run", "look"]);
    let trace = json(&tree, &["report", "--trace", "--output", "-"]);
    let events = trace["traceEvents"].as_array().unwrap();
    let of = |phase: &str| events.iter().filter(move |event| event["ph"] == phase).collect::<Vec<_>>();
    assert_eq!(of("M")[0]["name"], "process_name");
    let is_turn = |event: &&Value| event["name"].as_str().unwrap().starts_with("turn ");
    assert_eq!(of("X").into_iter().filter(is_turn).count(), 0, "a played session has none of its own kept");
    let calls: Vec<&Value> = of("X").into_iter().filter(|event| event["args"]["call"].is_string()).collect();
    let count = json(&tree, &["report", "--json"])["calls"].as_array().unwrap().len();
    assert_eq!(calls.len(), count);
    let time = |event: &Value, name: &str| event[name].as_u64().unwrap();
    for part in of("X") {
        let (from, to) = (time(part, "ts"), time(part, "ts") + time(part, "dur"));
        let around = calls.iter().any(|call| {
            call["tid"] == part["tid"]
                && time(call, "ts") <= from
                && to <= time(call, "ts") + time(call, "dur")
        });
        assert!(around, "{part}");
    }
    let said = say(&tree, 0, &["report", "--trace"]);
    assert!(said.contains("/haft-trace-run-"), "{said}");
}

#[test]
fn the_turns_of_a_model_are_kept_apart_from_calls() {
    let turns = [
        Answer::new(503, "", "{}"),
        Answer::turn(Wire::Chat, &reads("c1")),
        Answer::turn(Wire::Chat, &Turn::text("One.")),
    ];
    let (service, tree) = (Service::answering(turns), tree());
    let options = ["--price", "in=3,out=15", "What do the notes say?"];
    ended(&agent(&tree, &service, Wire::Chat, &options).output().unwrap(), 0);
    let data = json(&tree, &["report", "--json"]);
    let shown = |turn: &Value| {
        let time = |name: &str| turn[name].as_u64().unwrap();
        assert!(time("at_us") > 1_700_000_000_000_000 && time("took_us") > 0, "{turn}");
        let mut turn = turn.clone();
        stable(&mut turn);
        turn.to_string() + "\n"
    };
    let turns = data["turns"].as_array().unwrap();
    expect![[r#"
        {"at_us":"…","cost_nanos":3150000,"model":"test-model","run":0,"took_us":"…","turn":1,"usage":{"input":1000,"output":10}}
        {"at_us":"…","cost_nanos":3150000,"model":"test-model","run":0,"took_us":"…","turn":2,"usage":{"input":1000,"output":10}}
    "#]].assert_eq(&turns.iter().map(shown).collect::<String>());
    // A turn ends before what it asks for is taken up; records are dated to the millisecond.
    let call = data["calls"][0]["at_us"].as_u64().unwrap();
    assert!(
        turns[0]["at_us"].as_u64().unwrap() <= call && turns[1]["at_us"].as_u64().unwrap() + 1_000 > call,
        "{data}"
    );
    let trace = json(&tree, &["report", "--trace", "--output", "-"]);
    let events = trace["traceEvents"].as_array().unwrap().iter();
    let of_turns: Vec<String> = events
        .filter(|event| event["tid"] == 0)
        .map(|event| {
            let (mut event, timed) = (event.clone(), ["ts", "dur"]);
            timed
                .into_iter()
                .filter(|name| event[name].is_u64())
                .collect::<Vec<_>>()
                .into_iter()
                .for_each(|name| event[name] = value!("…"));
            event.to_string() + "\n"
        })
        .collect();
    expect![[r#"
        {"args":{"name":"turns of the model"},"name":"thread_name","ph":"M","pid":1,"tid":0}
        {"args":{"cost_nanos":3150000,"error":null,"model":"test-model","turn":1,"usage":{"input":1000,"output":10}},"cat":"turn","dur":"…","name":"turn 1","ph":"X","pid":1,"tid":0,"ts":"…"}
        {"args":{"cost_nanos":3150000,"error":null,"model":"test-model","turn":2,"usage":{"input":1000,"output":10}},"cat":"turn","dur":"…","name":"turn 2","ph":"X","pid":1,"tid":0,"ts":"…"}
    "#]].assert_eq(&of_turns.concat());
}

#[test]
fn one_call_of_a_run_is_shown_alone_and_one_that_it_has_not_is_refused() {
    let turns = [reads("c1"), reads("c2"), Turn::text("It says one.")];
    let (service, tree) = (
        Service::answering(turns.iter().map(|turn| Answer::turn(Wire::Chat, turn)).collect::<Vec<_>>()),
        tree(),
    );
    ended(&agent(&tree, &service, Wire::Chat, &["What do the notes say?"]).output().unwrap(), 0);
    let one = json(&tree, &["report", "--call", "c2", "--json"]);
    let ids: Vec<&Value> = one["calls"].as_array().unwrap().iter().map(|call| &call["id"]).collect();
    assert_eq!((ids, one["turns"].as_array().unwrap().len()), (vec![&value!("c2")], 3));
    let said = say(&tree, 0, &["report", "--call", "c2"]);
    assert!(said.contains("-c2.html"), "{said}");
    let refused = say(&tree, 2, &["report", "--call", "c3"]);
    let (_, why) = refused.split_once("has no call").unwrap();
    assert!(why.starts_with(" `c3`; `haft report ") && why.contains("lists its calls"), "{refused}");
}

#[test]
fn a_run_that_is_not_kept_is_not_shown() {
    let tree = Tree::new();
    expect![[r#"
        stderr: error: nothing is kept of any run; `haft agent` keeps its runs, and calls are recorded from the first that waits for an approval
        exit 2
    "#]]
    .assert_eq(&say(&tree, 2, &["report"]));
    say(&tree, 3, &WRITE);
    let (_, run) = waiting(&tree);
    let said = say(&tree, 2, &["report", "run-gone\u{1b}[2J"]);
    expect![[r#"
        stderr: error: nothing is kept of a run `run-gone\u{1b}[2J`; the latest are `RUN`, and `haft report` without a name shows the first of them
        exit 2
    "#]]
    .assert_eq(&said.replace(&run, "RUN"));
}
