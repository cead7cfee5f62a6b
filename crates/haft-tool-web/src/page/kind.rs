//! What of the elements of a page is of use.

use super::tree::attribute;
use markup5ever_rcdom::Node;

/// Says what of an element is of use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// It stands for itself.
    Leaf,
    /// Its text stands as it is written.
    Verbatim,
    /// It marks a part of a line.
    Inline,
    /// It holds others, and its place among them counts.
    Structure,
    /// It stands apart from what is beside it.
    Block,
    /// Only what is in it counts.
    Meaningless,
}

impl Kind {
    pub(super) fn of(name: &str) -> Self {
        match name {
            "br" | "hr" | "img" => Self::Leaf,
            "pre" | "listing" | "xmp" | "plaintext" => Self::Verbatim,
            "a" | "em" | "i" | "cite" | "dfn" | "strong" | "b" | "code" | "tt" | "kbd" | "samp" => {
                Self::Inline
            }
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "ul" | "ol" | "li" | "blockquote" | "table"
            | "caption" | "thead" | "tbody" | "tfoot" | "tr" | "td" | "th" => Self::Structure,
            "address" | "article" | "aside" | "body" | "center" | "dd" | "details" | "dir" | "div" | "dl"
            | "dt" | "fieldset" | "figcaption" | "figure" | "footer" | "form" | "header" | "hgroup"
            | "legend" | "main" | "menu" | "nav" | "p" | "search" | "section" | "summary" => Self::Block,
            _ => Self::Meaningless,
        }
    }
}

/// Tells whether an element holds nothing for readers.
pub(super) fn is_dropped(node: &Node, name: &str) -> bool {
    let is_no_text = matches!(
        name,
        "head"
            | "script"
            | "style"
            | "template"
            | "svg"
            | "math"
            | "iframe"
            | "frameset"
            | "object"
            | "embed"
            | "applet"
            | "canvas"
            | "audio"
            | "video"
            | "map"
            | "button"
            | "input"
            | "select"
            | "textarea"
            | "datalist"
            | "dialog"
    );
    is_no_text || attribute(node, "hidden").is_some()
}
