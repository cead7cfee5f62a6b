//! Which certificates are trusted, and by which code.

use rustls::{ClientConfig, RootCertStore, crypto};
use rustls_platform_verifier::Verifier;
use std::sync::{Arc, LazyLock};

/// Gives the configuration that all clients share: the system's certificates are read once.
pub(super) fn config() -> ClientConfig {
    static CONFIG: LazyLock<ClientConfig> = LazyLock::new(make);
    CONFIG.clone()
}

fn make() -> ClientConfig {
    let provider = Arc::new(crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .expect("the provider has suites for the default versions");
    // Without certificates of the system, as in a bare container, nobody is trusted; plain HTTP is none the worse for it.
    match Verifier::new(provider) {
        Ok(verifier) => {
            builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier)).with_no_client_auth()
        }
        Err(_) => builder.with_root_certificates(RootCertStore::empty()).with_no_client_auth(),
    }
}
