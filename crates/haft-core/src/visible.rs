use std::borrow::Cow;
use std::fmt;

/// Shows a text with every character that cannot be seen, or that changes how others are shown, written out.
///
/// Whoever reads what a remote tool or a model wrote must see all of it: a terminal must not be steered by it, a person
/// must not be shown another order than the one that is there, and a model must not be told what nobody else can see.
/// Written as `\u{202e}` are control characters (so that an ANSI escape begins with a visible `\u{1b}`), bidirectional
/// formatting, soft hyphens, zero-width characters, fillers, tag characters (`U+E0000` and above), line separators and
/// variation selectors.
///
/// Kept are `\n`, `\t` and the `\r` of a `\r\n`, unless the text is shown [on one line](Self::line), where they are
/// written as `\n`, `\t` and `\r`. So that honest text stays readable, three uses of invisible characters are kept, too:
/// one presentation selector (`U+FE0E`, `U+FE0F`) behind a symbol or in a keycap, a zero-width joiner between two
/// symbols, and a joiner or non-joiner between two letters of the scripts from Arabic to Myanmar that are spelt with them.
/// None of the three can be repeated, so that nothing of length can be hidden in them. Flags of regions such as England
/// are made of tag characters, and are written out.
///
/// The form is for reading: a text that itself has `\u{202e}` in it cannot be told from one that was written out.
///
/// ```
/// use haft_core::Visible;
///
/// assert_eq!(Visible::new("safe\u{202e}fdp.exe\n").to_string(), "safe\\u{202e}fdp.exe\n");
/// assert_eq!(Visible::line("two\nlines").to_string(), r"two\nlines");
/// assert_eq!(Visible::new("👩\u{200d}🚀").to_string(), "👩\u{200d}🚀");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Visible<'a> {
    text: &'a str,
    one_line: bool,
}

impl<'a> Visible<'a> {
    /// Shows a text of any number of lines.
    pub fn new(text: &'a str) -> Self {
        Self { text, one_line: false }
    }

    /// Shows a text on one line: line ends and tabs are written out, too.
    pub fn line(text: &'a str) -> Self {
        Self { text, one_line: true }
    }

    /// Gives the text as it is shown: borrowed, at the price of one pass, where nothing has to be written out.
    pub fn to_cow(self) -> Cow<'a, str> {
        match self.first_hidden() {
            None => Cow::Borrowed(self.text),
            Some(from) => {
                let mut shown = String::with_capacity(self.text.len() + 32);
                // Writing to a string cannot fail.
                let _ = self.write_from(from, &mut shown);
                Cow::Owned(shown)
            }
        }
    }

    /// Finds the first character that has to be written out.
    fn first_hidden(self) -> Option<usize> {
        // Most text is printable ASCII, which is told by its bytes alone.
        let from = self
            .text
            .bytes()
            .position(|byte| !matches!(byte, b' '..=b'~' | b'\n' | b'\t') || self.one_line && byte < b' ')?;
        // What is before the place belongs to it: a joiner is judged by its neighbours.
        let (mut before, mut at) = (self.text[..from].chars().next_back(), from);
        for character in self.text[from..].chars() {
            let end = at + character.len_utf8();
            if !self.keeps(before, character, &self.text[end..]) {
                return Some(at);
            }
            (before, at) = (Some(character), end);
        }
        None
    }

    fn write_from(self, from: usize, out: &mut impl fmt::Write) -> fmt::Result {
        let (mut before, mut kept_from, mut at) = (self.text[..from].chars().next_back(), 0, from);
        for character in self.text[from..].chars() {
            let end = at + character.len_utf8();
            if !self.keeps(before, character, &self.text[end..]) {
                out.write_str(&self.text[kept_from..at])?;
                match character {
                    '\n' => out.write_str("\\n")?,
                    '\t' => out.write_str("\\t")?,
                    '\r' => out.write_str("\\r")?,
                    _ => write!(out, "\\u{{{:x}}}", u32::from(character))?,
                }
                kept_from = end;
            }
            (before, at) = (Some(character), end);
        }
        out.write_str(&self.text[kept_from..])
    }

    fn keeps(self, before: Option<char>, character: char, rest: &str) -> bool {
        if !is_hidden(character) {
            return true;
        }
        let after = || rest.chars().next();
        match character {
            '\n' | '\t' => !self.one_line,
            '\r' => !self.one_line && rest.starts_with('\n'),
            '\u{fe0e}' | '\u{fe0f}' => before
                .is_some_and(|before| is_symbol(before) || is_key(before) && after() == Some('\u{20e3}')),
            '\u{200c}' | '\u{200d}' => before.zip(after()).is_some_and(|(before, after)| {
                let joins_symbols = is_symbol(before) || matches!(before, '\u{fe0e}' | '\u{fe0f}');
                character == '\u{200d}' && joins_symbols && is_symbol(after)
                    || is_joined_script(before) && is_joined_script(after)
            }),
            _ => false,
        }
    }
}

impl fmt::Display for Visible<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.first_hidden() {
            None => f.write_str(self.text),
            Some(from) => self.write_from(from, f),
        }
    }
}

/// Tells whether a character cannot be seen, or changes how others are shown.
///
/// These are controls, line separators, and what the Unicode standard lists as default ignorable or as bidirectional
/// formatting. Spaces are not meant, and neither are joiners in their proper place spared: [`Visible`] looks at those.
///
/// ```
/// assert!(haft_core::is_hidden('\u{200b}') && haft_core::is_hidden('\n') && !haft_core::is_hidden(' '));
/// ```
pub fn is_hidden(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_control();
    }
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Tells whether a character is of the blocks that emoji are in.
fn is_symbol(character: char) -> bool {
    matches!(character, '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{2190}'..='\u{21ff}'
        | '\u{2300}'..='\u{27bf}' | '\u{2900}'..='\u{297f}' | '\u{2b00}'..='\u{2bff}' | '\u{3030}' | '\u{303d}' | '\u{3297}'
        | '\u{3299}' | '\u{1f000}'..='\u{1faff}')
}

/// Tells whether a character can be shown as the top of a key.
fn is_key(character: char) -> bool {
    matches!(character, '0'..='9' | '#' | '*')
}

/// Tells whether a character is a letter, or a mark on one, of a script that is spelt with joiners.
fn is_joined_script(character: char) -> bool {
    matches!(character, '\u{620}'..='\u{109f}') && !is_hidden(character)
}

#[cfg(test)]
mod tests;
