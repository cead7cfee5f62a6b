//! Changes of the text of a file, and what they are in the file itself.

use crate::diff::{Diff, around};
use crate::encoding::{Decoded, TextEncoding};
use crate::lines::line_at;
use crate::words::Count;
use std::borrow::Cow;
use std::ops::Range;

/// One part of a text that changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextChange {
    pub(crate) place: Range<usize>,
    pub(crate) new: String,
}

/// A part of a file, and the bytes that it becomes.
pub(crate) type FileChange = (Range<usize>, Vec<u8>);

/// Turns changes of the text into those of the file, if they can be written in its encoding.
pub(crate) fn in_file(
    decoded: &Decoded<'_>,
    old: &[u8],
    changes: &[TextChange],
) -> Result<Vec<FileChange>, String> {
    let encoding = decoded.encoding;
    let news: Vec<Cow<'_, str>> =
        changes.iter().map(|change| decoded.with_its_line_ends(&change.new)).collect();
    let written = changes.iter().zip(&news).map(|(change, new)| {
        let line = || Count(line_at(decoded.text.as_bytes(), change.place.start));
        if change.new.contains(char::REPLACEMENT_CHARACTER) && encoding != TextEncoding::UTF_8 {
            return Err(format!(
                "the \u{fffd} that the new text has near line {line} stands for bytes that are no text and cannot be written; leave \
                 them where they are by leaving them out of the old and the new text",
                line = line()
            ));
        }
        let new = encoding.encode(new).map_err(|character| {
            format!(
                "the file is in {}, which does not have the character {} that the new text has near line {line}; write it another \
                 way, or convert the file with a command such as `iconv` first",
                encoding.name(),
                character.escape_unicode().to_string().replace(r"\u{", "U+").replace('}', "").to_uppercase(),
                line = line()
            )
        })?;
        Ok((decoded.in_file(&change.place), new.into_owned()))
    });
    let written: Vec<_> = written.collect::<Result<_, String>>()?;
    let places = changes.iter().map(|change| &change.place);
    if decoded.is_changed_so(places.zip(news.iter().map(|new| &**new)), old, &written) {
        return Ok(written);
    }
    Err(format!(
        "in {} more of it would change than the edit says; convert it with a command such as `iconv`, then edit it",
        encoding.name()
    ))
}

/// Shows what changes of a text make of it.
pub(crate) fn difference(text: &str, changes: &[TextChange]) -> Diff {
    let (lines_before, before, after) = window(text, changes);
    Diff::within(lines_before, before, &after)
}

/// Gives the parts of a file of which some have changed.
pub(crate) fn spliced<'a>(file: &'a [u8], changed: &'a [FileChange]) -> Vec<&'a [u8]> {
    let mut parts: Vec<&[u8]> = Vec::with_capacity(changed.len() * 2 + 1);
    let mut kept = 0;
    for (place, new) in changed {
        parts.extend([&file[kept..place.start], new]);
        kept = place.end;
    }
    parts.push(&file[kept..]);
    parts
}

/// Gives the lines around all changes, and what they become.
fn window<'t>(text: &'t str, changes: &[TextChange]) -> (usize, &'t str, String) {
    let (Some(first), Some(last)) = (changes.first(), changes.last()) else {
        return (0, "", String::new());
    };
    let around = around(text, &(first.place.start..last.place.end));
    let mut after = String::new();
    let mut kept = around.start;
    for change in changes {
        after.push_str(&text[kept..change.place.start]);
        after.push_str(&change.new);
        kept = change.place.end;
    }
    after.push_str(&text[kept..around.end]);
    let lines_before = memchr::memchr_iter(b'\n', &text.as_bytes()[..around.start]).count();
    (lines_before, &text[around], after)
}

/// Writes the lines of a text as those of its place end: the first of them, else the one behind, else the one before.
///
/// Files whose lines end in carriage returns alone are not of this matter: see [`Decoded::line_end`].
pub(crate) fn with_line_ends<'t>(content: &str, place: &Range<usize>, new: &'t str) -> Cow<'t, str> {
    if !new.contains('\n') {
        return Cow::Borrowed(new);
    }
    let behind = content[place.start..].find(['\n', '\r']).map(|end| place.start + end);
    let end = behind.or_else(|| {
        let end = content[..place.start].rfind(['\n', '\r'])?;
        Some(if content[..end].ends_with('\r') { end - 1 } else { end })
    });
    match end.map(|end| &content.as_bytes()[end..]) {
        Some([b'\r', b'\n', ..]) => Cow::Owned(new.replace('\n', "\r\n")),
        _ => Cow::Borrowed(new),
    }
}
