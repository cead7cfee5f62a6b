//! Trees of HTML: how they are made, and walked.

use super::kind::is_dropped;
use html5ever::tendril::StrTendril;
use html5ever::{Attribute, LocalName, QualName, ns};
use markup5ever_rcdom::{Handle, Node, NodeData};
use std::cell::RefCell;
use std::rc::Rc;

/// Adds to the text at the end of an element, or a text behind what is there.
pub(super) fn add_to_text(text: &str, into: &Handle) {
    if let Some(last) = into.children.borrow().last()
        && let NodeData::Text { contents } = &last.data
    {
        contents.borrow_mut().push_slice(text);
        return;
    }
    append(Node::new(NodeData::Text { contents: RefCell::new(StrTendril::from(text)) }), into);
}

/// The text within an element, and no more than so many bytes and what is in one piece; breaks of lines are some.
pub(super) fn text_within(node: &Handle, most: usize) -> String {
    let mut text = String::new();
    for node in shown(node) {
        match &node.data {
            NodeData::Text { contents } => text.push_str(&contents.borrow()),
            _ if name_of(&node) == Some("br") => text.push('\n'),
            _ => {}
        }
        if text.len() >= most {
            break;
        }
    }
    text
}

pub(super) fn append(child: Handle, into: &Handle) {
    child.parent.set(Some(Rc::downgrade(into)));
    into.children.borrow_mut().push(child);
}

pub(super) fn element(name: &str, attributes: Vec<Attribute>) -> Handle {
    Node::new(NodeData::Element {
        name: QualName::new(None, ns!(html), LocalName::from(name)),
        attrs: RefCell::new(attributes),
        template_contents: RefCell::new(None),
        mathml_annotation_xml_integration_point: false,
    })
}

pub(super) fn named(key: LocalName, value: &str) -> Attribute {
    Attribute { name: QualName::new(None, ns!(), key), value: StrTendril::from(value) }
}

/// The name of an element.
pub(super) fn name_of(node: &Node) -> Option<&str> {
    match &node.data {
        NodeData::Element { name, .. } => Some(&name.local),
        _ => None,
    }
}

pub(super) fn attribute(node: &Node, key: &str) -> Option<String> {
    let NodeData::Element { attrs, .. } = &node.data else { return None };
    let attrs = attrs.borrow();
    attrs.iter().find(|attribute| &*attribute.name.local == key).map(|attribute| attribute.value.to_string())
}

/// Walks a tree in the order in which it is written.
pub(super) fn all(root: &Handle) -> impl Iterator<Item = Handle> {
    walk(root, |_| true)
}

/// Walks what of a tree is shown to readers.
pub(super) fn shown(root: &Handle) -> impl Iterator<Item = Handle> {
    walk(root, |node| name_of(node).is_none_or(|name| !is_dropped(node, name)))
}

fn walk(root: &Handle, is_entered: impl Fn(&Handle) -> bool) -> impl Iterator<Item = Handle> {
    let mut stack = vec![Rc::clone(root)];
    std::iter::from_fn(move || {
        let node = stack.pop()?;
        stack.extend(node.children.borrow().iter().rev().filter(|child| is_entered(child)).cloned());
        Some(node)
    })
}
