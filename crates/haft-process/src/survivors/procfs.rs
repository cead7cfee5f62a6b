use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, test_kill_process_group};

use super::{Sought, Survivors};
use crate::cgroup::Group;
use crate::lifeline;
use crate::marker::Marker;

/// For how long after the start of a call the numbers of its processes are known to lie behind its leader's: within this
/// time a system does not give out all the numbers there are, which is at least 32,768 (`proc_sys_kernel(5)`).
const NUMBERS_GROW: Duration = Duration::from_millis(100);

/// Up to how many numbers are looked at while nothing else goes on.
const MOST_AT_A_GLANCE: i32 = 8;

/// Up to how many numbers are looked at one by one before it is cheaper to list the processes there are.
const MOST_NUMBERS: i32 = 128;

/// The flag of a process that is on its way out (`PF_EXITING`, include/linux/sched.h).
const EXITING: u32 = 0x4;

/// The flag of a thread of the kernel (`PF_KTHREAD`, include/linux/sched.h).
const OF_THE_KERNEL: u32 = 0x0020_0000;

/// How often an environment that is not there yet is read, and how long is waited in between.
const MOST_READS: u32 = 1_000;
const READ_AGAIN: Duration = Duration::from_micros(100);

/// Finds the living processes of a call: members of its group, of its session and of its control group, and whoever
/// carries its mark.
///
/// For a call that was short, which is where it would be felt, only the processes that came after its leader are looked
/// at; for others every process of the system, which takes some 10 µs each and is little beside such a call. Blocks. A
/// process that left the session and cleared its environment as well is found in the control group alone. What waits there for
/// the end of a host that a process of the call was is none of them, nor is what it starts.
pub(crate) fn find(sought: &Sought) -> Survivors {
    let mut survivors = find_in_system(sought);
    if let Some(group) = &sought.group {
        add_members(&mut survivors, group);
        if !survivors.is_empty() {
            survivors.control_group = Some(Arc::clone(group));
        }
    }
    survivors
}

/// Adds the members of a control group.
///
/// One that starts another and ends can do both between being listed and being looked at. So where all have ended, they are
/// listed again, until nobody has come.
fn add_members(survivors: &mut Survivors, group: &Arc<Group>) {
    // Numbers of another namespace say nothing here.
    let is_told = is_of_this_namespace();
    let mut before = Vec::new();
    for _ in 0..MOST_READS {
        let listed = group.processes();
        for process in &listed {
            if survivors.members.contains(process) || survivors.others.contains(process) {
                continue;
            }
            match Status::read(&place_of(process.as_raw_pid())).filter(|_| is_told) {
                Some(status) if status.is_dead => survivors.is_one_leaving |= status.is_leaving,
                Some(status) if lifeline::is_one(&place_of(status.session)) => {
                    survivors.uncounted = Some(Arc::clone(group));
                }
                None if is_told => {}
                _ => survivors.others.push(*process),
            }
        }
        if !survivors.is_empty() || listed.iter().all(|process| before.contains(process)) {
            return;
        }
        before = listed;
        thread::sleep(READ_AGAIN);
    }
}

/// Tells that nobody is alive, where that can be told at once: the leader has ended, and hardly a process came after it.
///
/// What is not told so has to be looked for.
pub(crate) fn are_gone_at_a_glance(sought: &Sought) -> bool {
    if sought.age >= NUMBERS_GROW
        || sought.group.as_ref().is_some_and(|group| !group.is_empty())
        || !is_of_this_namespace()
    {
        return false;
    }
    let (leader, marker) = (sought.leader, &sought.marker);
    let first = leader.as_raw_pid();
    let Some(last) = last_number().filter(|last| (first..=first + MOST_AT_A_GLANCE).contains(last)) else {
        return false;
    };
    let is_gone = |number| {
        let process = place_of(number);
        let Some(status) = Status::read(&process) else { return true };
        let is_foreign = || {
            status.group != first
                && status.session != first
                && !is_limited(&process, marker)
                && is_marked_now(&process, marker) == Some(false)
        };
        status.is_dead || is_foreign()
    };
    (first..=last).all(is_gone) && last_number() == Some(last)
}

fn find_in_system(sought: &Sought) -> Survivors {
    let (leader, marker) = (sought.leader, &sought.marker);
    if !is_of_this_namespace() {
        return Survivors {
            group: test_kill_process_group(leader).ok().map(|()| leader),
            ..Survivors::default()
        };
    }
    let recent = if sought.age < NUMBERS_GROW { find_recent(leader, marker) } else { None };
    recent.unwrap_or_else(|| find_among_all(leader, marker))
}

/// Where the system shows a process.
fn place_of(number: i32) -> PathBuf {
    PathBuf::from(format!("/proc/{number}"))
}

/// Tells whether `/proc` is there and its numbers are those that signals are sent to; in a container they can be those
/// of the system around it.
fn is_of_this_namespace() -> bool {
    fs::read_link("/proc/self").is_ok_and(|this| this.as_os_str() == std::process::id().to_string().as_str())
}

/// Looks at the processes behind the leader; `None` if these are too many or cannot be told.
fn find_recent(leader: Pid, marker: &Marker) -> Option<Survivors> {
    let first = leader.as_raw_pid();
    let mut survivors = Survivors::default();
    let mut next = first;
    loop {
        // Asked again each time, since a process may have forked and ended while others were looked at.
        let last = last_number()?;
        if last < first || last - first > MOST_NUMBERS {
            return None;
        }
        if next > last {
            return Some(survivors);
        }
        for number in next..=last {
            add(&mut survivors, number, leader, marker);
        }
        next = last + 1;
    }
}

fn find_among_all(leader: Pid, marker: &Marker) -> Survivors {
    let Ok(processes) = fs::read_dir("/proc") else {
        return Survivors {
            group: test_kill_process_group(leader).ok().map(|()| leader),
            ..Survivors::default()
        };
    };
    let mut survivors = Survivors::default();
    for process in processes.flatten() {
        if let Some(number) = process.file_name().to_str().and_then(|name| name.parse().ok()) {
            add(&mut survivors, number, leader, marker);
        }
    }
    survivors
}

/// Adds a process to the survivors, if there is one of this number and it is one of them.
fn add(survivors: &mut Survivors, number: i32, leader: Pid, marker: &Marker) {
    let process = place_of(number);
    let Some((pid, status)) = Pid::from_raw(number).zip(Status::read(&process)) else { return };
    let is_member = status.group == leader.as_raw_pid();
    let is_known = || status.session == leader.as_raw_pid() || is_limited(&process, marker);
    if status.is_dead {
        survivors.is_one_leaving |= status.is_leaving && (is_member || is_known());
    } else if is_member {
        survivors.group = Some(leader);
        survivors.members.push(pid);
    } else if is_known() || is_marked(&process, marker) {
        survivors.others.push(pid);
    }
}

/// The number that was given to a process or thread last, the last field of `/proc/loadavg` (`proc_loadavg(5)`).
fn last_number() -> Option<i32> {
    fs::read_to_string("/proc/loadavg").ok()?.split_ascii_whitespace().last()?.parse().ok()
}

/// Tells whether a process carries the mark in its limits.
fn is_limited(process: &Path, marker: &Marker) -> bool {
    fs::read(process.join("limits")).is_ok_and(|limits| marker.is_in_limits(&limits))
}

/// Tells whether a process carries the mark in its environment.
///
/// Another user's environment cannot be read; neither could that user's process be ended.
fn is_marked(process: &Path, marker: &Marker) -> bool {
    for _ in 0..MOST_READS {
        if let Some(is_marked) = is_marked_now(process, marker) {
            return is_marked;
        }
        thread::sleep(READ_AGAIN);
    }
    false
}

/// Tells so if it can be told now: a process that is changing its program has no environment for a moment.
fn is_marked_now(process: &Path, marker: &Marker) -> Option<bool> {
    match fs::read(process.join("environ")) {
        Ok(environment) if environment.is_empty() => {
            let is_changing = |status: Status| !status.is_dead && !status.has_no_environment;
            (!Status::read(process).is_some_and(is_changing)).then_some(false)
        }
        Ok(environment) => Some(marker.is_in(&environment)),
        Err(_) => Some(false),
    }
}

/// The part of `/proc/PID/stat` that is looked at (`proc_pid_stat(5)`).
#[derive(Debug, PartialEq)]
struct Status {
    is_dead: bool,
    /// It is dead and has not let go of everything yet.
    is_leaving: bool,
    group: i32,
    session: i32,
    /// Its environment has no variable, rather than that it cannot be seen.
    has_no_environment: bool,
}

impl Status {
    fn read(process: &Path) -> Option<Self> {
        Self::parse(&fs::read(process.join("stat")).ok()?)
    }

    fn parse(line: &[u8]) -> Option<Self> {
        // The name in parentheses can hold anything, parentheses and spaces included; nothing behind it can.
        let name_end = line.iter().rposition(|byte| *byte == b')')?;
        let mut fields = std::str::from_utf8(line.get(name_end + 1..)?).ok()?.split_ascii_whitespace();
        let state = fields.next()?;
        let group = fields.nth(1)?.parse().ok()?;
        let session = fields.next()?.parse().ok()?;
        let flags: u32 = fields.nth(2)?.parse().ok()?;
        let threads: u32 = fields.nth(10)?.parse().ok()?;
        // A process closes its output a moment before it counts as a zombie. One whose first thread has ended looks dead
        // while its other threads go on.
        let has_let_go = matches!(state, "Z" | "X");
        let is_dead = (has_let_go || flags & EXITING != 0) && threads <= 1;
        let (start, end): (u64, u64) = (fields.nth(29)?.parse().ok()?, fields.next()?.parse().ok()?);
        let has_no_environment = flags & OF_THE_KERNEL != 0 || (start == end && end != 0);
        Some(Self { is_dead, is_leaving: is_dead && !has_let_go, group, session, has_no_environment })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line with these fields: the name, the state, the flags, the number of threads, where the environment starts and
    /// ends. All others are 9.
    fn line(name: &str, state: &str, flags: u32, threads: u32, environment: [u64; 2]) -> String {
        let (to_flags, to_threads, to_environment) = ("9 9", "9 ".repeat(10), "9 ".repeat(29));
        let [start, end] = environment;
        format!(
            "7 ({name}) {state} 1 42 43 {to_flags} {flags} {to_threads}{threads} {to_environment}{start} {end} 0\n"
        )
    }

    fn check(line: &str, [is_dead, is_leaving, has_no_environment]: [bool; 3]) {
        let expected = Status { is_dead, is_leaving, group: 42, session: 43, has_no_environment };
        assert_eq!(Status::parse(line.as_bytes()), Some(expected), "{line}");
    }

    #[test]
    fn reads_the_status_behind_any_name() {
        for name in ["sleep", "", "a) Z 1 2 3", "((", "two words"] {
            check(&line(name, "S", 0x0040_0000, 1, [100, 200]), [false, false, false]);
        }
    }

    #[test]
    fn knows_what_is_dead_and_what_only_looks_it() {
        check(&line("zombie", "Z", 0x0040_0000, 1, [0, 0]), [true, false, false]);
        check(&line("leaving", "R", 0x0040_0004, 1, [100, 200]), [true, true, false]);
        check(&line("first thread has ended", "Z", 0x0040_0004, 3, [100, 200]), [false, false, false]);
    }

    #[test]
    fn knows_what_has_no_environment_and_what_does_not_show_it() {
        check(&line("emptied", "S", 0, 1, [100, 100]), [false, false, true]);
        check(&line("kernel thread", "I", 0x0020_0000, 1, [0, 0]), [false, false, true]);
        check(&line("changing its program", "R", 0, 1, [0, 0]), [false, false, false]);
    }

    #[test]
    fn takes_nothing_from_a_line_that_is_cut() {
        let whole = line("sleep", "S", 0, 1, [100, 200]);
        for end in 0..whole.rfind(" 200").unwrap() {
            assert_eq!(Status::parse(&whole.as_bytes()[..end]), None, "{}", &whole[..end]);
        }
    }

    #[test]
    fn finds_a_child_whether_it_looks_at_few_or_at_all() {
        let marker = Marker::next();
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .env(Marker::VARIABLE, marker.value(None))
            .spawn()
            .expect("`sleep` can be run");
        let pid = Pid::from_child(&child);
        // Before it runs its program it has the environment of this process.
        while !is_marked(&PathBuf::from(format!("/proc/{pid}")), &marker) {
            thread::yield_now();
        }
        // Its number is taken for that of a leader, so that no group or session is found.
        let found = [find_recent(pid, &marker), Some(find_among_all(pid, &marker))];
        child.kill().unwrap();
        child.wait().unwrap();
        for survivors in found.into_iter().flatten() {
            assert_eq!((survivors.group, survivors.others), (None, vec![pid]));
        }
        assert!(find_among_all(pid, &marker).is_empty());
    }

    #[test]
    fn sees_this_very_process() {
        let this = Status::read(Path::new("/proc/self")).unwrap();
        assert_eq!((this.is_dead, this.group), (false, rustix::process::getpgrp().as_raw_pid()));
    }
}
