/// How much of the beginning of an output is kept, in bytes of text.
const HEAD_BYTES: usize = 16 * 1024;

/// How much of the end of an output is kept, in bytes of text.
const TAIL_BYTES: usize = 12 * 1024;

/// How many lines of the beginning of an output are given; with those of its end and what stands around them they are
/// fewer than the 2,000 that an executor lets pass by default.
const HEAD_LINES: usize = 1_200;

/// How many lines of the end of an output are given.
const TAIL_LINES: usize = 700;

/// Keeps the beginning and the end of an output while it streams, and counts what lies between.
///
/// Memory is bounded by head and tail whatever comes. Bytes that are not UTF-8 become U+FFFD as they come, so that the
/// bounds hold for the text that is read and not for the bytes it came from.
#[derive(Debug, Default)]
pub(crate) struct Capture {
    head: String,
    /// The end of what did not fit into the head; up to twice as long as what is kept of it, so that most pieces are
    /// appended without moving anything.
    tail: String,
    text_bytes: u64,
    newlines: u64,
}

impl Capture {
    /// Takes the next bytes, and returns how many at their end begin a character that is not complete yet.
    ///
    /// These have to be given again, in front of what comes next.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> usize {
        let mut taken = 0;
        for chunk in bytes.utf8_chunks() {
            self.push_text(chunk.valid());
            let invalid = chunk.invalid();
            taken += chunk.valid().len() + invalid.len();
            if invalid.is_empty() {
                continue;
            }
            if taken == bytes.len() && is_beginning(invalid) {
                return invalid.len();
            }
            self.push_text("\u{fffd}");
        }
        0
    }

    /// Takes note that the output ended in the middle of a character.
    pub(crate) fn push_broken(&mut self) {
        self.push_text("\u{fffd}");
    }

    fn push_text(&mut self, text: &str) {
        self.text_bytes += text.len() as u64;
        self.newlines += newlines(text);
        let mut rest = text;
        if self.tail.is_empty() {
            let fits = rest.floor_char_boundary(HEAD_BYTES - self.head.len());
            self.head.push_str(&rest[..fits]);
            rest = &rest[fits..];
        }
        if rest.len() >= TAIL_BYTES {
            self.tail.clear();
            rest = last(rest, TAIL_BYTES);
        } else if self.tail.len() + rest.len() > 2 * TAIL_BYTES {
            let kept = last(&self.tail, TAIL_BYTES - rest.len()).len();
            self.tail.drain(..self.tail.len() - kept);
        }
        self.tail.push_str(rest);
    }

    /// The output as it is read: whole if it is short enough, else its head and tail in whole lines where lines are
    /// short, and between them how much was cut.
    pub(crate) fn to_text(&self) -> String {
        let (mut head, mut tail) = (self.head.as_str(), last(&self.tail, TAIL_BYTES));
        let whole;
        if self.cut_bytes(head, tail) == 0 {
            whole = [head, tail].concat();
            if self.newlines <= (HEAD_LINES + TAIL_LINES) as u64 {
                return whole;
            }
            (head, tail) = (&whole, &whole);
        } else {
            head = whole_lines_before(head);
            tail = whole_lines_after(tail);
        }
        head = first_lines(head, HEAD_LINES);
        tail = last_lines(tail, TAIL_LINES);
        let bytes = self.cut_bytes(head, tail);
        let lines = self.newlines - newlines(head) - newlines(tail);
        let separator = if head.ends_with('\n') { "" } else { "\n" };
        format!(
            "{head}{separator}[… {bytes} bytes, {lines} lines cut here: write long output to a file and look at parts \
             of it …]\n{tail}"
        )
    }

    /// The last whole lines of the output so far, at most this many bytes of them.
    pub(crate) fn newest(&self, most_bytes: usize) -> String {
        let mut text = String::new();
        if self.tail.len() < most_bytes && self.cut_bytes(&self.head, &self.tail) == 0 {
            text.push_str(last(&self.head, most_bytes - self.tail.len()));
        }
        text.push_str(last(&self.tail, most_bytes));
        if text.len() as u64 == self.text_bytes { text } else { whole_lines_after(&text).to_owned() }
    }

    fn cut_bytes(&self, head: &str, tail: &str) -> u64 {
        self.text_bytes - head.len() as u64 - tail.len() as u64
    }
}

/// Tells whether bytes that are not UTF-8 can become so when more follow.
fn is_beginning(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

fn newlines(text: &str) -> u64 {
    text.bytes().filter(|byte| *byte == b'\n').count() as u64
}

/// The end of a text, at most this many bytes of it.
fn last(text: &str, most_bytes: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(most_bytes))..]
}

/// The beginning of a text, at most this many lines of it.
fn first_lines(text: &str, most: usize) -> &str {
    text.match_indices('\n').nth(most.saturating_sub(1)).map_or(text, |(newline, _)| &text[..=newline])
}

/// The end of a text, at most this many lines of it.
fn last_lines(text: &str, most: usize) -> &str {
    let ended = text.strip_suffix('\n').unwrap_or(text);
    ended.rmatch_indices('\n').nth(most.saturating_sub(1)).map_or(text, |(newline, _)| &text[newline + 1..])
}

/// Leaves out a last line that is cut, unless it is more than half of the text.
fn whole_lines_before(text: &str) -> &str {
    match text.rfind('\n') {
        Some(newline) if newline >= text.len() / 2 => &text[..=newline],
        _ => text,
    }
}

/// Leaves out a first line that is cut, unless it is more than half of the text.
fn whole_lines_after(text: &str) -> &str {
    match text.find('\n') {
        Some(newline) if newline < text.len() / 2 => &text[newline + 1..],
        _ => text,
    }
}

#[cfg(test)]
#[expect(clippy::needless_raw_string_hashes, reason = "expect-test writes its snapshots with them")]
mod tests;
