/// What can be wrong in a pattern for paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    UnclosedClass,
    UnclosedBrace,
    UnopenedBrace,
    DanglingEscape,
    EmptyRange(char, char),
    NotAscii(char),
}

impl Fault {
    pub(crate) fn what(self) -> String {
        match self {
            Self::UnclosedClass => "`[` without a `]`".to_owned(),
            Self::UnclosedBrace => "`{` without a `}`".to_owned(),
            Self::UnopenedBrace => "`}` without a `{`".to_owned(),
            Self::DanglingEscape => "`\\` with nothing behind it".to_owned(),
            Self::EmptyRange(from, to) => format!("the range `{from}-{to}` holds nothing"),
            Self::NotAscii(character) => format!("`{character}`, which is not ASCII, in a `[..]`"),
        }
    }

    pub(crate) fn remedy(self) -> String {
        match self {
            Self::UnclosedClass => "close it, or write `\\[` for the character itself".to_owned(),
            Self::UnclosedBrace => "close it, or write `\\{` for the character itself".to_owned(),
            Self::UnopenedBrace => "open it, or write `\\}` for the character itself".to_owned(),
            Self::DanglingEscape => "leave it out, or write `\\\\` for the character itself".to_owned(),
            Self::EmptyRange(from, to) => format!("write `{to}-{from}`"),
            Self::NotAscii(character) => format!("list the alternatives as in `{{a,{character}}}`"),
        }
    }
}

/// Finds the first place that makes a text no pattern, counted in characters from 1.
pub(crate) fn find_fault(pattern: &str) -> Option<(usize, Fault)> {
    let characters: Vec<char> = pattern.chars().collect();
    let mut open = Vec::new();
    let mut at = 0;
    while let Some(character) = characters.get(at) {
        match character {
            '\\' if at + 1 == characters.len() => return Some((at + 1, Fault::DanglingEscape)),
            '\\' => at += 1,
            '[' => match class_end(&characters, at) {
                Ok(end) => at = end,
                Err((place, fault)) => return Some((place + 1, fault)),
            },
            '{' => open.push(at),
            '}' if open.pop().is_none() => return Some((at + 1, Fault::UnopenedBrace)),
            _ => {}
        }
        at += 1;
    }
    open.first().map(|at| (at + 1, Fault::UnclosedBrace))
}

/// Finds the `]` of the class that starts at `open`, or what is wrong in it and where.
fn class_end(characters: &[char], open: usize) -> Result<usize, (usize, Fault)> {
    let negation = usize::from(matches!(characters.get(open + 1), Some('!' | '^')));
    let first = open + 1 + negation;
    // A `]` that comes first stands for itself.
    let inside = characters.get(first + 1..).unwrap_or_default();
    let Some(length) = inside.iter().position(|character| *character == ']') else {
        return Err((open, Fault::UnclosedClass));
    };
    let end = first + 1 + length;
    let class = &characters[first..end];
    if let Some(place) = class.iter().position(|character| !character.is_ascii()) {
        return Err((first + place, Fault::NotAscii(class[place])));
    }
    let mut at = 0;
    while at + 2 < class.len() {
        match class[at..at + 3] {
            [from, '-', to] if from > to => return Err((first + at, Fault::EmptyRange(from, to))),
            [_, '-', _] => at += 3,
            _ => at += 1,
        }
    }
    Ok(end)
}
