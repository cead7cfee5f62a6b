//! What the environment says of proxies, which only a process of its own can be given.

use crate::client::{HELLO, get};
use crate::fixture::Fixture;
use haft_http::{AddressPolicy, Exchange, HttpClient};
use std::env;
use std::process::Stdio;
use tokio::process::Command;

/// Names the address that the other process asks.
const ASKED: &str = "HAFT_TEST_ASKED";
/// Is set if it uses proxies.
const USED: &str = "HAFT_TEST_PROXIES";

/// Asks a server from a process whose environment names a proxy; tells what the server and the proxy heard.
async fn ask(used: bool) -> (Vec<String>, Vec<String>) {
    let (mut server, mut proxy) = (Fixture::start(&[HELLO]).await, Fixture::start(&[HELLO]).await);
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "proxies::asks", "--ignored"]).stdout(Stdio::null()).kill_on_drop(true);
    for name in ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"] {
        command.env(name, format!("http://{}", proxy.address));
    }
    command.env_remove("NO_PROXY").env_remove("no_proxy").env_remove("REQUEST_METHOD");
    command.env(ASKED, format!("http://{}/direct", server.address));
    if used {
        command.env(USED, "1");
    }
    assert!(command.status().await.unwrap().success());
    (server.heard_so_far(), proxy.heard_so_far())
}

#[tokio::test]
#[ignore = "it is started by the other tests, in an environment of its own"]
async fn asks() {
    let builder = HttpClient::builder(AddressPolicy::public().loopback());
    let client = builder.environment_proxies(env::var_os(USED).is_some()).build().unwrap();
    let answer = client.send(get(&env::var(ASKED).unwrap()), Exchange::default()).await.unwrap();
    assert_eq!(answer.into_body().bytes().await.unwrap(), "hello");
}

#[tokio::test]
async fn proxies_of_the_environment_are_not_used() {
    let (server, proxy) = ask(false).await;
    assert!(matches!(&server[..], [one] if one.starts_with("GET /direct ")), "{server:?}");
    assert_eq!(proxy, <[String; 0]>::default());
}

#[tokio::test]
async fn proxies_of_the_environment_are_used_where_that_is_said() {
    let (server, proxy) = ask(true).await;
    assert_eq!(server, <[String; 0]>::default());
    assert!(matches!(&proxy[..], [one] if one.starts_with("GET http://127.0.0.1:")), "{proxy:?}");
}
