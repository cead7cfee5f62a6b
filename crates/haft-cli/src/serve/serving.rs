use super::arguments::ServeOptions;
use super::toolbox::ServedBenches;
use crate::exit::UsageError;
use anyhow::{Result, bail};
use haft::mcp::{Mode, Principal};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;
use tokio_util::sync::CancellationToken;

/// Says how clients reach this server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Way {
    Stdio,
    Unix(PathBuf),
    Http(SocketAddr),
}

impl Way {
    /// Reads it off the command line; what others can reach is only served to those who prove who they are.
    pub(super) fn of(options: &ServeOptions) -> Result<Self> {
        match (options.http, &options.unix) {
            (Some(address), _) => {
                let knows_clients = options.token_file.is_some() || options.oauth_issuer.is_some();
                if !address.ip().is_loopback() && !knows_clients {
                    bail!(UsageError(format!(
                        "others can reach `{address}`; say with --token-file or --oauth-issuer who is served, or serve at 127.0.0.1"
                    )));
                }
                Ok(Self::Http(address))
            }
            (None, Some(path)) => Ok(Self::Unix(path.clone())),
            (None, None) => Ok(Self::Stdio),
        }
    }
}

/// Is all that serving needs.
pub(super) struct Serving {
    pub(super) toolbox: ServedBenches,
    pub(super) way: Way,
    pub(super) tools: Mode,
    pub(super) state_key: Option<[u8; 32]>,
    /// How many requests a minute are answered to whom.
    pub(super) rates: BTreeMap<Principal, NonZeroU32>,
    /// The tokens, hosts and origins of HTTP.
    pub(super) options: ServeOptions,
}

#[expect(clippy::unused_async, reason = "what serves waits")]
/// Serves clients until they are gone or the token is cancelled. Standard output is the protocol's alone.
pub(super) async fn run(serving: Serving, stop: CancellationToken) -> Result<()> {
    let Serving { toolbox, way, tools, state_key, rates, options } = serving;
    let _ = (toolbox, way, tools, state_key, rates, options, stop);
    bail!("this version of haft cannot serve yet")
}
