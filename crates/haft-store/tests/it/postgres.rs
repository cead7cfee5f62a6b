//! What a database of `PostgreSQL` is for: several machines. What all stores have to do is tried with it by their tests, too.

mod encryption;

use crate::fixture::{new_schema, pending, postgres_in, postgres_url, run};
use crate::journal::record;
use haft_core::Decision;
use haft_store::{
    ConnectError, DatabaseError, PostgresStore, RecordFilter, RecordStore as _, RunStatus, RunStore as _,
    StoredRun, TakeError,
};
use haft_tools_core::{
    Answered, Approval, Claim, Grant, GrantPlace, GrantStore as _, Journal, PendingStore as _,
};
use serde_json::json;
use std::error::Error as _;
use std::sync::Arc;
use std::time::Duration;

/// Prints an error with what it comes from.
fn told(error: &dyn std::error::Error) -> String {
    let first: Option<&dyn std::error::Error> = Some(error);
    let chain: Vec<String> =
        std::iter::successors(first, |error| (*error).source()).map(ToString::to_string).collect();
    chain.join(": ")
}

/// Does something to the server, with a connection of its own.
pub(crate) async fn alone(url: &str, sql: &str) {
    let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
    let connection = tokio::spawn(connection);
    client.batch_execute(sql).await.unwrap();
    drop(client);
    connection.await.unwrap().unwrap();
}

/// Ends all connections of the stores in a schema.
async fn cut_off(schema: &str) {
    let of_stores = format!("FROM pg_stat_activity WHERE application_name = '{schema}'");
    alone(&postgres_url().unwrap(), &format!("SELECT pg_terminate_backend(pid) {of_stores}")).await;
}

#[tokio::test]
async fn what_cannot_be_reached_is_said_without_a_password() {
    let options = PostgresStore::options().wait(Duration::from_secs(2));
    let refused = options.connect("postgres://me:secret@127.0.0.1:1/haft").await.unwrap_err();
    let ConnectError::Database { place, source } = &refused else { panic!("{refused:?}") };
    assert_eq!(place, "127.0.0.1:1/haft");
    assert!(matches!(source, DatabaseError::Unreachable { .. }), "{source:?}");
    assert!(!format!("{refused:?} {}", told(&refused)).contains("secret"));

    let unread = PostgresStore::connect("postgres://me:secret@host:port/haft").await.unwrap_err();
    assert!(matches!(unread, ConnectError::Url { .. }), "{unread:?}");
    assert!(!format!("{unread:?} {}", told(&unread)).contains("secret"));
}

#[tokio::test]
async fn what_cannot_be_used_is_refused_before_anything_is_sent() {
    let url = "postgres://me@127.0.0.1:1/haft";
    let named = PostgresStore::options().schema("haft; DROP TABLE x").connect(url).await.unwrap_err();
    assert!(matches!(named, ConnectError::Schema { .. }), "{named:?}");
    for pem in ["no certificate", "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n"] {
        let refused = PostgresStore::options().authorities(pem).connect(url).await.unwrap_err();
        assert!(matches!(refused, ConnectError::Authorities { .. }), "{refused:?}");
    }
}

#[tokio::test]
#[ignore = "needs a server: cargo xtask postgres"]
async fn a_grant_an_answer_and_a_record_are_there_for_every_node() {
    let schema = new_schema();
    let (one, other) = (postgres_in(&schema).await.unwrap(), postgres_in(&schema).await.unwrap());
    let grant = Grant::new(Decision::Allow, "read(a)", None, GrantPlace::Always);
    one.add(&grant).await.unwrap();
    assert_eq!(*other.list_grants().await.unwrap()[0], grant);
    assert!(other.revoke(&grant.id).await.unwrap());
    assert!(!one.revoke(&grant.id).await.unwrap());

    let call = pending("1", &json!({ "text": "a\u{0}b" }));
    one.put(&call).await.unwrap();
    assert_eq!(other.waiting().await.unwrap(), std::slice::from_ref(&call));
    let kept = other.answer_first(&call.id, &call.digest, &Approval::Approve).await.unwrap();
    assert_eq!(kept, Answered::Kept);
    assert_eq!(one.answer_to(&call.id).await.unwrap(), Some(Approval::Approve));

    record(&Journal::new(Arc::new(one.clone())), "run-1", "c1");
    record(&Journal::new(Arc::new(other.clone())), "run-2", "c1");
    let found = async |filter: RecordFilter| {
        let records = one.records(&filter).await.unwrap();
        records.iter().map(|record| format!("{} {}", record.run, record.call)).collect::<Vec<_>>()
    };
    assert_eq!(found(RecordFilter::new()).await, ["run-1 c1", "run-2 c1"]);
    assert_eq!(found(RecordFilter::new().run(run("run-2"))).await, ["run-2 c1"]);
    assert_eq!(found(RecordFilter::new().most(1)).await, ["run-2 c1"]);
    assert!(found(RecordFilter::new().since_ms(u64::MAX)).await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a server: cargo xtask postgres"]
async fn of_nodes_that_claim_a_call_at_once_one_gets_it() {
    let schema = new_schema();
    // All make the tables at once, too.
    let opened = (0..6).map(|_| postgres_in(&schema));
    let stores: Vec<PostgresStore> =
        futures_util::future::join_all(opened).await.into_iter().flatten().collect();
    stores[0].put(&pending("0", &json!({}))).await.unwrap();
    // The other was never put in.
    for id in ["0", "1"] {
        let claims =
            stores.iter().cycle().take(24).cloned().map(|store| {
                tokio::spawn(async move { store.claim(&pending(id, &json!({}))).await.unwrap() })
            });
        let claims = futures_util::future::join_all(claims.collect::<Vec<_>>()).await;
        let taken = claims.into_iter().filter(|claim| *claim.as_ref().unwrap() == Claim::Taken);
        assert_eq!(taken.count(), 1, "{id}");
    }
}

#[tokio::test]
#[ignore = "needs a server: cargo xtask postgres"]
async fn a_run_is_its_nodes_until_that_gives_it_back_or_is_gone() {
    let schema = new_schema();
    let (one, other) = (postgres_in(&schema).await.unwrap(), postgres_in(&schema).await.unwrap());
    let elsewhere = postgres_in(&new_schema()).await.unwrap();
    let lease = one.take(&run("run-1")).await.unwrap();
    for store in [&one, &other] {
        let refused = store.take(&run("run-1")).await.unwrap_err();
        assert!(matches!(refused, TakeError::Held { process: None, .. }), "{refused:?}");
    }
    let _another = other.take(&run("run-2")).await.unwrap();
    let _other_tables = elsewhere.take(&run("run-1")).await.unwrap();
    drop(lease);
    let lease = other.take(&run("run-1")).await.unwrap();
    // A node that is gone has no connections.
    cut_off(&schema).await;
    let taken = one.take(&run("run-1")).await;
    assert!(taken.is_ok(), "{taken:?}");
    drop(lease);
    assert!(matches!(other.take(&run("run-1")).await, Err(TakeError::Held { .. })));
}

#[tokio::test]
#[ignore = "needs a server: cargo xtask postgres"]
async fn a_store_goes_on_after_its_connections_broke_and_others_hold_it_up() {
    let schema = new_schema();
    let store = postgres_in(&schema).await.unwrap();
    store.put(&pending("1", &json!({}))).await.unwrap();
    let url = postgres_url().unwrap();
    cut_off(&schema).await;
    assert_eq!(store.waiting().await.unwrap().len(), 1);

    let quick = PostgresStore::options().schema(&schema).wait(Duration::from_secs(3));
    let quick = quick.connect(&url).await.unwrap();
    let (client, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls).await.unwrap();
    let connection = tokio::spawn(connection);
    client.batch_execute(&format!("BEGIN; LOCK TABLE {schema}.pending")).await.unwrap();
    let refused = quick.put(&pending("2", &json!({}))).await.unwrap_err();
    let fault = refused.source().and_then(|source| source.downcast_ref::<DatabaseError>());
    assert!(matches!(fault, Some(DatabaseError::Locked { .. })), "{refused:?}");
    client.batch_execute("COMMIT").await.unwrap();
    quick.put(&pending("2", &json!({}))).await.unwrap();
    assert_eq!(store.waiting().await.unwrap().len(), 2);
    drop(client);
    connection.await.unwrap().unwrap();
}

#[tokio::test]
#[ignore = "needs a server: cargo xtask postgres"]
async fn tables_of_a_newer_version_are_left_alone() {
    let schema = new_schema();
    let store = postgres_in(&schema).await.unwrap();
    // Whoever comes later finds them made.
    drop(postgres_in(&schema).await.unwrap());
    let url = postgres_url().unwrap();
    alone(&url, &format!("UPDATE {schema}.version SET version = 9")).await;
    let refused = PostgresStore::options().schema(&schema).connect(&url).await.unwrap_err();
    assert!(refused.to_string().contains("have version 9 of their form"), "{refused}");
    drop(store);
}

#[tokio::test]
#[ignore = "needs a server: cargo xtask postgres"]
async fn tables_of_an_older_version_are_brought_up_to_date_with_what_is_in_them() {
    let (schema, url) = (new_schema(), postgres_url().unwrap());
    let first = include_str!("../../src/postgres/schema/1.sql");
    let record = |run: &str, more: &str| {
        format!(
            "INSERT INTO journal (run, call, at_ms, body) VALUES ('{run}', 'c1', 1, '{{{more}\"run\":\"{run}\"}}')"
        )
    };
    let sql = [
        format!("CREATE SCHEMA {schema}; SET search_path = {schema}"),
        "CREATE TABLE version (version INTEGER NOT NULL); INSERT INTO version VALUES (1)".to_owned(),
        first.to_owned(),
        record("run-1", ""),
        record("run-2", "\"parent_run\":\"run-1\","),
        record("run-3", r#""called_as":"\"parent_run\":\"run-1\"","#),
    ];
    alone(&url, &sql.join(";\n")).await;
    let found = PostgresStore::options().schema(&schema).examine(&url).await.unwrap().unwrap();
    assert_eq!((found.version, found.newest, found.waiting), (1, 2, 0));
    let store = postgres_in(&schema).await.unwrap();
    let mut runs = store.recorded_runs(9).await.unwrap();
    runs.reverse();
    let runs: Vec<_> = runs.iter().map(|run| (run.run.as_str(), run.parent.as_deref())).collect();
    assert_eq!(runs, [("run-1", None), ("run-2", Some("run-1")), ("run-3", None)]);
    let found = PostgresStore::options().schema(&schema).examine(&url).await.unwrap().unwrap();
    assert_eq!(found.version, 2);
}

#[tokio::test]
#[ignore = "needs a server: cargo xtask postgres"]
async fn a_database_is_examined_without_making_or_taking_anything() {
    let (schema, url) = (new_schema(), postgres_url().unwrap());
    let examine = async || PostgresStore::options().schema(&schema).examine(&url).await;
    assert_eq!(examine().await.unwrap(), None);
    assert_eq!(examine().await.unwrap(), None);
    let store = postgres_in(&schema).await.unwrap();
    store.put(&pending("1", &json!({}))).await.unwrap();
    for name in ["left", "taken", "waits"] {
        let mut stored = StoredRun::new(run(name));
        if name == "waits" {
            stored.status = RunStatus::Waiting;
        }
        store.save(&mut stored).await.unwrap();
    }
    let lease = store.take(&run("taken")).await.unwrap();
    let found = examine().await.unwrap().unwrap();
    assert_eq!((found.version, found.waiting), (found.newest, 1));
    assert_eq!(found.waiting_since_ms, Some(1_700_000_000_000));
    assert_eq!(found.interrupted, ["left"]);
    assert!(found.bytes > 0);
    drop(lease);
    assert_eq!(examine().await.unwrap().unwrap().interrupted.len(), 2);
    alone(&url, &format!("UPDATE {schema}.version SET version = 9")).await;
    let refused = examine().await.unwrap_err();
    assert!(refused.to_string().contains("have version 9 of their form"), "{refused}");
}

#[tokio::test]
#[ignore = "needs a server: cargo xtask postgres"]
async fn a_server_that_refuses_is_told_from_one_that_is_not_there() {
    let options = PostgresStore::options();
    // The last of what is said twice counts.
    for (other, because) in [("dbname=none", "does not exist"), ("user=nobody", "does not exist")] {
        let url = format!("{} {other}", postgres_url().unwrap());
        let refused = options.connect(&url).await.unwrap_err();
        let ConnectError::Database { source, .. } = &refused else { panic!("{refused:?}") };
        assert!(matches!(source, DatabaseError::Refused { .. }), "{source:?}");
        assert!(told(&refused).contains(because), "{}", told(&refused));
    }
}
