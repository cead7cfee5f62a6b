use crate::printed::print_json_line;
use anyhow::Result;
use schemars::JsonSchema;
use serde::Serialize;

/// A line that a worker prints: how far it has come.
#[cfg_attr(
    not(feature = "restate"),
    expect(dead_code, reason = "a build without the engine only says how it would look")
)]
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "stage", rename_all = "snake_case")]
pub(crate) enum WorkerStage {
    /// It takes calls.
    Ready {
        /// Where it listens.
        address: String,
        /// The pool that it works for.
        pool: String,
        /// How many tools it has.
        tools: usize,
        /// Whether it takes calls only of the engine that signs them.
        signed: bool,
        /// Where the engine was told that it is; `null` where no engine was told.
        registered: Option<String>,
    },
    /// It takes no more calls, and those that run may end.
    Draining,
    /// It has ended, and all that it had started with it.
    Ended,
}

impl WorkerStage {
    /// Says it: as JSON on standard output, or on standard error for people.
    #[cfg_attr(
        not(feature = "restate"),
        expect(dead_code, reason = "a build without the engine has nothing to say")
    )]
    pub(crate) fn say(&self, json: bool) -> Result<()> {
        if json {
            return print_json_line(self);
        }
        match self {
            Self::Ready { address, pool, tools, signed, registered } => {
                errln!("Working for the pool `{pool}` at {address}, with {tools} tools.");
                match registered {
                    Some(registered) => errln!("The engine calls it at {registered}."),
                    None => errln!("Tell the engine of it: `restate deployments register {address}`."),
                }
                if !signed {
                    errln!(
                        "Every user of this machine can have calls made; --identity-key says which engine may."
                    );
                }
            }
            Self::Draining => {
                errln!("Stopping: no more calls are taken, and those that run may end.");
            }
            Self::Ended => {}
        }
        Ok(())
    }
}
