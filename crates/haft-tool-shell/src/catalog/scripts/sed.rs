use super::closes_brackets;

/// Whether a script of `sed` certainly only prints: it runs nothing, and reads and writes no file of its own.
///
/// Commands that take a file (`r R w W`), run one (`e`, the flag `e`) or are read differently by different versions are
/// refused. Text of `a`, `i` and `c` is taken where it ends the script.
pub(in super::super) fn only_prints(script: &str) -> bool {
    Script { rest: script }.only_prints().is_some()
}

struct Script<'a> {
    rest: &'a str,
}

impl Script<'_> {
    /// `None` where anything is not understood.
    fn only_prints(&mut self) -> Option<()> {
        loop {
            self.rest = self.rest.trim_start_matches([' ', '\t', '\n', ';', '{', '}']);
            if self.rest.is_empty() {
                return Some(());
            }
            self.address()?;
            self.rest = self.rest.trim_start_matches([' ', '\t', '!']);
            match self.take()? {
                '{' => {}
                '=' | 'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x' | 'z' | 'F' => {
                    self.end()?;
                }
                'q' | 'Q' | 'l' => {
                    self.digits();
                    self.end()?;
                }
                'b' | 't' | 'T' | ':' => {
                    // Some versions end a label at a space, and go on with a command.
                    let is_label = |c: char| c.is_alphanumeric() || c == '_';
                    self.rest = self.rest.trim_start_matches([' ', '\t']).trim_start_matches(is_label);
                    self.end()?;
                }
                's' => {
                    let delimiter = self.delimiter()?;
                    self.part(delimiter, true)?;
                    self.part(delimiter, false)?;
                    self.rest = self.rest.trim_start_matches(|c: char| {
                        c.is_ascii_digit() || matches!(c, 'g' | 'p' | 'i' | 'I')
                    });
                    self.end()?;
                }
                'y' => {
                    let delimiter = self.delimiter()?;
                    self.part(delimiter, false)?;
                    self.part(delimiter, false)?;
                    self.end()?;
                }
                'a' | 'i' | 'c' => return (!self.rest.contains(['\n', '\\', '}'])).then_some(()),
                '#' => return (!self.rest.contains('\n')).then_some(()),
                _ => return None,
            }
        }
    }

    fn take(&mut self) -> Option<char> {
        let first = self.rest.chars().next()?;
        self.rest = &self.rest[first.len_utf8()..];
        Some(first)
    }

    fn digits(&mut self) {
        self.rest =
            self.rest.trim_start_matches([' ', '\t']).trim_start_matches(|c: char| c.is_ascii_digit());
    }

    /// Nothing else may follow a command in its part of the script.
    fn end(&mut self) -> Option<()> {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
        (self.rest.is_empty() || self.rest.starts_with([';', '\n', '}']) || self.rest.starts_with('{'))
            .then_some(())
    }

    /// `3`, `$`, `/x/I`, `1~2`, and two of them.
    fn address(&mut self) -> Option<()> {
        self.one_address()?;
        self.rest = self.rest.trim_start_matches([' ', '\t']);
        if let Some(rest) = self.rest.strip_prefix(',') {
            self.rest = rest.trim_start_matches([' ', '\t']);
            if let Some(rest) = self.rest.strip_prefix(['+', '~']) {
                self.rest = rest;
            }
            self.one_address()?;
        }
        Some(())
    }

    fn one_address(&mut self) -> Option<()> {
        match self.rest.chars().next()? {
            '$' => {
                self.take();
            }
            '0'..='9' => {
                self.digits();
                if let Some(rest) = self.rest.strip_prefix('~') {
                    self.rest = rest;
                    self.digits();
                }
            }
            '/' => {
                self.take();
                self.part('/', true)?;
                self.rest = self.rest.trim_start_matches(['I']);
            }
            '\\' => return None,
            _ => {}
        }
        Some(())
    }

    fn delimiter(&mut self) -> Option<char> {
        self.take().filter(|c| c.is_ascii_punctuation() && *c != '\\' && *c != ';' && *c != '{' && *c != '}')
    }

    /// Goes behind the delimiter. In an expression, one within brackets is refused: versions differ on it.
    fn part(&mut self, delimiter: char, is_expression: bool) -> Option<()> {
        let mut chars = self.rest.char_indices();
        let mut has_bracket = false;
        while let Some((place, c)) = chars.next() {
            match c {
                '\\' => {
                    chars.next()?;
                }
                '\n' => return None,
                '[' if is_expression => has_bracket = true,
                c if c == delimiter => {
                    let part = &self.rest[..place];
                    if has_bracket && !closes_brackets(part) {
                        return None;
                    }
                    self.rest = &self.rest[place + c.len_utf8()..];
                    return Some(());
                }
                _ => {}
            }
        }
        None
    }
}
