//! How paths, counts and sizes are written for a model.

use std::fmt;

pub(crate) use haft_workdir::Shown;

/// A count with its digits in groups of three: `2,310`.
pub(crate) struct Count(pub(crate) u64);

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.to_string();
        for (index, digit) in digits.chars().enumerate() {
            if index > 0 && (digits.len() - index).is_multiple_of(3) {
                f.write_str(",")?;
            }
            write!(f, "{digit}")?;
        }
        Ok(())
    }
}

/// A count with what is counted: `1 line`, `2,310 lines`.
pub(crate) fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", Count(count), if count == 1 { one } else { many })
}

/// A number of lines in words.
pub(crate) fn lines(count: u64) -> String {
    counted(count, "line", "lines")
}

/// A size in bytes, in the largest unit of 1,024 that it fills: `340 bytes`, `81.2 KiB`.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1024 {
        return counted(bytes, "byte", "bytes");
    }
    let mut tenths = u128::from(bytes) * 10 / 1024;
    let mut unit = 0;
    while tenths >= 10_240 && unit + 1 < UNITS.len() {
        tenths /= 1024;
        unit += 1;
    }
    format!("{}.{} {}", tenths / 10, tenths % 10, UNITS[unit])
}

/// Joins words as in a sentence: `a, b or c`.
pub(crate) fn joined(words: &[String], last: &str) -> String {
    match words {
        [] => String::new(),
        [word] => word.clone(),
        [words @ .., end] => format!("{} {last} {end}", words.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::{Count, joined, size};

    #[test]
    fn groups_digits() {
        let written = [0, 999, 1000, 1_234_567].map(|count| Count(count).to_string());
        assert_eq!(written, ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn writes_sizes_in_the_largest_unit_they_fill() {
        let written = [0, 1, 1023, 1024, 1025, 1 << 20, (1 << 20) - 1, u64::MAX].map(size);
        let expected = [
            "0 bytes",
            "1 byte",
            "1,023 bytes",
            "1.0 KiB",
            "1.0 KiB",
            "1.0 MiB",
            "1023.9 KiB",
            "16777215.9 TiB",
        ];
        assert_eq!(written, expected);
    }

    #[test]
    fn joins_words_as_in_a_sentence() {
        let words = ["a", "b", "c"].map(str::to_owned);
        let written = [0, 1, 2, 3].map(|count| joined(&words[..count], "or"));
        assert_eq!(written, ["", "a", "a or b", "a, b or c"]);
    }
}
