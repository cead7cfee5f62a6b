use crate::watch::{Halt, Stop};
use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};
use std::fs::File;
use std::io::{self, Read};

/// How large a file may be that is parsed, in bytes. A tree takes many times the room of its text.
pub(super) const MOST_BYTES: usize = 4 << 20;

/// How much is read before it is asked whether to stop, in bytes.
const PIECE: usize = 256 << 10;

/// What came of reading a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// Its text is in the buffer; in UTF-8, except for what is not text.
    Text,
    /// It has a NUL byte.
    Binary,
    /// It is larger than what is parsed.
    TooLarge,
    /// It cannot be read.
    Unreadable,
}

/// Reads a file into a buffer, in place of what was there.
pub(super) fn read(mut file: File, text: &mut Vec<u8>, halt: &Halt<'_>) -> Result<Source, Stop> {
    text.clear();
    loop {
        halt.check()?;
        let piece = Read::by_ref(&mut file).take(PIECE as u64).read_to_end(text);
        match piece {
            Ok(0) => break,
            Ok(_) if text.len() > MOST_BYTES => return Ok(Source::TooLarge),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return Ok(Source::Unreadable),
        }
    }
    Ok(decode(text))
}

/// Makes UTF-8 of what a byte order mark says is UTF-16, and takes the mark off.
fn decode(text: &mut Vec<u8>) -> Source {
    match Encoding::for_bom(text) {
        Some((encoding, mark)) if encoding == UTF_16LE || encoding == UTF_16BE => {
            let (decoded, _) = encoding.decode_without_bom_handling(&text[mark..]);
            *text = decoded.into_owned().into_bytes();
        }
        Some((_, mark)) => {
            text.drain(..mark);
        }
        None => {}
    }
    if memchr::memchr(b'\0', text).is_some() { Source::Binary } else { Source::Text }
}

/// Counts the lines of a text.
pub(super) fn count_lines(text: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', text).count() + usize::from(text.last().is_some_and(|last| *last != b'\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], source: &Source, text: &str) {
        let mut buffer = bytes.to_vec();
        assert_eq!(decode(&mut buffer), *source);
        assert_eq!(String::from_utf8_lossy(&buffer), text);
    }

    #[test]
    fn makes_utf8_of_what_says_that_it_is_not() {
        check(b"fn a() {}", &Source::Text, "fn a() {}");
        check(b"\xef\xbb\xbffn", &Source::Text, "fn");
        check(b"\xff\xfef\0n\0", &Source::Text, "fn");
        check(b"\xfe\xff\0f\0n", &Source::Text, "fn");
        check(b"\xff\xfef\0n\0\0", &Source::Text, "fn\u{fffd}");
        check(b"fn\0", &Source::Binary, "fn\0");
        check(b"// \xfc\n", &Source::Text, "// \u{fffd}\n");
    }

    #[test]
    fn counts_lines() {
        assert_eq!([b"".as_slice(), b"a", b"a\n", b"a\nb", b"\n\n"].map(count_lines), [0, 1, 1, 2, 2]);
    }
}
