use super::Finding;
use crate::config::Settings;
use crate::telemetry::{self, Sent};
use anyhow::Result;
use bytes::Bytes;
use haft::Workdir;

const ABOUT: &str = "telemetry";

/// Looks whether spans can be sent to the collector that is named, if one is; it is asked only where others in the network are.
pub(super) async fn look(workdir: Workdir, connects: bool) -> Vec<Finding> {
    let settings = tokio::task::spawn_blocking(move || Settings::read(&workdir)).await;
    // What is wrong with what is configured is told as such.
    let Ok(Ok(settings)) = settings else { return Vec::new() };
    let Ok(Some(sent)) = telemetry::look(&settings) else { return Vec::new() };
    if let Some(absent) = Sent::absent() {
        return vec![Finding::warning(ABOUT, absent)];
    }
    let with = if sent.content { "with arguments and results" } else { "without arguments and results" };
    let text = format!("spans go to `{}`, {with}", sent.host());
    if !connects {
        return vec![Finding::ok(ABOUT, text)];
    }
    vec![match ask(&sent).await {
        Ok(()) => Finding::ok(ABOUT, format!("{text}; it takes them")),
        Err(error) => {
            Finding::of_error(ABOUT, &error.context(format!("spans cannot be sent to `{}`", sent.host())))
                .next("see whether the collector runs there, and takes OTLP over HTTP at that path")
        }
    }]
}

/// Sends no span, which is the empty message.
async fn ask(sent: &Sent) -> Result<()> {
    let client = sent.named_host().client()?;
    sent.post(&client, Bytes::new()).await.map(drop)
}
