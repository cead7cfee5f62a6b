use super::access_log::RedactedLog;
use super::arguments::ServeOptions;
use super::ending::Ending;
use super::toolbox::ServedToolsets;
use crate::exit::UsageError;
use anyhow::{Context as _, Result, anyhow, bail};
use haft::mcp::{
    Authenticator, AuthorizationServer, HttpConfig, HttpLimits, HttpListener, Introspection, JsonlAccessLog,
    JwtBearer, Principal, Rate, ServeMode, StaticTokens, ToolServer,
};
use haft::tools_core::Redactor;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fs::OpenOptions;
use std::io::IsTerminal as _;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// The variable with the secret of the client that asks an issuer about tokens.
const INTROSPECTION_SECRET: &str = "HAFT_INTROSPECTION_SECRET";

/// How long requests may go on that are being served when the process is to end.
const ENDING: Duration = Duration::from_millis(300);

/// How long calls that are cancelled are waited for where nobody could be served: a little longer than each is given to end.
const CANCELLING: Duration = Duration::from_millis(350);

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
                if !knows_clients && !address.ip().is_loopback() {
                    bail!(UsageError(format!(
                        "others can reach `{address}`; say with `--token-file` or `--oauth-issuer` who is served, or serve \
                         at 127.0.0.1"
                    )));
                }
                if !knows_clients && !options.allow_host.is_empty() {
                    bail!(UsageError(
                        "`--allow-host` is for clients of other machines; say with `--token-file` or `--oauth-issuer` who \
                         of them is served"
                            .to_owned()
                    ));
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
    pub(super) toolbox: ServedToolsets,
    pub(super) way: Way,
    pub(super) tools: ServeMode,
    pub(super) state_key: Option<[u8; 32]>,
    /// How many requests a minute are answered to whom.
    pub(super) rates: BTreeMap<Principal, NonZeroU32>,
    /// The tokens, hosts and origins of HTTP.
    pub(super) options: ServeOptions,
}

/// Serves clients until they are gone or the process is to end, which has begun then. Standard output is the protocol's
/// alone.
pub(super) async fn run(serving: Serving, ending: &Ending) -> Result<()> {
    let stop = ending.token();
    let Serving { toolbox, way, tools, state_key, rates, options } = serving;
    let redactor = toolbox.places().redactor.clone();
    let mut server = ToolServer::builder(toolbox).mode(tools);
    if let Some(key) = state_key {
        server = server.state_key(key);
    }
    let server = server.build();
    let ended = tokio::select! {
        ended = serve(&server, way, &rates, (&options, &redactor), stop.clone()) => ended,
        never = stop_calls(&server, &stop) => match never {},
    };
    // When the client is gone, nobody has said so before: from here on the time is counted. Why nobody could be served has to
    // be said first.
    if ended.is_ok() {
        ending.begin();
    }
    let _ = timeout(ending.left_for_calls().unwrap_or(CANCELLING), server.stop()).await;
    ended
}

/// Ends what no request waits for as soon as the process is to end: it need not wait for what is being answered.
async fn stop_calls(server: &ToolServer, stop: &CancellationToken) -> Infallible {
    stop.cancelled().await;
    server.stop().await;
    std::future::pending().await
}

/// Serves clients in this way, until they are gone or the token is cancelled.
async fn serve(
    server: &ToolServer,
    way: Way,
    rates: &BTreeMap<Principal, NonZeroU32>,
    (options, redactor): (&ServeOptions, &Redactor),
    stop: CancellationToken,
) -> Result<()> {
    match way {
        Way::Stdio => {
            if std::io::stdin().is_terminal() {
                errln!(
                    "Serving a client by standard input and output, which is a terminal here; Ctrl-D ends it.\n\
                     Clients start this by themselves: `haft serve --print-config CLIENT` says how."
                );
            }
            server.serve_stdio(stop).await;
        }
        Way::Unix(path) => {
            errln!("Serving at `{}`.", path.display());
            server.serve_unix(&path, stop).await.map_err(|error| {
                anyhow!(error).context(UsageError(format!(
                    "cannot serve at `{}`; name another path with `--unix`",
                    path.display()
                )))
            })?;
        }
        Way::Http(address) => {
            let listener =
                HttpListener::bind(config(address, rates, (options, redactor))?).await.map_err(|error| {
                    anyhow!(error).context(UsageError(format!(
                        "cannot serve at `{address}`; name another address with `--http`"
                    )))
                })?;
            errln!("Serving at http://{}/mcp", listener.address());
            if options.token_file.is_none() && options.oauth_issuer.is_none() {
                errln!("Every user of this machine can call the tools; --token-file says who may.");
            }
            server.serve_http(listener, stop).await;
        }
    }
    Ok(())
}

/// Puts together what is said about HTTP.
fn config(
    address: SocketAddr,
    rates: &BTreeMap<Principal, NonZeroU32>,
    (options, redactor): (&ServeOptions, &Redactor),
) -> Result<HttpConfig> {
    // The whole process ends within a second of being told to.
    let limits = HttpLimits { ending: ENDING, ..HttpLimits::default() };
    let mut config = HttpConfig::new(address).limits(limits);
    for host in &options.allow_host {
        config = config.host(host.clone());
    }
    for origin in &options.allow_origin {
        config = config.origin(origin.clone());
    }
    if let Some(authenticator) = authenticator(options, redactor)? {
        config = config.authenticator(authenticator);
    }
    for (principal, of_minute) in rates {
        let of_minute = f64::from(of_minute.get());
        config = config.rate(principal.clone(), Rate::new(of_minute / 60.0, of_minute));
    }
    if let Some(path) = &options.access_log {
        let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path);
        let shown = path.display();
        let file = file.with_context(|| {
            UsageError(format!("cannot write `{shown}`; name another file with `--access-log`"))
        })?;
        let log = JsonlAccessLog::new(file).context("cannot write the access log")?;
        config = config.log(Arc::new(RedactedLog::new(log, redactor.clone())));
    }
    Ok(config)
}

/// Says who is to find out who calls, if anybody.
fn authenticator(options: &ServeOptions, redactor: &Redactor) -> Result<Option<Arc<dyn Authenticator>>> {
    if let Some(path) = &options.token_file {
        let tokens = StaticTokens::from_file_redacted(path, redactor).context(UsageError(
            "nobody is served; write one `NAME TOKEN` a line into the file of `--token-file`".to_owned(),
        ))?;
        return Ok(Some(Arc::new(tokens)));
    }
    let (Some(issuer), Some(audience)) = (&options.oauth_issuer, &options.oauth_audience) else {
        return Ok(None);
    };
    let server = AuthorizationServer::new(issuer, audience).context(UsageError(
        "cannot use the authorization server; correct `--oauth-issuer` and `--oauth-audience`".to_owned(),
    ))?;
    let Some(client) = &options.introspect else { return Ok(Some(Arc::new(JwtBearer::new(server)))) };
    let secret = std::env::var(INTROSPECTION_SECRET).map_err(|_| {
        UsageError(format!(
            "`{client}` has no secret to ask the issuer with; put it into {INTROSPECTION_SECRET}"
        ))
    })?;
    // One that is too short to be told from other text is left.
    let _ = redactor.add(&secret);
    Ok(Some(Arc::new(Introspection::new(server, client, &secret))))
}
