use std::fs;
use std::panic::Location;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use haft_core::{Origin, ReplyStatus, Schema, ToolCall, ToolSpec};
use haft_hooks::{CommandHook, CommandHooks, HookReport};
use haft_tools_core::{
    Access, Accesses, Before, CallScope, Layer as _, LayerAnswer, LayerCall, Resource, Scheme, Selector,
};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::{Instant, sleep, timeout};

/// How long something may take that should happen at once, on a machine that is busy.
pub(crate) const SOON: Duration = Duration::from_mins(1);

/// The host's variables in these tests.
pub(crate) const VARIABLES: [(&str, &str); 4] = [
    ("PATH", "/usr/bin:/bin"),
    ("HOME", "/home/ann"),
    ("GITHUB_TOKEN", "hunter2"),
    ("OTHER_TOKEN", "hunter3"),
];

/// Hooks in a directory of their own. What they started is killed with it, so that no failing test leaves anything.
pub(crate) struct Asking {
    pub(crate) directory: TempDir,
    hooks: CommandHooks,
    reports: Arc<Mutex<Vec<HookReport>>>,
}

/// A call with all a layer is shown of it.
pub(crate) struct Scene {
    pub(crate) call: ToolCall,
    pub(crate) spec: ToolSpec,
    pub(crate) scope: CallScope,
    pub(crate) accesses: Accesses,
}

impl Asking {
    pub(crate) fn new(hooks: impl IntoIterator<Item = CommandHook>) -> Self {
        let directory = TempDir::new().expect("a temporary directory can be made");
        let reports = Arc::<Mutex<Vec<HookReport>>>::default();
        let sink = Arc::clone(&reports);
        let hooks = CommandHooks::new(hooks, directory.path(), VARIABLES)
            .expect("the hooks can be used")
            .reporting_to(move |report| sink.lock().expect("nothing panics").push(report));
        Self { directory, hooks, reports }
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn hooks(&self) -> CommandHooks {
        self.hooks.clone()
    }

    pub(crate) async fn before(&self, call: &Scene) -> Before {
        timeout(SOON, self.hooks.before(&call.shown())).await.expect("the hooks end soon")
    }

    pub(crate) async fn after(&self, call: &Scene, answer: impl Into<LayerAnswer>) -> LayerAnswer {
        timeout(SOON, self.hooks.after(&call.shown(), answer.into())).await.expect("the hooks end soon")
    }

    /// Takes the reports so far, with their stderr, one a line.
    pub(crate) fn reports(&self) -> String {
        let reports = std::mem::take(&mut *self.reports.lock().expect("nothing panics"));
        let lines = reports.iter().map(|report| {
            let stderr =
                if report.stderr.is_empty() { String::new() } else { format!(" {:?}", report.stderr) };
            format!("{report}{stderr}\n")
        });
        lines.collect::<String>().replace(&self.path().display().to_string(), "DIRECTORY")
    }

    /// Lists the processes that work in the directory, by their ids.
    pub(crate) fn processes(&self) -> Vec<Pid> {
        let root = self.path().canonicalize().expect("the directory is there");
        let all = fs::read_dir("/proc").expect("processes can be listed").flatten();
        let inside = all.filter(|process| {
            fs::read_link(process.path().join("cwd")).is_ok_and(|directory| directory.starts_with(&root))
        });
        inside.filter_map(|process| Pid::from_raw(process.file_name().to_str()?.parse().ok()?)).collect()
    }

    /// Waits until no process works in the directory any more.
    pub(crate) async fn is_deserted(&self) {
        until(|| self.processes().is_empty()).await;
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        for process in self.processes() {
            let _ = kill_process(process, Signal::KILL);
        }
    }
}

impl Scene {
    pub(crate) fn of(tool: &str, input: Value) -> Self {
        const FILE: Scheme = Scheme::new("file");
        let accesses = [
            Access::write(Resource::exact(FILE, "src/lib.rs")),
            Access::opaque("a script\u{7} that is not analysed"),
        ];
        Self {
            call: ToolCall::new("c1".parse().expect("an id"), tool, input),
            spec: ToolSpec::new(tool.parse().expect("a name"), "Does it.", Schema::empty())
                .with_title("A tool")
                .with_origin(Origin::Builtin),
            scope: CallScope::new("run-1".parse().expect("an id")),
            accesses: Accesses::from(accesses),
        }
    }

    pub(crate) fn shown(&self) -> LayerCall<'_> {
        LayerCall::new(&self.call, &self.spec, &self.scope, &self.accesses)
    }
}

/// A call of `bash`.
pub(crate) fn bash() -> Scene {
    Scene::of("bash", json!({ "command": "ls" }))
}

/// What a hook denies a call with.
pub(crate) fn denial(text: &str) -> Before {
    Before::skip(LayerAnswer::new(ReplyStatus::Denied, text))
}

/// The command of a script.
pub(crate) fn sh(script: &str) -> [&str; 3] {
    ["/bin/sh", "-c", script]
}

pub(crate) fn before(script: &str) -> CommandHook {
    CommandHook::before(Selector::all(), sh(script))
}

pub(crate) fn after(script: &str) -> CommandHook {
    CommandHook::after(Selector::all(), sh(script))
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
