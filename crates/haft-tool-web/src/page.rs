//! A page of HTML as Markdown: what a reader would read, at a cost that does not depend on how the page was made.

mod charset;
mod kind;
mod markdown;
mod parse;
mod table;
mod tidy;
mod tree;

#[cfg(test)]
mod tests;

pub(crate) use charset::{Names, text_of};

use std::time::Instant;
use tidy::Part;
use url::Url;

/// The fewest characters that the main part of a page has; with less, all of the page is given.
const FEWEST_OF_MAIN: usize = 200;

/// The most bytes of Markdown that a page becomes.
const MOST_MARKDOWN: usize = 2 << 20;

/// Is a page that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Page {
    /// What it calls itself; empty if it does not.
    pub(crate) title: String,
    pub(crate) markdown: String,
    /// Whether what surrounds the main part was left out.
    pub(crate) is_main: bool,
    /// Whether the page goes on after what was read of it.
    pub(crate) is_cut: bool,
}

/// Reads a page that was found at an address, as far as that can be done until a time.
///
/// Links become absolute. Scripts, styles, forms and what a page hides are left out; and so is what surrounds its main part,
/// unless `whole`.
pub(crate) fn read(html: &str, at: &Url, whole: bool, until: Instant) -> Page {
    let parsed = parse::parse(html, until);
    let base = tidy::base(&parsed.document, at);
    let title = tidy::title(&parsed.document);
    let convert = |part: Part| {
        let tidied = tidy::tidy(&parsed.document, part, &base);
        (markdown::convert(&tidied.tree), tidied)
    };
    let (mut markdown, mut tidied) = convert(if whole { Part::Whole } else { Part::Main });
    let is_main =
        !whole && tidied.leaves_out && markdown.chars().take(FEWEST_OF_MAIN).count() == FEWEST_OF_MAIN;
    if !whole && !is_main && tidied.leaves_out {
        (markdown, tidied) = convert(Part::Whole);
    }
    let mut is_cut = parsed.is_cut || tidied.is_cut;
    if markdown.len() > MOST_MARKDOWN {
        markdown.truncate(markdown.floor_char_boundary(MOST_MARKDOWN));
        is_cut = true;
    }
    Page { title, markdown, is_main, is_cut }
}
