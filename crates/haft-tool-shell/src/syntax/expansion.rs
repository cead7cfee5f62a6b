use super::word::{Failure, Scan};
use super::{MOST_NESTED, Unreadable, arithmetic};

/// Reads what starts with a `$` or a backquote.
pub(super) fn expansion(scan: &mut Scan<'_>, is_quoted: bool) -> Result<(), Unreadable> {
    if scan.nested >= MOST_NESTED {
        return Err(Unreadable("substitutions that are nested too deep"));
    }
    if scan.peek(0) == Some(b'`') {
        return backquoted(scan, is_quoted);
    }
    // Bash joins the lines before it looks at what follows the `$`.
    if scan.text[scan.at + 1..].starts_with("\\\n") || scan.text[scan.at + 1..].starts_with("(\\\n") {
        return Err(Unreadable("a line continued right behind a `$`"));
    }
    match scan.peek(1) {
        Some(b'(') if scan.peek(2) == Some(b'(') => {
            let start = scan.at + 3;
            let end = arithmetic::end(scan.text, start)?;
            if !arithmetic::is_constant(&scan.text[start..end]) {
                scan.word.hazard = Some("arithmetic with variables");
            }
            scan.can_fail(Failure::SkipsLine);
            scan.at = end + 2;
            scan.expands(!is_quoted);
        }
        Some(b'(') => {
            let start = scan.at + 2;
            let end = substitution_end(scan.text, start, scan.nested + 1)?;
            scan.word.scripts.push(scan.text[start..end].to_owned());
            scan.at = end + 1;
            scan.expands(!is_quoted);
        }
        Some(b'{') => braced(scan, is_quoted)?,
        Some(b'[') => return Err(Unreadable("a `$[`")),
        Some(byte) if byte.is_ascii_alphabetic() || byte == b'_' => {
            let name = scan.text.as_bytes()[scan.at + 1..].iter();
            scan.at += 1 + name.take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
            scan.expands(!is_quoted);
        }
        Some(byte) if byte.is_ascii_digit() || b"@*#?-$!".contains(&byte) => {
            scan.at += 2;
            scan.expands(!is_quoted || byte == b'@');
        }
        // A `$` alone.
        _ => {
            scan.at += 1;
            scan.push('$');
        }
    }
    Ok(())
}

/// `${…}`.
fn braced(scan: &mut Scan<'_>, is_quoted: bool) -> Result<(), Unreadable> {
    const STRANGE: Unreadable = Unreadable("a `${` that is not a simple one");
    let bytes = scan.text.as_bytes();
    let mut at = scan.at + 2;
    let is_counted = bytes.get(at) == Some(&b'#') && bytes.get(at + 1) != Some(&b'}');
    at += usize::from(is_counted);
    let name = bytes[at..].iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    let mut splits = !is_quoted;
    if name > 0 {
        at += name;
    } else if bytes.get(at).is_some_and(|byte| b"@*#?-$!".contains(byte)) && bytes.get(at + 1) == Some(&b'}')
    {
        splits |= bytes[at] == b'@';
        at += 1;
    } else {
        // `${!x}` reads another variable, and evaluates what its name says; `${ x; }` runs commands.
        return Err(STRANGE);
    }
    if bytes.get(at) == Some(&b'[') {
        let close = bytes[at..].iter().position(|byte| *byte == b']').ok_or(STRANGE)?;
        let index = &scan.text[at + 1..at + close];
        match index {
            "@" | "*" => splits |= index == "@",
            _ if arithmetic::is_number(index) => {}
            _ => return Err(STRANGE),
        }
        at += close + 1;
    }
    let operator = bytes.get(at).copied().ok_or(STRANGE)?;
    scan.at = at + 1;
    if operator == b'?' || operator == b':' && bytes.get(at + 1) == Some(&b'?') {
        scan.can_fail(Failure::EndsScript);
    }
    match operator {
        b'}' => {}
        _ if is_counted => return Err(STRANGE),
        b':' if matches!(bytes.get(at + 1), Some(b'-' | b'+' | b'?')) => operand(scan, is_quoted)?,
        b'-' | b'+' | b'?' | b'#' | b'%' | b'/' | b'^' | b',' => operand(scan, is_quoted)?,
        b'=' => {
            scan.word.hazard = Some("an expansion that sets a variable");
            operand(scan, is_quoted)?;
        }
        b':' if bytes.get(at + 1) == Some(&b'=') => {
            scan.word.hazard = Some("an expansion that sets a variable");
            operand(scan, is_quoted)?;
        }
        b':' => {
            let end = scan.text[at..].find('}').ok_or(STRANGE)?;
            let part = &scan.text[at + 1..at + end];
            if !part.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b' ' | b':' | b'-')) {
                return Err(STRANGE);
            }
            // Anything else is arithmetic, and may count from the end, where there can be too little.
            if !part.split(':').all(arithmetic::is_number) {
                scan.can_fail(Failure::SkipsLine);
            }
            scan.at = at + end + 1;
        }
        // `@P` and others evaluate the value again.
        _ => return Err(STRANGE),
    }
    scan.expands(splits);
    Ok(())
}

/// What follows the operator in `${…}`, with the `}`.
fn operand(scan: &mut Scan<'_>, is_quoted: bool) -> Result<(), Unreadable> {
    const STRANGE: Unreadable = Unreadable("a `${` with quotes or braces that are not simple");
    scan.expands(false);
    loop {
        match scan.peek(0) {
            None => return Err(Unreadable("a `${` that does not close")),
            Some(b'}') => {
                scan.at += 1;
                return Ok(());
            }
            Some(b'$') if matches!(scan.peek(1), Some(b'\'' | b'"')) => return Err(STRANGE),
            Some(b'$' | b'`') => {
                scan.nested += 1;
                let read = expansion(scan, is_quoted);
                scan.nested -= 1;
                read?;
            }
            Some(b'\\') if scan.peek(1).is_some_and(|byte| byte.is_ascii() && byte != b'\n') => scan.at += 2,
            Some(b'"') if !is_quoted => scan.double_quoted()?,
            Some(b'\'' | b'"' | b'\\' | b'{' | b'\n' | b'(' | b'<' | b'>') => return Err(STRANGE),
            Some(_) => scan.at += 1,
        }
    }
}

/// A substitution in backquotes.
fn backquoted(scan: &mut Scan<'_>, is_quoted: bool) -> Result<(), Unreadable> {
    let mut script = String::new();
    let mut characters = scan.text[scan.at + 1..].char_indices();
    while let Some((index, character)) = characters.next() {
        match character {
            '`' => {
                scan.at += 1 + index + 1;
                scan.word.scripts.push(script);
                scan.expands(!is_quoted);
                return Ok(());
            }
            '\\' => match characters.next() {
                Some((_, escaped @ ('`' | '\\' | '$'))) => script.push(escaped),
                Some((_, '"')) if is_quoted => script.push('"'),
                Some((_, '\n')) => return Err(Unreadable("a line continued between backquotes")),
                Some((_, other)) => script.extend(['\\', other]),
                None => break,
            },
            _ => script.push(character),
        }
    }
    Err(Unreadable("a backquote that does not close"))
}

/// Finds the `)` that ends a substitution.
fn substitution_end(text: &str, at: usize, nested: usize) -> Result<usize, Unreadable> {
    super::lexer::Lexer::new(text, at, nested).skip_to_close()
}
