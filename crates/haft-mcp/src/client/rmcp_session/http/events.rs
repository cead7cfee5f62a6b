//! A stream of events as it is read, none of them larger than is taken.

use crate::client::link::TopLevel;
use serde_json::Value;
use sse_stream::Sse;

/// How much of a line's beginning tells whether it is data.
const DATA: &[u8] = b"data:";

/// Reads events (`text/event-stream` of the HTML standard) from pieces of any size.
///
/// Of one that is larger than is taken, only whose answer it is is kept; the stream goes on behind it.
pub(super) struct EventReader {
    most: usize,
    /// The line that is being read; within an event that is too large, its beginning.
    line: Vec<u8>,
    after_return: bool,
    data: Option<Vec<u8>>,
    name: Option<String>,
    id: Option<String>,
    retry: Option<u64>,
    /// How many bytes of the event were read.
    bytes: u64,
    oversize: Option<Oversize>,
    is_first_line: bool,
}

#[derive(Default)]
struct Oversize {
    top_level: TopLevel,
    /// The line is data, and its beginning has been looked at.
    in_data: bool,
}

/// Is what was found in a stream.
#[derive(Debug)]
pub(super) enum Event {
    Whole(Sse),
    /// An event that was too large, and whose answer it is; its id and what it says of trying again are in the event.
    Oversize {
        sse: Sse,
        answers: Option<Value>,
        bytes: u64,
    },
}

impl EventReader {
    pub(super) fn new(most: usize) -> Self {
        Self {
            most,
            line: Vec::new(),
            after_return: false,
            data: None,
            name: None,
            id: None,
            retry: None,
            bytes: 0,
            oversize: None,
            is_first_line: true,
        }
    }

    /// Reads a piece up to the end of an event, and gives what is left of the piece.
    pub(super) fn read<'a>(&mut self, mut piece: &'a [u8]) -> (Option<Event>, &'a [u8]) {
        while !piece.is_empty() {
            if std::mem::take(&mut self.after_return) && piece[0] == b'\n' {
                piece = &piece[1..];
                continue;
            }
            let Some(end) = memchr::memchr2(b'\r', b'\n', piece) else {
                self.take(piece);
                return (None, &[]);
            };
            self.take(&piece[..end]);
            self.after_return = piece[end] == b'\r';
            piece = &piece[end + 1..];
            if let Some(event) = self.end_line() {
                return (Some(event), piece);
            }
        }
        (None, piece)
    }

    /// Takes a part of a line.
    fn take(&mut self, part: &[u8]) {
        self.bytes += part.len() as u64;
        if let Some(oversize) = &mut self.oversize {
            oversize.pass(&mut self.line, part);
            return;
        }
        self.line.extend_from_slice(part);
        if self.line.len() + self.data.as_ref().map_or(0, Vec::len) > self.most {
            let mut oversize = Oversize::default();
            oversize.top_level.pass(self.data.as_deref().unwrap_or_default());
            let line = std::mem::take(&mut self.line);
            oversize.pass(&mut self.line, &line);
            self.data = None;
            self.oversize = Some(oversize);
        }
    }

    fn end_line(&mut self) -> Option<Event> {
        if let Some(oversize) = &mut self.oversize {
            let is_empty = self.line.is_empty() && !oversize.in_data;
            oversize.in_data = false;
            self.line.clear();
            return if is_empty { self.end_event() } else { None };
        }
        let line = std::mem::take(&mut self.line);
        let mut line = line.as_slice();
        if std::mem::take(&mut self.is_first_line) {
            line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
        }
        if line.is_empty() {
            return self.end_event();
        }
        let colon = memchr::memchr(b':', line).unwrap_or(line.len());
        let (field, value) = line.split_at(colon);
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        let text = || String::from_utf8_lossy(value).into_owned();
        match field {
            b"data" => match &mut self.data {
                Some(data) => {
                    data.push(b'\n');
                    data.extend_from_slice(value);
                }
                None => self.data = Some(value.to_vec()),
            },
            b"event" => self.name = Some(text()),
            b"id" if !value.contains(&0) => self.id = Some(text()),
            b"retry" => self.retry = text().parse().ok(),
            _ => {}
        }
        None
    }

    fn end_event(&mut self) -> Option<Event> {
        let bytes = std::mem::take(&mut self.bytes);
        let data = self.data.take().map(|data| String::from_utf8_lossy(&data).into_owned());
        let sse = Sse { event: self.name.take(), data, id: self.id.take(), retry: self.retry.take() };
        if let Some(oversize) = self.oversize.take() {
            return Some(Event::Oversize { sse, answers: oversize.top_level.answered(), bytes });
        }
        let says_something = sse.data.is_some() || sse.id.is_some() || sse.retry.is_some();
        says_something.then_some(Event::Whole(sse))
    }
}

impl Oversize {
    /// Passes on what is data of a line; what a line begins with is kept until it is known.
    fn pass(&mut self, beginning: &mut Vec<u8>, mut part: &[u8]) {
        if !self.in_data {
            let missing = DATA.len().saturating_sub(beginning.len()).min(part.len());
            let (first, rest) = part.split_at(missing);
            beginning.extend_from_slice(first);
            if beginning != DATA {
                return;
            }
            self.in_data = true;
            part = rest;
        }
        self.top_level.pass(part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn show(event: Event) -> String {
        let of = |sse: Sse| {
            let part = |name, value: Option<String>| value.map(|value| format!("{name}={value:?}"));
            let parts = [
                part("event", sse.event),
                part("id", sse.id),
                part("retry", sse.retry.map(|retry| retry.to_string())),
                part("data", sse.data),
            ];
            parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
        };
        match event {
            Event::Whole(sse) => of(sse),
            Event::Oversize { sse, answers, bytes } => format!("{} oversize {bytes} {answers:?}", of(sse)),
        }
    }

    fn read(most: usize, pieces: &[&[u8]]) -> Vec<String> {
        let mut reader = EventReader::new(most);
        let mut found = Vec::new();
        for piece in pieces {
            let mut left = *piece;
            while !left.is_empty() {
                let (event, rest) = reader.read(left);
                found.extend(event.map(show));
                left = rest;
            }
        }
        found
    }

    /// Reads a text whole and byte by byte.
    fn check(most: usize, text: &str, expected: &[&str]) {
        assert_eq!(read(most, &[text.as_bytes()]), expected, "{text:?}");
        let bytes: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
        assert_eq!(read(most, &bytes), expected, "{text:?} byte by byte");
    }

    #[test]
    fn reads_events() {
        check(99, "data: a\n\ndata:b\n\n", &[r#"data="a""#, r#"data="b""#]);
        check(99, "data: a\r\n\r\ndata: b\r\rdata: c\n\n", &[r#"data="a""#, r#"data="b""#, r#"data="c""#]);
        check(
            99,
            "\u{feff}event: x\nid: 7\nretry: 500\ndata: a\ndata: b\n\n",
            &[r#"event="x" id="7" retry="500" data="a\nb""#],
        );
        check(99, ": comment\n\nid: 1\ndata\n\nretry: x\n\n", &[r#"id="1" data="""#]);
        check(99, "data: cut off\n", &[]);
    }

    #[test]
    fn an_event_that_is_too_large_is_told_by_whose_answer_it_is() {
        check(
            20,
            "id: 3\ndata: {\"result\":\"0123456789\",\"id\":8}\n\ndata: b\n\n",
            &[r#"id="3" oversize 41 Some(Number(8))"#, r#"data="b""#],
        );
        let in_lines = "data: {\"id\":8,\ndata: \"result\":\ndatum:1\ndata:\"0123456789\"}\n\n";
        check(20, in_lines, &[" oversize 54 Some(Number(8))"]);
        check(9, ": a comment that is too long\n\ndata: a\n\n", &[" oversize 28 None", r#"data="a""#]);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn how_a_stream_is_cut_does_not_matter(text in "(data|id|retry|:|[ a-c0-9{}\":]|\r|\n){0,40}", most in 1_usize..30, size in 1_usize..9) {
            let pieces: Vec<&[u8]> = text.as_bytes().chunks(size).collect();
            prop_assert_eq!(read(most, &[text.as_bytes()]), read(most, &pieces));
        }
    }
}
