//! Makes a small tree of a large one: what a reader would read, no deeper than a writer would write it.

use super::kind::{Kind, is_dropped};
use super::tree::{add_to_text, all, append, attribute, element, name_of, named, shown, text_within};
use html5ever::{Attribute, local_name};
use markup5ever_rcdom::{Handle, Node, NodeData};
use std::rc::Rc;
use url::Url;

/// How deep the tree is: its elements are turned into Markdown one within the other. Below it, texts are parted where they were,
/// and that is all that is left of what they were in.
const MOST_DEPTH: usize = 48;

/// How many of them are lists and quotes, each of which moves every line that it holds.
const MOST_INDENTS: usize = 10;

/// The most bytes of text that are taken.
const MOST_TEXT: usize = 2 << 20;

/// The most bytes of code within a line.
const MOST_CODE: usize = 4 << 10;

/// The most bytes of an address that a link leads to.
const MOST_ADDRESS: usize = 2 << 10;

/// The most bytes of a title.
const MOST_TITLE: usize = 300;

/// Says what of a page is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// The part that it says is its main one, or else all of it without what surrounds it: navigation, header, footer, asides.
    Main,
    Whole,
}

/// Is a tree that was made small.
pub(super) struct Tidied {
    pub(super) tree: Handle,
    /// Whether something that surrounds the main part is not in it.
    pub(super) leaves_out: bool,
    pub(super) is_cut: bool,
}

/// The address that links of a page start from.
pub(super) fn base(document: &Handle, at: &Url) -> Url {
    let base = all(document).find(|node| name_of(node) == Some("base") && attribute(node, "href").is_some());
    let base = base.and_then(|node| at.join(&attribute(&node, "href")?).ok());
    let is_usable =
        |base: &Url| matches!(base.scheme(), "http" | "https") && base.as_str().len() <= MOST_ADDRESS;
    base.filter(is_usable).unwrap_or_else(|| at.clone())
}

/// What a page calls itself, on one line.
pub(super) fn title(document: &Handle) -> String {
    let Some(title) = all(document).find(|node| name_of(node) == Some("title")) else { return String::new() };
    let text = text_within(&title, 4 * MOST_TITLE);
    let mut line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.truncate(line.floor_char_boundary(MOST_TITLE));
    line
}

/// Takes of a page what a reader would read.
pub(super) fn tidy(document: &Handle, part: Part, base: &Url) -> Tidied {
    let main = (part == Part::Main).then(|| main_part(document)).flatten();
    let around = match (part, &main) {
        (Part::Whole, _) => Around::Stays,
        (Part::Main, Some(_)) => Around::Goes { within_main: true },
        (Part::Main, None) => Around::Goes { within_main: false },
    };
    let mut tidying = Tidying { base, around, text: 0, leaves_out: main.is_some(), is_cut: false };
    let root = element("body", Vec::new());
    tidying.fill(main.as_ref().unwrap_or(document), &root);
    let tree = Node::new(NodeData::Document);
    tree.children.borrow_mut().push(root);
    Tidied { tree, leaves_out: tidying.leaves_out, is_cut: tidying.is_cut }
}

/// Finds the part that a page says is its main one, of what it shows.
fn main_part(document: &Handle) -> Option<Handle> {
    let is_main =
        |node: &Handle| name_of(node) == Some("main") || attribute(node, "role").as_deref() == Some("main");
    shown(document).find(is_main).or_else(|| {
        let mut articles = shown(document).filter(|node| name_of(node) == Some("article"));
        // One of many is not the page.
        articles.next().filter(|_| articles.next().is_none())
    })
}

/// Says what becomes of what surrounds the main part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Around {
    Stays,
    /// It is left out; within the main part, only what leads elsewhere is such.
    Goes {
        within_main: bool,
    },
}

struct Tidying<'a> {
    base: &'a Url,
    around: Around,
    text: usize,
    leaves_out: bool,
    is_cut: bool,
}

/// Is an element whose children are being taken.
struct Open {
    children: Vec<Handle>,
    next: usize,
    /// What they become children of.
    into: Handle,
    place: Place,
    /// Whether what follows stands apart from it.
    parts: bool,
}

/// Is where an element stands.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    depth: usize,
    indents: usize,
    /// Within a line: emphasis, code, or a link.
    is_inline: bool,
    /// Within an article or a section, whose header is not that of the page.
    is_section: bool,
}

impl Tidying<'_> {
    fn fill(&mut self, from: &Handle, into: &Handle) {
        let mut stack = vec![Open {
            children: from.children.borrow().clone(),
            next: 0,
            into: Rc::clone(into),
            place: Place::default(),
            parts: false,
        }];
        while let Some(top) = stack.last_mut() {
            let (into, place) = (Rc::clone(&top.into), top.place);
            let Some(child) = top.children.get(top.next).cloned() else {
                let has_parted = top.parts;
                stack.pop();
                if has_parted && let Some(outer) = stack.last() {
                    part_texts(&outer.into, outer.place.is_inline);
                }
                continue;
            };
            top.next += 1;
            if let NodeData::Text { contents } = &child.data {
                self.add_text(&contents.borrow(), &into);
                continue;
            }
            let Some(name) = name_of(&child) else { continue };
            if is_dropped(&child, name) {
                continue;
            }
            if self.is_around(&child, name, place) {
                self.leaves_out = true;
                continue;
            }
            if let Some(opened) = self.take(&child, name, &into, place) {
                stack.push(opened);
            }
        }
    }

    /// Takes an element; gives what of it is still to be taken.
    fn take(&mut self, node: &Handle, name: &str, into: &Handle, place: Place) -> Option<Open> {
        let open = |into: &Handle, place: Place, parts: bool| {
            Some(Open {
                children: node.children.borrow().clone(),
                next: 0,
                into: Rc::clone(into),
                place,
                parts,
            })
        };
        let within = Place {
            is_section: place.is_section || matches!(name, "article" | "section" | "main" | "blockquote"),
            ..place
        };
        match Kind::of(name) {
            Kind::Leaf => {
                if name != "img" || !self.attributes(node, name).is_empty() {
                    append(element(name, self.attributes(node, name)), into);
                }
                None
            }
            Kind::Verbatim => {
                self.take_verbatim(node, into);
                None
            }
            Kind::Inline if (place.depth < MOST_DEPTH || !place.is_inline) && !is_long_code(node, name) => {
                let inner = self.inline(node, name, into);
                open(&inner, Place { depth: place.depth + 1, is_inline: true, ..within }, false)
            }
            Kind::Inline | Kind::Meaningless => open(into, within, false),
            Kind::Structure => {
                let indents = place.indents + usize::from(matches!(name, "ul" | "ol" | "blockquote"));
                if place.depth >= MOST_DEPTH || indents > MOST_INDENTS {
                    part_texts(into, place.is_inline);
                    return open(into, Place { indents, ..within }, true);
                }
                let inner = element(name, self.attributes(node, name));
                append(Rc::clone(&inner), into);
                open(&inner, Place { depth: place.depth + 1, indents, ..within }, false)
            }
            Kind::Block => {
                part_texts(into, place.is_inline);
                open(into, within, true)
            }
        }
    }

    fn add_text(&mut self, text: &str, into: &Handle) {
        let room = MOST_TEXT - self.text;
        let taken = &text[..text.floor_char_boundary(room)];
        self.is_cut |= taken.len() < text.len();
        self.text += taken.len();
        add_to_text(taken, into);
    }

    /// Takes what its writer has laid out: its text alone, since marks within it would be read as part of it.
    fn take_verbatim(&mut self, node: &Handle, into: &Handle) {
        let room = MOST_TEXT - self.text;
        let text = text_within(node, room + 1);
        let code = element("code", language(node));
        self.add_text(text.strip_prefix('\n').unwrap_or(&text), &code);
        let pre = element("pre", Vec::new());
        append(code, &pre);
        append(pre, into);
    }

    /// Adds an element that stands within a line, without what it holds, and gives what that is to be added to.
    ///
    /// A piece of emphasis right behind another goes on with it, as a reader sees no end between them.
    fn inline(&self, node: &Handle, name: &str, into: &Handle) -> Handle {
        let name = match name {
            "i" | "cite" | "dfn" => "em",
            "b" => "strong",
            "tt" | "kbd" | "samp" => "code",
            name => name,
        };
        if name != "a"
            && let Some(last) = into.children.borrow().last()
            && name_of(last) == Some(name)
        {
            return Rc::clone(last);
        }
        let added = element(name, self.attributes(node, name));
        append(Rc::clone(&added), into);
        added
    }

    fn attributes(&self, node: &Handle, name: &str) -> Vec<Attribute> {
        match name {
            "a" => self.address(node, "href").map(|to| named(local_name!("href"), &to)).into_iter().collect(),
            "img" => {
                let alt = attribute(node, "alt").unwrap_or_default();
                // What is not described says nothing.
                let from = self.address(node, "src").filter(|_| !alt.trim().is_empty());
                from.map_or_else(Vec::new, |from| {
                    vec![named(local_name!("src"), &from), named(local_name!("alt"), &alt)]
                })
            }
            "ol" => {
                let start = attribute(node, "start").filter(|start| start.parse::<u32>().is_ok());
                start.map(|start| named(local_name!("start"), &start)).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    /// Where a link leads, if somebody can follow it: elsewhere than to the same page.
    fn address(&self, node: &Handle, key: &str) -> Option<String> {
        let said = attribute(node, key)?;
        if said.len() > MOST_ADDRESS || said.trim_start().starts_with('#') {
            return None;
        }
        let to = self.base.join(said.trim()).ok()?;
        let is_usable =
            matches!(to.scheme(), "http" | "https" | "mailto") && to.as_str().len() <= MOST_ADDRESS;
        is_usable.then(|| to.to_string())
    }

    /// Tells whether an element surrounds the main part of a page.
    fn is_around(&self, node: &Handle, name: &str, place: Place) -> bool {
        let Around::Goes { within_main } = self.around else { return false };
        let role = attribute(node, "role");
        let is_role = |roles: &[&str]| role.as_deref().is_some_and(|role| roles.contains(&role));
        let leads_elsewhere = matches!(name, "nav" | "search") || is_role(&["navigation", "search"]);
        // A section has a header of its own, and says aside what belongs to it.
        let is_of_page = !within_main && !place.is_section;
        let surrounds = || {
            matches!(name, "header" | "footer" | "aside")
                || is_role(&["banner", "contentinfo", "complementary"])
        };
        leads_elsewhere || is_of_page && surrounds()
    }
}

/// The language that a piece of code says it is in, itself or by the first of what it holds.
fn language(node: &Handle) -> Vec<Attribute> {
    let said = |node: &Handle| {
        let class = attribute(node, "class")?;
        class.split(' ').find(|class| class.starts_with("language-")).map(str::to_owned)
    };
    let inner = || node.children.borrow().iter().find_map(said);
    let language = said(node).or_else(inner);
    language.map(|language| named(local_name!("class"), &language)).into_iter().collect()
}

/// Tells whether code within a line is too long to be that.
fn is_long_code(node: &Handle, name: &str) -> bool {
    matches!(name, "code" | "tt" | "kbd" | "samp") && text_within(node, MOST_CODE + 1).len() > MOST_CODE
}

/// Has what comes next stand apart from what is there.
fn part_texts(into: &Handle, is_inline: bool) {
    if is_inline {
        return add_to_text(" ", into);
    }
    // A paragraph with nothing in it is a break between others.
    let has_parted = into.children.borrow().last().is_none_or(|last| name_of(last) == Some("p"));
    if !has_parted {
        append(element("p", Vec::new()), into);
    }
}
