//! Random calls, and what happens to the batches they make.

use crate::random::Random;
use crate::tools::{KINDS, OF_EACH};
use crate::world::World;
use haft_core::ToolCall;
use serde_json::{Value, json};
use std::time::Duration;

/// How deep calls that call are made: one more than the executor allows.
const DEEPEST: u32 = 4;

const ACTS: &[&str] = &[
    "ok",
    "ok",
    "ok",
    "sleep",
    "sleep",
    "sleep",
    "show",
    "fail",
    "falter",
    "break",
    "break late",
    "ignore",
    "ignore, getting on",
    "stop slowly",
    "say much",
    "speak late",
];

const UNPREPARED: &[&str] = &["break while preparing", "refuse"];

const CALLING: &[&str] = &["call", "call", "call at once", "call and leave"];

/// What happens to a batch from outside.
#[derive(Debug, Clone)]
pub(crate) enum Fate {
    Left,
    /// Its token is cancelled.
    Cancelled(Duration),
    /// Its future is dropped.
    Dropped(Duration),
    /// The host cancels its run.
    RunCancelled(Duration),
    /// The host cancels one of its calls.
    CallCancelled(Duration, String),
    /// The host cancels everything.
    TreeCancelled(Duration),
    /// The steering skips what remains after so many calls.
    Skipped(u64),
    /// The steering cancels after so many calls.
    Stopped(u64),
    /// The steering breaks after so many calls.
    Broken(u64),
}

pub(crate) struct Planned {
    pub(crate) run: String,
    pub(crate) calls: Vec<ToolCall>,
    pub(crate) fate: Fate,
}

pub(crate) fn plan(random: &mut Random, world: &World, run: String, ordered: bool) -> Planned {
    let most = random.pick(&[0, 1, 1, 3, 6, 12, 40]);
    let mut calls = Vec::new();
    for place in 0..most {
        let mut id = format!("c{place}");
        if place > 0 && random.one_in(40) {
            id = format!("c{}", place - 1);
        }
        world.makes((run.clone(), id.clone()));
        let (tool, mut input) = call(random, 0, DEEPEST);
        if let Some(input) = input.as_object_mut() {
            input.insert("ordered".to_owned(), json!(ordered));
        }
        calls.push(ToolCall::new(id.parse().unwrap(), tool, input));
    }
    let after = Duration::from_millis(random.pick(&[0, 1, 3, 10, 40, 300, 3_000]));
    let so_many = random.below(8);
    let fate = match random.below(20) {
        0 | 1 => Fate::Cancelled(after),
        2 | 3 => Fate::Dropped(after),
        4 => Fate::RunCancelled(after),
        5 | 6 => Fate::CallCancelled(after, format!("c{}", random.below(12))),
        7 => Fate::TreeCancelled(after),
        8 => Fate::Skipped(so_many),
        9 => Fate::Stopped(so_many),
        10 => Fate::Broken(so_many),
        _ => Fate::Left,
    };
    Planned { run, calls, fate }
}

/// Makes up a tool's name and an input.
///
/// What a call touches lies behind what its caller touches, so that no two callers ever wait for each other: to end such a
/// circle the executor lets a call go on beside another.
fn call(random: &mut Random, behind: u64, deeper: u32) -> (String, Value) {
    // Some are called often, so that calls of one tool meet.
    let number = if random.one_in(2) { random.below(3) } else { random.below(OF_EACH) };
    let tool = match random.below(60) {
        0 => "unheard_of".to_owned(),
        1 => String::new(),
        _ => format!("{}_{}", random.pick(&KINDS), number),
    };
    if random.one_in(50) {
        let wrong = [json!(null), json!([]), json!({ "act": 5 }), json!("{\"access\":\"read\"}")];
        return (tool, random.pick(&wrong));
    }
    let folder = behind + random.below(3);
    let path = match random.below(6) {
        0 => format!("f{folder}/**"),
        1 => format!("f{folder}"),
        file => format!("f{folder}/{file}"),
    };
    let modes = ["none", "read", "read", "read", "write", "write", "execute", "connect", "opaque"];
    let access = random.pick(if behind > 0 { &modes[..8] } else { &modes });
    let act = match (behind, deeper) {
        // What a call touches that cannot be prepared is not known, so a nested one would close a circle.
        (0, _) => random.pick(&[ACTS, UNPREPARED, CALLING].concat()),
        (_, 0) => random.pick(ACTS),
        _ => random.pick(&[ACTS, CALLING].concat()),
    };
    let mut input = json!({ "access": access, "path": path, "act": act, "ms": random.below(50) });
    if act.starts_with("call") {
        let made: Vec<Value> = (0..=random.below(2))
            .map(|_| {
                let (tool, input) = call(random, folder + 1, deeper - 1);
                // Who makes the call is told to an object alone.
                json!({ "tool": tool, "input": if input.is_object() { input } else { json!({}) } })
            })
            .collect();
        input["calls"] = made.into();
    }
    if random.one_in(8) {
        let before = ["replace", "replace badly", "skip", "break", "hang", "elsewhere"];
        input["before"] = json!(random.pick(&before[..if act.starts_with("call") { 5 } else { 6 }]));
    }
    if random.one_in(12) {
        // A call that was abandoned has no room any more, and would be seen at work while the layer hangs.
        let may_be_abandoned = act.starts_with("ignore") || act.starts_with("call");
        input["after"] =
            json!(random.pick(&["replace", "break", "hang"][..if may_be_abandoned { 2 } else { 3 }]));
    }
    if random.one_in(2) {
        input["answer"] = json!(random.pick(&["slow", "deny", "later", "break", "edit"]));
    }
    if random.one_in(30) {
        // A number as a text, which is repaired.
        input["ms"] = json!(input["ms"].to_string());
    }
    (tool, input)
}
