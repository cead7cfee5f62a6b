use super::*;

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
fn a_group_is_free_again_once_nobody_has_it() {
    let Some(first) = Group::take() else { return };
    assert!(first.is_empty());
    assert_eq!(first.processes(), []);
    let second = Group::take().expect("there can be more");
    assert_ne!(first.directory, second.directory);
}

#[test]
fn a_group_whose_processes_were_killed_is_not_used_again() {
    let Some(first) = Group::take() else { return };
    let directory = first.directory.clone();
    first.kill();
    drop(first);
    let second = Group::take().expect("there can be more");
    assert_ne!(second.directory, directory);
    assert!(!directory.exists());
}
