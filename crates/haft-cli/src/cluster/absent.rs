//! Stands for what this build has not.

use super::EngineUrl;
use crate::approvals::KeptCall;
use crate::exit::{Exit, UsageError};
use crate::serve::Route;
use crate::worker::WorkerOptions;
use anyhow::Result;
use haft::tools_core::{Approval, Journal, Limits, ModeSwitch, PendingStore, Redactor};
use haft::{Policy, ToolExecutor};
use std::convert::Infallible;
use std::sync::Arc;

const ABSENT: &str = "this haft was built without the feature `restate`; build it with `cargo install --path crates/haft-cli --features \
                      restate`";

pub(crate) async fn work(_: WorkerOptions) -> Result<Exit> {
    Err(absent())
}

pub(crate) async fn calls(_: &EngineUrl, _: &EngineUrl) -> Result<Vec<KeptCall>> {
    Err(absent())
}

pub(crate) async fn answer(_: &EngineUrl, _: &KeptCall, _: &Approval) -> Result<bool> {
    Err(absent())
}

/// Cannot be found.
#[derive(Debug, Clone)]
pub(crate) struct ServedCluster(Infallible);

impl ServedCluster {
    #[expect(clippy::unused_async, reason = "it takes its time where there is an engine")]
    pub(crate) async fn find(_: &EngineUrl, _: &str, _: &[Route]) -> Result<Self> {
        Err(absent())
    }

    pub(crate) fn executor(
        &self,
        _: Arc<dyn PendingStore>,
        _: (Policy, Limits),
        _: ModeSwitch,
        _: (Journal, Redactor),
    ) -> Arc<dyn ToolExecutor> {
        match self.0 {}
    }
}

fn absent() -> anyhow::Error {
    UsageError(ABSENT.to_owned()).into()
}
