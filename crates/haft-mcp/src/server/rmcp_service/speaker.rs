use super::outbox::Outbox;
use crate::LogLevel;
use crate::server::caller::Caller;
use haft_core::Progress;
use rmcp::model::{
    LoggingLevel, LoggingMessageNotification, LoggingMessageNotificationParam, ProgressNotification,
    ProgressNotificationParam, ProgressToken, RequestId, ServerNotification,
};
use serde_json::Value;
use std::sync::{Mutex, PoisonError};
use tokio_util::sync::CancellationToken;

/// The most bytes of a text of progress.
const MOST_MESSAGE: usize = 1024;

/// The most bytes of the data of a line of the log.
const MOST_DATA: usize = 64 * 1024;

/// Tells the client of one request how it goes: what the lines of both eras share.
pub(super) struct Speaker {
    pub(super) caller: Caller,
    pub(super) request: RequestId,
    pub(super) token: Option<ProgressToken>,
    /// Which lines of the log the client wants: from this level on.
    pub(super) least: Option<LogLevel>,
    pub(super) cancellation: CancellationToken,
    pub(super) outbox: Outbox,
    told: Mutex<f64>,
}

/// Marks a message of ours with the request that it belongs to.
///
/// rmcp's own mark is that of whichever request is being answered in the task that sends, which can be one of another
/// connection: what a server asks for is passed on while that request of the server's is being answered.
#[derive(Debug, Clone)]
pub(super) struct Origin(
    #[cfg_attr(not(feature = "server-http"), expect(dead_code, reason = "only sessions over HTTP read it"))]
    pub(super) RequestId,
);

impl Speaker {
    pub(super) fn new(
        caller: Caller,
        request: RequestId,
        token: Option<ProgressToken>,
        least: Option<LogLevel>,
        cancellation: CancellationToken,
    ) -> Self {
        Self {
            caller,
            request,
            token,
            least,
            cancellation,
            outbox: Outbox::default(),
            told: Mutex::new(-1.0),
        }
    }

    /// Tells of progress; what is no progress over what was told is not told.
    pub(super) fn progress(&self, progress: &Progress) {
        let Some(token) = self.token.clone() else { return };
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let next = match progress.fraction {
            Some(fraction) => fraction * 100.0,
            // Without a fraction it is only known that it goes on.
            None if *told < 0.0 => 0.0,
            None => *told + (99.0 - *told).max(0.0) / 100.0,
        };
        if next <= *told {
            return;
        }
        *told = next;
        drop(told);
        let mut params = ProgressNotificationParam::new(token, next);
        params.total = progress.fraction.map(|_| 100.0);
        params.message = progress.message.as_deref().map(|text| crate::shown::line(text, MOST_MESSAGE));
        let mut message = ProgressNotification::new(params);
        message.extensions.insert(self.origin());
        self.outbox.post(ServerNotification::ProgressNotification(message));
    }

    pub(super) fn log(&self, level: LogLevel, logger: &str, data: &Value) {
        if self.least.is_none_or(|least| level < least) || data.to_string().len() > MOST_DATA {
            return;
        }
        let mut params = LoggingMessageNotificationParam::new(logging_level(level), data.clone());
        params.logger = Some(logger).filter(|logger| !logger.is_empty()).map(str::to_owned);
        let mut message = LoggingMessageNotification::new(params);
        message.extensions.insert(self.origin());
        self.outbox.post(ServerNotification::LoggingMessageNotification(message));
    }

    /// Marks what belongs to the request, so that it goes the way of its answer.
    pub(super) fn origin(&self) -> Origin {
        Origin(self.request.clone())
    }
}

fn logging_level(level: LogLevel) -> LoggingLevel {
    match level {
        LogLevel::Debug => LoggingLevel::Debug,
        LogLevel::Info => LoggingLevel::Info,
        LogLevel::Notice => LoggingLevel::Notice,
        LogLevel::Warning => LoggingLevel::Warning,
        LogLevel::Error => LoggingLevel::Error,
        LogLevel::Critical => LoggingLevel::Critical,
        LogLevel::Alert => LoggingLevel::Alert,
        LogLevel::Emergency => LoggingLevel::Emergency,
    }
}

pub(super) fn log_level(level: LoggingLevel) -> LogLevel {
    match level {
        LoggingLevel::Debug => LogLevel::Debug,
        LoggingLevel::Info => LogLevel::Info,
        LoggingLevel::Notice => LogLevel::Notice,
        LoggingLevel::Warning => LogLevel::Warning,
        LoggingLevel::Error => LogLevel::Error,
        LoggingLevel::Critical => LogLevel::Critical,
        LoggingLevel::Alert => LogLevel::Alert,
        LoggingLevel::Emergency => LogLevel::Emergency,
    }
}
