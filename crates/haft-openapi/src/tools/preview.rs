use super::call::Call;
use crate::auth::{Scheme, ServerOrigin};
use haft_core::Visible;
use http::header::CONTENT_TYPE;
use std::fmt::Write as _;

/// The most bytes of a body that a person is shown.
const MOST_BODY_BYTES: usize = 16 << 10;

/// Writes a request as it will be sent, with what is secret in words.
pub(super) fn preview(call: &Call) -> String {
    let Call { parts, grant, tool, url } = call;
    let mut text = format!("{} {}\n", parts.method(), Visible::line(parts.url()));
    // Writing to a string cannot fail.
    for (name, value) in parts.headers() {
        let _ = writeln!(text, "{name}: {}", Visible::line(&String::from_utf8_lossy(value.as_bytes())));
    }
    for shown in &grant.shown {
        let place = match &*shown.scheme {
            Scheme::Key { place, name } => format!("`{}` in the {}", Visible::line(name), place.word()),
            Scheme::Basic | Scheme::Bearer { .. } | Scheme::OAuth { .. } | Scheme::OpenId => {
                "the header `authorization`".to_owned()
            }
        };
        let _ = writeln!(text, "[and the credential `{}` as {place}]", shown.name);
    }
    if ServerOrigin::of(url).is_some_and(|origin| tool.shared.keyring.allows(&origin)) {
        for (name, _) in &tool.shared.headers {
            let _ = writeln!(text, "[and the header `{name}`]");
        }
    }
    let body = parts.body();
    if body.is_empty() {
        return text;
    }
    let shown = &body[..body.len().min(MOST_BODY_BYTES)];
    let shown = match std::str::from_utf8(shown) {
        Ok(shown) => Some(shown),
        // A character may be cut in two at the end.
        Err(error) if error.error_len().is_none() => std::str::from_utf8(&shown[..error.valid_up_to()]).ok(),
        Err(_) => None,
    };
    if let Some(shown) = shown {
        let _ = write!(text, "\n{}", Visible::new(shown));
        if shown.len() < body.len() {
            let _ = write!(text, "\n[and {} bytes more]", body.len() - shown.len());
        }
    } else {
        let kind = parts.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or("data");
        let _ = write!(text, "\n[{} bytes of {}]", body.len(), Visible::line(kind));
    }
    text
}
