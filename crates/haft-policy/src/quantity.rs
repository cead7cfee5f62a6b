//! Amounts as people write them: `"30s"`, `"2 min"`, `"64 KiB"`, or a bare number of seconds or bytes.

use std::time::Duration;

/// The longest time that can be written.
const LONGEST: Duration = Duration::from_hours(24 * 30);

const TIMES: [(&str, f64); 5] = [("ms", 0.001), ("s", 1.0), ("min", 60.0), ("m", 60.0), ("h", 3600.0)];
const SIZES: [(&str, u64); 6] =
    [("B", 1), ("KiB", 1 << 10), ("K", 1 << 10), ("MiB", 1 << 20), ("M", 1 << 20), ("GiB", 1 << 30)];

/// Reads a time; what is wrong with it otherwise, with the next step.
pub(crate) fn time(text: &str) -> Result<Duration, String> {
    let (number, unit) = split(text);
    let unit = TIMES.iter().find(|(name, _)| *name == unit).map(|(_, seconds)| *seconds);
    match (number.parse::<f64>(), unit) {
        (Ok(number), Some(unit)) => seconds(number * unit),
        _ => Err(format!("`{text}` is not a time; write one such as `500ms`, `30s`, `2min` or `1h`")),
    }
}

/// Takes a number of seconds as a time.
pub(crate) fn seconds(seconds: f64) -> Result<Duration, String> {
    match Duration::try_from_secs_f64(seconds) {
        Ok(time) if time <= LONGEST => Ok(time),
        _ => Err("a time is from 0 to 30 days; write another".to_owned()),
    }
}

/// Reads a number of bytes; what is wrong with it otherwise, with the next step.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let (number, unit) = split(text);
    let unit = SIZES.iter().find(|(name, _)| *name == unit).map(|(_, bytes)| *bytes);
    let bytes = number.parse::<u64>().ok().zip(unit).and_then(|(number, unit)| number.checked_mul(unit));
    bytes.ok_or_else(|| {
        format!("`{text}` is not a size; write a number of bytes, or one such as `64 KiB` or `5 MiB`")
    })
}

/// Splits a text into its digits and the unit behind them.
fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    (&text[..end], text[end..].trim_start())
}
