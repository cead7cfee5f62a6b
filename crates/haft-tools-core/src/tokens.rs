use haft_core::ToolSpec;
use serde::Serialize;
use std::io;

/// A word longer than this is counted once more for every further so many letters.
const LETTERS_A_TOKEN: u64 = 8;

/// Digits are taken three at a time.
const DIGITS_A_TOKEN: u64 = 3;

/// Punctuation that is not interrupted is taken four at a time.
const SIGNS_A_TOKEN: u64 = 4;

/// Estimates how many tokens it costs to tell a model of a tool: its name, description and input schema, as compact JSON.
///
/// A pure function of the specification. It cuts the JSON as the byte-pair tokenisers in use cut text before they merge,
/// into words (also at the humps of camel case), groups of three digits and runs of punctuation, and counts the pieces;
/// a character outside ASCII counts as one. Over 439 function definitions as they are used, this gives 5.7 % more than
/// `o200k_base` and 9.3 % more than `cl100k_base` in total, and for 98 of 100 definitions from 4 % less to 22 % more. A
/// fourth of the bytes gives 10 % more in total, but from 4 % less to 26 % more, and is far off for texts that are not
/// English. Other providers publish no tokeniser; keep some room.
///
/// Costs one walk over the JSON and no copy of it.
///
/// ```
/// use haft_core::{Schema, ToolSpec};
/// use haft_tools_core::estimate_tokens;
///
/// let spec = ToolSpec::new("now".parse()?, "Tells the time.", Schema::empty());
/// assert_eq!(estimate_tokens(&spec), 31);
/// # Ok::<(), haft_core::NameError>(())
/// ```
pub fn estimate_tokens(spec: &ToolSpec) -> u64 {
    #[derive(Serialize)]
    struct Shown<'a> {
        name: &'a str,
        description: &'a str,
        input_schema: &'a serde_json::Value,
    }
    let shown = Shown {
        name: spec.name().as_str(),
        description: spec.description(),
        input_schema: spec.input_schema().as_value(),
    };
    let mut pieces = Pieces::default();
    // A JSON value can always be written as JSON, and counting cannot fail.
    let _ = serde_json::to_writer(&mut pieces, &shown);
    pieces.finish()
}

/// Counts pieces of a text that is written to it.
#[derive(Default)]
struct Pieces {
    count: u64,
    kind: Kind,
    /// How many characters the piece has that is being read.
    length: u64,
    after_lower: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Kind {
    #[default]
    Blank,
    Word,
    Digits,
    Signs,
}

impl Pieces {
    fn push(&mut self, byte: u8) {
        let kind = match byte {
            b'a'..=b'z' | b'A'..=b'Z' => Kind::Word,
            b'0'..=b'9' => Kind::Digits,
            b' ' => Kind::Blank,
            0..=0x7f => Kind::Signs,
            // Goes on with a character that was counted at its first byte.
            0x80..=0xbf => return,
            0xc0..=0xff => {
                self.end();
                self.count += 1;
                self.kind = Kind::Blank;
                return;
            }
        };
        let is_hump = kind == Kind::Word && byte.is_ascii_uppercase() && self.after_lower;
        if kind != self.kind || is_hump {
            self.end();
            self.kind = kind;
        }
        self.length += 1;
        self.after_lower = byte.is_ascii_lowercase();
    }

    /// Counts the piece that was being read.
    fn end(&mut self) {
        let size = match self.kind {
            Kind::Blank => u64::MAX,
            Kind::Word => LETTERS_A_TOKEN,
            Kind::Digits => DIGITS_A_TOKEN,
            Kind::Signs => SIGNS_A_TOKEN,
        };
        if self.kind != Kind::Blank {
            self.count += self.length.div_ceil(size);
        }
        self.length = 0;
        self.after_lower = false;
    }

    fn finish(mut self) -> u64 {
        self.end();
        self.count
    }
}

impl io::Write for Pieces {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        for byte in text {
            self.push(*byte);
        }
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Pieces, estimate_tokens};
    use haft_core::{Schema, ToolSpec};
    use serde_json::json;
    use std::io::Write as _;

    fn check(text: &str, expected: u64) {
        let mut pieces = Pieces::default();
        pieces.write_all(text.as_bytes()).unwrap();
        assert_eq!(pieces.finish(), expected, "{text:?}");
    }

    #[test]
    fn a_text_costs_as_many_tokens_as_it_has_pieces() {
        check("", 0);
        check("   ", 0);
        check("word", 1);
        check("two words", 2);
        check("camelCaseName", 3);
        check("internationalisation", 3);
        check("1234567", 3);
        check(r#"":{"type":""#, 3);
        check("créer", 3);
        check("文件", 2);
        check("🦀", 1);
    }

    #[test]
    fn how_the_text_is_cut_when_it_is_written_does_not_count() {
        let text = r#"{"name":"créer_文件","maxLength":12345678}"#;
        let mut pieces = Pieces::default();
        text.bytes().for_each(|byte| pieces.write_all(&[byte]).unwrap());
        let whole = {
            let mut pieces = Pieces::default();
            pieces.write_all(text.as_bytes()).unwrap();
            pieces.finish()
        };
        assert_eq!(pieces.finish(), whole);
    }

    #[test]
    fn what_the_model_does_not_see_costs_nothing() {
        let schema = Schema::new(json!({ "properties": { "path": { "type": "string" } } })).unwrap();
        let spec = ToolSpec::new("t".parse().unwrap(), "Does it.", schema.clone());
        let more = spec.clone().with_title("A long title").with_output_schema(schema);
        assert_eq!(estimate_tokens(&more), estimate_tokens(&spec));
    }
}
