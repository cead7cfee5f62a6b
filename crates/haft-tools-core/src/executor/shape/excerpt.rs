use std::fmt::Write as _;

/// How many bytes a line is longer than it may be before it is cut: the note on a cut takes about as much.
pub(super) const LINE_SLACK: usize = 64;

/// How much of a part is taken.
#[derive(Debug, Clone, Copy)]
pub(super) struct Budget {
    pub(super) bytes: usize,
    pub(super) lines: usize,
    pub(super) line_bytes: usize,
}

/// A place in texts that follow each other: in which of them, and before which of its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) text: usize,
    pub(super) byte: usize,
}

/// The beginning or the end of texts, taken line by line; lines that are too long are cut within.
#[derive(Debug)]
pub(super) struct Excerpt {
    /// What is taken of each text, as it is shown, from the first or last text on.
    pub(super) taken: Vec<String>,
    /// Where what is not taken begins or ends; nothing if all is taken.
    pub(super) edge: Option<Place>,
    /// How many whole lines were taken.
    pub(super) lines: usize,
    /// How many bytes were cut out of lines that were taken.
    pub(super) cut_bytes: usize,
    /// How many bytes all that was taken has, as it is shown.
    used: usize,
}

impl Excerpt {
    fn new() -> Self {
        Self { taken: Vec::new(), edge: None, lines: 0, cut_bytes: 0, used: 0 }
    }

    /// Takes the beginning of texts, each of which starts a line: whole lines, unless these would leave more than half of
    /// the room, and then as much of the next line as there is room for.
    pub(super) fn head(texts: &[&str], budget: Budget) -> Self {
        let mut head = Self::new();
        for (text, whole) in texts.iter().enumerate() {
            let (mut taken, mut at) = (String::new(), 0);
            while at < whole.len() || whole.is_empty() {
                let end = memchr::memchr(b'\n', &whole.as_bytes()[at..])
                    .map_or(whole.len(), |newline| at + newline + 1);
                if !head.take(&whole[at..end], budget, |line| taken.push_str(line)) {
                    if head.lines < budget.lines && head.used < budget.bytes / 2 {
                        let most = (budget.bytes - head.used).min(budget.line_bytes);
                        let part = &whole[at..whole.floor_char_boundary(at + most).min(end)];
                        taken.push_str(part);
                        at += part.len();
                    }
                    head.taken.push(taken);
                    head.edge = Some(Place { text, byte: at });
                    return head;
                }
                at = end;
                if whole.is_empty() {
                    break;
                }
            }
            head.taken.push(taken);
        }
        head
    }

    /// Takes the end of texts behind a place, by the same rule; the last text comes first.
    pub(super) fn tail(texts: &[&str], from: Place, budget: Budget) -> Self {
        let mut tail = Self::new();
        for (text, whole) in texts.iter().enumerate().rev() {
            let first = if text == from.text { from.byte } else { 0 };
            // Last to first, as they are found.
            let mut lines: Vec<String> = Vec::new();
            let mut at = whole.len();
            let mut edge = text == from.text;
            while text >= from.text && (at > first || whole.is_empty() && text > from.text) {
                let before = at.saturating_sub(1);
                let start =
                    memchr::memrchr(b'\n', &whole.as_bytes()[..before]).map_or(0, |newline| newline + 1);
                if start < first || !tail.take(&whole[start..at], budget, |line| lines.push(line.to_owned()))
                {
                    if tail.lines < budget.lines && tail.used < budget.bytes / 2 {
                        let most = (budget.bytes - tail.used).min(budget.line_bytes);
                        let part = &whole
                            [whole.ceil_char_boundary(at.saturating_sub(most).max(start).max(first))..at];
                        lines.push(part.to_owned());
                        at -= part.len();
                    }
                    edge = true;
                    break;
                }
                at = start;
                if whole.is_empty() {
                    break;
                }
            }
            lines.reverse();
            tail.taken.push(lines.concat());
            if edge {
                tail.edge = Some(Place { text, byte: at });
                return tail;
            }
        }
        tail
    }

    /// Takes a line, cut within if it is too long, if there is room for it.
    fn take(&mut self, line: &str, budget: Budget, mut push: impl FnMut(&str)) -> bool {
        let body = line.strip_suffix('\n').unwrap_or(line);
        let has_room = |bytes: usize, excerpt: &Self| {
            excerpt.lines < budget.lines && excerpt.used + bytes <= budget.bytes
        };
        if !is_too_long(body.len(), budget.line_bytes) {
            if !has_room(line.len(), self) {
                return false;
            }
            push(line);
            (self.lines, self.used) = (self.lines + 1, self.used + line.len());
            return true;
        }
        let head = body.floor_char_boundary(budget.line_bytes / 3 * 2);
        let tail = body.ceil_char_boundary(body.len() - budget.line_bytes / 3);
        let mut shown = body[..head].to_owned();
        // Writing to a string cannot fail.
        let _ = write!(shown, "[… {} bytes of this line cut here …]", tail - head);
        shown.push_str(&line[tail..]);
        if !has_room(shown.len(), self) {
            return false;
        }
        push(&shown);
        self.cut_bytes += tail - head;
        (self.lines, self.used) = (self.lines + 1, self.used + shown.len());
        true
    }
}

/// Tells whether a line of this many bytes is cut.
pub(super) fn is_too_long(bytes: usize, line_bytes: usize) -> bool {
    bytes > line_bytes.saturating_add(LINE_SLACK)
}
