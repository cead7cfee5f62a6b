//! Another process that swaps files and directories for links while they are used.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use haft_workdir::{Existing, WalkOptions, Workdir};
use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::fixture::{Fixture, path};

/// Enough for the swap to hit every step of a lookup many times.
const ROUNDS: usize = 5000;

/// Fewer for what waits for the disk.
const WRITING_ROUNDS: usize = 200;

/// Runs `attempt` that often while another thread keeps swapping, with both ways to look paths up, and checks the outside.
fn check(rounds: usize, tree: &str, swap: impl Fn(&Fixture) + Sync, mut attempt: impl FnMut(&Workdir)) {
    let fixture = Fixture::new(tree);
    for workdir in fixture.workdirs() {
        let finished = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !finished.load(Ordering::Relaxed) {
                    swap(&fixture);
                }
            });
            // The attempts run under catch_unwind so that a failed one still ends the other thread.
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                for _ in 0..rounds {
                    attempt(&workdir);
                }
            }));
            finished.store(true, Ordering::Relaxed);
            if let Err(panic) = outcome {
                std::panic::resume_unwind(panic);
            }
        });
        fixture.assert_outside_untouched();
    }
}

/// Exchanges `name` with a link to `target` and back, so that there is always one of them.
fn swap_for_link(fixture: &Fixture, name: &str, target: &Path) {
    let (place, aside) = (fixture.root().join(name), fixture.root().join("aside"));
    symlink(target, &aside).unwrap();
    for _ in 0..2 {
        renameat_with(CWD, &place, CWD, &aside, RenameFlags::EXCHANGE).unwrap();
    }
    fs::remove_file(&aside).unwrap();
}

/// Reads without ever seeing the outside. Being refused is fine.
fn assert_reads_only_inside(workdir: &Workdir, text: &str) {
    if let Ok(path) = workdir.resolve(text)
        && let Ok(bytes) = workdir.read(&path, 100)
    {
        assert_eq!(bytes, b"inside");
    }
}

#[test]
fn never_reads_through_a_swapped_file() {
    let swap = |fixture: &Fixture| swap_for_link(fixture, "secret", &fixture.outside().join("secret"));
    check(ROUNDS, "secret = inside", swap, |workdir| assert_reads_only_inside(workdir, "secret"));
}

#[test]
fn never_reads_through_a_swapped_directory() {
    let swap = |fixture: &Fixture| swap_for_link(fixture, "dir", &fixture.outside());
    check(ROUNDS, "dir/sub/secret = inside", swap, |workdir| {
        assert_reads_only_inside(workdir, "dir/sub/secret");
        assert_reads_only_inside(workdir, "dir/sub/../sub/secret");
    });
}

#[test]
fn never_reads_through_a_swapped_link() {
    let swap = |fixture: &Fixture| {
        for target in [fixture.outside(), "dir".into()] {
            symlink(target, fixture.root().join("new")).unwrap();
            fs::rename(fixture.root().join("new"), fixture.root().join("link")).unwrap();
        }
    };
    check(ROUNDS, "dir/secret = inside\nlink -> dir", swap, |workdir| {
        assert_reads_only_inside(workdir, "link/secret");
    });
}

#[test]
fn never_writes_through_a_swapped_directory() {
    let swap = |fixture: &Fixture| swap_for_link(fixture, "dir", &fixture.outside());
    let mut written = 0_usize;
    check(WRITING_ROUNDS, "dir/sub/secret = inside", swap, |workdir| {
        let file = path(workdir, "./.")
            .join_file_name("dir")
            .and_then(|path| path.join_file_name("secret"))
            .unwrap();
        written += usize::from(workdir.write_atomic(&file, b"inside", Existing::Replace).is_ok());
        let deep = file.parent().and_then(|path| path.join_file_name("deep")).unwrap();
        // Refusals are expected; what counts is the outside, which is checked at the end.
        let _ = workdir.create_dir_all(&deep);
        let _ = workdir.rename(&file, &deep.join_file_name("moved").unwrap(), Existing::Replace);
        let _ = workdir.remove_file(&file);
    });
    assert!(written > 0, "the race was always lost, so nothing was tested");
}

#[test]
fn a_root_is_the_directory_that_it_says_it_is() {
    let swap = |fixture: &Fixture| swap_for_link(fixture, "dir", &fixture.outside());
    let mut opened = 0_usize;
    check(ROUNDS, "dir/secret = inside", swap, |workdir| {
        // Refusals are expected while it is swapped.
        let Ok(root) = Workdir::open(workdir.root_path().join("dir")) else { return };
        opened += 1;
        let is_inside = root.root_path().starts_with(workdir.root_path());
        let expected = if is_inside { "inside" } else { "secret" };
        assert_eq!(root.read(&path(&root, "secret"), 100).unwrap(), expected.as_bytes());
    });
    assert!(opened > 0, "the race was always lost, so nothing was tested");
}

#[test]
fn never_walks_through_a_swapped_directory() {
    let swap = |fixture: &Fixture| swap_for_link(fixture, "dir", &fixture.outside());
    check(ROUNDS, "dir/sub/inside = inside", swap, |workdir| {
        let walk = workdir.walk(&path(workdir, "."), WalkOptions::default()).unwrap();
        for entry in walk.flatten() {
            assert_ne!(entry.path().file_name(), Some("secret"));
        }
    });
}

#[test]
fn readers_see_the_old_file_or_the_new_one() {
    let contents = ["a".repeat(10_000), "b".repeat(20_000)];
    let fixture = Fixture::new("");
    let workdir = fixture.workdir();
    let file = path(&workdir, "file");
    workdir.write_atomic(&file, contents[0].as_bytes(), Existing::Refuse).unwrap();
    thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for round in 0..100 {
                let content = contents[round % 2].as_bytes();
                workdir.write_atomic(&file, content, Existing::Replace).unwrap();
            }
        });
        while !writer.is_finished() {
            let seen = workdir.read(&file, 1 << 20).unwrap();
            assert!(
                contents.iter().any(|content| content.as_bytes() == seen),
                "a mixture of {} bytes",
                seen.len()
            );
        }
    });
    assert_eq!(fixture.files().len(), 1, "a temporary file was left behind");
}

#[test]
fn one_of_many_creates_a_file() {
    const WRITERS: usize = 4;
    const FILES: usize = 30;
    // So much that a writer is still at it when the next one looks.
    let content = vec![b'x'; 256 * 1024];
    let fixture = Fixture::new("");
    let workdir = fixture.workdir();
    let start = Barrier::new(WRITERS);
    let writer = || {
        let outcomes = (0..FILES).map(|number| {
            let file = path(&workdir, &format!("file-{number}"));
            start.wait();
            usize::from(workdir.write_atomic(&file, &content, Existing::Refuse).is_ok())
        });
        outcomes.collect::<Vec<_>>()
    };
    let created: Vec<Vec<usize>> = thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS).map(|_| scope.spawn(writer)).collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    });
    for number in 0..FILES {
        assert_eq!(created.iter().map(|created| created[number]).sum::<usize>(), 1, "file {number}");
    }
    assert_eq!(fixture.files().len(), FILES, "a temporary file was left behind");
}
