//! Which certificates are trusted, and by which code.

use crate::Error;
use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::{self, CryptoProvider};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::{self, PemObject as _};
use rustls::{CertificateError, ClientConfig, RootCertStore};
use rustls_platform_verifier::Verifier;
use std::io;
use std::sync::{Arc, LazyLock};

/// Gives the configuration that all clients share which trust nobody besides: the system's certificates are read once.
pub(super) fn config() -> ClientConfig {
    static CONFIG: LazyLock<ClientConfig> = LazyLock::new(|| {
        let provider = Arc::new(crypto::ring::default_provider());
        // Without certificates of the system, as in a bare container, nobody is trusted; plain HTTP is none the worse for it.
        make(&provider, Verifier::new(Arc::clone(&provider)).ok())
    });
    CONFIG.clone()
}

/// Gives a configuration that also trusts the authorities of these certificates.
pub(super) fn config_trusting(pem: &[u8]) -> Result<ClientConfig, Error> {
    let refused = |source| Error::Authorities { source };
    let read: Result<Vec<_>, pem::Error> = CertificateDer::pem_slice_iter(pem).collect();
    let authorities = read.map_err(|error| refused(Box::new(error)))?;
    if authorities.is_empty() {
        return Err(refused("there is none; write them in PEM".into()));
    }
    let provider = Arc::new(crypto::ring::default_provider());
    let verifier = Verifier::new_with_extra_roots(authorities, Arc::clone(&provider));
    Ok(make(&provider, Some(verifier.map_err(|error| refused(Box::new(error)))?)))
}

fn make(provider: &Arc<CryptoProvider>, verifier: Option<Verifier>) -> ClientConfig {
    let builder = ClientConfig::builder_with_provider(Arc::clone(provider))
        .with_safe_default_protocol_versions()
        .expect("the provider has suites for the default versions");
    match verifier {
        Some(verifier) => {
            let verifier: Arc<dyn ServerCertVerifier> = Arc::new(verifier);
            builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth()
        }
        None => builder.with_root_certificates(RootCertStore::empty()).with_no_client_auth(),
    }
}

/// Says what is wrong with a certificate, if that is what an error is about.
pub(super) fn distrust(error: &(dyn std::error::Error + 'static)) -> Option<&'static str> {
    // What an error of IO was made of is not its source.
    if let Some(inner) = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        return distrust(inner);
    }
    let Some(rustls::Error::InvalidCertificate(certificate)) = error.downcast_ref() else { return None };
    Some(match certificate {
        CertificateError::UnknownIssuer => "its certificate is by an authority that is not trusted here",
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => "its certificate has expired",
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "its certificate is not valid yet"
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "its certificate is for another name"
        }
        CertificateError::Revoked => "its certificate was revoked",
        _ => "its certificate is not valid",
    })
}
