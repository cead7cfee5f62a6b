//! `haft serve` under a mixed load: it is as large at the end as it was in the middle, and nothing is left of what was
//! called.
//!
//! `HAFT_SOAK_SECONDS` says how long.

mod load;
mod process;

use crate::mcp::User;
use crate::served::Served;
use load::{Load, Tally};
use process::{Size, size};
use std::path::Path;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

/// How long it is called when nothing is said, in seconds.
const SECONDS: u64 = 6;

/// How long what has ended may take to be gone.
const PATIENCE: Duration = Duration::from_secs(20);

/// Kilobytes by which it may grow between the middle and the end. Pages of the allocator come and go.
const MOST_GROWTH: u64 = 16 << 10;

/// Descriptors and threads that may be there at the end and not at the first pause, such as those of idle connections.
const MOST_MORE: usize = 6;

const UPSTREAM: [&str; 2] = ["one", "two"];

/// What runs below it at all times: the servers, and what ends scripts should it be killed.
const STANDING: [&str; 3] = ["mcp-guest", "mcp-guest", "sh"];

#[test]
fn a_server_that_is_called_for_long_stays_as_it_was() {
    let length = std::env::var("HAFT_SOAK_SECONDS").map_or(SECONDS, |text| text.parse().unwrap());
    let user = prepared();
    let (served, pid) = serve(&user);
    let load = Load::new(&user, served.address());

    load.run(Duration::from_secs(length).min(Duration::from_mins(1)) / 3);
    let first = quiet(pid);
    println!("after a first round: {first:?}");

    let sizes = Mutex::new(Vec::new());
    thread::scope(|scope| {
        let working = scope.spawn(|| load.run(Duration::from_secs(length)));
        let start = Instant::now();
        let mut told = start;
        while !working.is_finished() {
            let now = size(pid);
            if told.elapsed() > Duration::from_mins(1) {
                told = Instant::now();
                println!("{:>6} s: {now:?}, {:?}", start.elapsed().as_secs(), load.tally());
            }
            sizes.lock().unwrap().push(now.kilobytes);
            thread::sleep(Duration::from_millis(250));
        }
    });
    let last = quiet(pid);
    let sizes = sizes.into_inner().unwrap();
    let most = |from: usize, to: usize| sizes[from..to].iter().max().copied().unwrap_or_default();
    let quarter = sizes.len() / 4;
    let (before, after) = (most(quarter, 2 * quarter), most(3 * quarter, sizes.len()));
    let tally = load.tally();
    println!(
        "at the end: {last:?}; at most {before} KB in the second quarter, {after} KB in the last; {tally:?}"
    );

    assert!(last.open() <= first.open() + MOST_MORE, "{first:?} became {last:?}");
    assert!(last.threads <= first.threads + MOST_MORE, "{first:?} became {last:?}");
    if length >= 120 {
        assert!(after <= before + MOST_GROWTH, "{before} KB became {after} KB");
    }
    let Tally { done, killed, approved, denied, abandoned } = tally;
    assert!(done > 0 && killed > 0 && approved > 0 && denied > 0 && abandoned > 0, "{tally:?}");
}

/// A user with two servers, files to search, and a policy that asks about some files.
fn prepared() -> User {
    let user = User::new();
    let program = Path::new(env!("CARGO_BIN_EXE_haft")).with_file_name("examples").join("mcp-guest");
    assert!(program.exists(), "build the examples of this crate: cargo test does");
    for name in UPSTREAM {
        let mut add = user.command(&["mcp", "add", name, "--"]);
        let added = add.arg(&program).arg(name).arg(user.home()).output().unwrap();
        assert!(added.status.success(), "{}", String::from_utf8_lossy(&added.stderr));
    }
    let file = user.home().join("config/haft/haft.toml");
    let mut text = std::fs::read_to_string(&file).unwrap();
    text.push_str("\n[permissions]\nallow = [\"*\"]\nask = [\"write(asked/**)\"]\n");
    std::fs::write(file, text).unwrap();
    for index in 0..300 {
        let lines: Vec<_> = (0..40).map(|line| format!("line {line} of file {index}\n")).collect();
        user.write_file(&format!("searched/{}/{index}.txt", index % 10), &lines.concat());
    }
    user
}

fn serve(user: &User) -> (Served, u32) {
    let served = Served::run(&mut user.command(&["serve", "--http", "127.0.0.1:0"]));
    let pid = served.pid();
    (served, pid)
}

/// The size of the process once nothing is left below it but the servers it has started itself.
fn quiet(pid: u32) -> Size {
    let start = Instant::now();
    loop {
        let now = size(pid);
        if now.below.len() <= STANDING.len() && now.below.iter().all(|name| STANDING.contains(&name.as_str()))
        {
            // What has just ended is still let go of.
            thread::sleep(Duration::from_millis(500));
            return size(pid);
        }
        assert!(start.elapsed() < PATIENCE, "what was called has ended, and there is still {now:?}");
        thread::sleep(Duration::from_millis(50));
    }
}
