use super::Unreadable;

/// Finds the `))` that ends an arithmetic expression which starts at `at`, and returns where that is.
///
/// An expression with anything in it but numbers, names and operators is refused.
pub(super) fn end(text: &str, at: usize) -> Result<usize, Unreadable> {
    let bytes = text.as_bytes();
    let mut open = 0_usize;
    for (index, &byte) in bytes.iter().enumerate().skip(at) {
        match byte {
            b'(' => open += 1,
            b')' if open > 0 => open -= 1,
            b')' if bytes.get(index + 1) == Some(&b')') => return Ok(index),
            b')' => return Err(Unreadable("a `((` that does not end in `))`")),
            b'$' if bytes.get(index + 1).is_some_and(|next| is_name(*next)) => {}
            _ if is_name(byte) || b" \t+-*/%<>=!&|^~?:,;".contains(&byte) => {}
            _ => return Err(Unreadable("arithmetic that is not only numbers and operators")),
        }
    }
    Err(Unreadable("arithmetic that does not end"))
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Tells whether an expression has no variable in it. Bash evaluates a variable's value as an expression again, in which
/// there can be commands.
pub(crate) fn is_constant(expression: &str) -> bool {
    !expression.bytes().any(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'$' | b'[' | b'`'))
}

/// Tells whether an expression is a number that bash can read: with a zero in front it would be an octal one.
pub(crate) fn is_number(expression: &str) -> bool {
    let is_octal = expression.len() > 1 && expression.starts_with('0');
    !expression.is_empty() && !is_octal && expression.bytes().all(|byte| byte.is_ascii_digit())
}
