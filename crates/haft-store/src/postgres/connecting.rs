use super::{ConnectError, Inner, PostgresStore, schema};
use deadpool_postgres::{Manager, ManagerConfig, Pool, RecyclingMethod, Runtime as PoolRuntime};
use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls_platform_verifier::Verifier;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Builder;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres_rustls::MakeRustlsConnect;

/// For so many connections the journal has room: its records are short, and each waits for one answer.
const OF_JOURNAL: usize = 2;

/// Says how a database of `PostgreSQL` is used.
///
/// ```no_run
/// use haft_store::PostgresStore;
/// use std::time::Duration;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let options = PostgresStore::options().schema("agents").connections(4).wait(Duration::from_secs(2));
/// let store = options.connect("postgres://haft@db.example.org/haft").await?;
/// # let _ = store;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct PostgresOptions {
    pub(super) schema: String,
    connections: usize,
    wait: Duration,
    authorities: Vec<u8>,
    password: Option<Password>,
}

/// Is not shown.
#[derive(Clone)]
struct Password(Vec<u8>);

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("_")
    }
}

impl Default for PostgresOptions {
    fn default() -> Self {
        Self {
            schema: "haft".to_owned(),
            connections: 8,
            wait: Duration::from_secs(5),
            authorities: Vec::new(),
            password: None,
        }
    }
}

impl PostgresOptions {
    /// Keeps the tables in this schema; `haft` by default. Those of several users of one database can lie side by side.
    pub fn schema(mut self, name: impl Into<String>) -> Self {
        self.schema = name.into();
        self
    }

    /// Uses so many connections at most, at least one; 8 by default. Two more are the journal's, and each run that is
    /// [taken](crate::RunStore::take) has one for as long.
    pub fn connections(mut self, most: usize) -> Self {
        self.connections = most.max(1);
        self
    }

    /// Waits for as long for the server, at least a millisecond and at most an hour; 5 s by default.
    ///
    /// Where not even that is answered, such as by a machine that is gone, it is twice as long. A record of the journal waits in
    /// the task of its call.
    pub fn wait(mut self, wait: Duration) -> Self {
        self.wait = wait.clamp(Duration::from_millis(1), Duration::from_hours(1));
        self
    }

    /// Shows this password to the server, in the place of one in the URL; none by default.
    ///
    /// ```
    /// use haft_store::PostgresStore;
    ///
    /// let options = PostgresStore::options().password("not shown");
    /// assert!(!format!("{options:?}").contains("shown"));
    /// ```
    pub fn password(mut self, password: impl AsRef<[u8]>) -> Self {
        self.password = Some(Password(password.as_ref().to_owned()));
        self
    }

    /// Also trusts servers whose certificates these authorities have signed, given in PEM; besides those of the system.
    pub fn authorities(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.authorities = pem.into();
        self
    }

    /// Connects to a database, as [`PostgresStore::connect`] does.
    ///
    /// # Errors
    ///
    /// As for [`PostgresStore::connect`], and when the schema or the authorities cannot be used.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub async fn connect(&self, url: &str) -> Result<PostgresStore, ConnectError> {
        let store = self.store(url)?;
        schema::bring_up_to_date(&store).await?;
        Ok(store)
    }

    /// Makes a store whose tables nobody has looked for yet.
    pub(super) fn store(&self, url: &str) -> Result<PostgresStore, ConnectError> {
        if !schema::is_name(&self.schema) {
            return Err(ConnectError::Schema { name: self.schema.clone() });
        }
        let mut config: Config =
            url.parse().map_err(|error| ConnectError::Url { source: Box::new(error) })?;
        if let Some(Password(password)) = &self.password {
            config.password(password);
        }
        let config = guarded(config);
        let tls = tls(&self.authorities)?;
        let mut threads = Builder::new_multi_thread();
        threads.worker_threads(1).enable_all().thread_name("haft-postgres");
        Ok(PostgresStore(Arc::new(Inner {
            durable: self.pool(&config, "on", self.connections, &tls),
            quick: self.pool(&config, "off", OF_JOURNAL, &tls),
            place: place(&config),
            runtime: Some(threads.build().map_err(|source| ConnectError::Thread { source })?),
            schema: self.schema.clone(),
            wait: self.wait,
        })))
    }

    fn pool(&self, config: &Config, commit: &str, most: usize, tls: &MakeRustlsConnect) -> Pool {
        let mut config = config.clone();
        let given = config.get_options().map(|given| format!("{given} ")).unwrap_or_default();
        config
            .options(format!(
                "{given}-c search_path=\"{}\" -c synchronous_commit={commit} -c statement_timeout={}",
                self.schema,
                self.wait.as_millis()
            ))
            .connect_timeout(self.wait);
        if config.get_application_name().is_none() {
            config.application_name("haft");
        }
        // Nobody is given a connection that broke while nobody used it.
        let recycling = ManagerConfig { recycling_method: RecyclingMethod::Verified };
        Pool::builder(Manager::from_config(config, tls.clone(), recycling))
            .max_size(most)
            .runtime(PoolRuntime::Tokio1)
            .wait_timeout(Some(self.wait))
            .create_timeout(Some(self.wait))
            .recycle_timeout(Some(self.wait))
            .build()
            .expect("there is a runtime for what times out")
    }
}

/// Asks for encryption where a connection leaves the machine, unless it is said that there is to be none.
fn guarded(mut config: Config) -> Config {
    let is_here = |host: &Host| match host {
        Host::Tcp(name) => {
            name == "localhost" || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
        }
        #[cfg(unix)]
        Host::Unix(_) => true,
    };
    // An address counts for more than the name beside it.
    let stays = match config.get_hostaddrs() {
        [] => config.get_hosts().iter().all(is_here),
        addresses => addresses.iter().all(std::net::IpAddr::is_loopback),
    };
    // `prefer` is what is not said, too, and goes on without encryption where somebody in between wants it so.
    if !stays && config.get_ssl_mode() == SslMode::Prefer {
        config.ssl_mode(SslMode::Require);
    }
    config
}

/// Says where a database is, without who uses it.
fn place(config: &Config) -> String {
    let ports = config.get_ports();
    let of = |(number, host): (usize, &Host)| {
        let port = ports.get(number).or(ports.first()).copied().unwrap_or(5432);
        match host {
            Host::Tcp(name) => format!("{name}:{port}"),
            #[cfg(unix)]
            Host::Unix(path) => format!("{}:{port}", path.display()),
        }
    };
    let hosts: Vec<String> = config.get_hosts().iter().enumerate().map(of).collect();
    format!("{}/{}", hosts.join(","), config.get_dbname().or(config.get_user()).unwrap_or_default())
}

fn tls(authorities: &[u8]) -> Result<MakeRustlsConnect, ConnectError> {
    let refused = |source| ConnectError::Authorities { source };
    let provider = Arc::new(ring::default_provider());
    let trusted: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(authorities).collect();
    let trusted = trusted.map_err(|error| refused(Box::new(error)))?;
    if trusted.is_empty() && !authorities.is_empty() {
        return Err(refused("there is none; write them in PEM".into()));
    }
    let verifier = Verifier::new_with_extra_roots(trusted, Arc::clone(&provider));
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| refused(Box::new(error)))?;
    let config = match verifier {
        Ok(verifier) => config.dangerous().with_custom_certificate_verifier(Arc::new(verifier)),
        // Without certificates of the system nobody is trusted, which is no matter where none is asked for.
        Err(_) if authorities.is_empty() => config.with_root_certificates(rustls::RootCertStore::empty()),
        Err(error) => return Err(refused(Box::new(error))),
    };
    Ok(MakeRustlsConnect::new(config.with_no_client_auth()))
}

#[cfg(test)]
mod tests {
    use super::{guarded, place};
    use tokio_postgres::Config;
    use tokio_postgres::config::SslMode;

    fn check(url: &str, mode: SslMode, expected: &str) {
        let config = guarded(url.parse::<Config>().unwrap());
        assert_eq!((config.get_ssl_mode(), place(&config).as_str()), (mode, expected), "{url}");
    }

    #[test]
    fn what_leaves_the_machine_is_encrypted_unless_it_is_said_otherwise() {
        check("postgres://u:secret@db.example.org/d", SslMode::Require, "db.example.org:5432/d");
        check("postgres://u@db.example.org/d?sslmode=prefer", SslMode::Require, "db.example.org:5432/d");
        check("postgres://u@db.example.org/d?sslmode=disable", SslMode::Disable, "db.example.org:5432/d");
        check("postgres://u@localhost:1/d", SslMode::Prefer, "localhost:1/d");
        check("postgres://u@[::1]/d", SslMode::Prefer, "::1:5432/d");
        check("postgres://u@localhost,10.0.0.1/d", SslMode::Require, "localhost:5432,10.0.0.1:5432/d");
        check("host=/run/postgresql user=u", SslMode::Prefer, "/run/postgresql:5432/u");
        check("host=localhost hostaddr=10.0.0.1 user=u", SslMode::Require, "localhost:5432/u");
    }
}
