//! Clients of all kinds at once, who expect what they are answered.

use super::process::is_named;
use super::{PATIENCE, UPSTREAM};
use crate::mcp::User;
use crate::served::{post, tool_call};
use serde_json::{Value, json};
use std::io::Read as _;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// What was done so far.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tally {
    /// Calls of this program's own tools that were answered as expected.
    pub(super) done: u64,
    /// Calls that a server behind it answered.
    pub(super) answered: u64,
    /// Calls of which it is told that the server behind it did not answer them.
    pub(super) unanswered: u64,
    /// Servers behind it that were killed.
    pub(super) killed: u64,
    pub(super) approved: u64,
    pub(super) denied: u64,
    /// Calls whose client went away.
    pub(super) abandoned: u64,
}

impl Tally {
    /// Tells whether there was something of each kind, but for what depends on when a server is killed.
    pub(super) fn is_complete(&self) -> bool {
        let Self { done, answered, unanswered: _, killed, approved, denied, abandoned } = *self;
        [done, answered, killed, approved, denied, abandoned].into_iter().all(|count| count > 0)
    }
}

pub(super) struct Load<'a> {
    user: &'a User,
    address: &'a str,
    rounds: AtomicU64,
    done: AtomicU64,
    answered: AtomicU64,
    unanswered: AtomicU64,
    killed: AtomicU64,
    approved: AtomicU64,
    denied: AtomicU64,
    abandoned: AtomicU64,
}

/// Numbers that look random and are the same each time.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        // Marsaglia's xorshift64.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[usize::try_from(self.below(all.len() as u64)).unwrap()]
    }
}

/// What one client does, of those that are numbered.
type Client<'a> = fn(&Load<'a>, &mut Random, u64);

impl<'a> Load<'a> {
    pub(super) fn new(user: &'a User, address: &'a str) -> Self {
        let zero = || AtomicU64::new(0);
        Self {
            user,
            address,
            rounds: zero(),
            done: zero(),
            answered: zero(),
            unanswered: zero(),
            killed: zero(),
            approved: zero(),
            denied: zero(),
            abandoned: zero(),
        }
    }

    pub(super) fn tally(&self) -> Tally {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Tally {
            done: read(&self.done),
            answered: read(&self.answered),
            unanswered: read(&self.unanswered),
            killed: read(&self.killed),
            approved: read(&self.approved),
            denied: read(&self.denied),
            abandoned: read(&self.abandoned),
        }
    }

    /// What stands in the arguments of each program that a script leaves running.
    pub(super) fn mark(&self) -> String {
        let port = self.address.rsplit(':').next().unwrap();
        format!("100.{port}")
    }

    /// Has all clients call for so long, and until each kind of call was made.
    pub(super) fn run(&self, length: Duration) {
        let clients: [(u64, Client<'_>); 8] = [
            (20, Self::edit_files),
            (20, Self::edit_files),
            (50, Self::run_scripts),
            (50, Self::search),
            (20, Self::call_upstream),
            (700, Self::kill_upstream),
            (300, Self::ask),
            (100, Self::abandon),
        ];
        let (end, round) = (Instant::now() + length, 100 * self.rounds.fetch_add(1, Ordering::Relaxed));
        let goes_on =
            || Instant::now() < end || (!self.tally().is_complete() && Instant::now() < end + PATIENCE);
        thread::scope(|scope| {
            for (index, (pause, client)) in (1..).zip(clients) {
                let goes_on = &goes_on;
                scope.spawn(move || {
                    let mut random = Random(round + index);
                    while goes_on() {
                        client(self, &mut random, index);
                        thread::sleep(Duration::from_millis(random.below(2 * pause)));
                    }
                });
            }
        });
    }

    fn call(&self, tool: &str, arguments: &Value) -> String {
        let mut told = String::new();
        let mut answer = post(self.address, &tool_call(7, tool, arguments), &[]);
        answer.set_read_timeout(Some(PATIENCE)).unwrap();
        answer.read_to_string(&mut told).unwrap();
        assert!(told.starts_with("HTTP/1.1 200 "), "{tool} {:.200}: {told}", arguments.to_string());
        told
    }

    fn expect(&self, tool: &str, arguments: &Value, expected: &str) {
        let told = self.call(tool, arguments);
        assert!(told.contains(expected), "{tool} {:.200}: {told}", arguments.to_string());
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    fn edit_files(&self, random: &mut Random, index: u64) {
        let path = format!("files/{index}-{}.txt", random.below(20));
        let long = "a line of some length that nobody reads\n".repeat(random.one_of(&[1, 30, 500, 2_000]));
        let content = format!("first {index}\n{long}");
        self.expect("write_file", &json!({ "path": path, "content": content }), "\"isError\":false");
        let edits = json!([{ "old": format!("first {index}\n"), "new": format!("second {index}\n") }]);
        self.expect("edit_file", &json!({ "path": path, "edits": edits }), "\"isError\":false");
        self.expect("read_file", &json!({ "path": path, "limit": 3 }), &format!("second {index}"));
    }

    fn run_scripts(&self, random: &mut Random, _: u64) {
        let left = format!("sleep {} & echo begun", self.mark());
        let (script, expected) = random.one_of(&[
            ("seq 1 30000", "[exit code 0"),
            (&left, "begun"),
            ("echo wrong >&2; exit 3", "wrong\\n[exit code 3"),
            ("cat searched/3/3.txt | wc -l", "40\\n[exit code 0"),
        ]);
        self.expect("bash", &json!({ "command": script }), expected);
    }

    fn search(&self, random: &mut Random, _: u64) {
        let index = random.below(300);
        let (tool, arguments) = match random.below(3) {
            0 => ("grep", json!({ "pattern": format!("line 7 of file {index}$") })),
            1 => ("glob", json!({ "pattern": format!("searched/*/{index}.txt") })),
            _ => ("find_files", json!({ "query": format!("{index}.txt") })),
        };
        self.expect(tool, &arguments, &format!("searched/{}/{index}.txt", index % 10));
    }

    /// A server that was killed is started again, and whoever called it meanwhile is told which it is.
    fn call_upstream(&self, random: &mut Random, _: u64) {
        let name = random.one_of(&UPSTREAM);
        let told = self.say_hello(name);
        let is_answered = is_hello(name, &told);
        assert!(is_answered || told.contains(&format!("the server `{name}`")), "{told}");
        let count = if is_answered { &self.answered } else { &self.unanswered };
        count.fetch_add(1, Ordering::Relaxed);
    }

    fn say_hello(&self, name: &str) -> String {
        self.call(&format!("{name}__say"), &json!({ "text": "hello" }))
    }

    /// Waits until each server behind it answers.
    pub(super) fn upstream_answers(&self) {
        let start = Instant::now();
        for name in UPSTREAM {
            loop {
                let told = self.say_hello(name);
                if is_hello(name, &told) {
                    break;
                }
                assert!(start.elapsed() < PATIENCE, "`{name}` does not answer: {told}");
                thread::sleep(Duration::from_millis(50));
            }
        }
    }

    fn kill_upstream(&self, random: &mut Random, _: u64) {
        let name = random.one_of(&UPSTREAM);
        let Ok(pid) = std::fs::read_to_string(self.user.home().join(format!("{name}.pid"))) else { return };
        // One that was killed before and not called since has no process, and its number may be another's.
        if is_named(&pid, "mcp-guest")
            && Command::new("kill").args(["-KILL", &pid]).status().unwrap().success()
        {
            self.killed.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn ask(&self, random: &mut Random, _: u64) {
        let is_first = self.approved.load(Ordering::Relaxed) <= self.denied.load(Ordering::Relaxed);
        let arguments = json!({ "path": format!("asked/{}", random.below(u64::MAX)), "content": "x" });
        let told = self.call("write_file", &arguments);
        assert!(told.contains("haft approvals"), "{told}");
        let listed = self.user.command(&["approvals", "list", "--json"]).output().unwrap();
        let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
        let id = listed[0]["call"]["id"].as_str().unwrap_or_else(|| panic!("nothing waits: {told}"));
        let (answer, count, expected) = if is_first {
            ("approve", &self.approved, "\"isError\":false")
        } else {
            ("deny", &self.denied, "\"isError\":true")
        };
        let answered = self.user.command(&["approvals", answer, id]).output().unwrap();
        assert!(answered.status.success(), "{}", String::from_utf8_lossy(&answered.stderr));
        self.expect("write_file", &arguments, expected);
        count.fetch_add(1, Ordering::Relaxed);
    }

    fn abandon(&self, random: &mut Random, _: u64) {
        let call = match random.below(2) {
            0 => tool_call(8, "bash", &json!({ "command": format!("sleep {}", self.mark()) })),
            _ => tool_call(8, "one__waits", &json!({})),
        };
        let stream = post(self.address, &call, &[]);
        thread::sleep(Duration::from_millis(random.below(300)));
        drop(stream);
        self.abandoned.fetch_add(1, Ordering::Relaxed);
    }
}

fn is_hello(name: &str, told: &str) -> bool {
    told.contains(&format!("{name}: hello"))
}
