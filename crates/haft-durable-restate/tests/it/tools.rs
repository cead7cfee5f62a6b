//! Tools whose effects are seen by other processes.

use haft_core::ToolError;
use haft_durable::{EffectKey, Performer, Redo};
use haft_durable_restate::Delegates;
use haft_tools_core::{
    Access, Accesses, CallContext, Limits, LocalExecutor, Policy, Resource, Rule, Scheme, ToolRegistry,
    tool_fn,
};
use schemars::JsonSchema;
use serde::Deserialize;
use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process;
use std::time::Duration;

const LEDGER: Scheme = Scheme::new("ledger");

/// Is what tools of several processes have in common: a directory.
#[derive(Debug, Clone)]
pub(crate) struct Ledger(PathBuf);

#[derive(Deserialize, JsonSchema)]
struct Payment {
    to: String,
    /// Whether it waits, once it has begun, until it is let go on.
    #[serde(default)]
    waits: bool,
}

impl Ledger {
    pub(crate) fn at(directory: &Path) -> Self {
        Self(directory.to_owned())
    }

    /// Takes effect, unless it did by this key.
    fn pay(&self, key: &EffectKey, to: &str) -> Result<bool, ToolError> {
        let file = self.0.join(format!("effect {}", key.as_str().replace('/', "|")));
        match File::options().write(true).create_new(true).open(file) {
            Ok(mut file) => {
                file.write_all(to.as_bytes())
                    .map_err(|error| ToolError::failed("no ledger").with_source(error))?;
                Ok(true)
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(ToolError::failed("no ledger").with_source(error)),
        }
    }

    fn begin(&self, key: &EffectKey) {
        self.say("begun", &format!("{key} {}", process::id()));
    }

    fn say(&self, what: &str, line: &str) {
        let mut file = File::options().create(true).append(true).open(self.0.join(what)).unwrap();
        // One write for each line, so that those of several processes do not mix.
        file.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    fn said(&self, what: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.0.join(what)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// What was begun: each with the process that began it.
    pub(crate) fn begun(&self) -> Vec<(String, u32)> {
        let line = |line: String| {
            let (key, process) = line.split_once(' ').unwrap();
            (key.to_owned(), process.parse().unwrap())
        };
        self.said("begun").into_iter().map(line).collect()
    }

    /// The programs that were started.
    pub(crate) fn started(&self) -> Vec<u32> {
        self.said("started").iter().map(|line| line.parse().unwrap()).collect()
    }

    /// The keys of what took effect, in order.
    pub(crate) fn effects(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut keys: Vec<String> =
            names.filter_map(|name| Some(name.strip_prefix("effect ")?.replace('|', "/"))).collect();
        keys.sort();
        keys
    }

    pub(crate) fn ask(&self, model: &str, turn: usize) {
        self.say("asked", &format!("{model} {turn} {}", process::id()));
    }

    /// What models were asked: which turn, by which process.
    pub(crate) fn asked(&self) -> Vec<(String, u32)> {
        let line = |line: String| {
            let (turn, process) = line.rsplit_once(' ').unwrap();
            (turn.to_owned(), process.parse().unwrap())
        };
        self.said("asked").into_iter().map(line).collect()
    }

    /// Has a model wait with its answer.
    pub(crate) fn hold(&self, model: &str, turn: usize) {
        File::create(self.0.join(format!("hold {model} {turn}"))).unwrap();
    }

    pub(crate) fn holds(&self, model: &str, turn: usize) -> bool {
        self.0.join(format!("hold {model} {turn}")).exists()
    }

    /// Lets a model answer.
    pub(crate) fn release(&self, model: &str, turn: usize) {
        std::fs::remove_file(self.0.join(format!("hold {model} {turn}"))).unwrap();
    }

    /// Lets go on what waits.
    pub(crate) fn let_go(&self) {
        File::create(self.0.join("go")).unwrap();
    }

    /// Moves what is paid to another place, so that the same call would touch something else.
    pub(crate) fn move_away(&self) {
        File::create(self.0.join("moved")).unwrap();
    }

    fn touched(&self, payment: &Payment) -> Accesses {
        let place = if self.0.join("moved").exists() { "moved" } else { payment.to.as_str() };
        Access::write(Resource::exact(LEDGER, place)).into()
    }

    async fn waits(&self) {
        while !self.0.join("go").exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

/// The agents that others delegate to.
fn delegates() -> Delegates {
    Delegates::new().agent("helper".parse().unwrap(), "Helps.", "helper".parse().unwrap())
}

/// Makes the tools of a worker: `pay` may be made again, `gamble` may not, `sign` is asked about, and `hang` starts a program.
pub(crate) fn registry(ledger: &Ledger) -> ToolRegistry {
    let paying = |name: &str| {
        let (touching, ledger) = (ledger.clone(), ledger.clone());
        let touched = move |payment: &Payment| Ok::<_, ToolError>(touching.touched(payment));
        let pays = tool_fn(name, "Pays.", touched, move |payment: Payment, cx: CallContext| {
            let ledger = ledger.clone();
            async move {
                let key = EffectKey::of(&cx);
                ledger.begin(&key);
                cx.progress(format!("begun by {}", process::id()));
                if payment.waits {
                    ledger.waits().await;
                }
                let is_new = ledger.pay(&key, &payment.to)?;
                Ok::<_, ToolError>(if is_new { "paid" } else { "paid before" }.to_owned())
            }
        });
        pays.unwrap()
    };
    let started = ledger.clone();
    let hang = tool_fn("hang", "Hangs.", Accesses::none(), move |_: Payment, cx: CallContext| {
        let ledger = started.clone();
        async move {
            let mut program =
                tokio::process::Command::new("sleep").arg("60").kill_on_drop(true).spawn().unwrap();
            ledger.say("started", &program.id().unwrap().to_string());
            tokio::select! {
                _ = program.wait() => Ok("slept".to_owned()),
                () = cx.cancellation().cancelled() => {
                    program.kill().await.unwrap();
                    Err(ToolError::cancelled("stopped as told"))
                }
            }
        }
    });
    let nothing = tool_fn("nothing", "Does nothing.", Accesses::none(), |_: Payment, _: CallContext| async {
        Ok::<_, ToolError>("nothing".to_owned())
    });
    let registry = ToolRegistry::new().with(nothing.unwrap()).unwrap();
    let registry = registry.with(paying("pay")).unwrap().with(paying("gamble")).unwrap();
    let registry = registry.with(paying("sign")).unwrap().with(hang.unwrap()).unwrap();
    registry.with(delegates().tool()).unwrap()
}

/// Makes the calls of those tools.
pub(crate) fn performer(ledger: &Ledger, approval_lifetime: Option<Duration>) -> Performer {
    let policy = ["pay", "gamble", "hang", "nothing", "delegate"]
        .into_iter()
        .fold(Policy::new(), |policy, name| policy.allow(Rule::tools(name.parse().unwrap())));
    let limits = match approval_lifetime {
        Some(time) => Limits { approval_lifetime: Some(time), ..Limits::default() },
        None => Limits::default(),
    };
    let executor = LocalExecutor::builder(registry(ledger)).policy(policy).limits(limits);
    Performer::new(executor).redo(Redo::nothing().and("pay,sign,nothing,delegate".parse().unwrap()))
}
