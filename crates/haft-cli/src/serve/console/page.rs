use super::gate::{Answer, answer};
use crate::report::page::{SECTIONS, STYLE, digest, fill, script};
use http::StatusCode;

const PAGE: &str = include_str!("page/console.html");
const OWN_STYLE: &str = include_str!("page/console.css");
const START: &str =
    concat!(include_str!("page/cards.js"), include_str!("page/lists.js"), include_str!("page/console.js"));

/// Is the page, which is the same for everybody and holds nothing: it asks for what it shows.
pub(super) struct Page {
    text: String,
    /// What its browser lets it do: run and look as it is written here, and ask here alone.
    policy: String,
}

impl Page {
    pub(super) fn new() -> Self {
        let (script, style) = (script(START), format!("{STYLE}{OWN_STYLE}"));
        let text = fill(PAGE, |name| {
            Some(match name {
                "style" => &style,
                "script" => &script,
                "sections" => SECTIONS,
                _ => return None,
            })
        });
        let policy = format!(
            "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; connect-src 'self'; frame-ancestors 'none'; \
             base-uri 'none'; form-action 'none'",
            digest(&script),
            digest(&style)
        );
        Self { text, policy }
    }

    pub(super) fn answer(&self) -> Answer {
        answer(StatusCode::OK, "text/html; charset=utf-8", &self.policy, self.text.clone())
    }
}
