use std::borrow::Cow;

/// Which characters stay as they are, beside letters, digits and `-._~`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kept {
    /// All: the value is written where nothing has to be encoded.
    Everything,
    Nothing,
    /// What is reserved and cannot end a value of a query.
    Reserved,
    /// The same without what ends an item of a list.
    ReservedInItem,
    /// What a cookie can hold.
    InCookie,
}

impl Kept {
    /// What stays within an item of a list.
    pub(super) fn in_item(self) -> Self {
        if self == Self::Reserved { Self::ReservedInItem } else { self }
    }
}

/// Writes a value so that it stays one, whatever is in it.
pub(super) fn encoded(text: &str, kept: Kept) -> Cow<'_, str> {
    if text.bytes().all(|byte| stays(byte, kept)) {
        return Cow::Borrowed(text);
    }
    let mut written = String::with_capacity(text.len() + 16);
    for byte in text.bytes() {
        push(byte, stays(byte, kept), &mut written);
    }
    Cow::Owned(written)
}

/// Writes a text of the document that is a part of a path or query already: only what no address has is encoded.
pub(super) fn literal(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let is_escape =
        |at: usize| bytes.get(at + 1..at + 3).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit));
    let stays = |at: usize, byte: u8| match byte {
        b'%' => is_escape(at),
        b'"' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}' | b'#' | b'?' => false,
        byte => byte.is_ascii_graphic(),
    };
    if bytes.iter().enumerate().all(|(at, byte)| stays(at, *byte)) {
        return Cow::Borrowed(text);
    }
    let mut written = String::with_capacity(text.len() + 16);
    for (at, byte) in bytes.iter().enumerate() {
        push(*byte, stays(at, *byte), &mut written);
    }
    Cow::Owned(written)
}

fn push(byte: u8, stays: bool, written: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    if stays {
        written.push(char::from(byte));
    } else {
        written.push('%');
        written.push(char::from(DIGITS[usize::from(byte >> 4)]));
        written.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
}

fn stays(byte: u8, kept: Kept) -> bool {
    if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
        return true;
    }
    match kept {
        Kept::Everything => true,
        Kept::Nothing => false,
        Kept::Reserved => byte == b',' || is_harmless(byte),
        Kept::ReservedInItem => is_harmless(byte),
        Kept::InCookie => byte.is_ascii_graphic() && !matches!(byte, b'"' | b',' | b';' | b'\\'),
    }
}

/// Tells whether a reserved character neither ends a value of a query nor parts a list.
fn is_harmless(byte: u8) -> bool {
    matches!(byte, b':' | b'/' | b'?' | b'@' | b'!' | b'$' | b'(' | b')' | b'*' | b'=' | b'[' | b']')
}
