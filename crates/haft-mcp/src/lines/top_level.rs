use memchr::memchr2;
use serde_json::Value;

/// The longest id that is kept, in bytes of JSON; the ids that haft gives have a few digits.
const MOST_ID: usize = 64;

/// The longest name that is compared, `method`, and one more to tell longer ones from it.
const MOST_NAME: usize = 7;

/// Reads whose answer a JSON text is while the text passes by, without keeping it.
///
/// Only the members of the outermost object are looked at, wherever they stand: many servers write the id last. The text
/// need not be correct beyond them.
#[derive(Debug, Default)]
pub(crate) struct TopLevel {
    depth: usize,
    /// What is passed is within a string.
    in_string: bool,
    /// The next byte of the string is escaped.
    is_escaped: bool,
    /// What is passed in the outermost object.
    part: Part,
    name: Vec<u8>,
    id: Vec<u8>,
    has_method: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Part {
    /// Before a name, or within it.
    Name,
    /// The value of the member `id`.
    Id,
    /// Any other value, or what is outside the object.
    #[default]
    Other,
}

impl TopLevel {
    /// Looks at the next piece of the text.
    pub(crate) fn pass(&mut self, mut piece: &[u8]) {
        while let Some((&byte, rest)) = piece.split_first() {
            piece = if self.in_string { self.pass_string(piece) } else { self.pass_byte(byte, rest) };
        }
    }

    /// The id of the request that the text answers; `None` if it has none that can be told, or is no answer.
    pub(crate) fn answered(&self) -> Option<Value> {
        if self.has_method { None } else { self.id() }
    }

    /// The id of the request that the text is; `None` if it has none that can be told, or is no request.
    pub(crate) fn asked(&self) -> Option<Value> {
        if self.has_method { self.id() } else { None }
    }

    fn id(&self) -> Option<Value> {
        if self.id.len() > MOST_ID {
            return None;
        }
        serde_json::from_slice(&self.id).ok().filter(|id: &Value| id.is_i64() || id.is_string())
    }

    fn pass_string<'a>(&mut self, piece: &'a [u8]) -> &'a [u8] {
        if self.is_escaped {
            self.is_escaped = false;
            self.keep(&piece[..1]);
            return &piece[1..];
        }
        let Some(at) = memchr2(b'"', b'\\', piece) else {
            self.keep(piece);
            return &[];
        };
        if piece[at] == b'\\' {
            self.is_escaped = true;
            self.keep(&piece[..=at]);
        } else {
            self.in_string = false;
            let is_name = self.depth == 1 && self.part == Part::Name;
            self.keep(if is_name { &piece[..at] } else { &piece[..=at] });
        }
        &piece[at + 1..]
    }

    fn pass_byte<'a>(&mut self, byte: u8, rest: &'a [u8]) -> &'a [u8] {
        match byte {
            b'"' => {
                self.in_string = true;
                if self.part != Part::Name {
                    self.keep(b"\"");
                }
            }
            b'{' | b'[' => {
                self.depth += 1;
                if self.depth == 1 && byte == b'{' {
                    self.begin_member();
                }
            }
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                if self.depth == 0 {
                    self.part = Part::Other;
                }
            }
            b',' if self.depth == 1 => self.begin_member(),
            b':' if self.depth == 1 && self.part == Part::Name => {
                self.has_method |= self.name == b"method";
                self.part = if self.name == b"id" { Part::Id } else { Part::Other };
                if self.part == Part::Id {
                    self.id.clear();
                }
            }
            _ if self.part != Part::Name => self.keep(&[byte]),
            _ => {}
        }
        rest
    }

    fn begin_member(&mut self) {
        self.part = Part::Name;
        self.name.clear();
    }

    /// Keeps what belongs to a name or to the id, as much as is needed to know it.
    fn keep(&mut self, bytes: &[u8]) {
        if self.depth != 1 {
            return;
        }
        let (kept, most) = match self.part {
            Part::Name => (&mut self.name, MOST_NAME),
            Part::Id => (&mut self.id, MOST_ID + 1),
            Part::Other => return,
        };
        let room = most.saturating_sub(kept.len());
        kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Passes a text in pieces of each size, and expects the same id.
    fn check(text: &str, id: impl Into<Option<Value>>) {
        let id = id.into();
        for size in 1..=text.len() {
            let mut top_level = TopLevel::default();
            for piece in text.as_bytes().chunks(size) {
                top_level.pass(piece);
            }
            assert_eq!(top_level.answered(), id, "{text} in pieces of {size}");
        }
    }

    #[test]
    fn finds_the_id_wherever_it_stands() {
        check(r#"{"id":7,"result":{}}"#, json!(7));
        check(r#" { "result" : [ 1, {"id":1}, "id" ] , "id" : 7 } "#, json!(7));
        check(r#"{"result":{"text":"\"id\":1}{\\"},"jsonrpc":"2.0","id":"a\"b"}"#, json!("a\"b"));
        check(r#"{"error":{"code":1},"id":-3}"#, json!(-3));
    }

    #[test]
    fn tells_requests_from_answers() {
        let asked = |text: &str| {
            let mut top_level = TopLevel::default();
            top_level.pass(text.as_bytes());
            top_level.asked()
        };
        assert_eq!(asked(r#"{"id":7,"method":"ping"}"#), Some(json!(7)));
        assert_eq!(asked(r#"{"method":"tools/call","params":{"id":1},"id":"a"}"#), Some(json!("a")));
        assert_eq!(asked(r#"{"id":7,"result":{}}"#), None);
        assert_eq!(asked(r#"{"method":"notifications/initialized"}"#), None);
    }

    #[test]
    fn finds_it_in_what_is_not_quite_json() {
        check(r#"{"result":{{{bad]]},"id":7}"#, json!(7));
        check(r#"{"result":truthy,"id":7,"#, json!(7));
    }

    #[test]
    fn finds_none_where_there_is_none_or_it_is_no_answer() {
        check("", None);
        check(r#"{"result":{"id":7}}"#, None);
        check(r#"[{"id":7}]"#, None);
        check(r#"{"id":7,"method":"ping"}"#, None);
        check(r#"{"id":null}"#, None);
        check(r#"{"id":{"id":7}}"#, None);
        check(r#"{"idx":7,"i":8}"#, None);
        check(&format!(r#"{{"id":"{}"}}"#, "x".repeat(100)), None);
    }
}
