//! The spans of runs, turns of models and calls, for whoever collects them: OTLP over HTTP, with the feature `otel`.
//!
//! Nothing here is ever in the way of a call. What cannot be sent is lost and said once, and the end of the command waits for
//! what is still to be sent for two seconds at most.

#[cfg(not(feature = "otel"))]
mod absent;
#[cfg(feature = "otel")]
mod export;
#[cfg(feature = "otel")]
mod lost;
#[cfg(feature = "otel")]
mod present;
mod sent;

#[cfg(not(feature = "otel"))]
pub(crate) use absent::{begin, end, span_content};
#[cfg(feature = "otel")]
pub(crate) use present::{begin, end, span_content};
pub(crate) use sent::Sent;

use crate::config::Settings;
use anyhow::Result;
use std::env;

/// Says when it is told that spans cannot be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Telling {
    /// When the command ends: until then something else may be drawn.
    AtEnd,
    /// At once, as by what runs for days.
    AtOnce,
}

/// Finds where spans are sent by these settings and the environment, if they are to be.
///
/// # Errors
///
/// When what is said cannot be used.
pub(crate) fn look(settings: &Settings) -> Result<Option<Sent>> {
    Sent::of(settings.telemetry.as_ref(), &|name| {
        env::var(name).ok().filter(|value| !value.trim().is_empty())
    })
}
