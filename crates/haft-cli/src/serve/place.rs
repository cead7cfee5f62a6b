use super::toolbox::Settings;
use crate::changes::journalled;
use crate::known_secrets;
use crate::mcp::offered::{Offered, offer_live};
use crate::openapi;
use crate::opened_workdir::OpenedWorkdir;
use crate::other_root::OtherRoot;
use crate::own_tools;
use crate::sandbox;
use crate::user_directories::UserDirectories;
use anyhow::{Context as _, Result};
use haft::policy::SandboxMode;
use haft::shell::ScriptOutputs;
use haft::{
    CallScope, Catalog, CatalogBuilder, ChangeSignal, Event, EventKind, Events, FixedSource, Observer,
    OutputStore, ReadOutput, Redactor, Workdir,
};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
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
    pub(super) outputs: Arc<dyn OutputStore>,
    pub(super) servers: Arc<Offered>,
    ready: watch::Receiver<bool>,
    _following: AbortOnDropHandle<()>,
    /// Where large outputs are; it goes with them.
    _spilled: TempDir,
}

impl Place {
    /// Opens a directory, and begins to gather its tools; changes of these are told, and secrets that are configured for
    /// it are registered.
    pub(super) fn open(
        path: &Path,
        settings: &Settings,
        user: &UserDirectories,
        (changes, redactor): (&ChangeSignal, &Redactor),
    ) -> Result<Arc<Self>> {
        let left_out = settings.left_out;
        let OpenedWorkdir { workdir, roots, config } = OpenedWorkdir::of(Some(path), settings.roots.clone())?;
        let workdir = journalled(workdir, user, settings.quota)?;
        let spilled = tempfile::tempdir().context("cannot make a directory for large outputs")?;
        known_secrets::register(&workdir, redactor);
        let of_scripts = ScriptOutputs::spilling_into(spilled.path()).redactor(redactor.clone());
        let outputs: Arc<dyn OutputStore> = Arc::new(of_scripts.clone());
        let sandbox = sandbox::mode(&workdir, Some(path), &settings.policy, user);
        let own = own_tools::registry_in(&workdir, sandbox, |bash| bash.outputs(&of_scripts))?;
        let own = own.with(ReadOutput::new(Arc::clone(&outputs)))?;
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
        let catalog = config.select.into_iter().fold(builder, CatalogBuilder::select).build()?;
        let servers =
            Arc::new(if left_out.mcp { Offered::default() } else { offer_live(&workdir, &catalog) });
        if !left_out.openapi {
            openapi::offered::offer_live(&workdir, &catalog, redactor);
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
            ready,
            _following: AbortOnDropHandle::new(following),
            _spilled: spilled,
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
