use super::closes_brackets;

/// What an awk program may not name: it runs commands, opens files, or calls what it does not name.
const REFUSED: [&str; 11] =
    ["system", "getline", "ARGV", "ARGC", "ARGIND", "@", "fflush", "close", "PROCINFO", "SYMTAB", "FUNCTAB"];

/// Whether an awk program certainly only prints: it runs nothing, and reads and writes no file of its own.
///
/// It may hold a `>` only where that compares, and a single `|` only in texts and regular expressions.
pub(in super::super) fn only_prints(program: &str) -> bool {
    if REFUSED.iter().any(|word| program.contains(word)) || program.contains("\\\n") {
        return false;
    }
    Program { rest: program, before: Before::Operator, depth: 0, printing: None }.only_prints().is_some()
}

/// What stands before a `/`, which decides whether it divides or starts a regular expression.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Operator,
    Operand,
    /// Either is possible.
    Unclear,
}

struct Program<'a> {
    rest: &'a str,
    before: Before,
    /// How many parentheses and brackets are open.
    depth: usize,
    /// How many were, at the `print` of this statement.
    printing: Option<usize>,
}

impl Program<'_> {
    /// `None` where anything is not understood.
    fn only_prints(&mut self) -> Option<()> {
        while let Some(c) = self.rest.chars().next() {
            let after = &self.rest[c.len_utf8()..];
            match c {
                ' ' | '\t' | '\r' => self.rest = after,
                // After a comma and some others a statement goes on in the next line.
                '\n' if self.before == Before::Operator => self.rest = after,
                '\n' | ';' | '{' | '}' => {
                    self.rest = after;
                    self.before = Before::Operator;
                    self.printing = None;
                }
                '#' => self.rest = after.find('\n').map_or("", |end| &after[end..]),
                '"' => {
                    self.quoted(after, '"')?;
                    self.before = Before::Operand;
                }
                '/' => match self.before {
                    Before::Operator => {
                        self.regex(after)?;
                        self.before = Before::Operand;
                    }
                    Before::Operand => {
                        self.rest = after;
                        self.before = Before::Operator;
                    }
                    Before::Unclear => return None,
                },
                '(' | '[' => {
                    self.rest = after;
                    self.depth += 1;
                    self.before = Before::Operator;
                }
                ')' | ']' => {
                    self.rest = after;
                    self.depth = self.depth.checked_sub(1)?;
                    self.before = if c == ')' { Before::Unclear } else { Before::Operand };
                }
                '|' => {
                    self.rest = after.strip_prefix('|')?;
                    self.before = Before::Operator;
                }
                '>' => {
                    if self.printing.is_some_and(|depth| self.depth <= depth) {
                        return None;
                    }
                    self.rest = after;
                    self.before = Before::Operator;
                }
                '+' | '-' if after.starts_with(c) => {
                    self.rest = &after[1..];
                    self.before = Before::Unclear;
                }
                c if c.is_ascii_alphanumeric() || c == '_' || c == '.' => self.word(),
                '$' | '+' | '-' | '*' | '%' | '^' | '!' | '<' | '=' | '~' | '&' | ',' | '?' | ':' => {
                    self.rest = after;
                    self.before = Before::Operator;
                }
                _ => return None,
            }
        }
        Some(())
    }

    fn word(&mut self) {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        self.before = match word {
            "print" | "printf" => {
                self.printing = Some(self.depth);
                Before::Operator
            }
            "return" | "exit" | "in" | "do" | "else" | "case" => Before::Operator,
            _ => Before::Operand,
        };
    }

    fn quoted(&mut self, text: &str, end: char) -> Option<()> {
        let mut chars = text.char_indices();
        while let Some((place, c)) = chars.next() {
            match c {
                '\\' => {
                    chars.next()?;
                }
                '\n' => return None,
                c if c == end => {
                    let from = self.rest.len() - text.len() + place + 1;
                    self.rest = &self.rest[from..];
                    return Some(());
                }
                _ => {}
            }
        }
        None
    }

    /// A regular expression. One with a slash in brackets is refused, since versions differ on where it ends.
    fn regex(&mut self, text: &str) -> Option<()> {
        let before = self.rest;
        self.quoted(text, '/')?;
        let inner = &before[1..before.len() - self.rest.len() - 1];
        closes_brackets(inner).then_some(())
    }
}
