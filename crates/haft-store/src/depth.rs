//! How deep JSON may be nested that is read again.

/// How many levels of arrays and objects `serde_json` reads.
const MOST_LEVELS: usize = 127;

/// Says that a JSON text is nested so deep that it could not be read again.
#[derive(Debug, thiserror::Error)]
#[error("what is to be kept is nested in {0} levels, and only {MOST_LEVELS} can be read again")]
pub(crate) struct TooDeep(usize);

/// Checks that a JSON text can be read again.
pub(crate) fn check(text: &str) -> Result<(), TooDeep> {
    match levels(text) {
        0..=MOST_LEVELS => Ok(()),
        levels => Err(TooDeep(levels)),
    }
}

/// Counts the levels of arrays and objects of a JSON text.
fn levels(text: &str) -> usize {
    let (mut level, mut most, mut is_text, mut is_escaped) = (0_usize, 0, false, false);
    for byte in text.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_text => is_escaped = true,
            b'"' => is_text = !is_text,
            b'[' | b'{' if !is_text => {
                level += 1;
                most = most.max(level);
            }
            b']' | b'}' if !is_text => level = level.saturating_sub(1),
            _ => {}
        }
    }
    most
}

#[cfg(test)]
mod tests {
    use super::levels;

    #[test]
    fn brackets_in_texts_are_no_levels() {
        let told = [r#""[[[""#, r#"{"a[":["\\",{"\"{":[]}]}"#, "1", "[]", "[{},[[1]],[]]"].map(levels);
        assert_eq!(told, [0, 4, 0, 1, 3]);
    }
}
