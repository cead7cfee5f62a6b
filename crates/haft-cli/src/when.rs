use haft::tools_core::now_ms;

/// Says how long ago a time was, in milliseconds since the Unix epoch.
pub(crate) fn ago(at_ms: u64) -> String {
    format!("{} ago", spoken(now_ms().saturating_sub(at_ms)))
}

/// Says in how long a time is, or that it is over.
pub(crate) fn until(at_ms: u64) -> String {
    match at_ms.saturating_sub(now_ms()) {
        0 => "over".to_owned(),
        left => format!("in {}", spoken(left)),
    }
}

fn spoken(milliseconds: u64) -> String {
    let seconds = milliseconds / 1000;
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds / 60),
        7200..172_800 => format!("{} h", seconds / 3600),
        _ => format!("{} days", seconds / 86_400),
    }
}
