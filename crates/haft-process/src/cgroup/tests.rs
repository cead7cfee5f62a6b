use super::*;
use tempfile::TempDir;

fn check(mounts: &str, group: &str, expected: Option<&str>) {
    let found = place_of(mounts.as_bytes(), Path::new(group));
    assert_eq!(found.as_deref(), expected.map(Path::new), "{group} in {mounts}");
}

#[test]
fn finds_its_place_wherever_the_hierarchy_is_mounted() {
    let unified = "23 1 0:5 / /dev rw - devtmpfs dev rw\n41 31 0:38 / /sys/fs/cgroup rw,relatime shared:4 - cgroup2 none rw\n";
    check(unified, "/", Some("/sys/fs/cgroup/"));
    check(unified, "/user.slice/a.scope", Some("/sys/fs/cgroup/user.slice/a.scope"));
    let hybrid = "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
    check(hybrid, "/a", Some("/sys/fs/cgroup/unified/a"));
    let with_spaces = r"41 31 0:38 / /a\040place\134 rw - cgroup2 none rw";
    check(with_spaces, "/b", Some(r"/a place\/b"));
}

#[test]
fn finds_no_place_that_is_not_shown() {
    check("", "/", None);
    check("41 31 0:38 / /sys/fs/cgroup rw - cgroup none rw", "/", None);
    check("41 31 0:38 /", "/", None);
    // A container that is shown a part of the hierarchy in which it is, and one in which it is not.
    let part = "41 31 0:38 /docker/a /sys/fs/cgroup ro - cgroup2 none rw";
    check(part, "/docker/a", Some("/sys/fs/cgroup/"));
    check(part, "/docker/a/b", Some("/sys/fs/cgroup/b"));
    check(part, "/docker/ab", None);
    check(part, "/", None);
    // What is seen of a group outside of the namespace.
    check("41 31 0:38 / /sys/fs/cgroup rw - cgroup2 none rw", "/../a", None);
}

#[test]
fn only_directories_of_hosts_that_are_gone_count_as_left_behind() {
    let place = TempDir::new().unwrap();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let named = |began: Duration| format!("haft-1f-{:x}", began.as_nanos());
    let old = named(now.checked_sub(YOUNG).unwrap());
    let held = named(now.checked_sub(2 * YOUNG).unwrap());
    let to_come = named(now + Duration::from_hours(1));
    let others = [
        "haft-limits",
        "haft-",
        "haft-1-",
        "haft--1",
        "haft-1",
        "haft-1-2-3",
        "haft-A-1",
        "haft-1-+2",
        "1-2",
    ];
    for name in [&old, &held, &to_come].into_iter().map(String::as_str).chain(others) {
        fs::create_dir(place.path().join(name)).unwrap();
    }
    let holder = open_directory(&place.path().join(&held)).unwrap();
    flock(&holder, FlockOperation::NonBlockingLockExclusive).unwrap();
    // It is young for a moment only.
    let young = named(SystemTime::now().duration_since(UNIX_EPOCH).unwrap());
    fs::create_dir(place.path().join(young)).unwrap();
    let found: Vec<PathBuf> = left_behind(place.path()).into_iter().map(|(directory, _)| directory).collect();
    assert_eq!(found, [place.path().join(&old)]);
}

#[test]
fn the_directory_of_this_host_is_that_of_one() {
    let began = Marker::began(Marker::host()).unwrap();
    assert!(began <= SystemTime::now().duration_since(UNIX_EPOCH).unwrap());
}

/// Takes a group, or says that the test is skipped.
fn take() -> Option<Arc<Group>> {
    let taken = Group::take();
    if taken.is_none() {
        eprintln!("SKIPPED: here no cgroup v2 can be written");
    }
    taken
}

#[test]
fn a_group_is_free_again_once_nobody_has_it() {
    let Some(first) = take() else { return };
    assert!(first.is_empty());
    assert_eq!(first.processes(), []);
    let second = Group::take().expect("there can be more");
    assert_ne!(first.directory, second.directory);
}

#[test]
fn a_group_whose_processes_were_killed_is_not_used_again() {
    let Some(first) = take() else { return };
    let directory = first.directory.clone();
    first.kill();
    drop(first);
    let second = Group::take().expect("there can be more");
    assert_ne!(second.directory, directory);
    assert!(!directory.exists());
}
