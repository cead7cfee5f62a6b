use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use haft_http::ContentType;

/// How many bytes of a page are searched for the name of its encoding (WHATWG HTML, "prescan a byte stream").
const PRESCANNED: usize = 1024;

/// Says where a text names its own encoding, if anywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Names {
    /// In a `<meta>`.
    Html,
    /// In its declaration.
    Xml,
    Nowhere,
}

/// Reads bytes as text: by their mark, by what their answer or the text itself says, by being UTF-8, or else by what their letters
/// look like. What cannot be read becomes `U+FFFD`.
pub(crate) fn text_of(bytes: &[u8], said: &ContentType, names: Names) -> String {
    let known = |label: &str| Encoding::for_label(label.as_bytes());
    let encoding = said.charset().and_then(known).or_else(|| {
        let start = String::from_utf8_lossy(&bytes[..bytes.len().min(PRESCANNED)]).to_ascii_lowercase();
        let label = match names {
            Names::Html => meta(&start)?,
            Names::Xml => declaration(&start)?,
            Names::Nowhere => return None,
        };
        let own = known(label)?;
        // It was read as ASCII until here.
        Some(if own == UTF_16LE || own == UTF_16BE { UTF_8 } else { own })
    });
    // A mark counts for more than any name.
    encoding.unwrap_or_else(|| detected(bytes)).decode(bytes).0.into_owned()
}

/// Finds the name of an encoding in the declaration of an XML document.
fn declaration(start: &str) -> Option<&str> {
    let declaration = start.trim_start().strip_prefix("<?xml")?.split("?>").next()?;
    let value = declaration.split_once("encoding")?.1.trim_start().strip_prefix('=')?.trim_start();
    value.split(['"', '\'']).nth(1)
}

/// Finds the name of an encoding in the first bytes of a page, in lower case.
fn meta(start: &str) -> Option<&str> {
    let mut rest = &start[start.find("<meta")?..];
    loop {
        rest = rest[rest.find("charset")?..].strip_prefix("charset")?;
        let Some(value) = rest.trim_start().strip_prefix('=') else { continue };
        let value = value.trim_start().trim_start_matches(['"', '\'']);
        let end = value.find(|character: char| {
            character.is_ascii_whitespace() || matches!(character, '"' | '\'' | ';' | '/' | '>')
        });
        return Some(&value[..end?]);
    }
}

fn detected(bytes: &[u8]) -> &'static Encoding {
    let is_utf8 = match std::str::from_utf8(bytes) {
        Ok(_) => true,
        // The last character can be cut.
        Err(error) => error.error_len().is_none(),
    };
    if is_utf8 {
        return UTF_8;
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(bytes, true);
    detector.guess(None, Utf8Detection::Deny)
}
