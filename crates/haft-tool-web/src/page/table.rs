//! Tables, without the blanks that would make their columns as wide as their widest cells.

use super::tree::name_of;
use htmd::Element;
use htmd::element_handler::{HandlerResult, Handlers};
use markup5ever_rcdom::Handle;
use std::fmt::Write as _;
use std::rc::Rc;

/// Writes a table row by row; one that only lays out a page is written cell by cell.
///
/// The type of its last argument is that of the converter.
#[expect(clippy::needless_pass_by_value, clippy::unnecessary_wraps, reason = "htmd calls it so")]
pub(super) fn handle(handlers: &dyn Handlers, element: Element<'_>) -> Option<HandlerResult> {
    let Parts { captions, rows } = parts(element.node);
    let mut text = String::from("\n\n");
    for caption in captions {
        let _ = write!(text, "{}\n\n", handlers.walk_children(&caption).content.trim());
    }
    let lays_out = rows.iter().all(|row| row.len() <= 1) || rows.iter().flatten().any(holds_blocks);
    if lays_out {
        for cell in rows.iter().flatten() {
            let content = handlers.walk_children(cell).content;
            let content = content.trim_matches('\n');
            if !content.trim().is_empty() {
                let _ = write!(text, "{content}\n\n");
            }
        }
        return Some(text.into());
    }
    for (index, row) in rows.iter().enumerate() {
        text.push('|');
        for cell in row {
            let content = handlers.walk_children(cell).content;
            let line = content.split_whitespace().collect::<Vec<_>>().join(" ");
            let _ = write!(text, " {} |", line.replace('|', "\\|"));
        }
        text.push('\n');
        if index == 0 {
            text.push('|');
            text.extend(row.iter().map(|_| " --- |"));
            text.push('\n');
        }
    }
    text.push('\n');
    Some(text.into())
}

struct Parts {
    captions: Vec<Handle>,
    rows: Vec<Vec<Handle>>,
}

/// Takes a table apart; what is in its cells stays whole.
fn parts(table: &Handle) -> Parts {
    let mut parts = Parts { captions: Vec::new(), rows: Vec::new() };
    let mut stack: Vec<Handle> = table.children.borrow().iter().rev().cloned().collect();
    while let Some(node) = stack.pop() {
        match name_of(&node) {
            Some("tr") => {
                let cells =
                    node.children.borrow().iter().filter(|cell| is_cell(cell)).cloned().collect::<Vec<_>>();
                if !cells.is_empty() {
                    parts.rows.push(cells);
                }
            }
            Some("thead" | "tbody" | "tfoot") => stack.extend(node.children.borrow().iter().rev().cloned()),
            Some("caption") => parts.captions.push(Rc::clone(&node)),
            _ => {}
        }
    }
    parts
}

fn is_cell(node: &Handle) -> bool {
    matches!(name_of(node), Some("td" | "th"))
}

/// Tells whether a cell holds what cannot stand on one line.
fn holds_blocks(cell: &Handle) -> bool {
    cell.children.borrow().iter().any(|child| {
        matches!(
            name_of(child),
            Some(
                "table"
                    | "pre"
                    | "blockquote"
                    | "h1"
                    | "h2"
                    | "h3"
                    | "h4"
                    | "h5"
                    | "h6"
                    | "section"
                    | "article"
            )
        )
    })
}
