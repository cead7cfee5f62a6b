use super::files::{Known, McpFiles, Untrusted};
use super::servers::attach_with;
use super::unkept::UnkeptPins;
use super::way::Way;
use crate::config::Configuration;
use anyhow::Result;
use haft::Workdir;
use haft::mcp::{McpServers, ServerStatus};
use haft::tools_core::Catalog;
use std::time::Duration;
use tokio::time::timeout;

/// How many servers are started at once; a file has no more.
const MOST_AT_ONCE: usize = 128;

/// Is the servers that are configured, for whoever looks whether they can be used.
pub(crate) struct Servers {
    workdir: Workdir,
    files: McpFiles,
}

/// Is one server that may be started.
pub(crate) struct LookedAt<'a>(&'a Known);

impl Servers {
    pub(crate) fn of(workdir: &Workdir) -> Result<Self> {
        Ok(Self { workdir: workdir.clone(), files: Configuration::read(workdir)?.servers? })
    }

    pub(crate) fn startable(&self) -> impl Iterator<Item = LookedAt<'_>> {
        self.files.startable().map(LookedAt)
    }

    pub(crate) fn disabled(&self) -> &[String] {
        &self.files.disabled
    }

    /// Those of files that are not trusted, each with the command by which its file is.
    pub(crate) fn untrusted(&self) -> impl Iterator<Item = (&str, &'static str, &'static str)> {
        let told = |server: &'_ Untrusted| (server.file.name(), server.file.trusted_by());
        self.files.untrusted.iter().map(move |server| {
            let (file, trusted_by) = told(server);
            (server.name.as_str(), file, trusted_by)
        })
    }

    /// Starts those that may be, all at once and for so long at most, and says where each stands; they are ended again.
    ///
    /// What is learnt of them is not kept: what they list first is not accepted by it.
    pub(crate) async fn connect(&self, time: Duration) -> Result<Vec<ServerStatus>> {
        let catalog = Catalog::builder().build()?;
        let builder = McpServers::builder().pins(UnkeptPins::new()?).parallel_starts(MOST_AT_ONCE);
        let servers = attach_with(&self.workdir, builder, self.files.startable(), &catalog)?;
        // Who is late is told by where it stands then.
        let _ = timeout(time, catalog.refresh()).await;
        let statuses = servers.statuses();
        servers.stop().await;
        Ok(statuses)
    }
}

impl LookedAt<'_> {
    pub(crate) fn name(&self) -> &str {
        self.0.config.name.as_str()
    }

    /// Looks for what the server is reached by, and starts nothing.
    pub(crate) fn way(&self) -> Way {
        Way::of(&self.0.config)
    }
}
