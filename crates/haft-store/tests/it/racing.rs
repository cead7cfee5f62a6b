use crate::child::{Child, Part, say, stay, wait_for_start};
use crate::fixture::{Place, patient, pending, run};
use haft_core::Decision;
use haft_store::{RunStore as _, TakeError};
use haft_tools_core::{Claim, Grant, GrantPlace, GrantStore as _, PendingStore as _};
use serde_json::json;
use std::path::PathBuf;

const PROCESSES: usize = 6;

/// Starts processes that do the same at the same time; gives what each of them said.
fn at_once(part: impl Fn(usize) -> Part) -> Vec<Vec<String>> {
    let mut children: Vec<Child> = (0..PROCESSES).map(|number| Child::start(&part(number))).collect();
    for child in &mut children {
        child.expect("ready");
    }
    for child in &mut children {
        child.go();
    }
    children.into_iter().map(Child::end).collect()
}

pub(crate) async fn open(path: PathBuf, rule: String) {
    wait_for_start();
    let store = patient(path);
    store.add(&Grant::new(Decision::Allow, rule, None, GrantPlace::Always)).await.unwrap();
    say("kept");
}

#[tokio::test]
async fn processes_that_make_a_database_at_once_all_have_it() {
    let place = Place::new();
    let said = at_once(|number| Part::Open { path: place.path(), rule: format!("read({number})") });
    assert_eq!(said, vec![vec!["kept".to_owned()]; PROCESSES]);
    let mut rules: Vec<String> =
        place.store().list_grants().await.unwrap().iter().map(|grant| grant.rule.clone()).collect();
    rules.sort();
    assert_eq!(rules, (0..PROCESSES).map(|number| format!("read({number})")).collect::<Vec<_>>());
}

pub(crate) async fn claim(path: PathBuf, calls: usize) {
    let store = patient(path);
    wait_for_start();
    for call in 0..calls {
        if store.claim(&pending(&call.to_string(), &json!({}))).await.unwrap() == Claim::Taken {
            say(&call.to_string());
        }
    }
}

#[tokio::test]
async fn of_processes_that_claim_a_call_at_once_one_gets_it() {
    const CALLS: usize = 20;
    let place = Place::new();
    let store = place.store();
    // The others were never put in.
    for call in (0..CALLS).step_by(2) {
        store.put(&pending(&call.to_string(), &json!({}))).await.unwrap();
    }
    let said = at_once(|_| Part::Claim { path: place.path(), calls: CALLS });
    let mut taken: Vec<usize> = said.iter().flatten().map(|call| call.parse().unwrap()).collect();
    taken.sort_unstable();
    assert_eq!(taken, (0..CALLS).collect::<Vec<_>>());
    assert_eq!(store.waiting().await.unwrap(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_tasks_that_claim_a_call_at_once_one_gets_it() {
    let place = Place::new();
    let stores = [place.store(), place.store()];
    let claims = (0..16).map(|task| {
        let store = stores[task % 2].clone();
        tokio::spawn(async move { store.claim(&pending("1", &json!({}))).await.unwrap() })
    });
    let mut taken = 0;
    for claim in claims.collect::<Vec<_>>() {
        taken += usize::from(claim.await.unwrap() == Claim::Taken);
    }
    assert_eq!(taken, 1);
}

pub(crate) async fn take(path: PathBuf, run: String) {
    let store = patient(path);
    let _lease = store.take(&run.parse().unwrap()).await.unwrap();
    say("taken");
    stay()
}

#[tokio::test]
async fn a_run_is_its_processs_until_that_ends() {
    let place = Place::new();
    let store = place.store();
    let mut child = Child::start(&Part::Take { path: place.path(), run: "run-1".to_owned() });
    child.expect("taken");
    let refused = store.take(&run("run-1")).await.unwrap_err();
    assert!(matches!(refused, TakeError::Held { process: Some(process), .. } if process == child.id()));
    let other = store.take(&run("run-2")).await;
    assert!(other.is_ok());
    child.kill();
    let taken = store.take(&run("run-1")).await;
    assert!(taken.is_ok());
}
