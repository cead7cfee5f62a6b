//! Writers that come at once.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::{Arc, Barrier, mpsc};
use std::thread;
use std::time::Duration;

use haft_workdir::Workdir;

use crate::child::{self, COUNTS, Other, count, counted};
use crate::fixture::{Fixture, path};

#[test]
fn loses_no_change_of_many_threads() {
    let fixture = Fixture::new("dir/file = 0");
    // By whatever root and path they get to the file.
    let outer = fixture.workdir();
    let inner = Workdir::open(fixture.root().join("dir")).unwrap();
    symlink("dir/file", fixture.root().join("link")).unwrap();
    thread::scope(|scope| {
        for number in 0..8 {
            let (workdir, text) = match number % 3 {
                0 => (&outer, "dir/file"),
                1 => (&inner, "file"),
                _ => (&outer, "link"),
            };
            scope.spawn(move || (0..25).for_each(|_| count(workdir, text)));
        }
    });
    assert_eq!(counted(&fixture.root().join("dir/file")), 200);
    assert_eq!(fixture.files().len(), 1, "a file was left behind");
}

#[test]
fn loses_no_change_of_two_processes() {
    let fixture = Fixture::new("dir/file = 0");
    let workdir = fixture.workdir();
    let mut others = [(); 2].map(|()| Other::start(child::command("count", &fixture.root())));
    for other in &mut others {
        other.line("thread:");
    }
    for other in &mut others {
        other.begin();
    }
    (0..COUNTS).for_each(|_| count(&workdir, "dir/file"));
    for mut other in others {
        assert!(other.process.wait().unwrap().success());
    }
    assert_eq!(counted(&fixture.root().join("dir/file")), 3 * COUNTS);
    assert_eq!(fixture.files().len(), 1, "a file was left behind");
}

#[test]
fn locks_a_file_in_a_directory_that_does_not_exist() {
    let fixture = Fixture::new("");
    let workdir = fixture.workdir();
    let [one, other] = ["new/dir/one", "new/other"].map(|text| path(&workdir, text));
    drop(workdir.lock([&one, &other]).unwrap());
    drop(workdir.lock([&one, &path(&workdir, ".")]).unwrap());
    fs::create_dir_all(fixture.root().join("new/dir")).unwrap();
    drop(workdir.lock([&one, &other]).unwrap());
    drop(workdir.lock([]).unwrap());
}

#[test]
fn waits_for_no_one_in_another_directory() {
    let fixture = Fixture::new("one/file =\nother/file =");
    let workdir = fixture.workdir();
    let [one, other] = ["one/file", "other/file"].map(|text| path(&workdir, text));
    let held = workdir.lock([&one]).unwrap();
    let (done, is_done) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(|| {
            drop(workdir.lock([&other]).unwrap());
            done.send(()).unwrap();
        });
        is_done.recv().unwrap();
        drop(held);
    });
}

#[test]
fn a_hundred_directories_are_held_at_once() {
    const DIRECTORIES: usize = 100;
    let fixture = Fixture::new("");
    let (held, is_held) = mpsc::channel();
    let all_are = Arc::new(Barrier::new(DIRECTORIES + 1));
    let threads: Vec<_> = (0..DIRECTORIES)
        .map(|number| {
            fs::create_dir(fixture.root().join(format!("{number}"))).unwrap();
            let (workdir, held, all_are) = (fixture.workdir(), held.clone(), Arc::clone(&all_are));
            thread::spawn(move || {
                let lock = workdir.lock([&path(&workdir, &format!("{number}/file"))]).unwrap();
                held.send(()).unwrap();
                all_are.wait();
                drop(lock);
            })
        })
        .collect();
    for _ in 0..DIRECTORIES {
        is_held.recv_timeout(Duration::from_mins(1)).expect("none waits for another");
    }
    all_are.wait();
    for thread in threads {
        thread.join().unwrap();
    }
}

#[test]
fn locks_several_in_one_order() {
    let fixture = Fixture::new("one/file = 0\nother/file = 0");
    let workdir = fixture.workdir();
    let [one, other] = ["one/file", "other/file"].map(|text| path(&workdir, text));
    thread::scope(|scope| {
        for pair in [[&one, &other], [&other, &one]] {
            let workdir = &workdir;
            scope.spawn(move || (0..200).for_each(|_| drop(workdir.lock(pair).unwrap())));
        }
    });
}

#[test]
fn says_who_has_changed_a_file() {
    let fixture = Fixture::new("file = theirs");
    let workdir = fixture.workdir();
    let file = path(&workdir, "file");
    let error = workdir.replace_parts(&file, b"old", &[b"new"]).unwrap_err();
    expect_test::expect!["`file` is not what it was a moment ago; look at it again, then repeat the call"]
        .assert_eq(&error.model_text());
    fs::hard_link(fixture.root().join("file"), fixture.root().join("other")).unwrap();
    assert!(workdir.replace_parts(&file, b"old", &[b"new"]).is_err());
    assert!(workdir.replace_parts(&path(&workdir, "gone"), b"old", &[b"new"]).is_err());
    workdir.replace_parts(&file, b"theirs", &[b"ne", b"w"]).unwrap();
    assert_eq!(
        fixture.files(),
        [("file".to_owned(), "new".to_owned()), ("other".to_owned(), "new".to_owned())]
    );
}
