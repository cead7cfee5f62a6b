use super::JsonlJournal;
use crate::journal::JournalRecord;
use haft_core::is_hidden;
use serde::Serialize as _;
use serde_json::ser::Formatter;
use std::io;

/// Prints a record as a line, with a newline before it, which is needed where the line before is unfinished, and one after.
pub(super) fn line(record: &JournalRecord) -> io::Result<Vec<u8>> {
    let mut line = Vec::with_capacity(512);
    line.push(b'\n');
    serde_json::to_writer(&mut line, record)?;
    // Most records are plain, which is seen at once.
    if !line[1..].iter().all(|byte| is_plain(*byte)) {
        line.truncate(1);
        record.serialize(&mut serde_json::Serializer::with_formatter(&mut line, Visible))?;
    }
    line.push(b'\n');
    let (bytes, most) = (line.len() - 2, JsonlJournal::MAX_LINE_BYTES);
    if bytes > most {
        let message = format!("a record of the journal has {bytes} bytes, of which it may have {most}");
        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
    }
    Ok(line)
}

/// Tells whether a byte is a character by itself that can be seen.
fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~')
}

/// Writes compact JSON in which everything can be seen.
///
/// Models and servers choose some of the texts, and people look for what they did with tools that print what they find.
struct Visible;

impl Formatter for Visible {
    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        if fragment.bytes().all(is_plain) {
            return writer.write_all(fragment.as_bytes());
        }
        for character in fragment.chars() {
            if is_hidden(character) {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    write!(writer, "\\u{unit:04x}")?;
                }
            } else {
                writer.write_all(character.encode_utf8(&mut [0; 4]).as_bytes())?;
            }
        }
        Ok(())
    }
}
