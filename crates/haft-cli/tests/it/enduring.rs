//! `haft serve` under a mixed load: it is as large at the end as it was in the middle, and nothing is left of what was
//! called.
//!
//! `HAFT_SOAK_SECONDS` says how long.

mod load;
mod process;

use crate::mcp::User;
use crate::served::Served;
use load::Load;
use process::{Size, is_there, size};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// How long it is called when nothing is said, in seconds.
const SECONDS: u64 = 6;

/// From how many seconds on the memory of a quarter is compared with that of another.
const COMPARED_FROM: u64 = 120;

/// How long what has ended may take to be gone, with the threads that it was done on.
const PATIENCE: Duration = Duration::from_mins(1);

/// Kilobytes by which it may grow between the second quarter and the last. Pages of the allocator come and go.
const MOST_GROWTH: u64 = 16 << 10;

/// Descriptors, threads and tasks that may be there at the end and not after the first round, such as those of another server.
const MOST_MORE: usize = 6;

const UPSTREAM: [&str; 2] = ["one", "two"];

/// What runs below it at all times: the servers, and what ends scripts should it be killed.
const STANDING: [&str; 3] = ["mcp-guest", "mcp-guest", "sh"];

#[test]
fn a_server_that_is_called_for_long_stays_as_it_was() {
    let length = std::env::var("HAFT_SOAK_SECONDS").map_or(SECONDS, |text| text.parse().unwrap());
    let user = prepared();
    let served = Served::run(&mut user.command(&["serve", "--http", "127.0.0.1:0"]));
    let pid = served.pid();
    let load = Load::new(&user, served.address());
    // What was never listed is not known to be a tool of a server that is killed.
    load.upstream_answers();

    load.run(Duration::from_secs(length).min(Duration::from_mins(1)) / 3);
    // One that was just killed counts when it is there again.
    load.upstream_answers();
    let (first, first_tasks) = quiet(&served, &load, |_, _| true);
    println!("after a first round: {first:?}, {first_tasks} tasks");

    let mut sizes = Vec::new();
    thread::scope(|scope| {
        let working = scope.spawn(|| load.run(Duration::from_secs(length)));
        let start = Instant::now();
        let mut told = start;
        while !working.is_finished() {
            let now = size(pid);
            if told.elapsed() > Duration::from_mins(1) {
                told = Instant::now();
                let (seconds, tasks, tally) = (start.elapsed().as_secs(), served.tasks(), load.tally());
                println!("{seconds:>6} s: {now:?}, {tasks} tasks, {tally:?}");
            }
            sizes.push(now.kilobytes);
            thread::sleep(Duration::from_millis(250));
        }
    });
    let (last, tasks) = quiet(&served, &load, |now, tasks| {
        now.open() <= first.open() + MOST_MORE
            && now.threads <= first.threads + MOST_MORE
            && tasks <= first_tasks + MOST_MORE
    });
    let most = |from: usize, to: usize| sizes[from..to].iter().max().copied().unwrap_or_default();
    let quarter = sizes.len() / 4;
    let (before, after) = (most(quarter, 2 * quarter), most(3 * quarter, sizes.len()));
    let tally = load.tally();
    println!(
        "at the end: {last:?}, {tasks} tasks; at most {before} KB in the second quarter, {after} KB in the last"
    );
    println!("{tally:?}; {} calls met a server that had been killed", tally.unanswered);
    if length >= COMPARED_FROM {
        assert!(after <= before + MOST_GROWTH, "{before} KB became {after} KB");
    }
    assert!(tally.is_complete(), "{tally:?}");
    load.upstream_answers();
}

/// A user with two servers, files to search, and a policy that asks about some files.
fn prepared() -> User {
    let user = User::new();
    let program = Path::new(env!("CARGO_BIN_EXE_haft")).with_file_name("examples").join("mcp-guest");
    assert!(
        program.exists(),
        "run `cargo build -p haft-cli --examples` first; `cargo test` without a target builds them, too"
    );
    for name in UPSTREAM {
        let mut add = user.command(&["mcp", "add", name, "--"]);
        let added = add.arg(&program).arg(name).arg(user.home()).output().unwrap();
        assert!(added.status.success(), "{}", String::from_utf8_lossy(&added.stderr));
    }
    let file = user.home().join("config/haft/haft.toml");
    // By default a server that ends so often is left alone after a few times.
    let limits = "limits = { restarts = 1000, restart_window = \"1s\" }";
    let text = std::fs::read_to_string(&file).unwrap();
    let mut text = UPSTREAM.iter().fold(text, |text, name| {
        let table = format!("[mcp.servers.{name}]\n");
        assert!(text.contains(&table), "{text}");
        text.replace(&table, &format!("{table}{limits}\n"))
    });
    text.push_str("\n[permissions]\nallow = [\"*\"]\nask = [\"write(asked/**)\"]\n");
    std::fs::write(file, text).unwrap();
    for index in 0..300 {
        let lines: Vec<_> = (0..40).map(|line| format!("line {line} of file {index}\n")).collect();
        user.write_file(&format!("searched/{}/{index}.txt", index % 10), &lines.concat());
    }
    user
}

/// The size of the process and the number of its tasks, once nothing is left of what was called and both are as is expected.
fn quiet(served: &Served, load: &Load<'_>, is_expected: impl Fn(&Size, usize) -> bool) -> (Size, usize) {
    let start = Instant::now();
    loop {
        let (now, tasks) = (size(served.pid()), served.tasks());
        let is_left = is_there(&load.mark());
        if is_standing(&now.below) && !is_left && is_expected(&now, tasks) {
            return (now, tasks);
        }
        let scripts = if is_left { ", with scripts of it" } else { "" };
        assert!(
            start.elapsed() < PATIENCE,
            "what was called has ended, and there is still {now:?}, {tasks} tasks{scripts}"
        );
        thread::sleep(Duration::from_millis(50));
    }
}

fn is_standing(below: &[String]) -> bool {
    let mut standing = STANDING.to_vec();
    below.iter().all(|name| {
        let place = standing.iter().position(|standing| standing == name);
        place.map(|place| standing.remove(place)).is_some()
    })
}
