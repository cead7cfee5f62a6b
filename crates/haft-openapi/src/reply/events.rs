//! Server-sent events, as HTML says they are written.

/// Is one event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Event {
    /// What it is; empty where nothing is said.
    pub(super) name: String,
    pub(super) data: String,
}

/// Reads events out of bytes that come in pieces.
#[derive(Debug, Default)]
pub(super) struct Events {
    line: Vec<u8>,
    /// The last byte was a carriage return, so a line feed is no line of its own.
    after_return: bool,
    has_begun: bool,
    name: String,
    data: Option<String>,
}

impl Events {
    /// Takes a piece, and gives each event that ends in it.
    pub(super) fn take(&mut self, piece: &[u8], mut give: impl FnMut(Event)) {
        for &byte in piece {
            match byte {
                b'\n' if std::mem::take(&mut self.after_return) => {}
                b'\n' | b'\r' => {
                    self.after_return = byte == b'\r';
                    let line = std::mem::take(&mut self.line);
                    if let Some(event) = self.line(&String::from_utf8_lossy(&line)) {
                        give(event);
                    }
                }
                byte => {
                    self.after_return = false;
                    self.line.push(byte);
                }
            }
        }
    }

    /// How many bytes are kept of an event that has not ended.
    pub(super) fn kept(&self) -> usize {
        self.line.len() + self.name.len() + self.data.as_ref().map_or(0, String::len)
    }

    fn line(&mut self, line: &str) -> Option<Event> {
        let line = if std::mem::replace(&mut self.has_begun, true) {
            line
        } else {
            line.strip_prefix('\u{feff}').unwrap_or(line)
        };
        if line.is_empty() {
            let name = std::mem::take(&mut self.name);
            return self.data.take().map(|data| Event { name, data });
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            "event" => value.clone_into(&mut self.name),
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::{Event, Events};
    use proptest::prelude::*;

    fn read(pieces: &[&[u8]]) -> Vec<Event> {
        let (mut events, mut all) = (Events::default(), Vec::new());
        for piece in pieces {
            events.take(piece, |event| all.push(event));
        }
        all
    }

    #[test]
    fn events_are_read_as_they_are_written() {
        let text =
            "\u{feff}: hi\nevent: a\ndata: 1\ndata:2\n\nid: 7\n\ndata\r\n\r\ndata: x\r\rdata: unfinished";
        let event = |name: &str, data: &str| Event { name: name.to_owned(), data: data.to_owned() };
        assert_eq!(read(&[text.as_bytes()]), [event("a", "1\n2"), event("", ""), event("", "x")]);
    }

    proptest! {
        #[test]
        fn how_it_is_cut_into_pieces_makes_no_difference(
            text in "(data:|event:|[ab\u{e9}]|: |\r|\n|\r\n){0,40}",
            cuts in prop::collection::vec(0_usize..200, 0..6),
        ) {
            let bytes = text.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
            prop_assert_eq!(read(&pieces), read(&[bytes]));
        }
    }
}
