use crate::fixture::{Place, pending, pending_with, run};
use haft_tools_core::{
    Answered, Approval, CallStanding, Claim, MemoryPending, PendingCall, PendingId, PendingStore,
};
use serde_json::json;
use std::fs;

/// Does the same with all forms.
async fn check(act: impl AsyncFn(&dyn PendingStore)) {
    #[cfg(feature = "postgres")]
    if let Some(store) = crate::fixture::postgres().await {
        act(&store).await;
    }
    act(&MemoryPending::new()).await;
    act(&Place::new().store()).await;
    act(&haft_store::SqliteStore::in_memory().unwrap()).await;
}

#[tokio::test]
async fn a_call_is_claimed_once_whether_it_was_put_in_or_not() {
    check(async |store| {
        let (known, unknown) = (pending("1", &json!({})), pending("2", &json!({})));
        store.put(&known).await.unwrap();
        for pending in [&known, &unknown] {
            assert_eq!(store.claim(pending).await.unwrap(), Claim::Taken);
            assert_eq!(store.claim(pending).await.unwrap(), Claim::TakenBefore);
            // What was claimed does not wait again.
            store.put(pending).await.unwrap();
            assert_eq!(store.claim(pending).await.unwrap(), Claim::TakenBefore);
        }
        assert_eq!(store.waiting().await.unwrap(), []);
    })
    .await;
}

#[tokio::test]
async fn a_call_with_another_digest_is_not_claimed() {
    check(async |store| {
        let (shown, other) = (pending("1", &json!({ "a": 1 })), pending("1", &json!({ "a": 2 })));
        store.put(&shown).await.unwrap();
        assert_eq!(store.claim(&other).await.unwrap(), Claim::OtherDigest);
        // Nor put in the place of the one that was shown.
        store.put(&other).await.unwrap();
        assert_eq!(store.waiting().await.unwrap(), std::slice::from_ref(&shown));
        assert_eq!(store.claim(&shown).await.unwrap(), Claim::Taken);
        assert_eq!(store.claim(&other).await.unwrap(), Claim::TakenBefore);
    })
    .await;
}

#[tokio::test]
async fn those_come_first_that_have_waited_longest() {
    check(async |store| {
        let asked = |id: &str, at: u64| pending_with(id, &json!({}), &json!({ "asked_at_ms": at }));
        let (first, second, third) = (asked("c", 1), asked("a", 2), asked("b", 3));
        for pending in [&third, &first, &second] {
            store.put(pending).await.unwrap();
        }
        assert_eq!(store.waiting().await.unwrap(), [first, second, third]);
    })
    .await;
}

#[tokio::test]
async fn an_answer_is_kept_as_long_as_the_call_waits() {
    check(async |store| {
        let pending = pending("1", &json!({}));
        let edit = Approval::Edit { input: json!({ "path": "b" }) };
        assert!(!store.answer(&pending.id, &Approval::Approve).await.unwrap());
        assert_eq!(store.answer_to(&pending.id).await.unwrap(), None);
        store.put(&pending).await.unwrap();
        assert_eq!(store.answer_to(&pending.id).await.unwrap(), None);
        assert!(store.answer(&pending.id, &Approval::Approve).await.unwrap());
        assert!(store.answer(&pending.id, &edit).await.unwrap());
        assert_eq!(store.answer_to(&pending.id).await.unwrap(), Some(edit));
        store.claim(&pending).await.unwrap();
        assert!(!store.answer(&pending.id, &Approval::Approve).await.unwrap());
        assert_eq!(store.answer_to(&pending.id).await.unwrap(), None);
        assert!(!store.answer(&PendingId::new("other"), &Approval::Approve).await.unwrap());
    })
    .await;
}

#[tokio::test]
async fn a_call_is_found_by_what_it_is_about() {
    check(async |store| {
        let asked = |id: &str, at: u64| pending_with(id, &json!({}), &json!({ "asked_at_ms": at }));
        let (late, early, over) = (
            asked("a", 2),
            asked("b", 1),
            pending_with("c", &json!({}), &json!({ "asked_at_ms": 0, "expires_at_ms": 1 })),
        );
        let found = async |digest| store.waiting_as(&digest).await.unwrap();
        assert_eq!(found(late.digest).await, None);
        for pending in [&over, &late, &early] {
            store.put(pending).await.unwrap();
        }
        assert_eq!(found(late.digest).await, Some((early.id.clone(), None)));
        store.answer(&late.id, &Approval::Approve).await.unwrap();
        assert_eq!(found(late.digest).await, Some((late.id.clone(), Some(Approval::Approve))));
        store.claim(&late).await.unwrap();
        assert_eq!(found(late.digest).await, Some((early.id.clone(), None)));
        store.claim(&early).await.unwrap();
        assert_eq!(found(early.digest).await, None);
        assert_eq!(found(pending("d", &json!({ "other": 1 })).digest).await, None);
    })
    .await;
}

#[tokio::test]
async fn it_is_told_of_one_call_where_it_stands() {
    check(async |store| {
        let pending = pending("1", &json!({}));
        let stands = async || store.standing(&pending.id).await.unwrap();
        assert_eq!((store.waits(&pending.id).await.unwrap(), stands().await), (false, CallStanding::Gone));
        store.put(&pending).await.unwrap();
        assert_eq!((store.waits(&pending.id).await.unwrap(), stands().await), (true, CallStanding::Waits));
        // Somebody has said that they will answer later.
        store.answer(&pending.id, &Approval::Later).await.unwrap();
        assert_eq!(stands().await, CallStanding::Waits);
        store.answer(&pending.id, &Approval::Approve).await.unwrap();
        assert_eq!(stands().await, CallStanding::Answered(Approval::Approve));
        store.claim(&pending).await.unwrap();
        assert_eq!((store.waits(&pending.id).await.unwrap(), stands().await), (false, CallStanding::Gone));
    })
    .await;
}

#[tokio::test]
async fn the_calls_of_one_run_are_listed_alone() {
    check(async |store| {
        let of = |id: &str, run: &str, at: u64| {
            pending_with(id, &json!({}), &json!({ "run": run, "asked_at_ms": at }))
        };
        let (late, other, early, claimed) =
            (of("a", "run-1", 2), of("b", "run-2", 1), of("c", "run-1", 1), of("d", "run-1", 0));
        for pending in [&late, &other, &early, &claimed] {
            store.put(pending).await.unwrap();
        }
        store.claim(&claimed).await.unwrap();
        assert_eq!(store.waiting_of(&run("run-1")).await.unwrap(), [early, late]);
        assert_eq!(store.waiting_of(&run("run-2")).await.unwrap(), [other]);
        assert_eq!(store.waiting_of(&run("run-3")).await.unwrap(), []);
    })
    .await;
}

#[tokio::test]
async fn a_call_is_gone_on_with_by_what_is_settled_below_it_at_any_depth() {
    let below = |id: &str, calls: &[&PendingCall]| {
        pending_with(id, &json!({}), &json!({ "wants": { "kind": "below", "calls": calls } }))
    };
    let (first, second) = (pending("1", &json!({})), pending("2", &json!({})));
    let middle = below("middle", &[&second]);
    let outer = below("outer", &[&first, &middle]);
    check(async |store| {
        let settled = async || {
            let settled = store.settled(&outer).await.unwrap();
            settled.into_iter().map(|(id, standing)| (id.to_string(), standing)).collect::<Vec<_>>()
        };
        for pending in [&first, &second, &middle, &outer] {
            store.put(pending).await.unwrap();
        }
        assert_eq!(settled().await, []);
        // Nobody is asked about the one in the middle, and whoever goes on with it has not gone on with what it waits for.
        store.answer(&middle.id, &Approval::Approve).await.unwrap();
        assert_eq!(settled().await, []);
        let denied = Approval::Deny { reason: "no".to_owned() };
        store.answer(&middle.id, &denied).await.unwrap();
        assert_eq!(settled().await, [("middle".to_owned(), CallStanding::Answered(denied))]);
        store.claim(&middle).await.unwrap();
        assert_eq!(settled().await, []);
        store.answer(&second.id, &Approval::Approve).await.unwrap();
        store.claim(&first).await.unwrap();
        let approved = CallStanding::Answered(Approval::Approve);
        assert_eq!(settled().await, [("1".to_owned(), CallStanding::Gone), ("2".to_owned(), approved)]);
        assert_eq!(store.settled(&first).await.unwrap(), []);
    })
    .await;
}

/// Reads everything that lies beside the database.
fn bytes(place: &Place) -> Vec<u8> {
    let files = fs::read_dir(place.file("")).unwrap();
    files.flat_map(|file| fs::read(file.unwrap().path()).unwrap()).collect()
}

#[tokio::test]
async fn what_was_claimed_is_overwritten_in_the_file_and_its_log() {
    let place = Place::new();
    let store = place.store();
    let holds = |text: &str| bytes(&place).windows(text.len()).any(|part| part == text.as_bytes());
    // One that fits into a page and one that does not.
    for (id, size) in [("1", 1), ("2", 10_000)] {
        let (input, answer) = (format!("input-{id}-").repeat(size), format!("answer-{id}-").repeat(size));
        let pending = pending(id, &json!({ "token": input }));
        store.put(&pending).await.unwrap();
        store.answer(&pending.id, &Approval::Edit { input: json!({ "token": answer }) }).await.unwrap();
        assert!(holds(&format!("input-{id}-")) && holds(&format!("answer-{id}-")));
        assert_eq!(store.claim(&pending).await.unwrap(), Claim::Taken);
        assert!(!holds(&format!("input-{id}-")) && !holds(&format!("answer-{id}-")));
    }
}

#[cfg(unix)]
#[tokio::test]
async fn all_files_are_their_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;

    let place = Place::new();
    let store = place.store();
    store.put(&pending("1", &json!({}))).await.unwrap();
    let modes = || {
        let files = ["haft.db", "haft.db-wal", "haft.db-shm"].map(|name| place.file(name));
        files.map(|file| fs::metadata(file).unwrap().permissions().mode() & 0o777)
    };
    assert_eq!(modes(), [0o600; 3]);
    for file in ["haft.db", "haft.db-wal", "haft.db-shm"] {
        fs::set_permissions(place.file(file), fs::Permissions::from_mode(0o644)).unwrap();
    }
    place.store();
    assert_eq!(modes(), [0o600; 3]);
}

#[tokio::test]
async fn of_several_answers_the_first_counts_and_only_for_what_was_shown() {
    check(async |store| {
        let (shown, other) = (pending("1", &json!({ "a": 1 })), pending("1", &json!({ "a": 2 })));
        let deny = Approval::Deny { reason: "no".to_owned() };
        let first = async |digest, approval| store.answer_first(&shown.id, digest, approval).await.unwrap();
        assert_eq!(first(&shown.digest, &deny).await, Answered::Gone);
        store.put(&shown).await.unwrap();
        assert_eq!(first(&other.digest, &Approval::Approve).await, Answered::OtherDigest);
        assert_eq!(store.answer_to(&shown.id).await.unwrap(), None);
        assert_eq!(first(&shown.digest, &deny).await, Answered::Kept);
        assert_eq!(first(&shown.digest, &Approval::Approve).await, Answered::Before);
        assert_eq!(store.answer_to(&shown.id).await.unwrap(), Some(deny.clone()));
        assert_eq!(store.claim(&shown).await.unwrap(), Claim::Taken);
        assert_eq!(first(&shown.digest, &Approval::Approve).await, Answered::Gone);
    })
    .await;
}
