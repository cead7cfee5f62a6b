use crate::unit::UNITS;

/// Writes a length in milliseconds as `1h30m` or `250ms`.
pub fn format(milliseconds: u64) -> String {
    if milliseconds == 0 {
        return "0s".to_string();
    }
    let mut rest = milliseconds;
    let mut text = String::new();
    for (suffix, length) in UNITS {
        let count = rest / length;
        rest %= length;
        if count > 0 {
            text.push_str(&count.to_string());
            text.push_str(suffix);
        }
    }
    text
}
