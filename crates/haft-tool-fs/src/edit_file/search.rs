use std::borrow::Cow;
use std::ops::Range;

/// Finds texts in a file without regard to whether its lines end in LF or CR LF, where the text itself does not tell.
pub(super) struct Search<'a> {
    content: &'a str,
    /// The content with LF alone, where it has CR LF.
    unified: Option<Unified>,
}

struct Unified {
    text: String,
    /// The places in `text` of the line feeds that had a carriage return before them.
    shortened: Vec<usize>,
}

impl<'a> Search<'a> {
    pub(super) fn new(content: &'a str) -> Self {
        let unified = content.contains("\r\n").then(|| {
            let mut text = String::with_capacity(content.len());
            let mut shortened = Vec::new();
            for line in content.split_inclusive('\n') {
                if let Some(line) = line.strip_suffix("\r\n") {
                    text.push_str(line);
                    shortened.push(text.len());
                    text.push('\n');
                } else {
                    text.push_str(line);
                }
            }
            Unified { text, shortened }
        });
        Self { content, unified }
    }

    pub(super) fn content(&self) -> &'a str {
        self.content
    }

    /// Finds every place where a text occurs, none of them overlapping the one before.
    pub(super) fn find(&self, text: &str) -> Vec<Range<usize>> {
        let length = text.len();
        match self.unified_for(text) {
            None => self.content.match_indices(text).map(|(start, _)| start..start + length).collect(),
            Some(unified) => unified
                .text
                .match_indices(text)
                .map(|(start, _)| unified.place(start)..unified.place(start + length))
                .collect(),
        }
    }

    /// Finds a place that overlaps the first one, as `aa` has in `aaa`.
    pub(super) fn find_overlapping(&self, text: &str) -> Option<Range<usize>> {
        let (content, unified) = match self.unified_for(text) {
            None => (self.content, None),
            Some(unified) => (unified.text.as_str(), Some(unified)),
        };
        let first = content.find(text)?;
        let next = first + text.chars().next()?.len_utf8();
        let end = content.ceil_char_boundary((first + 2 * text.len()).min(content.len()));
        let start = next + content[next..end].find(text)?;
        let place = |offset| unified.map_or(offset, |unified: &Unified| unified.place(offset));
        (start < first + text.len()).then(|| place(start)..place(start + text.len()))
    }

    /// Finds what to put where, so that a place that holds `old` holds `new` and lines keep their ends.
    ///
    /// Where neither text has line ends of its own, what they have in common at both ends is left alone, and the rest
    /// of `new` gets the line ends of its place.
    pub(super) fn change<'t>(
        &self,
        place: &Range<usize>,
        old: &str,
        new: &'t str,
    ) -> (Range<usize>, Cow<'t, str>) {
        if self.unified_for(old).is_none() || new.contains('\r') {
            return (place.clone(), Cow::Borrowed(new));
        }
        let (before, behind) = in_common(old, new);
        let changed = self.narrowed(place, before, behind);
        let new = &new[before..new.len() - behind];
        let new = if new.contains('\n') && self.ends_in_crlf_at(&changed) {
            Cow::Owned(new.replace('\n', "\r\n"))
        } else {
            Cow::Borrowed(new)
        };
        (changed, new)
    }

    /// Leaves out so many bytes, carriage returns before line feeds not counted, at both ends of a place.
    fn narrowed(&self, place: &Range<usize>, before: usize, behind: usize) -> Range<usize> {
        let bytes = self.content.as_bytes();
        let ends_line = |at: usize| bytes[at] == b'\r' && bytes.get(at + 1) == Some(&b'\n');
        let mut start = place.start;
        for _ in 0..before {
            start += if ends_line(start) { 2 } else { 1 };
        }
        let mut end = place.end;
        for _ in 0..behind {
            end -= if end >= start + 2 && ends_line(end - 2) { 2 } else { 1 };
        }
        start..end
    }

    /// Tells how lines end at a place: by the first line end in it, else behind it, else before it.
    fn ends_in_crlf_at(&self, place: &Range<usize>) -> bool {
        let end = self.content[place.start..]
            .find('\n')
            .map(|end| place.start + end)
            .or_else(|| self.content[..place.start].rfind('\n'));
        end.is_some_and(|end| self.content[..end].ends_with('\r'))
    }

    fn unified_for(&self, text: &str) -> Option<&Unified> {
        self.unified.as_ref().filter(|_| !text.contains('\r'))
    }
}

/// Counts the bytes that two texts have in common at their start, and behind that at their end.
fn in_common(one: &str, other: &str) -> (usize, usize) {
    let same = |(one, other): &(char, char)| one == other;
    let size = |(character, _): (char, char)| character.len_utf8();
    let before: usize = one.chars().zip(other.chars()).take_while(same).map(size).sum();
    let (one, other) = (one[before..].chars().rev(), other[before..].chars().rev());
    (before, one.zip(other).take_while(same).map(size).sum())
}

impl Unified {
    /// Turns a place in the shortened text into the one in the content.
    fn place(&self, offset: usize) -> usize {
        offset + self.shortened.partition_point(|line_feed| *line_feed < offset)
    }
}
