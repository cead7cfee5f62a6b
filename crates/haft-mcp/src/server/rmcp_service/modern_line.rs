use super::speaker::Speaker;
use crate::LogLevel;
use crate::server::ask::{Ask, ClientAskError};
use crate::server::caller::{Ability, Caller};
use crate::server::line::Line;
use async_trait::async_trait;
use haft_core::Progress;
use serde_json::Value;
use std::collections::BTreeMap;
use tokio_util::sync::CancellationToken;

/// Is the line of the newer era: it takes progress and the log, and whoever answers the request asks in rounds.
pub(super) struct ModernLine(pub(super) Speaker);

#[async_trait]
impl Line for ModernLine {
    fn caller(&self) -> &Caller {
        &self.0.caller
    }

    fn asks_in_rounds(&self) -> bool {
        true
    }

    async fn ask(&self, asks: Vec<Ask>) -> BTreeMap<String, Result<Value, ClientAskError>> {
        let broken = || Err(ClientAskError::Broken("this request has no rounds".to_owned()));
        asks.into_iter().map(|ask| (ask.key, broken())).collect()
    }

    fn needs(&self, _ability: Ability) {
        // Whoever answers the request keeps it.
    }

    fn progress(&self, progress: &Progress) {
        self.0.progress(progress);
    }

    fn log(&self, level: LogLevel, logger: &str, data: &Value) {
        self.0.log(level, logger, data);
    }

    fn cancellation(&self) -> &CancellationToken {
        &self.0.cancellation
    }
}
