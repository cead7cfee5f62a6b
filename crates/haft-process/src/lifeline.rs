use std::fs;
use std::io::{self, PipeWriter};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

use process_wrap::std::{ChildWrapper, CommandWrap, ProcessSession};

use crate::cgroup;
use crate::limit_mark::LimitMark;
use crate::marker::Marker;

/// What waits for the end of this process. It reads nothing until the other end of its input is closed, which the system
/// does when this process ends, however it ends; then it ends whoever carries a mark of this process, or is in one of its
/// control groups.
///
/// `$1` is what all these marks begin with, `$2` the directory of the groups, and `$3` what all limits that are marks begin
/// with, if there are any. A leader of a process
/// group is ended with it, so that a member which has cleared its environment is found as well. Who ignores being asked is
/// killed after a second. That nobody is left has to be seen twice, because a process that is changing its program has no
/// environment for a moment. The directory is removed when the last has left it, which is waited for some ten seconds.
const SCRIPT: &str = r#"
trap '' HUP INT QUIT TERM
read -r _
marked() {
    grep -lszE "^HAFT_CALL=(.*:)?$1-[0-9a-f]+(:.*)?\$" /proc/[0-9]*/environ
    [ -z "$3" ] || grep -lsE "^Max file locks +$3[1-9][0-9]{6} " /proc/[0-9]*/limits
}
members() {
    for below in "$1"/*/; do [ ! -d "$below" ] || members "${below%/}"; done
    while read -r process; do [ "$process" = 0 ] || echo "/proc/$process/environ"; done 2>/dev/null < "$1/cgroup.procs"
}
remove() {
    for below in "$1"/*/; do [ ! -d "$below" ] || remove "${below%/}"; done
    rmdir "$1"
}
alive() {
    marked "$@"
    [ -z "$2" ] || members "$2"
}
end() {
    told=' '
    for sign in $2; do
        process=${sign#/proc/}
        process=${process%/*}
        case "$told" in *" $process "*) continue ;; esac
        told="$told$process "
        kill -s "$1" -- "-$process" "$process"
    done
}
found=$(alive "$@")
[ -z "$found" ] || { end TERM "$found"; sleep 1; }
[ -z "$2" ] || echo 1 > "$2/cgroup.kill"
quiet=0
rounds=0
while [ "$quiet" -lt 2 ] && [ "$rounds" -lt 100 ]; do
    found=$(alive "$@")
    if [ -z "$found" ]; then quiet=$((quiet + 1)); else quiet=0; end KILL "$found"; fi
    rounds=$((rounds + 1))
done
removals=0
while [ -d "$2" ] && [ "$removals" -lt 100 ]; do
    remove "$2"
    [ ! -d "$2" ] || sleep 0.1
    removals=$((removals + 1))
done
"#;

/// What it is called.
const NAME: &str = "haft-lifeline";

/// The one of this process, once it was needed.
static LIFELINE: Mutex<Option<Lifeline>> = Mutex::new(None);

/// Is a process that outlives this one, to end what this one has started.
struct Lifeline {
    watcher: Box<dyn ChildWrapper>,
    /// Open for as long as this process is alive; no child inherits it.
    _held: PipeWriter,
}

/// Sees to it that the processes of all calls end when this process does, be it killed; does nothing if that is so
/// already.
///
/// Where there is no `/proc`, no `/bin/sh` or no `grep`, they do not.
pub(crate) fn hold() {
    if !cfg!(target_os = "linux") {
        return;
    }
    let mut lifeline = LIFELINE.lock().unwrap_or_else(PoisonError::into_inner);
    let is_there = lifeline.as_mut().is_some_and(|lifeline| matches!(lifeline.watcher.try_wait(), Ok(None)));
    if !is_there {
        // Without it there is still everything else that ends processes.
        *lifeline = Lifeline::start().ok();
    }
}

/// Tells whether a process, by where the system shows it, is what waits for the end of a host, or is called like that.
pub(crate) fn is_one(process: &Path) -> bool {
    // The shell, `-c`, the script, its name.
    let words = fs::read(process.join("cmdline")).unwrap_or_default();
    words.split(|byte| *byte == 0).nth(3) == Some(NAME.as_bytes())
}

impl Lifeline {
    #[expect(unsafe_code, reason = "what a new process does first is handed to the standard library")]
    fn start() -> io::Result<Self> {
        use std::os::unix::process::CommandExt as _;

        let (read, held) = io::pipe()?;
        let mut command = Command::new("/bin/sh");
        command.args(["-c", SCRIPT, NAME, Marker::host()]);
        command.arg(cgroup::directory().unwrap_or(Path::new("")));
        command.arg(LimitMark::host().map(|host| host.to_string()).unwrap_or_default());
        if let Some(own) = LimitMark::of_lifeline().map(LimitMark::preparation) {
            // It is none of the processes of a call, also where this process is one.
            // SAFETY: a preparation makes system calls alone.
            unsafe { command.pre_exec(move || own.run()) };
        }
        // It keeps nothing of this process from ending: no directory, no terminal, no output.
        command.current_dir("/").env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin");
        command.stdin(read).stdout(Stdio::null()).stderr(Stdio::null());
        let watcher = CommandWrap::from(command).wrap(ProcessSession).spawn()?.into_inner();
        Ok(Self { watcher, _held: held })
    }
}
