use super::{BUFFER_BYTES, Content, Slice, Surveys, Wanted, read_slice};
use haft_core::{ToolError, ToolErrorKind};
use haft_testkit::Tree;
use haft_testkit::counting::most_live;
use std::fs::{self, File};
use std::time::{Duration, SystemTime};
use tokio_util::sync::CancellationToken;

/// How much memory reading a slice may take, in bytes, whatever the file.
const MOST_HELD: i64 = 256 * 1024;

fn slice(
    tree: &Tree,
    wanted: Wanted,
    surveys: &Surveys,
    stop: &CancellationToken,
) -> Result<Slice, ToolError> {
    let workdir = tree.workdir();
    let path = workdir.resolve("a").unwrap();
    match read_slice(workdir.open_file(&path).unwrap(), &path, wanted, surveys, stop)? {
        Content::Text(slice) => Ok(slice),
        data @ Content::Data { .. } => panic!("{data:?}"),
    }
}

/// Says that a file was changed a while ago.
fn settle(tree: &Tree) {
    let file = File::options().write(true).open(tree.path().join("a")).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_mins(1)).unwrap();
}

#[test]
fn keeps_lines_and_characters_that_two_buffers_share() {
    let head = "x".repeat(BUFFER_BYTES - 3);
    let tree = Tree::new().file("a", &format!("{head}\né\r\nlast"));
    let wanted = Wanted { offset: 2, lines: 9, bytes: 100 };
    let slice = slice(&tree, wanted, &Surveys::default(), &CancellationToken::new()).unwrap();
    assert_eq!((slice.text.as_str(), slice.last, slice.total.crlf), ("2\té\n3\tlast\n", 3, 1));
}

#[test]
fn stops_when_told_to() {
    let tree = Tree::new().file("a", "text\n");
    let stop = CancellationToken::new();
    stop.cancel();
    for offset in [1, -1] {
        let wanted = Wanted { offset, lines: 9, bytes: 100 };
        let error = slice(&tree, wanted, &Surveys::default(), &stop).unwrap_err();
        assert_eq!(error.kind(), ToolErrorKind::Cancelled);
    }
}

#[test]
fn a_file_that_is_known_is_read_as_one_that_is_not() {
    let text: String = (1..=200_000).fold(String::new(), |text, line| text + &line.to_string() + "\n");
    let tree = Tree::new().file("a", &text);
    settle(&tree);
    let known = Surveys::default();
    for offset in [1, 2, 9_000, 100_000, 199_999, 200_000, 200_001, -1, -3, -150_000, -300_000] {
        let wanted = Wanted { offset, lines: 3, bytes: 1000 };
        let of = |surveys: &Surveys| {
            let slice = slice(&tree, wanted, surveys, &CancellationToken::new()).unwrap();
            (slice.text, slice.first, slice.last, slice.total)
        };
        assert_eq!(of(&known), of(&Surveys::default()), "{offset}");
    }
    assert_eq!(known.known.lock().unwrap().len(), 1);
    fs::write(tree.path().join("a"), text.replacen("1\n2\n", "2\n1\n", 1)).unwrap();
    let wanted = Wanted { offset: 1, lines: 2, bytes: 1000 };
    let changed = slice(&tree, wanted, &known, &CancellationToken::new()).unwrap();
    assert_eq!(changed.text, "1\t2\n2\t1\n");
}

#[test]
fn holds_little_whatever_the_file() {
    let line = "let value = compute(with, some, arguments);\n";
    let long = format!("{}\n", "x".repeat(8 << 20));
    let utf16: Vec<u8> = line.repeat(50_000).encode_utf16().flat_map(u16::to_le_bytes).collect();
    for bytes in [line.repeat(400_000).into_bytes(), long.repeat(2).into_bytes(), utf16] {
        let tree = Tree::new().bytes("a", &bytes);
        drop(bytes);
        settle(&tree);
        let surveys = Surveys::default();
        for offset in [20_000, 30_000, -100] {
            let wanted = Wanted { offset, lines: 100, bytes: 30 * 1024 };
            let (_, most) = most_live(|| slice(&tree, wanted, &surveys, &CancellationToken::new()).unwrap());
            assert!(most <= MOST_HELD, "{most} bytes are held");
        }
    }
}
