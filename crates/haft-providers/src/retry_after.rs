//! What a service says of when to come again.

use http::HeaderMap;
use std::time::Duration;

/// No service means more than this, in seconds.
const MOST: f64 = 24.0 * 3600.0;

/// Reads `retry-after-ms` and `retry-after`, as seconds or as a date.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let number = |text: &str, unit: f64| {
        let seconds = text.parse::<f64>().ok()? / unit;
        (0.0..=MOST).contains(&seconds).then(|| Duration::from_secs_f64(seconds))
    };
    if let Some(wait) = text("retry-after-ms").and_then(|text| number(text, 1000.0)) {
        return Some(wait);
    }
    let text = text("retry-after")?;
    let dated = || haft_http::retry_after(headers).filter(|wait| wait.as_secs_f64() <= MOST);
    number(text, 1.0).or_else(dated)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(headers: &[(&'static str, &str)], expected: Option<Duration>) {
        let headers = headers.iter().map(|(name, value)| {
            (http::HeaderName::from_static(name), http::HeaderValue::from_str(value).unwrap())
        });
        assert_eq!(retry_after(&headers.collect()), expected);
    }

    #[test]
    fn reads_seconds_milliseconds_and_dates() {
        check(&[], None);
        check(&[("retry-after", "3")], Some(Duration::from_secs(3)));
        check(&[("retry-after", "0.5")], Some(Duration::from_millis(500)));
        check(&[("retry-after", "3"), ("retry-after-ms", "20")], Some(Duration::from_millis(20)));
        check(&[("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT")], Some(Duration::ZERO));
        for text in ["-1", "1e9", "NaN", "soon", ""] {
            check(&[("retry-after", text)], None);
        }
    }
}
