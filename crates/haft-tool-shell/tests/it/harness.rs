use std::fs;
use std::panic::Location;
use std::path::PathBuf;
use std::time::Duration;

use expect_test::Expect;
use haft_core::{ToolCall, ToolReply};
use haft_testkit::{Tree, call};
use haft_tool_shell::{Bash, Environment, ScriptOutputs, tools};
use haft_tools_core::{
    AllowAll, Batch, CallScope, Limits, LocalExecutor, Redactor, ToolExecutor as _, ToolRegistry,
};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

/// How long something may take that should happen at once, on a machine that is busy.
pub(crate) const SOON: Duration = Duration::from_secs(20);

/// A shell in a directory of its own. Whatever it started is killed with it, so that no failing test leaves anything.
pub(crate) struct Shell {
    pub(crate) tree: Tree,
    registry: ToolRegistry,
}

impl Shell {
    pub(crate) fn new() -> Self {
        Self::with(Tree::new(), &Environment::minimal())
    }

    pub(crate) fn with(tree: Tree, environment: &Environment) -> Self {
        let registry = tools(&tree.workdir(), environment)
            .into_iter()
            .try_fold(ToolRegistry::new(), |registry, tool| registry.with(tool))
            .expect("each tool has a name of its own");
        Self { tree, registry }
    }

    /// Makes a shell whose tool is configured.
    pub(crate) fn of_bash(tree: Tree, configured: impl FnOnce(Bash) -> Bash) -> Self {
        let bash = configured(Bash::new(tree.workdir(), Environment::minimal()));
        let registry = ToolRegistry::new().with(bash).expect("it is the only tool");
        Self { tree, registry }
    }

    /// Makes a shell whose outputs are kept, without these secrets.
    pub(crate) fn keeping(redactor: Redactor) -> (Self, ScriptOutputs) {
        let tree = Tree::new();
        // In a place of the tree's that no process of the shell works in.
        let outputs = ScriptOutputs::spilling_into(tree.path().join(".outputs")).redactor(redactor);
        (Self::of_bash(tree, |bash| bash.outputs(&outputs)), outputs)
    }

    /// Takes a shell that was made otherwise.
    pub(crate) fn of(tree: Tree, registry: ToolRegistry) -> Self {
        Self { tree, registry }
    }

    /// Gives the tools away, and with them what they hold.
    pub(crate) fn without_tools(mut self) -> Self {
        self.registry = ToolRegistry::new();
        self
    }

    pub(crate) fn registry(&self) -> &ToolRegistry {
        &self.registry
    }

    /// Runs a script, which has to be done soon.
    pub(crate) async fn run(&self, command: &str) -> ToolReply {
        self.call(json!({ "command": command })).await
    }

    pub(crate) async fn call(&self, input: Value) -> ToolReply {
        timeout(SOON, call(&self.registry, "bash", input)).await.expect("the call ends soon")
    }

    /// Starts a script that makes the file `ready`, and waits until it is there.
    pub(crate) async fn start(&self, command: &str) -> Running {
        // What ends it says so itself, however long that takes.
        let limits = Limits { grace: SOON, ..Limits::default() };
        let executor =
            LocalExecutor::builder(self.registry.clone()).approver(AllowAll).limits(limits).build();
        let call = ToolCall::new("c1".parse().expect("an id"), "bash", json!({ "command": command }));
        let token = CancellationToken::new();
        let batch = Batch::new(scope(), vec![call]).cancelled_by(token.clone());
        let replies = tokio::spawn(async move {
            executor.execute_batch(batch).await.into_replies().expect("nobody is waited for")
        });
        let ready = self.tree.path().join("ready");
        until(|| ready.exists()).await;
        Running { replies, token }
    }

    /// Lists the processes that work in the shell's directory, by their ids.
    pub(crate) fn processes(&self) -> Vec<Pid> {
        let root = self.tree.path().canonicalize().expect("the tree is there");
        let all = fs::read_dir("/proc").expect("processes can be listed").flatten();
        let inside = all.filter(|process| {
            fs::read_link(process.path().join("cwd"))
                .is_ok_and(|directory: PathBuf| directory.starts_with(&root))
        });
        inside.filter_map(|process| Pid::from_raw(process.file_name().to_str()?.parse().ok()?)).collect()
    }

    /// Waits until no process works in the shell's directory any more.
    pub(crate) async fn is_deserted(&self) {
        until(|| self.processes().is_empty()).await;
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        for process in self.processes() {
            let _ = kill_process(process, Signal::KILL);
        }
    }
}

/// A script that is being run.
pub(crate) struct Running {
    replies: JoinHandle<Vec<ToolReply>>,
    token: CancellationToken,
}

impl Running {
    /// Cancels the call and returns its reply.
    pub(crate) async fn cancel(self) -> ToolReply {
        self.token.cancel();
        let mut replies =
            timeout(SOON, self.replies).await.expect("the call ends soon").expect("nothing panics");
        replies.pop().expect("each call gets a reply")
    }

    /// Drops the call's future.
    pub(crate) async fn drop_future(self) {
        self.replies.abort();
        assert!(self.replies.await.is_err_and(|error| error.is_cancelled()), "the call was still running");
    }
}

/// Where this process is among the control groups of cgroup v2, if it may make some there; told in another way than by what
/// is tested.
pub(crate) fn writable_cgroup() -> Option<PathBuf> {
    let own = fs::read_to_string("/proc/self/cgroup").ok()?;
    let own = own.lines().find_map(|line| line.strip_prefix("0::/"))?.to_owned();
    let mounts = fs::read_to_string("/proc/self/mounts").ok()?;
    let mount =
        mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>()).find(|mount| mount[2] == "cgroup2")?;
    let place = PathBuf::from(mount[1]).join(own);
    let probe = place.join(format!("probe-{}-{:?}", std::process::id(), std::thread::current().id()));
    fs::create_dir(&probe).ok()?;
    let can_kill = probe.join("cgroup.kill").exists();
    fs::remove_dir(&probe).expect("nobody is in it");
    (can_kill && cfg!(target_arch = "x86_64")).then_some(place)
}

pub(crate) fn scope() -> CallScope {
    CallScope::new("run-1".parse().expect("an id"))
}

/// Waits for something outside this process to become so.
#[track_caller]
pub(crate) fn until(is_so: impl Fn() -> bool) -> impl Future<Output = ()> {
    let caller = Location::caller();
    async move {
        let deadline = Instant::now() + SOON;
        while !is_so() {
            assert!(Instant::now() < deadline, "not so in time: {caller}");
            sleep(Duration::from_millis(5)).await;
        }
    }
}

/// Shows how a call ended, and what the model reads.
pub(crate) fn shown(reply: &ToolReply) -> String {
    format!("{}\n{}\n", reply.status, reply.output.to_text())
}

/// Runs a script in a directory of its own, which has to be left by all processes, and compares what the model reads.
pub(crate) async fn check(command: &str, expected: Expect) {
    check_call(json!({ "command": command }), expected).await;
}

/// Makes a call in a directory of its own, which has to be left by all processes, and compares what the model reads.
pub(crate) async fn check_call(input: Value, expected: Expect) {
    let shell = Shell::new();
    let reply = shell.call(input).await;
    expected.assert_eq(&shown(&reply));
    shell.is_deserted().await;
}
