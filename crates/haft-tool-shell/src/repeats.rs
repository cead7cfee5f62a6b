/// How long a sequence is at most that is looked at; terminals know none that is as long.
const LONGEST: usize = 64;

/// Bounds how often a sequence has the last character repeated (`REP`, ECMA-48 8.3.103).
///
/// A sequence of a few bytes could otherwise have a character written 65,535 times, and a program print nothing else.
#[derive(Debug, Default)]
pub(crate) struct Repeats {
    /// What there is of a sequence that has begun.
    begun: Vec<u8>,
    /// Whether it is too long to be one, so that the rest of it is left out.
    is_too_long: bool,
}

impl Repeats {
    /// Gives what is printed, with repetitions of `most` at most.
    pub(crate) fn bounded(&mut self, bytes: &[u8], most: u16) -> Vec<u8> {
        let mut given = Vec::with_capacity(bytes.len() + self.begun.len());
        for &byte in bytes {
            match (self.begun.len(), byte) {
                (_, 0x1b) => {
                    given.append(&mut self.begun);
                    self.is_too_long = false;
                    self.begun.push(byte);
                }
                (0, _) => given.push(byte),
                (1, b'[') => self.begun.push(byte),
                (1, _) => {
                    given.append(&mut self.begun);
                    given.push(byte);
                }
                // What cancels a sequence, and what ends one.
                (_, 0x18 | 0x1a | 0x40..=0x7e) => self.end(byte, most, &mut given),
                (LONGEST.., _) => self.is_too_long = true,
                _ => self.begun.push(byte),
            }
        }
        given
    }

    fn end(&mut self, last: u8, most: u16, given: &mut Vec<u8>) {
        if last == b'b' {
            let digits: String = self.begun[2..].iter().map(|byte| char::from(*byte)).collect();
            // What is no number is not repeated more than once either.
            let times = digits.parse::<u32>().map_or(1, |times| times.min(most.into()));
            given.extend_from_slice(format!("\u{1b}[{times}b").as_bytes());
        } else if !self.is_too_long {
            given.append(&mut self.begun);
            given.push(last);
        }
        self.begun.clear();
        self.is_too_long = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bounded(pieces: &[&[u8]]) -> Vec<u8> {
        let mut repeats = Repeats::default();
        pieces.iter().flat_map(|piece| repeats.bounded(piece, 80)).collect()
    }

    #[test]
    fn a_repetition_is_bounded_however_it_is_printed() {
        assert_eq!(bounded(&[b"x\x1b[65535by"]), b"x\x1b[80by");
        assert_eq!(bounded(&[b"x\x1b", b"[65", b"535", b"by"]), b"x\x1b[80by");
        assert_eq!(bounded(&[b"x\x1b[7b"]), b"x\x1b[7b");
        assert_eq!(bounded(&[b"x\x1b[;65535b\x1b[0000000065535b"]), b"x\x1b[1b\x1b[80b");
        assert_eq!(bounded(&[b"\x1b[\x1b[65535b"]), b"\x1b[\x1b[80b");
        let long = [b"x\x1b[".as_slice(), &b"0".repeat(200), b"65535by"].concat();
        assert_eq!(bounded(&[&long]), b"x\x1b[0by");
    }

    #[test]
    fn everything_else_is_left_alone() {
        let text = "a\u{1b}[31mred\u{1b}[m\u{1b}]0;title\u{7}\u{1b}(B\u{1b}[?1049h\u{1b}[3;1Hü\u{1b}[38;2;255;0;255m";
        assert_eq!(bounded(&[text.as_bytes()]), text.as_bytes());
    }

    proptest! {
        #[test]
        fn it_does_not_matter_how_it_is_cut(
            bytes in prop::collection::vec(prop_oneof![Just(0x1b), Just(b'['), Just(b'b'), any::<u8>(), b'0'..b':'], 0..200),
            at in 0_usize..200,
        ) {
            let at = at.min(bytes.len());
            prop_assert_eq!(bounded(&[&bytes]), bounded(&[&bytes[..at], &bytes[at..]]));
        }
    }
}
