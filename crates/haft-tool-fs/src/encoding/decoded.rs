use super::{TextEncoding, detect};
use crate::lines::LineEnd;
use encoding_rs::{DecoderResult, Encoding};
use std::borrow::Cow;
use std::ops::Range;

/// The text of a file, and where in the file each character of it is.
///
/// A byte that is of no character is the character U+FFFD. Where lines end in carriage returns alone, the text has line feeds in
/// their places, so that it can be looked at like any other.
pub(crate) struct Decoded<'a> {
    pub(crate) text: Cow<'a, str>,
    pub(crate) encoding: TextEncoding,
    /// What ends the lines of the file.
    pub(crate) line_end: LineEnd,
    /// Runs of characters of one length, by where they start; empty where text and file differ in the mark alone.
    runs: Vec<Run>,
}

/// Characters in a row, each of which has so many bytes in the text and so many in the file.
#[derive(Debug, Clone, Copy)]
struct Run {
    text: usize,
    file: usize,
    text_each: usize,
    file_each: usize,
}

impl<'a> Decoded<'a> {
    /// Decodes a whole file; nothing where it is not text.
    pub(crate) fn new(bytes: &'a [u8]) -> Option<Self> {
        let mut decoded = Self::in_encoding(bytes, detect(bytes, true)?);
        decoded.line_end = LineEnd::of(decoded.text.as_bytes());
        if decoded.line_end == LineEnd::Return {
            decoded.text = Cow::Owned(decoded.text.replace('\r', "\n"));
        }
        Some(decoded)
    }

    /// Writes a text that is to stand in the file with the ends of lines that the file has.
    pub(crate) fn with_its_line_ends<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.line_end {
            LineEnd::Return if text.contains('\n') => {
                Cow::Owned(text.replace("\r\n", "\n").replace('\n', "\r"))
            }
            _ => Cow::Borrowed(text),
        }
    }

    fn in_encoding(bytes: &'a [u8], encoding: TextEncoding) -> Self {
        let body = &bytes[encoding.mark().len()..];
        let mut builder = Builder { text: String::new(), file: encoding.mark().len(), runs: Vec::new() };
        match encoding {
            TextEncoding::Utf8 { .. } => {
                if let Ok(text) = std::str::from_utf8(body) {
                    let text = Cow::Borrowed(text);
                    return Self { text, encoding, line_end: LineEnd::Feed, runs: Vec::new() };
                }
                builder.utf8(body);
            }
            TextEncoding::Utf16 { little, .. } => builder.utf16(body, little),
            TextEncoding::Legacy(encoding) => builder.legacy(body, encoding),
        }
        Self { text: Cow::Owned(builder.text), encoding, line_end: LineEnd::Feed, runs: builder.runs }
    }

    /// Tells whether the file, with these parts written in it, is the text with its parts changed, and nothing else is.
    pub(crate) fn is_changed_so<'p>(
        &self,
        text: impl IntoIterator<Item = (&'p Range<usize>, &'p str)>,
        file: &[u8],
        parts: &[(Range<usize>, Vec<u8>)],
    ) -> bool {
        // Between whole characters of UTF-8 nothing that is put there changes what is beside it.
        if self.runs.is_empty() {
            return true;
        }
        let changed = spliced(file, parts.iter().map(|(place, new)| (place, new.as_slice())));
        let mut expected =
            spliced(self.text.as_bytes(), text.into_iter().map(|(place, new)| (place, new.as_bytes())));
        let mut found = Decoded::in_encoding(&changed, self.encoding).text.into_owned().into_bytes();
        if self.line_end == LineEnd::Return {
            for bytes in [&mut expected, &mut found] {
                bytes.iter_mut().filter(|byte| **byte == b'\r').for_each(|byte| *byte = b'\n');
            }
        }
        found == expected
    }

    /// Finds where in the file a place in the text is.
    pub(crate) fn in_file(&self, place: &Range<usize>) -> Range<usize> {
        self.byte(place.start)..self.byte(place.end)
    }

    fn byte(&self, place: usize) -> usize {
        let before = self.runs.partition_point(|run| run.text <= place);
        match before.checked_sub(1).and_then(|index| self.runs.get(index)) {
            Some(run) => run.file + (place - run.text) / run.text_each * run.file_each,
            None => self.encoding.mark().len() + place,
        }
    }
}

fn spliced<'p>(whole: &[u8], parts: impl Iterator<Item = (&'p Range<usize>, &'p [u8])>) -> Vec<u8> {
    let mut changed = Vec::with_capacity(whole.len());
    let mut kept = 0;
    for (place, new) in parts {
        changed.extend_from_slice(&whole[kept..place.start]);
        changed.extend_from_slice(new);
        kept = place.end;
    }
    changed.extend_from_slice(&whole[kept..]);
    changed
}

struct Builder {
    text: String,
    file: usize,
    runs: Vec<Run>,
}

impl Builder {
    /// Adds a character that has so many bytes in the file.
    fn push(&mut self, character: char, file_each: usize) {
        let text_each = character.len_utf8();
        let goes_on =
            self.runs.last().is_some_and(|run| (run.text_each, run.file_each) == (text_each, file_each));
        if !goes_on {
            self.runs.push(Run { text: self.text.len(), file: self.file, text_each, file_each });
        }
        self.text.push(character);
        self.file += file_each;
    }

    fn utf8(&mut self, body: &[u8]) {
        for chunk in body.utf8_chunks() {
            for character in chunk.valid().chars() {
                self.push(character, character.len_utf8());
            }
            for _ in chunk.invalid() {
                self.push(char::REPLACEMENT_CHARACTER, 1);
            }
        }
    }

    fn utf16(&mut self, body: &[u8], little: bool) {
        let unit = |pair: [u8; 2]| if little { u16::from_le_bytes(pair) } else { u16::from_be_bytes(pair) };
        let (pairs, rest) = body.as_chunks::<2>();
        for decoded in char::decode_utf16(pairs.iter().copied().map(unit)) {
            match decoded {
                Ok(character) => self.push(character, character.len_utf16() * 2),
                Err(_) => self.push(char::REPLACEMENT_CHARACTER, 2),
            }
        }
        if !rest.is_empty() {
            self.push(char::REPLACEMENT_CHARACTER, 1);
        }
    }

    /// Gives the decoder byte after byte, so that it is seen which of them make a character.
    fn legacy(&mut self, body: &[u8], encoding: &'static Encoding) {
        let mut decoder = encoding.new_decoder_without_bom_handling();
        let mut characters = [0; 16];
        let mut pending = 0;
        let mut at = 0;
        while at < body.len() {
            if pending == 0 && body[at] < 0x80 {
                self.push(char::from(body[at]), 1);
                at += 1;
                continue;
            }
            let byte = &body[at..=at];
            let (result, read, written) =
                decoder.decode_to_utf8_without_replacement(byte, &mut characters, false);
            at += read;
            pending += read;
            match result {
                DecoderResult::Malformed(..) => {
                    // What has been read so far and is of no character, byte for byte.
                    for _ in 0..pending {
                        self.push(char::REPLACEMENT_CHARACTER, 1);
                    }
                    pending = 0;
                }
                _ if written > 0 => {
                    let text = str::from_utf8(&characters[..written]).unwrap_or_default();
                    self.push_together(text, pending);
                    pending = 0;
                }
                _ => {}
            }
        }
        for _ in 0..pending {
            self.push(char::REPLACEMENT_CHARACTER, 1);
        }
    }

    /// Adds characters that some bytes in the file are together; they are taken to be of the first.
    fn push_together(&mut self, text: &str, file: usize) {
        let mut left = file;
        for character in text.chars() {
            self.push(character, left);
            left = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Decoded;
    use proptest::prelude::*;

    /// Every character of a decoded file together with the bytes that are it.
    fn parts(bytes: &[u8]) -> Option<Vec<(char, Vec<u8>)>> {
        let decoded = Decoded::new(bytes)?;
        let part = |(start, character): (usize, char)| {
            (character, bytes[decoded.in_file(&(start..start + character.len_utf8()))].to_vec())
        };
        Some(decoded.text.char_indices().map(part).collect())
    }

    #[test]
    fn knows_the_bytes_of_each_character() {
        type Part = (char, &'static [u8]);
        let cases: [(&[u8], &[Part]); 5] = [
            (b"\xef\xbb\xbfa\xc3\xa9", &[('a', b"a"), ('é', b"\xc3\xa9")]),
            (b"\xff\xfea\0\x3d\xd8\x00\xde", &[('a', b"a\0"), ('\u{1f600}', b"\x3d\xd8\x00\xde")]),
            (b"caf\xe9", &[('c', b"c"), ('a', b"a"), ('f', b"f"), ('é', b"\xe9")]),
            (b"\xc3\xa9\xc3\xa9\xff", &[('é', b"\xc3\xa9"), ('é', b"\xc3\xa9"), ('\u{fffd}', b"\xff")]),
            (b"a\0b", &[('a', b"a"), ('\0', b"\0"), ('b', b"b")]),
        ];
        for (bytes, expected) in cases {
            let expected: Vec<_> =
                expected.iter().map(|(character, part)| (*character, part.to_vec())).collect();
            assert_eq!(parts(bytes), Some(expected), "{bytes:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn the_parts_of_any_file_are_the_file(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Some(decoded) = Decoded::new(&bytes) {
                let mark = decoded.encoding.mark();
                let together: Vec<u8> = parts(&bytes).unwrap().into_iter().flat_map(|(_, part)| part).collect();
                prop_assert_eq!([mark, &together].concat(), bytes);
            }
        }

        #[test]
        fn text_in_any_encoding_is_read_and_written_back(
            text in "[ a-zéü\n]{0,20}日本語のテキストです。これはテストです[ a-z\n]{0,20}",
            label in prop::sample::select(vec!["shift_jis", "euc-jp", "utf-16le", "utf-16be", "utf-8"]),
        ) {
            let text = if matches!(label, "shift_jis" | "euc-jp") { text.replace(['é', 'ü'], "e") } else { text };
            let bytes = match label {
                "utf-16le" => [&b"\xff\xfe"[..], &text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>()].concat(),
                "utf-16be" => [&b"\xfe\xff"[..], &text.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<_>>()].concat(),
                _ => encoding_rs::Encoding::for_label(label.as_bytes()).unwrap().encode(&text).0.into_owned(),
            };
            let decoded = Decoded::new(&bytes).unwrap();
            prop_assert_eq!(&decoded.text, &text);
            let written = decoded.encoding.encode(&text).unwrap();
            prop_assert_eq!([decoded.encoding.mark(), &written].concat(), bytes.clone());
        }
    }
}
