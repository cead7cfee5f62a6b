//! Where outputs are kept that a reply cannot hold.

use crate::fixture::scope;
use haft_core::OutputId;
use haft_tools_core::{CallScope, LocalOutputs, OutputError, OutputStore as _, Retention};
use std::path::Path;
use std::time::Duration;

async fn store(outputs: &LocalOutputs, scope: &CallScope, text: &str) -> Result<OutputId, OutputError> {
    outputs.store(scope, &"c1".parse().unwrap(), text.to_owned()).await
}

/// Reads a whole output, or says why it cannot be read.
async fn whole(outputs: &LocalOutputs, scope: &CallScope, output: &OutputId) -> String {
    match outputs.read(scope, output, 0..u64::MAX).await {
        Ok(chunk) => {
            assert_eq!(chunk.total_bytes, chunk.bytes.len() as u64);
            String::from_utf8(chunk.bytes.into()).unwrap()
        }
        Err(error) => error.to_string(),
    }
}

fn files(directory: &Path) -> usize {
    std::fs::read_dir(directory).map_or(0, Iterator::count)
}

/// Spills everything over four bytes.
fn spilling(directory: &Path, total_bytes: u64) -> LocalOutputs {
    LocalOutputs::spilling_into(directory).retention(Retention {
        total_bytes,
        small_bytes: 4,
        memory_bytes: 6,
        ..Retention::default()
    })
}

#[tokio::test]
async fn small_outputs_are_in_memory_and_larger_ones_in_files_of_their_owner() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().join("made/when/needed");
    let outputs = spilling(&place, 1_000);
    let small = store(&outputs, &scope(), "four").await.unwrap();
    assert_eq!(files(&place), 0);
    let large = store(&outputs, &scope(), "over four").await.unwrap();
    let beside = store(&outputs, &scope(), "more").await.unwrap();
    assert_eq!(files(&place), 2, "memory has room for one of them");
    assert_eq!([small.as_str(), large.as_str(), beside.as_str()], ["o1", "o2", "o3"]);
    assert_eq!(whole(&outputs, &scope(), &small).await, "four");
    assert_eq!(whole(&outputs, &scope(), &large).await, "over four");
    assert_eq!(whole(&outputs, &scope(), &beside).await, "more");
    #[cfg(unix)]
    for entry in std::fs::read_dir(&place).unwrap() {
        let mode = std::os::unix::fs::PermissionsExt::mode(&entry.unwrap().metadata().unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600);
    }
    drop(outputs);
    assert_eq!(files(&place), 0, "files go with the store");
}

#[tokio::test]
async fn a_range_is_read_without_the_rest() {
    let directory = tempfile::tempdir().unwrap();
    for outputs in [LocalOutputs::in_memory(), spilling(directory.path(), 1_000)] {
        let output = store(&outputs, &scope(), "one\ntwö\nthree").await.unwrap();
        let read = async |range: std::ops::Range<u64>| {
            let chunk = outputs.read(&scope(), &output, range).await.unwrap();
            assert_eq!((chunk.total_bytes, chunk.total_lines), (14, 3));
            chunk.bytes.to_vec()
        };
        assert_eq!(read(4..7).await, b"tw\xc3");
        assert_eq!(read(12..99).await, b"ee");
        assert_eq!((read(14..20).await, read(u64::MAX - 1..u64::MAX).await), (vec![], vec![]));
        #[expect(clippy::reversed_empty_ranges, reason = "what a caller must not do")]
        let reversed = read(9..3).await;
        assert_eq!(reversed, b"");
    }
}

#[tokio::test]
async fn the_oldest_outputs_make_room() {
    let directory = tempfile::tempdir().unwrap();
    let outputs = spilling(directory.path(), 20);
    let first = store(&outputs, &scope(), "0123456789").await.unwrap();
    let second = store(&outputs, &scope(), "abcdefgh").await.unwrap();
    let third = store(&outputs, &scope(), "klmnopqrs").await.unwrap();
    assert_eq!(whole(&outputs, &scope(), &first).await, "the stored output `o1` is no longer kept");
    assert_eq!(whole(&outputs, &scope(), &second).await, "abcdefgh");
    assert_eq!(whole(&outputs, &scope(), &third).await, "klmnopqrs");
    assert_eq!(files(directory.path()), 2);
    let refused = store(&outputs, &scope(), &"x".repeat(21)).await.unwrap_err();
    assert_eq!(refused.to_string(), "there is no room for an output of 21 bytes in a store of 20 bytes");
    assert_eq!(whole(&outputs, &scope(), &third).await, "klmnopqrs", "what is refused costs nothing");
    let all = store(&outputs, &scope(), &"y".repeat(20)).await.unwrap();
    assert_eq!((all.as_str(), files(directory.path())), ("o4", 1));
}

#[tokio::test]
async fn only_so_many_outputs_are_kept() {
    let outputs = LocalOutputs::in_memory().retention(Retention { outputs: 2, ..Retention::default() });
    let mut ids = Vec::new();
    for text in ["a", "b", ""] {
        ids.push(store(&outputs, &scope(), text).await.unwrap());
    }
    assert_eq!(whole(&outputs, &scope(), &ids[0]).await, "the stored output `o1` is no longer kept");
    assert_eq!(whole(&outputs, &scope(), &ids[1]).await, "b");
    assert_eq!(whole(&outputs, &scope(), &ids[2]).await, "");
}

#[tokio::test(start_paused = true)]
async fn what_is_old_goes() {
    let directory = tempfile::tempdir().unwrap();
    let outputs = LocalOutputs::spilling_into(directory.path()).retention(Retention {
        age: Duration::from_mins(1),
        small_bytes: 0,
        ..Retention::default()
    });
    let output = store(&outputs, &scope(), "text").await.unwrap();
    assert_eq!(whole(&outputs, &scope(), &output).await, "text");
    tokio::time::advance(Duration::from_mins(1)).await;
    assert_eq!(whole(&outputs, &scope(), &output).await, "the stored output `o1` is no longer kept");
    assert_eq!(files(directory.path()), 0);
}

#[tokio::test]
async fn an_output_is_there_for_its_run_and_those_next_to_it_alone() {
    let outputs = LocalOutputs::in_memory().retention(Retention { outputs: 1, ..Retention::default() });
    let run = |name: &str| name.parse().unwrap();
    let root = CallScope::new(run("root"));
    let (child, sibling) = (root.child(run("child")), root.child(run("sibling")));
    let grandchild = child.child(run("grandchild"));
    let stranger = CallScope::new(run("stranger"));
    let output = store(&outputs, &child, "text").await.unwrap();
    for (reader, expected) in [
        (&child, "text"),
        (&root, "text"),
        (&grandchild, "text"),
        (&sibling, "there is no stored output `o1` for this run"),
        (&stranger, "there is no stored output `o1` for this run"),
    ] {
        assert_eq!(whole(&outputs, reader, &output).await, expected, "{:?}", reader.run());
    }
    store(&outputs, &stranger, "other").await.unwrap();
    assert_eq!(whole(&outputs, &root, &output).await, "the stored output `o1` is no longer kept");
    assert_eq!(
        whole(&outputs, &stranger, &output).await,
        "there is no stored output `o1` for this run",
        "that it was there is not told either"
    );
    for name in ["", "o", "o0", "o99", "p1", "o-1", "o1 ", "o18446744073709551616"] {
        let Ok(name) = name.parse() else { continue };
        assert!(whole(&outputs, &child, &name).await.starts_with("there is no stored output"), "{name}");
    }
}

#[tokio::test]
async fn a_place_that_cannot_be_used_costs_no_room() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    std::fs::write(&file, "").unwrap();
    let outputs = spilling(&file, 20);
    for _ in 0..3 {
        let refused = store(&outputs, &scope(), "0123456789").await.unwrap_err();
        assert_eq!(refused.to_string(), "cannot write a stored output");
    }
    assert_eq!(store(&outputs, &scope(), "abcd").await.unwrap().as_str(), "o1");
}

#[tokio::test]
async fn a_file_that_is_gone_is_an_error_and_no_panic() {
    let directory = tempfile::tempdir().unwrap();
    let outputs = spilling(directory.path(), 20);
    let output = store(&outputs, &scope(), "0123456789").await.unwrap();
    for entry in std::fs::read_dir(directory.path()).unwrap() {
        std::fs::remove_file(entry.unwrap().path()).unwrap();
    }
    assert_eq!(whole(&outputs, &scope(), &output).await, "cannot read a stored output");
}
