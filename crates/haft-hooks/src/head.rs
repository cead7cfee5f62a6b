use std::io;

/// Keeps the beginning of what is written to it and counts the rest, so that memory is bounded whatever comes.
#[derive(Debug)]
pub(crate) struct Head {
    kept: Vec<u8>,
    most_bytes: usize,
    omitted_bytes: u64,
}

impl Head {
    /// Keeps this many bytes at most.
    pub(crate) fn new(most_bytes: usize) -> Self {
        Self { kept: Vec::new(), most_bytes, omitted_bytes: 0 }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let (fits, rest) = bytes.split_at(bytes.len().min(self.most_bytes - self.kept.len()));
        self.kept.extend_from_slice(fits);
        self.omitted_bytes += rest.len() as u64;
    }

    /// How many bytes were not kept.
    pub(crate) fn omitted_bytes(&self) -> u64 {
        self.omitted_bytes
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.kept
    }

    /// What was kept as text, without a last character that was cut, whose bytes then count as not kept.
    pub(crate) fn cut_to_text(&mut self) -> String {
        if self.omitted_bytes > 0
            && let Err(error) = std::str::from_utf8(&self.kept)
            && error.error_len().is_none()
        {
            self.omitted_bytes += (self.kept.len() - error.valid_up_to()) as u64;
            self.kept.truncate(error.valid_up_to());
        }
        String::from_utf8_lossy(&self.kept).into_owned()
    }
}

impl io::Write for Head {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.push(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pieces: &[&[u8]], text: &str, omitted_bytes: u64) {
        let mut head = Head::new(4);
        for piece in pieces {
            head.push(piece);
        }
        assert_eq!((head.cut_to_text(), head.omitted_bytes()), (text.to_owned(), omitted_bytes));
    }

    #[test]
    fn keeps_the_beginning_and_counts_the_rest() {
        check(&[], "", 0);
        check(&[b"ab", b"cd"], "abcd", 0);
        check(&[b"abc", b"defg", b"h"], "abcd", 4);
    }

    #[test]
    fn cuts_no_character_in_two() {
        check(&["ab€".as_bytes()], "ab", 3);
        check(&["a€".as_bytes(), b"b"], "a€", 1);
        check(&[b"a\xffb\xe2"], "a\u{fffd}b\u{fffd}", 0);
    }
}
