use std::collections::VecDeque;

/// Keeps the last bytes of what is put into it.
#[derive(Debug)]
pub(crate) struct Tail {
    bytes: VecDeque<u8>,
    most: usize,
}

impl Tail {
    pub(crate) fn new(most: usize) -> Self {
        Self { bytes: VecDeque::new(), most }
    }

    pub(crate) fn push(&mut self, more: &[u8]) {
        let more = &more[more.len().saturating_sub(self.most)..];
        let excess = (self.bytes.len() + more.len()).saturating_sub(self.most);
        self.bytes.drain(..excess);
        self.bytes.extend(more);
    }

    /// What is kept, as text; what is not UTF-8, as a character cut in two at the beginning, is replaced.
    pub(crate) fn text(&mut self) -> String {
        String::from_utf8_lossy(self.bytes.make_contiguous()).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_last_bytes() {
        let mut tail = Tail::new(5);
        for (more, kept) in
            [("ab", "ab"), ("cde", "abcde"), ("f", "bcdef"), ("0123456", "23456"), ("", "23456")]
        {
            tail.push(more.as_bytes());
            assert_eq!(tail.text(), kept);
        }
    }

    #[test]
    fn shows_what_is_no_text() {
        let mut tail = Tail::new(3);
        tail.push("xää".as_bytes());
        assert_eq!(tail.text(), "\u{fffd}ä");
    }
}
