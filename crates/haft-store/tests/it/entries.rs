use crate::fixture::{Place, Whole, each, pending, pending_with, run};
use expect_test::expect;
use haft_core::Decision;
use haft_store::{DatabaseError, EntryStore as _, RunStatus, StoredRun};
use haft_tools_core::{Approval, Claim, Grant, GrantPlace, PendingCall, PendingId};
use rusqlite::Connection;
use serde_json::json;
use std::error::Error as _;

/// Keeps two of everything.
async fn fill(store: &dyn Whole) {
    for name in ["1", "2"] {
        let mut grant = Grant::new(Decision::Allow, "read(a)", None, GrantPlace::Always);
        grant.id = name.to_owned();
        store.add(&grant).await.unwrap();
        let pending = pending(name, &json!({}));
        store.put(&pending).await.unwrap();
        store.answer(&pending.id, &Approval::Approve).await.unwrap();
        let mut run = StoredRun::new(run(&format!("run-{name}")));
        run.host = json!({ "task": name });
        store.save(&mut run).await.unwrap();
    }
}

fn change(place: &Place, sql: &str) {
    Connection::open(place.path()).unwrap().execute_batch(sql).unwrap();
}

fn why<T>(read: &Result<T, DatabaseError>) -> String {
    read.as_ref().err().map(|fault| fault.source().unwrap().to_string()).unwrap_or_default()
}

/// Writes all that is listed, with what cannot be read.
async fn listed(store: &dyn Whole) -> String {
    let mut lines = Vec::new();
    for entry in store.grant_entries().await.unwrap() {
        lines.push(format!("grant {}: {}", entry.id, why(&entry.value)));
    }
    for entry in store.pending_entries().await.unwrap() {
        let (call, answer) = (why(&entry.call), why(&entry.answer));
        lines.push(format!("call {} of {} {}: {call}, {answer}", entry.id, entry.run, entry.host));
    }
    let mut runs = store.run_entries().await.unwrap();
    runs.sort_by(|one, other| one.id.cmp(&other.id));
    for entry in runs {
        lines.push(format!("run {}: {}", entry.id, why(&entry.value)));
    }
    lines.join("\n")
}

#[tokio::test]
async fn what_cannot_be_read_is_listed_beside_what_can() {
    each(async |kept| {
        let store = &*kept.store;
        fill(store).await;
        expect![[r#"
            grant 1: 
            grant 2: 
            call 1 of run-1 {"task":"1"}: , 
            call 2 of run-1 {"task":"1"}: , 
            run run-1: 
            run run-2: "#]]
        .assert_eq(&listed(store).await);
        kept.change(
            r#"UPDATE grants SET body = '{' WHERE id = '1';
               UPDATE pending SET body = replace(body, '"version":1', '"version":2'), answer = '7' WHERE id = '1';
               UPDATE runs SET status = 'asleep' WHERE run = 'run-2'"#,
        )
        .await;
        expect![[r#"
            grant 1: EOF while parsing an object at line 1 column 1
            grant 2: 
            call 1 of run-1 {"task":"1"}: this pending call was stored in version 2 of its form; this program reads version 1 at line 1 column 12, invalid type: integer `7`, expected internally tagged enum Approval at line 1 column 1
            call 2 of run-1 {"task":"1"}: , 
            run run-1: 
            run run-2: the status `asleep` is not known"#]].assert_eq(&listed(store).await);
    })
    .await;
}

#[tokio::test]
async fn what_is_no_text_in_a_file_is_listed_beside_what_is() {
    let place = Place::new();
    let store = place.store();
    fill(&store).await;
    change(
        &place,
        "UPDATE grants SET body = CAST(x'ff' AS TEXT) WHERE id = '1';
         UPDATE pending SET body = CAST(x'ff' AS TEXT), answer = '7' WHERE id = '1';
         UPDATE runs SET agent = CAST(x'ff' AS TEXT), status = 'waiting' WHERE run = 'run-2';
         UPDATE runs SET host = '{' WHERE run = 'run-1'",
    );
    expect![[r#"
        grant 1: expected value at line 1 column 1
        grant 2: 
        call 1 of run-1 null: expected value at line 1 column 1, invalid type: integer `7`, expected internally tagged enum Approval at line 1 column 1
        call 2 of run-1 null: , 
        run run-1: 
        run run-2: invalid utf-8 sequence of 1 bytes from index 0 at index 1"#]].assert_eq(&listed(&store).await);
    assert!(matches!(
        store.run_entries().await.unwrap()[0].value,
        Ok(_) | Err(DatabaseError::Unreadable { .. })
    ));
}

#[tokio::test]
async fn what_cannot_be_read_can_be_answered_and_removed() {
    each(async |kept| {
        let store = &*kept.store;
        fill(store).await;
        kept.change("UPDATE grants SET body = '{'; UPDATE pending SET body = '{', answer = '{'").await;
        let id = PendingId::new("1");
        assert!(store.waits(&id).await.unwrap());
        assert!(!store.waits(&PendingId::new("3")).await.unwrap());
        let denial = Approval::Deny { reason: "no".to_owned() };
        assert!(store.answer(&id, &denial).await.unwrap());
        assert_eq!(store.answer_to(&id).await.unwrap(), Some(denial));
        assert!(store.revoke("1").await.unwrap());
        assert_eq!(store.grant_entries().await.unwrap().len(), 1);
    })
    .await;
}

#[tokio::test]
async fn a_call_waits_until_it_is_claimed() {
    each(async |kept| {
        let store = &*kept.store;
        fill(store).await;
        let call = pending("1", &json!({}));
        store.claim(&call).await.unwrap();
        assert!(!store.waits(&call.id).await.unwrap());
        let left: Vec<PendingId> =
            store.pending_entries().await.unwrap().into_iter().map(|entry| entry.id).collect();
        assert_eq!(left, [PendingId::new("2")]);
        let runs = store.run_entries().await.unwrap();
        assert_eq!(runs[0].value.as_ref().unwrap().status, RunStatus::Running);
    })
    .await;
}

/// Keeps a call of a run below another, and the call above that waits for it.
async fn below(store: &dyn Whole) -> (PendingCall, PendingCall) {
    let more = json!({ "run": "child", "above": [{ "run": "middle" }, { "run": "top" }] });
    let leaf = pending_with("leaf", &json!({ "path": "a" }), &more);
    let wants = json!({ "kind": "below", "calls": [leaf] });
    let outer = pending_with("outer", &json!({}), &json!({ "run": "top", "above": [], "wants": wants }));
    for call in [&leaf, &outer] {
        store.put(call).await.unwrap();
    }
    (leaf, outer)
}

#[tokio::test]
async fn a_call_of_a_run_below_names_the_run_at_the_top_and_its_host() {
    each(async |kept| {
        let store = &*kept.store;
        let (leaf, outer) = below(store).await;
        let mut top = StoredRun::new(run("top"));
        top.host = json!({ "workdir": "here" });
        store.save(&mut top).await.unwrap();
        let entries = store.pending_entries().await.unwrap();
        let told: Vec<_> =
            entries.iter().map(|entry| (entry.id.as_str(), entry.run.as_str(), entry.top.as_str())).collect();
        assert_eq!(told, [("leaf", "child", "top"), ("outer", "top", "top")]);
        assert!(entries.iter().all(|entry| entry.host == json!({ "workdir": "here" })));
        assert_eq!(entries[1].call.as_ref().unwrap(), &outer);
        assert_eq!(outer.leaves().collect::<Vec<_>>(), [&leaf]);
    })
    .await;
}

#[tokio::test]
async fn giving_a_run_up_gives_up_what_waits_below_it() {
    each(async |kept| {
        let store = &*kept.store;
        let (leaf, _) = below(store).await;
        store.put(&pending_with("other", &json!({}), &json!({ "run": "other", "above": [] }))).await.unwrap();
        assert_eq!(store.give_up(&run("top")).await.unwrap().calls, 2);
        assert_eq!(store.claim(&leaf).await.unwrap(), Claim::TakenBefore);
        assert_eq!(store.waiting().await.unwrap().len(), 1);
    })
    .await;
}

#[tokio::test]
async fn a_call_that_has_begun_is_not_found_for_one_that_has_not() {
    each(async |kept| {
        let store = &*kept.store;
        let (leaf, outer) = below(store).await;
        assert_eq!(store.waiting_as(&outer.digest).await.unwrap(), None);
        assert_eq!(store.waiting_as(&leaf.digest).await.unwrap(), Some((leaf.id, None)));
    })
    .await;
}

#[tokio::test]
async fn the_mark_is_another_one_after_each_change_and_only_then() {
    each(async |kept| {
        let (store, other) = (&*kept.store, kept.again().await);
        let mut seen = vec![store.mark().await.unwrap()];
        let mut note = async |what: &str| {
            let mark = store.mark().await.unwrap();
            assert_eq!(store.mark().await.unwrap(), mark);
            assert!(!seen.contains(&mark), "{what} is not seen: {seen:?}");
            seen.push(mark);
        };
        let grant = Grant::new(Decision::Allow, "read(a)", None, GrantPlace::Always);
        let (one, two) = (pending("1", &json!({})), pending("2", &json!({})));
        // Another process changes it.
        other.add(&grant).await.unwrap();
        note("a grant").await;
        other.put(&one).await.unwrap();
        note("a call").await;
        other.put(&two).await.unwrap();
        note("another call").await;
        other.answer(&one.id, &Approval::Approve).await.unwrap();
        note("an answer").await;
        other.answer(&one.id, &Approval::Deny { reason: "no".to_owned() }).await.unwrap();
        note("another answer").await;
        other.claim(&one).await.unwrap();
        note("a claim").await;
        assert!(other.revoke(&grant.id).await.unwrap());
        note("a grant that is gone").await;
    })
    .await;
}
