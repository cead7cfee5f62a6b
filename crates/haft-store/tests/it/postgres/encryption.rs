//! What goes over a network is encrypted for the server alone, whoever sits in between.

use super::told;
use haft_store::PostgresStore;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, Stream, crypto};
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// The request for encryption that a client begins with (`PostgreSQL` 15, 55.7, `SSLRequest`).
const SSL_REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];

/// An `ErrorResponse`: the server knows no such password.
const REFUSED: &[u8] = b"E\0\0\0 SFATAL\0C28P01\0Mno such one\0\0";

/// Speaks as a server does to one client; gives what the client says once it is encrypted, or instead of that.
fn serve(config: Option<ServerConfig>) -> (u16, JoinHandle<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let served = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = [0; 8];
        stream.read_exact(&mut request).unwrap();
        assert_eq!(request, SSL_REQUEST);
        let mut said = vec![0; 1024];
        let Some(config) = config else {
            stream.write_all(b"N").unwrap();
            let size = stream.read(&mut said).unwrap_or_default();
            said.truncate(size);
            return said;
        };
        stream.write_all(b"S").unwrap();
        let mut connection = ServerConnection::new(Arc::new(config)).unwrap();
        let mut stream = Stream::new(&mut connection, &mut stream);
        let size = stream.read(&mut said).unwrap_or_default();
        said.truncate(size);
        if size > 0 {
            stream.write_all(REFUSED).unwrap();
        }
        said
    });
    (port, served)
}

/// Makes an authority in PEM, and a server with a certificate of it for a name.
fn authority(name: &str) -> (String, ServerConfig) {
    let mut params = CertificateParams::new([]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new([name.to_owned()]).unwrap().signed_by(&key, &authority).unwrap();
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let config = ServerConfig::builder_with_provider(Arc::new(crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .unwrap();
    (authority.pem(), config)
}

/// Connects with a password; gives what the server was told, and why it did not work.
async fn check(config: Option<ServerConfig>, trusted: &str) -> (Vec<u8>, String) {
    let (port, served) = serve(config);
    let options = PostgresStore::options().wait(Duration::from_mins(1)).authorities(trusted);
    let url = format!("postgres://me:secret@localhost:{port}/haft?sslmode=require");
    let refused = options.connect(&url).await.unwrap_err();
    (served.join().unwrap(), told(&refused))
}

#[tokio::test]
async fn a_server_that_will_not_encrypt_is_told_nothing() {
    let (said, refused) = check(None, "").await;
    assert!(said.is_empty(), "{said:?}");
    assert!(
        refused.contains("no encrypted connection") && refused.contains("does not support TLS"),
        "{refused}"
    );
}

#[tokio::test]
async fn a_server_is_told_who_connects_where_its_certificate_is_trusted_alone() {
    let (trusted, by_trusted) = authority("localhost");
    let (_, by_other) = authority("localhost");
    let (of_other_name, for_other_name) = authority("db.example.org");

    let (said, refused) = check(Some(by_trusted), &trusted).await;
    assert!(String::from_utf8_lossy(&said).contains("user\0me\0"), "{said:?}");
    assert!(refused.contains("refuses who asks") && refused.contains("no such one"), "{refused}");
    for (config, authority) in [(by_other, &trusted), (for_other_name, &of_other_name)] {
        let (said, refused) = check(Some(config), authority).await;
        assert!(said.is_empty(), "{said:?}");
        assert!(refused.contains("no encrypted connection") && refused.contains("certificate"), "{refused}");
    }
}
