//! Stands for what this build has not, and says so where it is asked for.

use super::{Sent, Telling, look};
use crate::config::Settings;
use crate::exit::note;
use anyhow::anyhow;
use haft::tools_core::SpanContent;
use std::sync::OnceLock;

/// Whether it was looked at what is configured: it is said once.
static SAID: OnceLock<()> = OnceLock::new();

/// Says that spans cannot be sent, if these settings have a table that says where to; those of the first directory count.
///
/// Variables of the environment are for other programs, too, and so are none of this one's business.
pub(crate) fn begin(settings: &Settings, _: Telling) {
    SAID.get_or_init(|| {
        if settings.telemetry.is_none() {
            return;
        }
        match look(settings) {
            Ok(sent) => {
                if let Some(absent) = sent.and_then(|_| Sent::absent()) {
                    note(anyhow!(absent).as_ref());
                }
            }
            Err(error) => note(error.context("no spans are exported").as_ref()),
        }
    });
}

pub(crate) fn span_content() -> SpanContent {
    SpanContent::Omitted
}

pub(crate) fn end() {}
