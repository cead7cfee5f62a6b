//! A script that prints more and more.

use crate::{ALLOCATOR, Bench, least, milliseconds, point};
use haft::shell::Environment;
use haft::{ToolRegistry, shell};
use haft_testkit::Tree;
use serde_json::json;
use std::io::Read as _;
use std::process::{Command, Stdio};

const LINE: &str = "a line of the output, as programs print them when they are built";

pub(crate) fn sweep() {
    let tree = Tree::new();
    let registry = ToolRegistry::of(shell::tools(&tree.workdir(), &Environment::minimal())).unwrap();
    let bench = Bench::new(registry);
    for bytes in [1_usize << 10, 16 << 10, 256 << 10, 4 << 20, 64 << 20, 256 << 20] {
        let script = format!("yes '{LINE}' | head -c {bytes}");
        let call = || bench.call("bash", vec![json!({ "command": script })]);
        let times = if bytes > 16 << 20 { 3 } else { 10 };
        let floor = least(times, || read_all(&script));
        let took = least(times, call);
        let ((), most) = ALLOCATOR.most_live(call);
        point("output", "bash", bytes, milliseconds(took));
        point("output", "the same read and dropped", bytes, milliseconds(floor));
        point("memory", "bash", bytes, f64::from(u32::try_from(most / 1024).unwrap()));
    }
}

/// Runs a script and drops what it prints.
fn read_all(script: &str) -> usize {
    let mut child = Command::new("bash").args(["-c", script]).stdout(Stdio::piped()).spawn().unwrap();
    let (mut printed, mut buffer, mut read) = (child.stdout.take().unwrap(), vec![0; 64 << 10], 0);
    loop {
        match printed.read(&mut buffer).unwrap() {
            0 => break,
            some => read += some,
        }
    }
    child.wait().unwrap();
    read
}
