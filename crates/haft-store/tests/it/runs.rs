use crate::fixture::{Place, pending, pending_with, run};
use haft_core::Decision;
use haft_store::{
    GivenUp, MemoryRuns, RunStatus, RunStore, SaveError, SqliteStore, StoredRun, TakeError, Upkeep as _,
};
use haft_tools_core::{Claim, Grant, GrantPlace, GrantStore as _, PendingStore as _};
use serde_json::{Value, json};
use std::error::Error as _;
use std::fs;

/// Does the same with each form.
async fn check(act: impl AsyncFn(&dyn RunStore)) {
    #[cfg(feature = "postgres")]
    if let Some(store) = crate::fixture::postgres().await {
        act(&store).await;
    }
    check_here(act).await;
}

/// Does the same with each form whose runs are taken on this machine.
async fn check_here(act: impl AsyncFn(&dyn RunStore)) {
    act(&MemoryRuns::new()).await;
    act(&Place::new().store()).await;
    act(&SqliteStore::in_memory().unwrap()).await;
}

#[tokio::test]
async fn a_run_is_loaded_as_it_was_saved() {
    check(async |store| {
        let mut saved = StoredRun::new(run("run-1"));
        assert_eq!(store.load(&saved.run).await.unwrap(), None);
        saved.state = json!({ "messages": ["ü\u{0}", 1.5, u64::MAX] });
        store.save(&mut saved).await.unwrap();
        (saved.status, saved.agent) = (RunStatus::Waiting, Some("explorer".to_owned()));
        saved.host = json!({ "model": "small" });
        store.save(&mut saved).await.unwrap();
        assert_eq!(saved.revision, 2);
        assert_eq!(store.load(&saved.run).await.unwrap(), Some(saved.clone()));
        assert_eq!(store.list_runs().await.unwrap(), [saved.summary()]);
        assert!(store.delete(&saved.run).await.unwrap());
        assert!(!store.delete(&saved.run).await.unwrap());
        assert_eq!(store.list_runs().await.unwrap(), []);
    })
    .await;
}

#[tokio::test]
async fn what_could_not_be_read_again_is_not_kept() {
    // Each is kept as it is, in a row of its own.
    let nested = |levels: usize| (0..levels).fold(json!("x"), |inner, _| json!([inner]));
    check(async |store| {
        let mut kept = StoredRun::new(run("run-1"));
        kept.state = nested(127);
        store.append(&mut kept, vec![nested(127)]).await.unwrap();
        let before = kept.clone();
        let mut refused = vec![store.append(&mut kept, vec![json!(1), nested(128)]).await.unwrap_err()];
        kept.state = nested(200);
        refused.push(store.save(&mut kept).await.unwrap_err());
        for error in refused {
            let SaveError::Store(error) = error else { panic!("{error:?}") };
            let fault = error.source().unwrap();
            assert!(fault.source().unwrap().to_string().ends_with("only 127 can be read again"), "{error:?}");
        }
        assert_eq!(store.load(&before.run).await.unwrap(), Some(before.clone()));
        assert_eq!(store.log(&before.run).await.unwrap(), [nested(127)]);
    })
    .await;
}

#[tokio::test]
async fn what_is_added_to_the_log_of_a_run_stays_in_its_order() {
    check(async |store| {
        let (mut one, mut other) = (StoredRun::new(run("run-1")), StoredRun::new(run("run-2")));
        assert_eq!(store.log(&one.run).await.unwrap(), Vec::<Value>::new());
        store.append(&mut one, vec![json!({ "a": 1 }), json!("ü\u{0}")]).await.unwrap();
        store.append(&mut other, vec![json!(null)]).await.unwrap();
        let mut outdated = one.clone();
        store.save(&mut one).await.unwrap();
        store.append(&mut one, vec![json!([u64::MAX])]).await.unwrap();
        assert_eq!((one.revision, one.entries, other.entries), (3, 3, 1));
        assert_eq!(store.load(&one.run).await.unwrap(), Some(one.clone()));
        let log = [json!({ "a": 1 }), json!("ü\u{0}"), json!([u64::MAX])];
        // Who comes second adds nothing.
        store.append(&mut outdated, vec![json!("late")]).await.unwrap_err();
        assert_eq!((outdated.entries, store.log(&one.run).await.unwrap()), (2, log.to_vec()));
        store.delete(&one.run).await.unwrap();
        assert_eq!(store.log(&one.run).await.unwrap(), Vec::<Value>::new());
        assert_eq!(store.log(&other.run).await.unwrap(), [json!(null)]);
        let mut anew = StoredRun::new(one.run);
        store.append(&mut anew, vec![json!("anew")]).await.unwrap();
        assert_eq!(store.log(&anew.run).await.unwrap(), [json!("anew")]);
    })
    .await;
}

#[tokio::test]
async fn of_two_that_go_on_with_one_run_the_second_is_told() {
    check(async |store| {
        let mut one = StoredRun::new(run("run-1"));
        let mut other = one.clone();
        store.save(&mut one).await.unwrap();
        let refused = store.save(&mut other).await.unwrap_err();
        assert!(matches!(refused, SaveError::Outdated { stored: 1, held: 0, .. }), "{refused:?}");
        let mut other = store.load(&one.run).await.unwrap().unwrap();
        store.save(&mut other).await.unwrap();
        assert_eq!(
            store.save(&mut one).await.unwrap_err().to_string(),
            "the run `run-1` was saved by somebody else (revision 2, where 1 was loaded); load it again"
        );
        assert_eq!(one.revision, 1);
        store.delete(&one.run).await.unwrap();
        let refused = store.save(&mut other).await.unwrap_err();
        assert!(matches!(refused, SaveError::Deleted { .. }), "{refused:?}");
    })
    .await;
}

#[tokio::test]
async fn a_run_is_taken_by_one_at_a_time() {
    check_here(async |store| {
        let (one, other) = (run("run-1"), run("../run 2"));
        let lease = store.take(&one).await.unwrap();
        let refused = store.take(&one).await.unwrap_err();
        let process = std::process::id();
        assert!(matches!(&refused, TakeError::Held { process: Some(id), .. } if *id == process));
        assert_eq!(
            refused.to_string(),
            format!(
                "the run `run-1` is being worked on by the process {process}; wait until that ends, or end it"
            )
        );
        let _other = store.take(&other).await.unwrap();
        drop(lease);
        let _again = store.take(&one).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn a_run_that_was_given_back_leaves_no_file() {
    let place = Place::new();
    let store = place.store();
    let locks = || fs::read_dir(place.file("haft.db-locks")).unwrap().count();
    let lease = store.take(&run("run-1")).await.unwrap();
    assert_eq!(locks(), 1);
    drop(lease);
    assert_eq!(locks(), 0);
    // All that there is belongs to the store.
    let places = SqliteStore::places(place.path());
    for entry in fs::read_dir(place.file("")).unwrap() {
        let path = entry.unwrap().path();
        assert!(places.contains(&path), "{}", path.display());
    }
}

#[cfg(unix)]
#[tokio::test]
async fn locks_are_in_a_directory_of_the_owners_alone_and_not_behind_a_link() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    let place = Place::new();
    let store = place.store();
    drop(store.take(&run("run-1")).await.unwrap());
    let locks = place.file("haft.db-locks");
    assert_eq!(fs::metadata(&locks).unwrap().permissions().mode() & 0o777, 0o700);

    fs::remove_dir(&locks).unwrap();
    fs::create_dir(place.file("elsewhere")).unwrap();
    symlink(place.file("elsewhere"), &locks).unwrap();
    assert!(matches!(store.take(&run("run-1")).await, Err(TakeError::Store(_))));
}

#[tokio::test]
async fn a_run_that_is_given_up_has_ended_and_its_calls_do_not_run() {
    let place = Place::new();
    let store = place.store();
    let mut given_up = StoredRun::new(run("run-1"));
    given_up.state = json!("where it stands");
    store.append(&mut given_up, vec![json!("what was said")]).await.unwrap();
    let (call, other) =
        (pending("1", &json!({ "a": 1 })), pending_with("2", &json!({}), &json!({ "run": "run-2" })));
    store.put(&call).await.unwrap();
    store.put(&other).await.unwrap();
    let grant = |place| Grant::new(Decision::Allow, "read(a)", None, place);
    let always = grant(GrantPlace::Always);
    store.add(&grant(GrantPlace::Run(run("run-1")))).await.unwrap();
    store.add(&always).await.unwrap();

    let GivenUp { run: was_kept, calls, .. } = store.give_up(&run("run-1")).await.unwrap();
    assert_eq!((was_kept, calls), (true, 1));
    let ended = store.load(&run("run-1")).await.unwrap().unwrap();
    assert_eq!((ended.status, ended.state, ended.revision), (RunStatus::Ended, json!(null), 2));
    assert_eq!((ended.entries, store.log(&ended.run).await.unwrap().len()), (0, 0));
    // Who still has it cannot save it, nor make the call.
    assert!(matches!(store.save(&mut given_up).await, Err(SaveError::Outdated { .. })));
    assert_eq!(store.claim(&call).await.unwrap(), Claim::TakenBefore);
    assert_eq!(store.waiting().await.unwrap(), [other]);
    assert_eq!(*store.list_grants().await.unwrap()[0], always);

    let GivenUp { run: was_kept, calls, .. } = store.give_up(&run("run-1")).await.unwrap();
    assert_eq!((was_kept, calls), (false, 0));
    // Of what nobody kept as a run, the calls are given up all the same.
    let GivenUp { run: was_kept, calls, .. } = store.give_up(&run("run-2")).await.unwrap();
    assert_eq!((was_kept, calls), (false, 1));
}
