use std::fmt::Write as _;

/// How many bytes a line of a `hex` block has when it is written.
const HEX_BYTES_PER_LINE: usize = 16;

/// Says how a block's lines stand for a file's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Form {
    pub(super) no_newline: bool,
    pub(super) crlf: bool,
    pub(super) hex: bool,
}

impl Form {
    /// Takes one flag; tells whether it is one.
    pub(super) fn take(&mut self, flag: &str) -> bool {
        match flag {
            "no-newline" => self.no_newline = true,
            "crlf" => self.crlf = true,
            "hex" => self.hex = true,
            _ => return false,
        }
        true
    }

    /// Turns a block's lines into the bytes they stand for.
    pub(super) fn decode(self, body: &str) -> Result<Vec<u8>, String> {
        if self.hex {
            if self.crlf || self.no_newline {
                return Err("bytes in hexadecimal have no lines; leave out the other flags".to_owned());
            }
            return from_hex(body);
        }
        let mut text = if self.crlf { body.replace('\n', "\r\n") } else { body.to_owned() };
        if self.no_newline {
            let end = if self.crlf { "\r\n" } else { "\n" };
            match text.strip_suffix(end) {
                Some(stripped) => text.truncate(stripped.len()),
                None => return Err("a file without lines has no final newline to leave out".to_owned()),
            }
        }
        Ok(text.into_bytes())
    }

    /// Finds the plainest form for some bytes, and the lines that stand for them in it.
    pub(super) fn encode(bytes: &[u8]) -> (Self, String) {
        let Ok(text) = std::str::from_utf8(bytes) else {
            return (Self { hex: true, ..Self::default() }, to_hex(bytes));
        };
        let crlf = text.contains("\r\n") && text.matches('\n').count() == text.matches("\r\n").count();
        let plain = if crlf { text.replace("\r\n", "\n") } else { text.to_owned() };
        if plain.contains(|character: char| character.is_control() && !matches!(character, '\n' | '\t')) {
            return (Self { hex: true, ..Self::default() }, to_hex(bytes));
        }
        let no_newline = !plain.is_empty() && !plain.ends_with('\n');
        let body = if no_newline { format!("{plain}\n") } else { plain };
        (Self { no_newline, crlf, hex: false }, body)
    }

    /// The flags as they stand in a block's first line, each after a blank.
    pub(super) fn flags(self) -> String {
        let mut flags = String::new();
        for (set, flag) in [(self.no_newline, " no-newline"), (self.crlf, " crlf"), (self.hex, " hex")] {
            if set {
                flags.push_str(flag);
            }
        }
        flags
    }
}

fn from_hex(body: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    for word in body.split_ascii_whitespace() {
        if word.len() % 2 != 0 || !word.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(format!("`{word}` is not made of pairs of hexadecimal digits"));
        }
        for index in (0..word.len()).step_by(2) {
            let byte = u8::from_str_radix(&word[index..index + 2], 16);
            bytes.push(byte.map_err(|error| format!("`{word}`: {error}"))?);
        }
    }
    Ok(bytes)
}

fn to_hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    for line in bytes.chunks(HEX_BYTES_PER_LINE) {
        for (index, byte) in line.iter().enumerate() {
            // Writing to a string cannot fail.
            let _ = write!(text, "{}{byte:02x}", if index == 0 { "" } else { " " });
        }
        text.push('\n');
    }
    text
}
