use crate::fixture::{each, pending, run};
use haft_store::{RunStatus, StoredRun};
use haft_tools_core::Claim;
use serde_json::{Value, json};
use std::error::Error as _;
use std::time::Duration;

#[tokio::test]
async fn the_runs_of_a_tree_stay_in_the_order_in_which_they_were_kept() {
    each(async |kept| {
        let store = &*kept.store;
        let (root, other) = (run("root"), run("other"));
        for (name, root) in [("b", &root), ("a", &root), ("c", &other)] {
            store.put_child(&run(name), root, &json!({ "name": name })).await.unwrap();
        }
        store.put_child(&run("b"), &root, &json!({ "name": "b", "done": true })).await.unwrap();
        let records = [json!({ "name": "b", "done": true }), json!({ "name": "a" })];
        assert_eq!(store.children(&root).await.unwrap(), records);
        assert_eq!(store.child(&run("c")).await.unwrap(), Some(json!({ "name": "c" })));
        store.forget_children(&root).await.unwrap();
        assert_eq!(store.children(&root).await.unwrap(), Vec::<Value>::new());
        assert_eq!(store.child(&run("a")).await.unwrap(), None);
        assert_eq!(store.children(&other).await.unwrap().len(), 1);
    })
    .await;
}

#[tokio::test]
async fn where_a_run_stands_is_its_head_and_the_entries_that_belong_to_it() {
    each(async |kept| {
        let store = &*kept.store;
        let (root, child) = (run("root"), run("child"));
        store.put_child(&child, &root, &json!({})).await.unwrap();
        assert_eq!(store.child_state(&child).await.unwrap(), None);
        store.keep_child(&child, json!("one"), 0, vec![json!(1), json!("ü\u{0}")]).await.unwrap();
        store.keep_child(&child, json!("two"), 2, vec![json!(3)]).await.unwrap();
        // A process that did not know of the last step takes its place.
        store.keep_child(&child, json!("again"), 2, vec![json!(4), json!(5)]).await.unwrap();
        let log = vec![json!(1), json!("ü\u{0}"), json!(4), json!(5)];
        assert_eq!(store.child_state(&child).await.unwrap(), Some((json!("again"), log.clone())));
        store.put_child(&child, &root, &json!({ "done": true })).await.unwrap();
        store.keep_child(&child, json!("less"), 1, vec![]).await.unwrap();
        assert_eq!(store.child_state(&child).await.unwrap(), Some((json!("less"), vec![json!(1)])));
    })
    .await;
}

#[tokio::test]
async fn what_does_not_follow_is_refused_and_changes_nothing() {
    each(async |kept| {
        let store = &*kept.store;
        let child = run("child");
        let why = |error: haft_tools_core::StoreError| error.source().unwrap().to_string();
        let error = store.keep_child(&child, json!(1), 0, vec![]).await.unwrap_err();
        assert_eq!(
            why(error),
            "the state of the run `child` does not follow what was kept of it: it has no record; begin the run anew"
        );
        store.put_child(&child, &run("root"), &json!({})).await.unwrap();
        store.keep_child(&child, json!(1), 0, vec![json!(1)]).await.unwrap();
        let error = store.keep_child(&child, json!(2), 2, vec![json!(3)]).await.unwrap_err();
        assert_eq!(
            why(error),
            "the state of the run `child` does not follow what was kept of it: its log has 1 entries, and 2 were kept \
             before; begin the run anew"
        );
        assert_eq!(store.child_state(&child).await.unwrap(), Some((json!(1), vec![json!(1)])));
    })
    .await;
}

#[tokio::test]
async fn they_go_with_the_run_at_the_top() {
    each(async |kept| {
        let store = &*kept.store;
        let keep = async |name: &str, status: RunStatus| {
            let mut root = StoredRun::new(run(name));
            root.status = status;
            store.save(&mut root).await.unwrap();
            store.put_child(&run(&format!("below-{name}")), &root.run, &json!({})).await.unwrap();
        };
        for name in ["deleted", "given-up", "pruned", "stays"] {
            keep(name, RunStatus::Ended).await;
        }
        store.put_child(&run("orphan"), &run("never-kept"), &json!({})).await.unwrap();

        store.delete(&run("deleted")).await.unwrap();
        store.give_up(&run("given-up")).await.unwrap();
        for gone in ["below-deleted", "below-given-up"] {
            assert_eq!(store.child(&run(gone)).await.unwrap(), None, "{gone}");
        }
        store.prune(Duration::from_hours(1)).await.unwrap();
        for stays in ["below-pruned", "below-stays", "orphan"] {
            assert_eq!(store.child(&run(stays)).await.unwrap(), Some(json!({})), "{stays}");
        }
        kept.change("UPDATE runs SET updated_at_ms = 1 WHERE run = 'pruned'").await;
        kept.change("UPDATE children SET updated_at_ms = 1").await;
        store.prune(Duration::from_hours(1)).await.unwrap();
        for gone in ["below-pruned", "orphan"] {
            assert_eq!(store.child(&run(gone)).await.unwrap(), None, "{gone}");
        }
        // It is as old, and its root is there.
        assert_eq!(store.child(&run("below-stays")).await.unwrap(), Some(json!({})));
    })
    .await;
}

#[tokio::test]
async fn calls_below_a_run_that_is_given_up_wait_no_more() {
    each(async |kept| {
        let store = &*kept.store;
        let mut call = pending("1", &json!({}));
        call.run = run("child");
        store.put(&call).await.unwrap();
        store.put_child(&run("child"), &run("root"), &json!({})).await.unwrap();
        store.give_up(&run("root")).await.unwrap();
        assert_eq!(store.waiting().await.unwrap(), []);
        assert_eq!(store.claim(&call).await.unwrap(), Claim::TakenBefore);
    })
    .await;
}
