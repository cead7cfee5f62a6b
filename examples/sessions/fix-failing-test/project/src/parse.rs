use crate::unit::UNITS;

/// Says why a text is not a length of time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParseError {
    /// There is nothing to read.
    Empty,
    /// A number is missing before this.
    MissingNumber(String),
    /// No unit starts here.
    UnknownUnit(String),
    /// The length does not fit.
    TooLong,
}

/// Reads a length of time such as `1h30m` or `250ms`, in milliseconds.
pub fn parse(text: &str) -> Result<u64, ParseError> {
    let mut rest = text.trim();
    if rest.is_empty() {
        return Err(ParseError::Empty);
    }
    let mut total: u64 = 0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let number: u64 = match &rest[..digits] {
            "" => return Err(ParseError::MissingNumber(rest.to_string())),
            number => number.parse().map_err(|_| ParseError::TooLong)?,
        };
        rest = &rest[digits..];
        let (suffix, length) = UNITS
            .iter()
            .find(|(suffix, _)| rest.starts_with(suffix))
            .ok_or_else(|| ParseError::UnknownUnit(rest.to_string()))?;
        total = number
            .checked_mul(*length)
            .and_then(|part| total.checked_add(part))
            .ok_or(ParseError::TooLong)?;
        rest = rest[suffix.len()..].trim_start();
    }
    Ok(total)
}
