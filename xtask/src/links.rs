//! Relative links in Markdown pages: each leads to a file that exists and, where it names one, to a heading in it.

mod markdown;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

/// What stands at the end of a link.
#[derive(Debug)]
pub(crate) enum Target {
    Missing,
    /// A page whose headings can be linked to, with its text.
    Page(String),
    /// A folder or a file of another kind.
    Other,
}

/// Finds the links that lead nowhere in pages that are given by path, asking `look_at` for what they lead to.
///
/// Paths are relative to the root and have `/` between their parts. Links to other hosts are not followed.
pub(crate) fn broken(pages: &BTreeMap<String, String>, look_at: &dyn Fn(&str) -> Target) -> Vec<String> {
    let mut found = Vec::new();
    for (path, text) in pages {
        for link in markdown::links(text) {
            if let Some(fault) = fault(path, text, &link.target, look_at) {
                found.push(format!("{path}:{}: the link `{}` {fault}", link.line, link.target));
            }
        }
    }
    found
}

/// Says what is wrong with one link, if anything is.
fn fault(page: &str, text: &str, link: &str, look_at: &dyn Fn(&str) -> Target) -> Option<String> {
    if has_scheme(link) {
        return None;
    }
    let (path, anchor) = link.split_once('#').map_or((link, None), |(path, anchor)| (path, Some(anchor)));
    let path = percent_decoded(path.split('?').next().unwrap_or_default());
    if path.is_empty() {
        return missing_anchor(text, page, anchor);
    }
    let Some(resolved) = resolve(page, &path) else { return Some("leaves the repository".to_owned()) };
    match look_at(&resolved) {
        Target::Missing => Some("leads to no file".to_owned()),
        Target::Page(text) => missing_anchor(&text, &resolved, anchor),
        Target::Other => None,
    }
}

fn missing_anchor(text: &str, page: &str, anchor: Option<&str>) -> Option<String> {
    let anchor = percent_decoded(anchor?);
    let is_known = anchor.is_empty() || markdown::anchors(text).contains(&anchor);
    (!is_known).then(|| format!("leads to no heading of {page}"))
}

/// Tells whether a link leads to another host or program: `https:`, `mailto:`, or `//host`.
fn has_scheme(link: &str) -> bool {
    link.starts_with("//")
        || link.split_once(':').is_some_and(|(scheme, _)| {
            scheme.starts_with(|first: char| first.is_ascii_alphabetic())
                && scheme
                    .chars()
                    .all(|character| character.is_ascii_alphanumeric() || "+.-".contains(character))
        })
}

/// Joins a link to the folder of its page, or to the root if it starts with `/`.
fn resolve(page: &str, link: &str) -> Option<String> {
    let folder = page.rsplit_once('/').map_or("", |(folder, _)| folder);
    let folder = if link.starts_with('/') { "" } else { folder };
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(link.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Decodes `%20` and its like; what is no valid sequence stays as it is.
fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let digits =
            after.get(..2).filter(|digits| *first == b'%' && digits.iter().all(u8::is_ascii_hexdigit));
        let decoded = digits
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(decoded.unwrap_or(*first));
        rest = if decoded.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
