use super::{call, made, said};
use crate::engine::Engine;
use crate::tools::{Ledger, performer};
use haft_durable_restate::{Error, Worker};
use std::path::Path;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// Is the key of somebody else.
const OTHER: &str = "publickeyv1_w7YHemBctH5Ck2nQRQ47iBBqhNHy4FV7t2Usbye2A6f";

/// Serves with a key, and gives the port.
async fn worker(workers: &mut JoinSet<()>, directory: &Path, key: &str) -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let worker =
        Worker::new("tools".parse().unwrap(), performer(&Ledger::at(directory), None)).identity_key(key);
    workers.spawn(async move { worker.serve(listener, std::future::pending()).await.unwrap() });
    port
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the server that `cargo xtask durable` installs"]
async fn a_worker_with_a_key_works_only_for_the_engine_that_signs_with_it() {
    let (directory, mut workers) = (TempDir::new().unwrap(), JoinSet::new());
    let ((signing, key), unsigned) = tokio::join!(Engine::signing(), Engine::start());
    let ours = worker(&mut workers, directory.path(), &key).await;
    let theirs = worker(&mut workers, directory.path(), OTHER).await;
    for (engine, port) in [(&signing, theirs), (&unsigned, ours)] {
        let refused = engine.learns_of(port).await;
        assert!(matches!(refused, Err(Error::NotRegistered { .. })), "{refused:?}");
    }
    signing.knows(ours).await;
    assert_eq!(said(&made(&signing.executor("tools"), call("c", "pay")).await), "ok: paid");
}
