//! Keeps runs that nobody has made, for trying out what shows them: `kept-runs FILE CALLS`.
//!
//! The run `run-large` has so many calls, by itself and by agents below it. The run `run-hostile` has texts that try to get out of
//! whatever shows them.

use haft::agent::{RunEvent, RunState};
use haft::core::{RunId, StopReason, Usage};
use haft::model::ModelTurn;
use haft::store::{ChildRuns as _, RunStatus, RunStore as _, SqliteStore, StoredRun};
use haft::tools_core::JournalSink as _;
use serde_json::{Value, json};
use std::error::Error;

type Done = Result<(), Box<dyn Error>>;

/// When the first run began, in milliseconds since the Unix epoch.
const BEGAN: u64 = 1_763_950_000_000;

/// What breaks out of what it is put into, or hides itself.
const HOSTILE: &str = "</script><script>window.broken = 1</script><!--<script>--><img src=x onerror='window.broken = 2'>\
    <style>*{display:none}</style>&lt;b&gt; \\ud800 \u{2028}\u{2029} \u{1b}[2J\u{1b}]0;title\u{7} \u{202e}fdp.exe\u{202c} a\u{200b}b {{data}} ${1} \u{0}";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Done {
    let mut arguments = std::env::args().skip(1);
    let (Some(path), Some(calls)) = (arguments.next(), arguments.next()) else {
        return Err("name a file and how many calls".into());
    };
    let store = SqliteStore::open(path)?;
    large(&store, calls.parse()?).await?;
    hostile(&store).await
}

/// Keeps one call of a run: its part of the transcript, and its records.
struct Made {
    log: Vec<Value>,
    calls: u64,
    at_ms: u64,
}

impl Made {
    fn new(prompt: &str, at_ms: u64) -> Self {
        let prompt =
            json!({ "message": { "role": "user", "content": [{ "type": "text", "text": prompt }] } });
        Self { log: vec![prompt], calls: 0, at_ms }
    }

    /// Adds a turn with one call, and gives the two records of it.
    fn call(
        &mut self,
        run: &str,
        parent: Option<&str>,
        tool: &str,
        input: &Value,
        output: &str,
        seed: u64,
    ) -> [Value; 2] {
        let id = format!("call_{}", self.calls);
        self.turn(seed);
        self.calls += 1;
        let (fails, denied, asked) =
            (seed % 17 == 3, seed % 29 == 5, if seed % 41 == 7 { 900_000 } else { 0 });
        let (waited, ran) = (seed % 7 * 900, if denied { 0 } else { 400 + seed * seed % 180_000 });
        let duration = waited + asked + ran;
        let status = match (denied, fails) {
            (true, _) => json!("denied"),
            (_, true) => json!({ "error": "not_found" }),
            _ => json!("ok"),
        };
        let details = match tool {
            "edit_file" => {
                json!({ "diff": format!("--- a/a.rs\n+++ b/a.rs\n@@ -1 +1 @@\n-{seed}\n+{output}\n") })
            }
            _ => Value::Null,
        };
        let call = json!({ "type": "tool_call", "call": { "id": id, "name": tool, "input": input } });
        self.log.push(json!({ "message": { "role": "assistant", "parts": [{ "type": "text", "text": "I go on." }, call] } }));
        let output = json!({ "content": [{ "type": "text", "text": output }], "details": details });
        let reply = json!({ "call_id": id, "name": tool, "output": output, "status": status, "duration_us": duration });
        self.log.push(json!({ "message": { "role": "tool", "replies": [reply] } }));

        let decided = match (denied, asked) {
            (true, _) => {
                json!({ "by": "rule", "decision": "deny", "rules": ["write(**/.env)"], "access": "write file:.env" })
            }
            (_, 0) => json!({ "by": "rule", "decision": "allow", "rules": ["read(**)"] }),
            _ => json!({ "by": "person", "answer": "approved" }),
        };
        let record = |at_ms: u64, entry: Value| {
            let mut record = json!({
                "version": 1, "sequence": 0, "at_ms": at_ms, "run": run, "parent_run": parent, "call": id, "called_as": tool,
                "tool": tool, "origin": { "kind": "builtin" }, "accesses": [format!("read file:{}", input["path"])],
                "decided": decided,
            });
            if let (Value::Object(record), Value::Object(entry)) = (&mut record, entry) {
                record.extend(entry);
            }
            record
        };
        let begun = record(self.at_ms + (waited + asked) / 1_000, json!({ "record": "begun" }));
        self.at_ms += duration / 1_000;
        let ended = record(
            self.at_ms,
            json!({
                "record": "ended", "ran": !denied, "status": status, "duration_us": duration, "asked_us": asked,
                "ran_us": (!denied).then_some(ran), "bytes_total": 100, "bytes_kept": 100,
            }),
        );
        self.at_ms += 1 + seed % 40;
        [begun, ended]
    }

    /// Adds the record of a turn, and sometimes of one before it that came to nothing.
    fn turn(&mut self, seed: u64) {
        let turn = self.calls + 1;
        if seed % 113 == 11 {
            self.log.push(json!({ "turn": {
                "turn": turn, "model": "test-model", "at_ms": self.at_ms, "took_us": 150_000, "usage": { "input": 0, "output": 0 },
                "error": "rate_limited",
            } }));
            self.at_ms += 1_150;
        }
        let think = 20 + seed % 900;
        self.log.push(json!({ "turn": {
            "turn": turn, "model": "test-model", "at_ms": self.at_ms, "took_us": think * 1_000,
            "usage": { "input": 900 + seed % 500, "output": 8 + seed % 60, "cache_read": 700 }, "cost_nanos": 3_000_000 + seed,
        } }));
        self.at_ms += think + 1;
    }

    /// Ends the run with the state that it would have.
    fn end(&mut self, said: &str) -> Result<Value, Box<dyn Error>> {
        self.log
            .push(json!({ "message": { "role": "assistant", "parts": [{ "type": "text", "text": said }] } }));
        let mut state = RunState::new();
        state.step(RunEvent::Prompted { text: "Go.".to_owned() })?;
        let turn = ModelTurn::new(Vec::new(), Usage::default(), StopReason::EndTurn);
        state.step(RunEvent::ModelAnswered { turn })?;
        let mut head = serde_json::to_value(state.head())?;
        (head["entries"], head["turns"]) = (json!(self.log.len()), json!(self.calls + 1));
        head["usage"] = json!({ "input": 1_834_220, "output": 40_211, "cache_read": 1_500_000 });
        head["account"] = json!({
            "budget": { "turns": 6_000, "cost_nanos": 1_500_000_000 },
            "spent": { "turns": self.calls + 1, "calls": self.calls, "cost_nanos": 1_420_000_000 },
        });
        Ok(head)
    }
}

fn keep_records(store: &SqliteStore, records: &[Value]) -> Done {
    for record in records {
        store.write(&serde_json::from_value(record.clone())?)?;
    }
    Ok(())
}

async fn keep(store: &SqliteStore, run: &str, mut made: Made, said: &str) -> Done {
    let mut stored = StoredRun::new(run.parse()?);
    (stored.state, stored.status, stored.started_at_ms) = (made.end(said)?, RunStatus::Ended, BEGAN);
    let work = json!({ "does": "session", "session": "/sessions/night", "keep": false });
    stored.host = json!({ "version": 1, "work": work, "workdir": "/home/user/project" });
    store.append(&mut stored, made.log).await?;
    Ok(())
}

async fn large(store: &SqliteStore, calls: u64) -> Done {
    const ROOT: &str = "run-large";
    const TOOLS: [&str; 5] = ["read_file", "grep", "bash", "edit_file", "list_files"];
    let task = "Find out why the nightly build is slow, and mend the three slowest tests without changing what they check.";
    let agents: Vec<String> =
        (0..4).map(|place| format!("{}-a{place}", ["explorer", "reviewer"][place % 2])).collect();
    let mut own = Made::new(task, BEGAN);
    let mut below: Vec<Made> =
        agents.iter().map(|_| Made::new("Look at a part of the tests.", BEGAN + 40)).collect();
    for number in 0..calls {
        let seed = number * 2_654_435_761 % 1_000_003;
        let tool = TOOLS[usize::try_from(seed % 5)?];
        let path = format!("crates/part-{}/src/file_{number}.rs", number % 37);
        let input = if tool == "bash" {
            json!({ "command": format!("cargo test -p part-{}", number % 37) })
        } else {
            json!({ "path": path, "limit": 200 })
        };
        let output = format!("needle-{number}\n{}", "use std::sync::Arc; // what a file holds\n".repeat(20));
        let place = usize::try_from(seed % 9)?;
        let records = match (agents.get(place), below.get_mut(place)) {
            (Some(run), Some(made)) => made.call(run, Some(ROOT), tool, &input, &output, seed),
            _ => own.call(ROOT, None, tool, &input, &output, seed),
        };
        if number == calls / 2 {
            // Nobody was there for two hours.
            let latest = below.iter().map(|made| made.at_ms).chain([own.at_ms]).max().unwrap_or_default();
            below.iter_mut().chain([&mut own]).for_each(|made| made.at_ms = latest + 7_200_000);
        }
        keep_records(store, &records)?;
    }
    for (run, mut made) in agents.iter().zip(below) {
        let name: RunId = run.parse()?;
        let record = json!({
            "version": 1, "run": run, "parent": ROOT, "root": ROOT, "depth": 1, "call": "call_0", "place": 0, "path": "call_0/0",
            "agent": run.split('-').next(), "task": "Look at a part of the tests.", "background": false,
            "status": { "status": "ended", "result": { "end": { "end": "done" }, "text": "Looked." } },
            "started_at_ms": BEGAN, "ended_at_ms": made.at_ms,
        });
        store.put_child(&name, &ROOT.parse()?, &record).await?;
        let head = made.end("I have looked.")?;
        store.keep_child(&name, head, 0, made.log).await?;
    }
    keep(store, ROOT, own, "The three slowest tests waited for a sleep.\nThey wait for a signal now.").await
}

async fn hostile(store: &SqliteStore) -> Done {
    let mut made = Made::new(HOSTILE, BEGAN - 1);
    let input = json!({ "path": HOSTILE, "command": HOSTILE, HOSTILE: [HOSTILE] });
    let mut records = Vec::new();
    for (seed, tool) in [(0, "edit_file"), (3, HOSTILE), (5, "bash")] {
        records.extend(made.call("run-hostile", None, tool, &input, HOSTILE, seed));
    }
    for record in &mut records {
        (record["accesses"], record["tool"]) = (json!([HOSTILE]), Value::Null);
        record["origin"] = json!({ "kind": "mcp", "server": HOSTILE, "tool": HOSTILE });
        record["decided"] = json!({ "by": "person", "answer": "denied", "reason": HOSTILE });
    }
    keep_records(store, &records)?;
    keep(store, "run-hostile", made, HOSTILE).await
}
