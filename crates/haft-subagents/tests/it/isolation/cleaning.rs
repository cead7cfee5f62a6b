use super::fixture::{House, committed, has_git, id, scope, told, worktrees};
use haft_subagents::{Isolation, KeptChanges, PlaceLimits, WorkplaceError, Workplaces as _, take_changes};
use haft_testkit::Tree;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

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
    assert_eq!(house.places.prune(&|_| false).await.unwrap(), 1);
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
    assert_eq!(house.places.prune(&|run| *run == id("wanted")).await.unwrap(), 1);
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
    house.places.prune(&|_| false).await.unwrap();
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
    assert!(matches!(refused, Some(WorkplaceError::TooMuch { what: "places", most: 2 })), "{refused:?}");
    one.place.remove().await.unwrap();
    house.place("three").await;
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
