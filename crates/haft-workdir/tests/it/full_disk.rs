//! A disk without room: a small file system in memory, in a namespace of a process of its own.

use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::child::{self, Other};
use crate::fixture::Fixture;

/// Mounts the file system, fills it with the files that the other process writes to, and looks at them afterwards.
const SCRIPT: &str = r#"
mount -t tmpfs -o size=256k none "$0" && mkdir "$0/dir" && cd "$0/dir" || exit 42
echo old > file && echo old > linked && ln linked other
"$@"
echo "after:$(ls -A | tr '\n' ' '): $(cat file linked other | tr '\n' ' ')"
"#;

#[test]
fn leaves_files_as_they_are_on_a_full_disk() {
    let fixture = Fixture::new("");
    let task = child::command("fill", &fixture.root());
    let script = ["-Urm", "sh", "-c", SCRIPT].map(OsStr::new);
    let mut command = Command::new("unshare");
    command.args(script).arg(fixture.root()).arg(task.get_program()).args(task.get_args());
    command.envs(task.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let mut probe = Command::new("unshare");
    probe.args(["-Urm", "mount", "-t", "tmpfs", "none"]).arg(fixture.root()).stderr(Stdio::null());
    let can_mount = probe.status().is_ok_and(|status| status.success());
    if !can_mount {
        std::io::stderr().write_all(b"skipped: no file system can be mounted here\n").unwrap();
        return;
    }
    let mut other = Other::start({
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command
    });
    other.begin();
    for name in ["dir/file", "dir/linked", "dir/new"] {
        let expected = format!("cannot write `{name}`: no storage space; ask the user to free some space");
        assert_eq!(other.line("refused:"), expected);
    }
    assert_eq!(other.line("after:"), "file linked other : old old old");
    other.process.wait().unwrap();
    assert_eq!(fs::read_dir(fixture.root()).unwrap().count(), 0);
}
