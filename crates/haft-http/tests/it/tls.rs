//! Which certificates are trusted: those of the system's authorities, and those of others only where that is said.

use bytes::Bytes;
use expect_test::{Expect, expect};
use haft_http::{AddressPolicy, Error, Exchange, HttpClient};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, Stream, crypto};
use std::error::Error as _;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::Arc;
use std::thread;

/// An authority that no system knows.
type Authority = CertifiedIssuer<'static, KeyPair>;

fn authority(name: &str) -> Authority {
    let mut params = CertificateParams::new([]).unwrap();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// Serves one connection with a certificate for this name by this authority, and gives the port.
fn serve(authority: &Authority, name: &str) -> u16 {
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new([name.to_owned()]).unwrap().signed_by(&key, authority).unwrap();
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let config = ServerConfig::builder_with_provider(Arc::new(crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut connection = ServerConnection::new(Arc::new(config)).unwrap();
        let mut stream = Stream::new(&mut connection, &mut stream);
        // Whoever does not trust the certificate says nothing more.
        if stream.read(&mut [0; 1024]).is_ok() {
            let _ =
                stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\nhello");
        }
    });
    port
}

/// Asks a server whose certificate is for this name, as a client that trusts these authorities besides the system's.
async fn check(by: &Authority, name: &str, trusted: &[&Authority], expected: &Expect) {
    let port = serve(by, name);
    let authorities: Vec<String> = trusted.iter().map(|authority| authority.pem()).collect();
    let client = HttpClient::builder(AddressPolicy::public().loopback())
        .authorities(authorities.concat())
        .build()
        .unwrap();
    let request = http::Request::get(format!("https://localhost:{port}/")).body(Bytes::new()).unwrap();
    let answer = async {
        let answer = client.send(request, Exchange::default()).await?;
        answer.into_body().bytes().await
    };
    expected.assert_eq(&match answer.await {
        Ok(body) => String::from_utf8(body.to_vec()).unwrap(),
        Err(error) => error.to_string(),
    });
}

#[tokio::test]
async fn a_certificate_by_an_unknown_authority_is_refused() {
    let (own, other) = (authority("own"), authority("other"));
    check(
        &own,
        "localhost",
        &[],
        &expect!["cannot trust `localhost`: its certificate is by an authority that is not trusted here"],
    )
    .await;
    check(
        &own,
        "localhost",
        &[&other],
        &expect!["cannot trust `localhost`: its certificate is by an authority that is not trusted here"],
    )
    .await;
}

#[tokio::test]
async fn a_certificate_by_an_authority_that_is_given_is_accepted_for_its_name() {
    let (own, other) = (authority("own"), authority("other"));
    check(&own, "localhost", &[&other, &own], &expect!["hello"]).await;
    check(
        &own,
        "elsewhere.example",
        &[&own],
        &expect!["cannot trust `localhost`: its certificate is for another name"],
    )
    .await;
}

#[test]
fn authorities_that_are_none_are_refused() {
    let broken = "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n";
    for (pem, expected) in [
        (
            "nothing",
            expect!["cannot read the certificates of further authorities: there is none; write them in PEM"],
        ),
        (
            broken,
            expect![
                "cannot read the certificates of further authorities: invalid peer certificate: BadEncoding"
            ],
        ),
    ] {
        let error = HttpClient::builder(AddressPolicy::public()).authorities(pem).build().unwrap_err();
        assert!(matches!(error, Error::Authorities { .. }), "{error}");
        expected.assert_eq(&format!("{error}: {}", error.source().unwrap()));
    }
}
