/// Whether every bracket expression of a regular expression ends within it, so that all versions end it there.
pub(super) fn closes_brackets(part: &str) -> bool {
    let mut chars = part.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                chars.next();
            }
            '[' => {
                if chars.peek() == Some(&'^') {
                    chars.next();
                }
                // A bracket that comes first is one of the characters.
                if chars.peek() == Some(&']') {
                    chars.next();
                }
                loop {
                    match chars.next() {
                        Some(']') => break,
                        Some('[') if matches!(chars.peek(), Some(':' | '.' | '=')) => {
                            let class = chars.next();
                            loop {
                                match chars.next() {
                                    c if c.is_some() && c == class && chars.peek() == Some(&']') => break,
                                    Some(_) => {}
                                    None => return false,
                                }
                            }
                            chars.next();
                        }
                        // What a backslash means there differs.
                        Some('\\') if matches!(chars.peek(), Some(']')) => return false,
                        Some(_) => {}
                        None => return false,
                    }
                }
            }
            _ => {}
        }
    }
    true
}
