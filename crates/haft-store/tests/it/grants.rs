use crate::fixture::{Place, run};
use haft_core::Decision;
use haft_tools_core::{Grant, GrantPlace, GrantStore, MemoryGrants};

fn grant(rule: &str, agent: Option<&str>, place: GrantPlace) -> Grant {
    Grant::new(Decision::Allow, rule, agent.map(str::to_owned), place)
}

/// Asks all forms, which have to agree.
async fn check(grants: &[Grant], agent: Option<&str>, places: &[GrantPlace], expected: &[&str]) {
    let place = Place::new();
    let mut stores: Vec<Box<dyn GrantStore>> = vec![Box::new(MemoryGrants::new()), Box::new(place.store())];
    #[cfg(feature = "postgres")]
    stores.extend(crate::fixture::postgres().await.map(|store| Box::new(store) as _));
    for store in stores {
        for grant in grants {
            store.add(grant).await.unwrap();
        }
        let held = store.holding(agent, places).await.unwrap();
        let rules: Vec<&str> = held.iter().map(|grant| grant.rule.as_str()).collect();
        assert_eq!(rules, expected);
    }
}

#[tokio::test]
async fn a_grant_holds_for_its_agent_in_its_place_until_it_expires() {
    let session = |name: &str| GrantPlace::Session(name.to_owned());
    let grants = [
        grant("read(a)", None, GrantPlace::Always),
        grant("read(b)", Some("explorer"), GrantPlace::Always),
        grant("read(c)", None, GrantPlace::Run(run("run-1"))),
        grant("read(d)", None, session("one")),
        grant("read(e)", None, GrantPlace::Workspace("one".to_owned())),
        grant("read(f)", None, GrantPlace::Always).expires_at_ms(1),
        grant("read(g)", None, GrantPlace::Always).expires_at_ms(u64::MAX),
    ];
    check(&grants, None, &[GrantPlace::Always], &["read(a)", "read(g)"]).await;
    check(&grants, Some("explorer"), &[GrantPlace::Always], &["read(b)"]).await;
    check(&grants, Some("other"), &[GrantPlace::Always], &[]).await;
    check(&grants, None, &[GrantPlace::Run(run("run-1"))], &["read(c)"]).await;
    check(&grants, None, &[GrantPlace::Run(run("run-2"))], &[]).await;
    check(&grants, None, &[session("one"), session("one")], &["read(d)"]).await;
    check(&grants, None, &[session("two")], &[]).await;
    let both = [GrantPlace::Workspace("one".to_owned()), GrantPlace::Run(run("run-1"))];
    check(&grants, None, &both, &["read(c)", "read(e)"]).await;
    check(&grants, None, &[], &[]).await;
}

#[tokio::test]
async fn grants_are_there_in_the_next_process_until_they_are_revoked() {
    let place = Place::new();
    let never = Grant::new(Decision::Deny, "exec(rm *)", None, GrantPlace::Always);
    let expired = grant("read(a)", Some("explorer"), GrantPlace::Always).expires_at_ms(1);
    for grant in [&never, &expired] {
        place.store().add(grant).await.unwrap();
    }
    let store = place.store();
    let all: Vec<Grant> = store.list_grants().await.unwrap().iter().map(|grant| (**grant).clone()).collect();
    assert_eq!(all, [never.clone(), expired.clone()]);
    assert!(store.revoke(&never.id).await.unwrap());
    assert!(!store.revoke(&never.id).await.unwrap());
    assert_eq!(*place.store().list_grants().await.unwrap()[0], expired);
}

#[tokio::test]
async fn a_grant_that_is_kept_twice_is_one() {
    let place = Place::new();
    let grant = grant("read(a)", None, GrantPlace::Always);
    let store = place.store();
    store.add(&grant).await.unwrap();
    store.add(&grant).await.unwrap();
    assert_eq!(store.list_grants().await.unwrap().len(), 1);
}
