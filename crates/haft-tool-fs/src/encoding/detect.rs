use super::TextEncoding;
use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{GB18030, GBK};

/// How many bytes at the start of a file tell whether it is text.
const HEAD_BYTES: usize = 8 * 1024;

/// Of how many bytes one may be a control character that no text has, and they still be text.
const BYTES_PER_CONTROL: usize = 64;

/// Finds the encoding of a text by how it starts; nothing where that is not text.
///
/// A byte order mark says it, UTF-16 without one is known by its zero bytes, and what is UTF-8 throughout is UTF-8, with
/// zero bytes too. Of the rest, UTF-8 in which single bytes are broken is told from the encodings of before by which there
/// is more of.
pub(crate) fn detect(start: &[u8], is_whole: bool) -> Option<TextEncoding> {
    if start.starts_with(b"\xef\xbb\xbf") {
        let strays = !is_utf8(&start[3..], is_whole);
        return Some(TextEncoding::Utf8 { bom: true, strays });
    }
    // UTF-32 starts like UTF-16.
    if start.starts_with(b"\xff\xfe\0\0") || start.starts_with(b"\0\0\xfe\xff") {
        return None;
    }
    for (mark, little) in [(b"\xff\xfe", true), (b"\xfe\xff", false)] {
        if start.starts_with(mark) {
            return Some(TextEncoding::Utf16 { bom: true, little });
        }
    }
    let head = &start[..start.len().min(HEAD_BYTES)];
    if head.contains(&0)
        && let Some(little) = utf16_without_mark(head)
    {
        return Some(TextEncoding::Utf16 { bom: false, little });
    }
    if is_utf8(start, is_whole) {
        return Some(TextEncoding::UTF_8);
    }
    if head.contains(&0) || has_controls(head) {
        return None;
    }
    let (sequences, strays) = utf8_parts(start);
    if sequences > strays {
        return Some(TextEncoding::Utf8 { bom: false, strays: true });
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(start, is_whole);
    let encoding = match detector.guess(None, Utf8Detection::Deny) {
        encoding if encoding == GBK && has_four_byte_characters(start) => GB18030,
        encoding => encoding,
    };
    Some(TextEncoding::Legacy(encoding))
}

/// Tells whether a text of Chinese has characters that GBK does not, so that it can be given more of them.
fn has_four_byte_characters(text: &[u8]) -> bool {
    let is_one = |bytes: &[u8]| matches!(bytes, [0x81..=0xfe, b'0'..=b'9', 0x81..=0xfe, b'0'..=b'9']);
    text.windows(4).any(is_one)
}

fn is_utf8(bytes: &[u8], is_whole: bool) -> bool {
    match std::str::from_utf8(bytes) {
        Ok(_) => true,
        // The last character may go on behind the start.
        Err(error) => !is_whole && error.error_len().is_none(),
    }
}

/// Tells which byte comes first in text of two-byte units of which most are ASCII.
fn utf16_without_mark(head: &[u8]) -> Option<bool> {
    let units = head.len() / 2;
    let mut little = 0;
    let mut big = 0;
    for pair in head.chunks_exact(2) {
        match pair {
            [b'\t' | b'\n' | b'\r' | 0x20..0x7f, 0] => little += 1,
            [0, b'\t' | b'\n' | b'\r' | 0x20..0x7f] => big += 1,
            // No text has zero characters.
            [0, 0] => return None,
            _ => {}
        }
    }
    if units < 2 || little * 10 < units * 7 && big * 10 < units * 7 {
        return None;
    }
    Some(little > big)
}

/// Tells whether there are more control characters than a text has.
fn has_controls(head: &[u8]) -> bool {
    let is_control = |byte: &&u8| matches!(byte, 1..=6 | 0x0e..=0x1a | 0x1c..=0x1f | 0x7f);
    head.iter().filter(is_control).count() * BYTES_PER_CONTROL > head.len()
}

/// Counts the characters of several bytes, and the bytes that are of none.
fn utf8_parts(bytes: &[u8]) -> (usize, usize) {
    let (mut sequences, mut strays) = (0, 0);
    for chunk in bytes.utf8_chunks() {
        sequences += chunk.valid().chars().filter(|character| !character.is_ascii()).count();
        strays += chunk.invalid().len();
    }
    (sequences, strays)
}

#[cfg(test)]
mod tests {
    use super::detect;

    fn check(bytes: &[u8], expected: Option<&str>) {
        let name = detect(bytes, true).map(|encoding| {
            let mark = if encoding.mark().is_empty() { "" } else { " with a mark" };
            format!("{}{mark}", encoding.name())
        });
        assert_eq!(name.as_deref(), expected, "{bytes:?}");
    }

    /// Text in an encoding of before.
    fn in_legacy(label: &str, text: &str) -> Vec<u8> {
        let encoding = encoding_rs::Encoding::for_label(label.as_bytes()).unwrap();
        encoding.encode(text).0.into_owned()
    }

    #[test]
    fn goes_by_the_mark() {
        check(b"\xef\xbb\xbfone", Some("UTF-8 with a mark"));
        check(b"\xff\xfeo\0", Some("UTF-16LE with a mark"));
        check(b"\xfe\xff\0o", Some("UTF-16BE with a mark"));
        check(b"\xff\xfe\0\0o\0\0\0", None);
    }

    #[test]
    fn knows_utf16_without_a_mark() {
        check(b"o\0n\0e\0\n\0", Some("UTF-16LE"));
        check(b"\0o\0n\0e\0\n", Some("UTF-16BE"));
    }

    #[test]
    fn takes_what_is_utf8_as_it() {
        for text in ["", "one\n", "né\n", "a\0b\n"] {
            check(text.as_bytes(), Some("UTF-8"));
        }
        assert_eq!(detect("né".as_bytes().split_last().unwrap().1, false), detect(b"n", true));
    }

    #[test]
    fn tells_broken_utf8_from_what_was_before() {
        check("é ü ö \u{2019} caf".bytes().chain([0xe9]).collect::<Vec<_>>().as_slice(), Some("UTF-8"));
        check(b"un caf\xe9 noir\n", Some("windows-1252"));
        check(&in_legacy("shift_jis", "日本語のテキストです。これはテストです。\n"), Some("Shift_JIS"));
        check(&in_legacy("gb18030", "这是一个中文文本文件，用于测试编码检测。\n"), Some("GBK"));
        check(&in_legacy("gb18030", "这是一个中文文本文件，用于测试编码检测。㐀\n"), Some("gb18030"));
        check(&in_legacy("windows-1251", "Привет, это русский текст для проверки.\n"), Some("windows-1251"));
        check(&in_legacy("euc-kr", "안녕하세요 이것은 한국어 텍스트 파일입니다\n"), Some("EUC-KR"));
    }

    #[test]
    fn does_not_take_data_for_text() {
        check(&[0xff, 0, 1, 2], None);
        check(b"\x7fELF\x02\x01\x01\x03\xff\xfe", None);
        check(&[0x80, 1, 2, 3, 4, 5, 0xff], None);
    }
}
