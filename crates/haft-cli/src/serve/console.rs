//! The page on which a person sees what is served as it goes on, and answers what waits for them.
//!
//! It lets calls run, so it is guarded as such: it is reached from this machine alone, by a browser that was given the address that
//! is printed, and by no other page in that browser. What it shows is read from where it is kept each time, so that nothing is lost
//! between two looks, and nothing of it stays in memory.

mod answers;
mod gate;
mod keys;
mod listening;
mod live;
mod page;
mod shown_call;

use super::toolbox::ServedToolsets;
use crate::exit::UsageError;
use crate::kept_state::KeptState;
use anyhow::{Context as _, Result, bail};
use gate::Gate;
use live::Live;
use page::Page;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// For how long calls stay open for an answer on the page.
pub(super) const STAYS_OPEN: Duration = Duration::from_mins(10);

/// Is an address at which the page is to be.
pub(super) struct Console {
    listener: TcpListener,
    address: SocketAddr,
}

/// Is a page that is served.
pub(super) struct OpenConsole(JoinHandle<()>);

impl Console {
    /// Takes the address, which has to be one of this machine.
    pub(super) fn bind(address: SocketAddr) -> Result<Self> {
        if !address.ip().is_loopback() {
            bail!(UsageError(format!(
                "others can reach `{address}`, and whoever is let in there can let calls run; use `--console 127.0.0.1:0`"
            )));
        }
        let cannot = || UsageError(format!("the console cannot be at `{address}`; name another port, or 0"));
        let listener = TcpListener::bind(address).with_context(cannot)?;
        listener.set_nonblocking(true).with_context(cannot)?;
        let address = listener.local_addr().with_context(cannot)?;
        Ok(Self { listener, address })
    }

    /// Begins to serve the page, and prints its address on standard error.
    pub(super) fn open(
        self,
        toolsets: ServedToolsets,
        state: Arc<KeptState>,
        stop: CancellationToken,
    ) -> Result<OpenConsole> {
        let listener =
            tokio::net::TcpListener::from_std(self.listener).context("cannot serve the console")?;
        let gate = Gate::new(self.address).context("cannot make the keys of the console")?;
        errln!("Console at {}", gate.address());
        let pages = Arc::new(Pages { gate, page: Page::new(), live: Live::new(toolsets, state) });
        Ok(OpenConsole(tokio::spawn(listening::serve(listener, pages, stop))))
    }
}

impl OpenConsole {
    /// Ends it, if it has not ended.
    pub(super) async fn end(self) {
        self.0.abort();
        // It was told to end.
        let _ = self.0.await;
    }
}

/// Is all that requests are answered with.
struct Pages {
    gate: Gate,
    page: Page,
    live: Live,
}
