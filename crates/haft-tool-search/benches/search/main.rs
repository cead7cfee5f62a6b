//! Searching the sources of many crates, beside `rg` on the same tree.
//!
//! `cargo xtask bench search -- [speed] [cancelled] [equal] [many] [outline]` measures how fast searches are and how soon they end
//! when they are cancelled, compares what they find, searches half a million files with a second to do it in, and outlines
//! large files; without arguments it does all. Other words choose rows by their names.
//!
//! The tree is made of the sources in Cargo's registry, linked into the directory of build outputs. The other side is
//! ripgrep 15: `rg` from the search path, or the program that `HAFT_BENCH_RG` names, such as one that
//! `cargo install ripgrep --root DIRECTORY` has built. Each row is the least of many runs, in turns; for `rg` that is a
//! process, as other tools start it.

#![cfg(unix)]
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark speaks on the terminal")]

mod agree;
mod cancelled;
mod equal;
mod many;
mod outline;
mod rg;
mod speed;
mod tree;

use haft_core::{ToolCall, ToolReply};
use haft_tool_search::{FindFiles, Glob, Grep, Outline, SearchOptions};
use haft_tools_core::{
    Batch, CallScope, LocalExecutor, Policy, Rule, Selector, Tool, ToolExecutor as _, ToolRegistry,
};
use haft_workdir::Workdir;
use rg::Rg;
use serde_json::Value;
use std::env;
use std::path::Path;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The tools over one tree.
struct Tools {
    executor: LocalExecutor,
    runtime: tokio::runtime::Runtime,
}

impl Tools {
    fn over(tree: &Path, options: SearchOptions) -> Self {
        let workdir = Workdir::open(tree).unwrap();
        let tools: [Arc<dyn Tool>; 4] = [
            Arc::new(Grep::new(workdir.clone()).options(options)),
            Arc::new(Glob::new(workdir.clone()).options(options)),
            Arc::new(FindFiles::new(workdir.clone()).options(options)),
            Arc::new(Outline::new(workdir).options(options)),
        ];
        let policy = Policy::new().allow(Rule::tools(Selector::all()));
        let executor = LocalExecutor::builder(ToolRegistry::of(tools).unwrap()).policy(policy).build();
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_time().build().unwrap();
        Self { executor, runtime }
    }

    fn call(&self, tool: &str, input: &Value) -> ToolReply {
        let reply = self.call_until(tool, input, CancellationToken::new());
        assert!(reply.status.is_ok(), "{}", reply.output.to_text());
        reply
    }

    fn call_until(&self, tool: &str, input: &Value, cancelled: CancellationToken) -> ToolReply {
        let scope = CallScope::new("bench".parse().unwrap());
        let call = ToolCall::new("c1".parse().unwrap(), tool, input.clone());
        let batch = Batch::new(scope, vec![call]).cancelled_by(cancelled);
        self.runtime.block_on(self.executor.execute_batch(batch)).into_replies().unwrap().remove(0)
    }
}

fn main() {
    let asked: Vec<String> = env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let is_part =
        |asked: &&String| matches!(asked.as_str(), "speed" | "cancelled" | "equal" | "many" | "outline");
    let (parts, cases): (Vec<&String>, Vec<&String>) = asked.iter().partition(is_part);
    let is_asked = |part: &str| parts.is_empty() || parts.iter().any(|asked| *asked == part);
    let mut agrees = true;
    if is_asked("cancelled") {
        cancelled::measure(&Tools::over(&tree::sources(), SearchOptions::default()));
    }
    let needs_tree = is_asked("speed") || is_asked("equal");
    if needs_tree {
        match Rg::find() {
            Ok(rg) => {
                println!("against {}\n", rg.version());
                let sources = tree::sources();
                let tools = Tools::over(&sources, SearchOptions::default());
                if is_asked("speed") {
                    speed::measure(&tools, &rg, &sources, &cases);
                }
                if is_asked("equal") {
                    agrees = equal::compare(&tools, &rg, &sources);
                }
            }
            Err(missing) => println!("{missing}\n"),
        }
    }
    if is_asked("many") {
        many::measure();
    }
    if is_asked("outline") {
        outline::measure();
    }
    assert!(agrees, "some results differ from those of `rg`, and why is not known");
}
