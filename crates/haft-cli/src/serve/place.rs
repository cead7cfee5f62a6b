use super::toolbox::Settings;
use crate::config::Configuration;
use crate::groundwork::Groundwork;
use crate::known_secrets;
use crate::mcp::offered::{Offered, offer_live};
use crate::openapi;
use crate::opened_workdir::OpenedWorkdir;
use crate::other_root::OtherRoot;
use crate::scripts::Outputs;
use anyhow::Result;
use haft::core::{Event, EventKind};
use haft::policy::SandboxMode;
use haft::tools_core::{Catalog, CatalogBuilder, ChangeSignal, Events, FixedSource, Observer, Redactor};
use haft::{CallScope, Workdir};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio_util::task::AbortOnDropHandle;

/// How long clients wait for servers that have just been started; those that take longer come with a change of the list.
const PATIENCE: Duration = Duration::from_secs(10);

/// What the tools of this command are called as a source; no server can have the name.
const OWN: &str = "haft's own";

/// Says which tools are left out that a person has configured.
#[derive(Debug, Clone, Copy)]
pub(super) struct LeftOut {
    pub(super) mcp: bool,
    pub(super) openapi: bool,
}

/// Is a directory that is worked in, with its tools as they come and go.
pub(super) struct Place {
    pub(super) workdir: Workdir,
    /// The other directories that are worked in.
    pub(super) roots: Vec<OtherRoot>,
    pub(super) catalog: Catalog,
    /// How far the commands of all its clients are confined.
    pub(super) sandbox: SandboxMode,
    pub(super) outputs: Outputs,
    pub(super) servers: Arc<Offered>,
    /// What was configured for it when it was opened.
    pub(super) configuration: Arc<Configuration>,
    ready: watch::Receiver<bool>,
    _following: AbortOnDropHandle<()>,
}

impl Place {
    /// Begins to gather the tools of a directory; changes of these are told, and secrets that are configured for it are
    /// registered.
    pub(super) fn open(
        path: &Path,
        opened: OpenedWorkdir,
        settings: &Settings,
        (changes, redactor): (&ChangeSignal, &Redactor),
    ) -> Result<Arc<Self>> {
        let left_out = settings.left_out;
        known_secrets::register(&opened.configuration, &opened.settings, redactor);
        let outputs = Outputs::new(redactor)?;
        let Settings { policy, quota, .. } = settings;
        let ground = Groundwork::lay(&opened, Some(path), policy, *quota, |bash| outputs.of(bash))?;
        let own = outputs.readable(&ground.own)?;
        let (workdir, sandbox) = (ground.workdir, ground.sandbox);
        let OpenedWorkdir { roots, configuration, settings, .. } = opened;
        let told = changes.clone();
        let tell = move |event: &Event| {
            if matches!(event.kind, EventKind::ToolsChanged { .. }) {
                told.raise();
            }
        };
        let events = Events::new([Arc::new(tell) as Arc<dyn Observer>]);
        let scope = CallScope::new("catalog".parse()?);
        // What is first keeps its names.
        let builder = Catalog::builder().source(FixedSource::new(OWN, own)).events(events, scope);
        let catalog = settings.select.into_iter().fold(builder, CatalogBuilder::select).build()?;
        let servers = Arc::new(if left_out.mcp {
            Offered::default()
        } else {
            offer_live(&workdir, &configuration.servers, &catalog)
        });
        if !left_out.openapi {
            openapi::offered::offer_live(&configuration.documents, &catalog, redactor);
        }
        let (said, ready) = watch::channel(false);
        let (followed, started) = (catalog.clone(), Arc::clone(&servers));
        let following = tokio::spawn(async move {
            // Those of this command are there at once.
            followed.refresh_source(OWN).await;
            followed.refresh().await;
            started.print_notes();
            openapi::offered::print_notes(&followed);
            said.send_replace(true);
            followed.follow().await;
        });
        Ok(Arc::new(Self {
            workdir,
            roots,
            catalog,
            sandbox,
            outputs,
            servers,
            configuration: Arc::new(configuration),
            ready,
            _following: AbortOnDropHandle::new(following),
        }))
    }

    /// Waits until all servers have answered or failed, but not for long.
    pub(super) async fn ready(&self) {
        let mut ready = self.ready.clone();
        // Who says so is gone only with the place.
        let _ = tokio::time::timeout(PATIENCE, ready.wait_for(|ready| *ready)).await;
    }

    /// Ends the servers.
    pub(super) async fn stop(&self) {
        self.servers.stop().await;
    }
}
