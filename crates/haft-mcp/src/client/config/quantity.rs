use std::time::Duration;

/// The longest time that can be written.
const LONGEST: Duration = Duration::from_hours(24);

const TIMES: [(&str, f64); 5] = [("ms", 0.001), ("s", 1.0), ("min", 60.0), ("m", 60.0), ("h", 3600.0)];
const SIZES: [(&str, usize); 6] =
    [("", 1), ("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("K", 1 << 10), ("M", 1 << 20)];

/// Reads a time such as `30s`; what is wrong with it otherwise, with the next step.
pub(super) fn time(text: &str) -> Result<Duration, String> {
    let (number, unit) = split(text);
    let unit = TIMES.iter().find(|(name, _)| *name == unit).map(|(_, seconds)| *seconds);
    let seconds = number.parse::<f64>().ok().zip(unit).map(|(number, unit)| number * unit);
    let Some(seconds) = seconds else {
        return Err(format!("`{text}` is not a time; write one such as `500ms`, `30s` or `2min`"));
    };
    match Duration::try_from_secs_f64(seconds) {
        Ok(time) if !time.is_zero() && time <= LONGEST => Ok(time),
        _ => Err("a time is more than 0 and at most 24 hours; write another".to_owned()),
    }
}

/// Reads a number of bytes such as `16 MiB`; what is wrong with it otherwise, with the next step.
pub(super) fn size(text: &str) -> Result<usize, String> {
    let (number, unit) = split(text);
    let unit = SIZES.iter().find(|(name, _)| *name == unit).map(|(_, bytes)| *bytes);
    let bytes = number.parse::<usize>().ok().zip(unit).and_then(|(number, unit)| number.checked_mul(unit));
    bytes.ok_or_else(|| format!("`{text}` is not a size; write one such as `512 KiB` or `16 MiB`"))
}

/// Splits a text into its digits and the unit behind them.
fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    (&text[..end], text[end..].trim_start())
}
