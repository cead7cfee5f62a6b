use crate::child::{Child, Part, say};
use crate::fixture::{Place, patient, pending};
use haft_core::{Decision, ReplyStatus, RunId, ToolCall, ToolReply};
use haft_store::{RecordFilter, RecordStore as _, RunStore as _, SqliteStore, StoredRun};
use haft_tools_core::{CallScope, Claim, Grant, GrantPlace, GrantStore as _, Journal, PendingStore as _};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// Writes everything there is, round by round, and says after each write what was acknowledged.
pub(crate) async fn write(path: PathBuf, name: String) {
    let store = patient(path);
    let journal = Journal::new(Arc::new(store.clone()));
    let mut run = StoredRun::new(name.parse().unwrap());
    let scope = CallScope::new(run.run.clone());
    for round in 0_u32.. {
        let call = pending(&format!("{name}-{round}"), &json!({ "text": "x".repeat(6000) }));
        store.put(&call).await.unwrap();
        say(&format!("put {}", call.id));
        assert_eq!(store.claim(&call).await.unwrap(), Claim::Taken);
        say(&format!("claim {}", call.id));
        let grant = Grant::new(Decision::Allow, &*name, None, GrantPlace::Always);
        store.add(&grant).await.unwrap();
        say(&format!("grant {}", grant.id));
        run.state = json!({ "round": round });
        store.append(&mut run, vec![json!(round), json!("x".repeat(3000))]).await.unwrap();
        say(&format!("run {}", run.revision));
        let call = ToolCall::new(format!("c{round}").parse().unwrap(), "note", json!({}));
        let reply = ToolReply::new(call.id.clone(), "note", ReplyStatus::Denied, "no".into());
        journal.call(&scope, &call).ended(&reply).unwrap();
        say(&format!("record {}", call.id));
    }
}

/// Says how often each thing was acknowledged, as in `put a-0`.
struct Said(Vec<(String, String)>);

impl Said {
    fn parse(lines: &[String]) -> Self {
        let pair =
            |line: &String| line.split_once(' ').map(|(kind, name)| (kind.to_owned(), name.to_owned()));
        Self(lines.iter().map(|line| pair(line).unwrap()).collect())
    }

    fn of(&self, kind: &str) -> Vec<&str> {
        self.0.iter().filter(|(said, _)| said == kind).map(|(_, name)| name.as_str()).collect()
    }
}

/// Checks that what one process was acknowledged is there once, and beside it at most what it was just writing.
async fn check(store: &SqliteStore, name: &str, said: &Said) {
    let waiting: Vec<String> =
        store.waiting().await.unwrap().iter().map(|call| call.id.to_string()).collect();
    let (put, claimed) = (said.of("put"), said.of("claim"));
    for id in &put {
        let waits = waiting.iter().any(|waiting| waiting == id);
        if claimed.contains(id) {
            assert!(!waits, "{id} was claimed and waits");
            let again = store.claim(&pending(id, &json!({ "text": "x".repeat(6000) }))).await.unwrap();
            assert_eq!(again, Claim::TakenBefore, "{id}");
        }
    }
    assert!(put.len() - claimed.len() <= 1);
    let of_process = format!("{name}-");
    assert!(waiting.iter().filter(|id| id.starts_with(&of_process)).count() <= 1);

    let grants = store.list_grants().await.unwrap();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for grant in grants.iter().filter(|grant| grant.rule == name) {
        *counts.entry(&grant.id).or_default() += 1;
    }
    for id in said.of("grant") {
        assert_eq!(counts.get(id), Some(&1), "the grant {id}");
    }
    assert!(counts.len() - said.of("grant").len() <= 1);

    let id: RunId = name.parse().unwrap();
    let acknowledged: u64 = said.of("run").last().map_or(0, |revision| revision.parse().unwrap());
    let revision = store.load(&id).await.unwrap().map_or(0, |run| run.revision);
    // What was kept of a round and what was added to the log in it are there together.
    let log = store.log(&id).await.unwrap();
    assert_eq!(
        log.iter().step_by(2).filter_map(Value::as_u64).collect::<Vec<_>>(),
        (0..revision).collect::<Vec<_>>()
    );
    assert_eq!(log.len() as u64, 2 * revision);
    assert!((acknowledged..=acknowledged + 1).contains(&revision), "{revision} of {acknowledged}");

    let records = store.records(&RecordFilter::new().run(id).most(u32::MAX)).await.unwrap();
    let calls: Vec<String> = records.iter().map(|record| record.call.to_string()).collect();
    let recorded = said.of("record");
    assert_eq!(calls[..recorded.len()], recorded);
    assert!(calls.len() - recorded.len() <= 1);
}

#[tokio::test]
async fn a_database_whose_writers_are_killed_is_whole_and_has_what_was_acknowledged() {
    let place = Place::new();
    // Two write at once; one is killed after so many writes, and the other wherever it is then.
    for (generation, writes) in [1, 4, 7, 13, 22, 36].into_iter().enumerate() {
        let names = [format!("a{generation}"), format!("b{generation}")];
        let mut children = names
            .each_ref()
            .map(|name| Child::start(&Part::Write { path: place.path(), name: name.clone() }));
        let mut said: Vec<String> = (0..writes).map(|_| children[0].hear().unwrap()).collect();
        said.extend(children[0].kill());
        let other = children[1].kill();
        assert_whole(&place);
        let store = place.store();
        check(&store, &names[0], &Said::parse(&said)).await;
        check(&store, &names[1], &Said::parse(&other)).await;
    }
}

fn assert_whole(place: &Place) {
    let connection = Connection::open(place.path()).unwrap();
    let said: String = connection.query_row("PRAGMA integrity_check", (), |row| row.get(0)).unwrap();
    assert_eq!(said, "ok");
}
