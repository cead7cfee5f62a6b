use http::HeaderMap;
use http::header::{DATE, RETRY_AFTER};
use std::time::{Duration, SystemTime};

/// Reads how long an answer says to wait (`Retry-After` of RFC 9110, section 10.2.3): seconds, or a date.
///
/// A date counts from the answer's own `Date`, or else from the clock of this machine; one that is past is no wait. What is
/// neither is nothing.
///
/// ```
/// use haft_http::retry_after;
/// use std::time::Duration;
///
/// let answer = http::Response::builder().header("retry-after", "120").body(())?;
/// assert_eq!(retry_after(answer.headers()), Some(Duration::from_secs(120)));
/// # Ok::<(), http::Error>(())
/// ```
pub fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit()) {
        // More seconds than there will ever be are that.
        return Some(Duration::from_secs(text.parse().unwrap_or(u64::MAX)));
    }
    let until = httpdate::parse_http_date(text).ok()?;
    let date = headers.get(DATE).and_then(|date| httpdate::parse_http_date(date.to_str().ok()?).ok());
    Some(until.duration_since(date.unwrap_or_else(SystemTime::now)).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<u64>) {
        let mut headers = HeaderMap::new();
        headers.insert(DATE, "Sun, 06 Nov 1994 08:49:37 GMT".parse().unwrap());
        headers.insert(RETRY_AFTER, http::HeaderValue::from_bytes(text.as_bytes()).unwrap());
        assert_eq!(retry_after(&headers), expected.map(Duration::from_secs), "{text}");
    }

    #[test]
    fn reads_seconds() {
        check("0", Some(0));
        check("120", Some(120));
        check("99999999999999999999999", Some(u64::MAX));
    }

    #[test]
    fn reads_dates_in_each_of_their_forms() {
        check("Sun, 06 Nov 1994 08:50:07 GMT", Some(30));
        check("Sunday, 06-Nov-94 08:50:07 GMT", Some(30));
        check("Sun Nov  6 08:50:07 1994", Some(30));
        check("Sun, 06 Nov 1994 08:00:00 GMT", Some(0));
    }

    #[test]
    fn reads_nothing_else() {
        for text in ["", "soon", "-1", "+1", "1.5", "1s", "06 Nov 1994", "é"] {
            check(text, None);
        }
        assert_eq!(retry_after(&HeaderMap::new()), None);
    }

    #[test]
    fn without_a_date_of_the_answer_the_own_clock_counts() {
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_AFTER, "Sun, 06 Nov 1994 08:50:07 GMT".parse().unwrap());
        assert_eq!(retry_after(&headers), Some(Duration::ZERO));
    }
}
