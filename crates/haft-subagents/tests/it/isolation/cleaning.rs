use super::fixture::{House, committed, has_git, id, scope, told, worktrees};
use haft_subagents::{
    Isolation, KeptChanges, PlaceLimits, WorkplaceError, Workplaces as _, take_changes, take_up_changes,
};
use haft_testkit::Tree;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

fn project() -> Tree {
    committed(Tree::new().file("a", "1\n"))
}

fn entries(directory: &Path) -> usize {
    fs::read_dir(directory).map_or(0, Iterator::count)
}

#[tokio::test]
async fn a_place_is_gone_when_its_changes_are_taken() {
    if !has_git() {
        return;
    }
    let house = House::of(project());
    let kept = KeptChanges::new(house.state.path().join("changes"));
    let child = house.place("child").await;
    child.write("a", "2\n");
    let locked = child.root.join("locked/deeper");
    fs::create_dir_all(&locked).unwrap();
    fs::write(locked.join("x"), "").unwrap();
    fs::set_permissions(locked.parent().unwrap(), Permissions::from_mode(0o500)).unwrap();
    fs::set_permissions(&locked, Permissions::from_mode(0o500)).unwrap();
    let patch = take_changes(&*child.place, &kept, &id("lead")).await.unwrap();
    assert_eq!(kept.read(&id("lead"), &id("child")).unwrap(), patch);
    assert_eq!(entries(&house.state.path().join("places")), 0);
    assert!(child.place.changes().await.is_err());
    child.place.remove().await.unwrap();
    assert_eq!(entries(&house.project.path().join(".git/worktrees")), 0);
}

#[tokio::test]
async fn a_place_stays_while_something_in_it_is_carried_by_no_patch() {
    if !has_git() {
        return;
    }
    let house = House::of(project());
    let kept = KeptChanges::new(house.state.path().join("changes"));
    let child = house.place("child").await;
    child.write("a", "2\n").write("picture", b"\0");
    take_changes(&*child.place, &kept, &id("lead")).await.unwrap();
    assert!(child.has("picture"));
    drop(child);
    assert_eq!(house.places.prune(Duration::ZERO, &|_| false).await.unwrap(), 1);
}

#[tokio::test]
async fn a_place_is_found_again_as_it_was_left() {
    if !has_git() {
        return;
    }
    let house = House::of(project());
    let child = house.place("child").await;
    child.write("b", "x\n");
    let busy = house.try_place("child", Isolation::Worktree).await.err();
    assert!(matches!(busy, Some(WorkplaceError::Busy { .. })), "{busy:?}");
    drop(child);
    // The host starts again.
    let (places, roots) = worktrees(house.project.workdir(), &house.state.path().join("places"));
    let place = places.place(&scope("lead"), &id("child"), Isolation::Worktree).await.unwrap();
    assert!(roots.lock().unwrap()[0].join("b").exists());
    assert_eq!(told(&place.changes().await.unwrap()), "added `b` (+1 -0)\n");
}

#[tokio::test]
async fn places_that_nobody_wants_are_pruned_and_no_others() {
    if !has_git() {
        return;
    }
    let house = House::of(project());
    let in_use = house.place("in use").await;
    drop((house.place("left").await, house.place("wanted").await));
    let places = house.state.path().join("places");
    fs::write(places.join("a file"), "").unwrap();
    fs::create_dir(places.join("a directory")).unwrap();
    // What was made just now may be wanted by somebody who is not asked.
    assert_eq!(house.places.prune(Duration::from_hours(1), &|_| false).await.unwrap(), 0);
    assert_eq!(house.places.prune(Duration::ZERO, &|run| *run == id("wanted")).await.unwrap(), 1);
    assert_eq!(entries(&places), 4);
    assert!(in_use.has("a") && house.place("wanted").await.has("a"));
}

#[tokio::test]
async fn one_that_broke_off_while_it_was_made_is_made_anew() {
    if !has_git() {
        return;
    }
    let house = House::of(project());
    let child = house.place("child").await;
    let place = child.root.parent().unwrap().to_owned();
    drop(child);
    fs::remove_file(place.join("ready.json")).unwrap();
    fs::remove_file(place.join("tree/a")).unwrap();
    assert!(house.place("child").await.has("a"));
    // Or before it was marked.
    house.places.prune(Duration::ZERO, &|_| false).await.unwrap();
    fs::create_dir(&place).unwrap();
    assert!(house.place("child").await.has("a"));
}

#[tokio::test]
async fn there_are_so_many_places_and_no_more() {
    if !has_git() {
        return;
    }
    let house = House::of(project()).limited(PlaceLimits { places: 2, ..PlaceLimits::default() });
    let (one, _two) = (house.place("one").await, house.place("two").await);
    let refused = house.try_place("three", Isolation::Worktree).await.err();
    assert!(matches!(refused, Some(WorkplaceError::Full { most: 2 })), "{refused:?}");
    one.place.remove().await.unwrap();
    house.place("three").await;
}

#[tokio::test]
async fn changes_are_told_though_the_process_ended_before_it_could_say_so() {
    if !has_git() {
        return;
    }
    let house = House::of(project());
    let kept = KeptChanges::new(house.state.path().join("changes"));
    let child = house.place("child").await;
    child.write("a", "2\n");
    let patch = take_changes(&*child.place, &kept, &id("lead")).await.unwrap();
    // By itself, and by a host that has it go on from there.
    let again = house.place("child").await;
    assert_eq!(take_changes(&*again.place, &kept, &id("lead")).await.unwrap(), patch);
    let again = house.place("child").await;
    take_up_changes(&*again.place, &kept, &id("lead")).await.unwrap();
    assert_eq!(again.read("a"), "2\n");
    assert_eq!(take_changes(&*again.place, &kept, &id("lead")).await.unwrap(), patch);
}

#[tokio::test]
async fn what_was_changed_before_is_put_into_a_new_place_once() {
    if !has_git() {
        return;
    }
    let house = House::of(project());
    let kept = KeptChanges::new(house.state.path().join("changes"));
    let lead = id("lead");
    house.place("child").await.write("a", "2\n").write("b", "1\n");
    take_changes(&*house.place("child").await.place, &kept, &lead).await.unwrap();
    let child = house.place("child").await;
    take_up_changes(&*child.place, &kept, &lead).await.unwrap();
    child.write("a", "1\n").remove("b");
    drop(child);
    // The host starts again, and what the child has undone is not done anew.
    let child = house.place("child").await;
    take_up_changes(&*child.place, &kept, &lead).await.unwrap();
    assert_eq!(child.read("a"), "1\n");
    assert!(take_changes(&*child.place, &kept, &lead).await.unwrap().is_empty());
    assert_eq!(kept.waiting(&lead).unwrap(), []);
}

#[tokio::test]
async fn what_was_changed_before_and_does_not_fit_stays_kept() {
    if !has_git() {
        return;
    }
    let house = House::of(project());
    let kept = KeptChanges::new(house.state.path().join("changes"));
    let lead = id("lead");
    house.place("child").await.write("a", "2\n");
    let patch = take_changes(&*house.place("child").await.place, &kept, &lead).await.unwrap();
    fs::write(house.project.path().join("a"), "by another\n").unwrap();
    let child = house.place("child").await;
    let refused = take_up_changes(&*child.place, &kept, &lead).await;
    assert!(matches!(refused, Err(WorkplaceError::Unfit { .. })), "{refused:?}");
    assert_eq!(kept.read(&lead, &id("child")).unwrap(), patch);
}

#[tokio::test]
async fn a_git_that_was_killed_is_in_nobodys_way() {
    if !has_git() {
        return;
    }
    let house = House::of(project());
    let child = house.place("child").await;
    child.write("a", "2\n");
    fs::write(child.root.join("../git/index.lock"), "").unwrap();
    assert_eq!(told(&child.changes().await), "changed `a` (+1 -1)\n");
}
